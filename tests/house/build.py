# SPDX-License-Identifier: Apache-2.0
"""What checks of a build share: what CMake tells them of it, and running commands."""

import re
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

    def c_compiler(self):
        command = self.words("CMAKE_C_COMPILER", "CMAKE_C_COMPILER_ARG1")
        target = self.text("CMAKE_C_COMPILER_TARGET")
        option = self.text("CMAKE_C_COMPILE_OPTIONS_TARGET")
        return command + [option + target] if target else command

    def cxx_compiler(self):
        return self.words("CMAKE_CXX_COMPILER", "CMAKE_CXX_COMPILER_ARG1")

    def flags(self):
        return self.words("CMAKE_CXX_FLAGS", "CMAKE_EXE_LINKER_FLAGS")

    def options(self):
        """Those with which CMake configures a build like this one."""
        names = ["CMAKE_BUILD_TYPE", "CMAKE_CXX_FLAGS"]
        toolchain = ["CMAKE_TOOLCHAIN_FILE"]
        compilers = ["CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER"]
        names += toolchain if self.text("CMAKE_TOOLCHAIN_FILE") else compilers
        return [f"-D{name}={self.text(name)}" for name in names] + self.probed()

    def probed(self):
        """The findings of this compiler's probes, each of which takes a second."""
        cache = Path(self.text("PROJECT_BINARY_DIR")) / "CMakeCache.txt"
        if not cache.exists():  # a part of another project's build
            return []
        return [f"-D{name}={found}" for name, found in re.findall(
            r"^(OCTET_(?:ASSEMBLES|COMPILES|TARGETS|XSIMD_COMPILES)\w*):INTERNAL=(.*)$",
            cache.read_text(), re.M)]


def attempt(*command, **options):
    """(status, output) of a command."""
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, **options)
    except OSError as error:
        return error.errno, str(error)
    return done.returncode, done.stdout


def run(*command, **options):
    """The output of a command, which has to succeed."""
    status, output = attempt(*command, **options)
    if status:
        sys.exit(f"{shlex.join(map(str, command))}: {status}\n{output}")
    return output
