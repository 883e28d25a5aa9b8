"""What checks of a build share: what CMake tells them of it, and running commands."""

import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Build:
    """The file octet-build-<config>.txt that cmake/checks.cmake writes: lines name=value;
    semicolons tell the items of a list apart."""

    def __init__(self, path):
        lines = Path(path).read_text().splitlines()
        self._values = dict(line.split("=", 1) for line in lines if line)

    def text(self, name):
        return self._values[name]

    def items(self, name):
        return [item for item in self._values[name].split(";") if item]

    def words(self, *names):
        """As a shell splits them."""
        return [word for name in names for word in shlex.split(self._values[name])]


def attempt(*command, **options):
    """(status, output) of a command."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)
    return done.returncode, done.stdout


def run(*command, **options):
    """The output of a command, which has to succeed."""
    status, output = attempt(*command, **options)
    if status:
        sys.exit(f"{shlex.join(map(str, command))}: {status}\n{output}")
    return output
