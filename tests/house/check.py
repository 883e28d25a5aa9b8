#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules that keep the tree a place to find things in: tests/house/check.py [--print]

Each rule is a function that yields complaints. Exceptions are in exceptions.txt, one a line: a path
(of a function: path:name), the measure and its limit today. They may only shrink: a measure above its
exception fails, and so does an exception that is no longer needed or is larger than the measure.
"""

import re
import subprocess
import sys
from pathlib import Path

from includes import Includes

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
FOLDER_FILES, FILE_LINES, FUNCTION_LINES = 35, 450, 80
# Folders of more files say in a README.md what is where; but for these, whose files other tools list:
# an installation takes all of include/octet, Sphinx and Debian's tools know theirs.
FILES_WITHOUT_README = 5
WITHOUT_README = {".", "docs", "docs/site", "include/octet", "packaging/debian"}
CODE = (".c", ".cc", ".h", ".hpp")
SOURCES = CODE + (".S", ".cmake", ".def", ".py", ".pyi", "CMakeLists.txt")
LICENCE = re.compile(r"^(?://|/\*|#) SPDX-License-" r"Identifier: \S+\n", re.M)
# Rows of the lists that a new tier or a new engine adds to do not count as lines: enumerators with a
# value, and the files of tiers, engines and toolchains for CMake. Nor do packages, which build nothing.
# The line that names the licence, which all files have, does not count either.
UNCOUNTED = re.compile(rf"^\s+\w+ = \d+,?(\s*(//|/\*).*)?$|{LICENCE.pattern}", re.M)
NOT_COUNTED = ("kernels/x86/tiers.cmake", "kernels/arm/tiers.cmake", "engines/",
               "packaging/", "toolchains/")
CMAKE_LINES = 900

# Words that other words replaced, as identifiers or parts of them. The field's words stand in
# docs/glossary.md.
RETIRED = re.compile(
    r"(?<![a-z])(nests?|sinks?|drafts?|heats?|stripes?)(?![a-z])|[Ss]trips?(?![a-z])|"
    r"[Nn]arrow_|_narrow|kNarrow|narrow exits?|"
    r"(?<![a-z])(finish|leave|exit)_(tile|strip|panel|columns)|_method(?![a-z])|has_least|kNoLeast|"
    r"(Byte|Word)Kernel|(byte|word)_kernels|(?<![a-z])(long|short) road|"
    r"(has|takes|splits|multiply|finish|gather)_words|\bWord(Mode|Epilogue|Tile)|\bIsa(Mask)?\b")
# Dated notes, and files that quote older sources, keep their words.
RETIRED_IN = re.compile(r"^(docs/measurements/|tests/abi/|tests/house/|tools/mutate/equivalent)")

# {isa}_{types}[_{variant}]_{mr}x{nr}x{kr}; depthwise and grouped kernels end in their channels.
KERNEL = re.compile(
    r"^([a-z0-9]+)_(?:[su](?:4|8|16)){2}(?:_(?:sparse|inorder|int8min|rows|sve256))*_"
    r"(\d+x\d+x\d+|dw\d+|group\d+)$")


def files():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"],
                            capture_output=True, text=True)
    if listed.returncode:
        print("Skipped: git does not list the files of this tree")
        sys.exit(77)
    names = listed.stdout.split("\n")
    return [name for name in names if name and (ROOT / name).is_file()]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def long_functions(text):
    """(name, lines) of each function: from the first line of its signature, of which the last opens a
    block, to the line that closes the block at the first's indentation, as clang-format lays them
    out."""
    lines = text.split("\n")
    opened = None
    for number, line in enumerate(lines):
        if opened is None and line.endswith("{"):
            begin = number
            while begin and lines[begin - 1].strip() and lines[begin - 1][-1:] not in "{};:>" and \
                    not lines[begin - 1].lstrip().startswith(("//", "#")):
                begin -= 1
            head = " ".join(lines[begin:number + 1])
            indent = re.match(" *", head)[0]
            name = re.search(r"([\w:~]+)\s*\(", head)
            if name and len(indent) in (0, 2) and not re.search(r"=\s*\{$", head) and \
                    not re.match(r"\s*(namespace|class|struct|enum|union|extern)\b", head):
                opened = (indent, name[1], begin)
        elif opened and re.match(rf"^{opened[0]}\}}", line):
            yield opened[1], number - opened[2] + 1
            opened = None


def measures():
    """(what, measure, limit) of everything that has a limit."""
    folders = {}
    for name in files():
        folder = str(Path(name).parent)
        if not folder.startswith("tests/vectors") and folder != ".":
            folders[folder] = folders.get(folder, 0) + 1
    for folder, count in folders.items():
        yield folder, count, FOLDER_FILES
    cmake = 0
    for name in files():
        if name.endswith(CODE) and not name.startswith("tests/abi"):
            text = text_of(name)
            yield name, text.count("\n") - len(UNCOUNTED.findall(text)), FILE_LINES
            for function, lines in long_functions(text):
                yield f"{name}:{function}", lines, FUNCTION_LINES
        if name.endswith((".cmake", "CMakeLists.txt")) and not name.startswith(NOT_COUNTED):
            cmake += sum(1 for line in text_of(name).split("\n") if re.match(r"\s*[^#\s]", line))
    yield "CMake", cmake, CMAKE_LINES


def check_measures():
    allowed = {}
    for line in (HERE / "exceptions.txt").read_text().split("\n"):
        if line and not line.startswith("#"):
            what, measure = line.rsplit(" ", 1)
            allowed[what] = int(measure)
    worst = {}
    for what, measure, limit in measures():
        if measure > limit:
            worst[what] = (max(measure, worst.get(what, (0, 0))[0]), limit)
    for what, (measure, limit) in sorted(worst.items()):
        if what not in allowed:
            yield f"{what} has {measure}, at most {limit} are allowed"
        elif measure > allowed[what]:
            yield f"{what} has {measure}, more than its exception, {allowed[what]}"
        elif measure < allowed[what]:
            yield f"{what} has {measure}: lower its exception, {allowed[what]}"
    for what in sorted(set(allowed) - set(worst)):
        yield f"{what} needs no exception any more"


def check_readmes():
    """Larger folders have a README.md, and the sources that one names in a code span are there."""
    listed = files()
    folders = {}
    for name in listed:
        folders.setdefault(str(Path(name).parent), set()).add(Path(name).name)
    larger = {folder for folder, names in folders.items()
              if len(names) > FILES_WITHOUT_README and folder not in WITHOUT_README}
    for folder in sorted(larger):
        if "README.md" not in folders[folder]:
            yield f"{folder} has {len(folders[folder])} files and no README.md"
    everything = "\n".join(f"/{name}" for name in listed) + "\n"
    found = 0
    for name in listed:
        if name.endswith("/README.md"):
            for path in re.findall(r"`([\w./*-]+\.(?:cc|h|c|py|sh|def|cmake|hpp))`", text_of(name)):
                found += 1
                path = re.sub(r"^(\.\./)+", "", path)
                if not re.search(rf"/{re.escape(path)}\n".replace(r"\*", "[^/\n]*"), everything):
                    yield f"{name} names {path}, which is not there"
    if found < 100:
        yield "README.md files name few sources of the form that this test reads"


def check_openings():
    for name in files():
        if name.endswith(CODE):
            text = re.sub(r"SPDX-\S+ .*", "", text_of(name), count=1)
            match = re.match(r"((?://.*\n)+)|(/\*.*?\*/)", text, re.S)
            if not match or "." not in match[0]:
                yield f"{name} does not open with a sentence that says what it does"


def check_licences():
    """Every source names its licence in its first line, or after the line that names its interpreter."""
    for name in files():
        text = text_of(name) if "." not in name or name.endswith(SOURCES) else ""
        script = text.startswith("#!")
        if not (script or name.endswith(SOURCES)) or name.startswith("tests/abi/"):
            continue
        if not LICENCE.match(text.split("\n", 1)[1] if script else text):
            yield f"{name} does not open with the SPDX line of its licence"


def check_words():
    for name in files():
        if not name.endswith(CODE + (".md", ".cmake", ".def", ".txt")) or RETIRED_IN.match(name):
            continue
        for number, line in enumerate(text_of(name).split("\n"), 1):
            for match in RETIRED.finditer(line):
                yield f"{name}:{number} has the retired word '{match[0]}': {line.strip()}"


def check_kernels():
    """Kernel names follow the grammar, and a file of the kernel's isa and tile has it."""
    stems = {Path(name).stem for name in files() if name.startswith("kernels/")}
    rows = re.findall(r"^(?:INT8|SPARSE|INT16|WORDS|DEPTHWISE)\(k(\w+), (\w+)[,)]",
                      text_of("dispatch/tables/kernels.def"), re.M)
    if len(rows) < 20:
        yield "dispatch/tables/kernels.def has no rows of the form that this test reads"
    for isa, kernel in rows:
        match = KERNEL.match(kernel)
        if not match:
            yield f"{kernel} is not {{isa}}_{{types}}_{{mr}}x{{nr}}x{{kr}}"
        elif match[1] != isa.lower():
            yield f"{kernel} is a kernel of {isa}"
        elif not any(stem.startswith(match[1]) for stem in stems):
            yield f"{kernel} has no file of its tier's"


