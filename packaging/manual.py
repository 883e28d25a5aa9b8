#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what is made of the octet command's help: manual.py OCTET VERSION FOLDER

octet.1, a page of the manual; octet.bash, _octet and octet.fish, completions of commands and options.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class Command:
    """A command's help: summary, usage, and per section its entries (words, text)."""

    def __init__(self, octet, *names):
        help_text = subprocess.run([*octet, *names, "--help"], check=True, capture_output=True,
                                   text=True).stdout
        self.names = names
        self.summary, self.usage = help_text.split("\n")[:2]
        self.usage = self.usage.removeprefix("Usage: ")
        self.sections = {}
        for title, body in re.findall(r"^(\w[\w ]*):\n((?:  .*\n|\n)+)", help_text, re.M):
            entries = self.sections.setdefault(title, [])
            for line in filter(None, body.split("\n")):
                if not line.startswith("   "):
                    words, _, text = line.strip().partition("  ")
                    entries.append([words, text.strip()])
                else:
                    entries[-1][1] = f"{entries[-1][1]} {line.strip()}".strip()
        self.exit_code = re.search(r"^Exit code: (.*)$", help_text, re.M)[1]
        self.commands = [Command(octet, *names, words)
                         for words, _ in self.sections.get("Subcommands", ())]

    def all(self):
        """The command and those below it."""
        return [self, *(each for command in self.commands for each in command.all())]

    def flags(self):
        """(names, whether a value follows, text) of each option."""
        for words, text in self.sections.get("Options", ()):
            names, _, value = words.partition(" ")
            yield names.split(","), bool(value), text


def roff(text):
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"), flags=re.M)


def entries(items):
    for words, text in items:
        yield f'.TP\n.B {roff(words)}\n{roff(text)}'


def environment():
    """The variables, as README.md's table has them."""
    rows = re.findall(r"^\| `(OCTET_\w+)` \| (.*) \|$", (ROOT / "README.md").read_text(), re.M)
    return [(name, re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("\\|", "|").replace("`", ""))
            for name, text in rows]


def page(octet, version):
    yield f'.TH OCTET 1 "" "Octet {version}" "User Commands"'
    yield f".SH NAME\noctet \\- {roff(octet.summary)}"
    usages = [roff(each.usage) for each in octet.all()
              if not each.commands or each.names == ("bench",)]
    yield ".SH SYNOPSIS\n.nf\n" + "\n".join(usages) + "\n.fi"
    for command in octet.all():
        yield f'.SH {roff(" ".join(command.names) or "COMMANDS").upper()}\n{roff(command.summary)}'
        for title in ("Positionals", "Subcommands", "Options"):
            yield from entries(command.sections.get(title, ()))
    yield ".SH EXAMPLES\n.nf"
    yield from (roff(f"{words}  {text}".strip()) for words, text in octet.sections["Examples"])
    yield f".fi\n.SH EXIT STATUS\n{roff(octet.exit_code)}\n.SH ENVIRONMENT"
    yield from entries(environment())


def words_of(command):
    flags = [name for names, _, _ in command.flags() for name in names]
    return " ".join([each.names[-1] for each in command.commands] + flags)


def bash(octet):
    yield ("# bash completion of octet: commands, options, files.\n_octet() {\n"
           "  local cur=${COMP_WORDS[COMP_CWORD]} path= words= word\n"
           "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case $path/$word in")
    paths = ["/" + "/".join(each.names) for each in octet.all() if each.names]
    yield f'      {" | ".join(paths)}) path=$path/$word ;;\n    esac\n  done\n  case $path in'
    for each in octet.all():
        path = "".join(f"/{name}" for name in each.names) or "''"
        yield f'    {path}) words="{words_of(each)}" ;;'
    yield ('  esac\n  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")\n}\n'
           "complete -o default -F _octet octet")


def zsh(octet):
    def quoted(text):
        return re.sub(r"([\[\]:])", r"\\\1", text).replace("'", "'\\''")

    def case(command, indent):
        options = [f"'{name}[{quoted(text)}]{':value:_files' if value else ''}'"
                   for names, value, text in command.flags() for name in names]
        lines = [f"{indent}_arguments -C {' '.join(options)} '*:: :->next'"]
        if not command.commands:
            return [lines[0].replace("'*:: :->next'", "'*:file:_files'")]
        kinds = " ".join(f"'{each.names[-1]}:{quoted(each.summary)}'" for each in command.commands)
        lines += [f"{indent}[[ $state == next ]] || return 0",
                  f"{indent}if ((CURRENT == 1)); then",
                  f"{indent}  local -a commands=({kinds})",
                  f"{indent}  _describe command commands; _files",
                  f"{indent}  return", f"{indent}fi", f"{indent}case $words[1] in"]
        for each in command.commands:
            lines += [f"{indent}  {each.names[-1]})", *case(each, indent + "    "), f"{indent}  ;;"]
        return lines + [f"{indent}esac"]

    yield "#compdef octet\nlocal state line curcontext=$curcontext"
    yield from case(octet, "")


def fish(octet):
    for command in octet.all():
        seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in command.names)
        where = seen or "__fish_use_subcommand"
        below = " ".join(each.names[-1] for each in command.commands)
        if below and seen:
            where += f"; and not __fish_seen_subcommand_from {below}"
        for each in command.commands:
            summary = each.summary.replace("'", "\\'")
            yield f"complete -c octet -n '{where}' -a {each.names[-1]} -d '{summary}'"
        for names, value, text in command.flags():
            kinds = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                             for name in names)
            summary = text.replace("'", "\\'")
            yield f"complete -c octet -n '{where}' {kinds}{' -r' if value else ''} -d '{summary}'"


def main():
    *octet, version, folder = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    command = Command(octet)
    for name, lines in (("octet.1", page(command, version)), ("octet.bash", bash(command)),
                        ("_octet", zsh(command)), ("octet.fish", fish(command))):
        (folder / name).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