def check_cmake():
    """The files that CMake names by their folders are there: options that are set for a file of an old
    name reach none, in silence."""
    listed = set(files())
    folders = "|".join(sorted({name.split("/")[0] for name in listed if "/" in name}))
    found = 0
    for name in sorted(listed):
        if name.endswith((".cmake", "CMakeLists.txt")):
            for source in re.findall(rf"(?<![\w./}}])(?:{folders})/[\w./]+\.(?:cc|c|py)\b",
                                     text_of(name)):
                found += 1
                if not {source, str(Path(name).parent / source)} & listed:
                    yield f"{name} names {source}, which is not there"
    if found < 10:
        yield "CMake's files name few files of the form that this test reads"


def check_readme():
    """README.md names each tier among the values of OCTET_MAX_ISA, and has a row of it."""
    readme = text_of("README.md")
    values = re.search(r"^\| `OCTET_MAX_ISA` \|.*$", readme, re.M)
    for tier in re.findall(r'\.name = "(\w+)"', text_of("dispatch/tables/tiers.cc")):
        if not values or not re.search(rf"\b{tier}\b", values[0]):
            yield f"README.md does not name {tier} as a value of OCTET_MAX_ISA"
        if f"\n| {tier} |" not in readme:
            yield f"README.md has no row of {tier} in its table of tiers"


def check_not_covered():
    """README.md and DESIGN.md list what is not covered: the same, and no tier of the table.

    "AVX-512 without VNNI" stands for every tier whose name begins with AVX512 and lacks VNNI.
    """
    tiers = re.findall(r'\.name = "(\w+)"', text_of("dispatch/tables/tiers.cc"))
    lists = {}
    for name, begin in ("README.md", "Not covered:"), ("DESIGN.md", "## Not covered\n\n"):
        sentence = re.search(rf"^{begin}(.*?)\.\s", text_of(name), re.M | re.S)
        if not sentence:
            yield f"{name} has no sentence of what is not covered"
            continue
        plain = re.sub(r"\([^)]*\)", "", sentence[1])
        lists[name] = [re.sub(r"[-\s]", "", item) for item in re.split(r",|\band\b", plain)]
        for item in lists[name]:
            begins, _, lacks = item.partition("without")
            for tier in tiers:
                if tier.startswith(begins) and not (lacks and lacks in tier):
                    yield f"{name} says that {tier} is not covered"
    missing = set(lists.get("README.md", [])) - set(lists.get("DESIGN.md", []))
    if missing:
        yield f"DESIGN.md does not say that these are not covered: {', '.join(sorted(missing))}"


def check_nodiscard():
    """octet.hpp and functions.hpp: no status, error or object that was made is ignored in silence. A class that is
    [[nodiscard]] makes all functions that return it so."""
    found = 0
    lines = [(f"{name}:{number}", line) for name in ("include/octet/octet.hpp",
                                                    "include/octet/functions.hpp")
             for number, line in enumerate(text_of(name).split("\n"), 1)]
    for place, line in lines:
        what = re.match(r"class (?:\[\[nodiscard\]\] )?(\w+)(?: final)? \{$|"
                        r"\s*(?:\[\[nodiscard\]\] )?(?:(?:static|inline|constexpr) )*"
                        r"(?:const )?(?:octet_\w+&?|Struct) (\w+)\(", line)
        if what and "operator" not in line:
            found += 1
            if "[[nodiscard]]" not in line:
                yield f"{place}: {what[1] or what[2]} is not [[nodiscard]]"
    if found < 10:
        yield "include/octet/octet.hpp has few functions of the form that this test reads"


def anchors_of(name):
    """What GitHub and the site make of a page's titles: lower case, hyphens for spaces."""
    found, seen = set(), {}
    text = re.sub(r"^```.*?^```", "", text_of(name), flags=re.M | re.S)
    for title in re.findall(r"^#+ +(.*?) *$", text, re.M):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        count = seen[anchor] = seen.get(anchor, -1) + 1
        found.add(f"{anchor}-{count}" if count else anchor)
    return found


def check_links():
    for name in files():
        if not name.endswith(".md"):
            continue
        for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", text_of(name)):
            if "://" in target or not target and not anchor:
                continue
            path = (ROOT / name).parent.joinpath(target) if target else ROOT / name
            if not path.exists():
                yield f"{name} links to {target}, which is not there"
            elif anchor and path.suffix == ".md":
                page = str(path.resolve().relative_to(ROOT))
                if anchor not in anchors_of(page):
                    yield f"{name} links to {page}#{anchor}, a title that is not there"


def check_tables():
    """Rows of a table have as many cells as its dashes, which are a line of their own: else some are not shown."""
    for name in files():
        cells = 0
        for line in text_of(name).splitlines() if name.endswith(".md") else ():
            bars = re.sub(r"`[^`]*`|\\\|", "", line).count("|") if line.lstrip().startswith("|") else 0
            cells = bars and (bars if "|---" in line and not line.strip(" |-:") else cells)
            if "|---" in line and line.strip(" |-:") or cells and bars != cells:
                yield f"{name} has a row of other cells than its table: {line}"


def check_site():
    """Each page of docs/ is in the site's table of contents, which has no other ones."""
    listed = {str((ROOT / "docs/site" / line).resolve().relative_to(ROOT)) + ".md"
              for line in re.findall(r"^(\.\./[\w./-]+)$", text_of("docs/site/index.md"), re.M)}
    pages = {name for name in files() if re.fullmatch(r"docs/[^/]+\.md", name)}
    for name in sorted(pages - listed):
        yield f"docs/site/index.md does not list {name}"
    for name in sorted(listed - set(files())):
        yield f"docs/site/index.md lists {name}, which is not there"


def check_recipes():
    """Recipes of packages that choose parts of the library know all of them."""
    parts = re.search(r"foreach\(part CPU_FILES ([A-Z0-9_ ]+)\)", text_of("CMakeLists.txt"))[1].split()
    for name in ("conan/conanfile.py", "openembedded/octet_0.2.0.bb", "buildroot/package/octet/octet.mk",
                 "buildroot/package/octet/Config.in"):
        text = text_of(f"packaging/{name}").upper().replace("-", "_")
        for part in parts:
            if not re.search(rf"(?<![A-Z0-9]){part}(?![A-Z0-9_])", text):
                yield f"packaging/{name} does not know OCTET_WITH_{part}"


def check_includes():
    yield from Includes({name: text_of(name) for name in files() if name.endswith((".cc", ".h", ".hpp"))}).complaints()


def main():
    if sys.argv[1:] == ["--print"]:
        for what, measure, limit in measures():
            if measure > limit:
                print(what, measure)
        return
    rules = (check_measures, check_readmes, check_openings, check_licences, check_words, check_kernels,
             check_cmake, check_readme, check_not_covered, check_nodiscard, check_links, check_tables,
             check_site, check_recipes, check_includes)
    complaints = [complaint for rule in rules for complaint in rule()]
    print(*complaints, sep="\n")
    if complaints:
        sys.exit(f"{len(complaints)} complaints")


if __name__ == "__main__":
    main()
