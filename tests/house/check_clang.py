#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether Clang takes Arm's kernels, which this build compiles by GCC: check_clang.py BUILD

Each source of kernels/arm goes through Clang's front end, to LLVM's code but no further, with the
arguments of this build, which are those of CMake's table of tiers. Clang refuses what GCC does not:
an intrinsic whose tier lacks it, an operand of assembly that a lambda did not capture. Ends with 77
where there is no Clang, or none that finds the target's headers.
"""

import json
import os
import shlex
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from build import ROOT, Build, attempt

# No object, and no work of LLVM's on the code.
FRONT_END = ["-S", "-emit-llvm", "-O0", "-Xclang", "-disable-llvm-passes", "-o", os.devnull]
TRIPLES = {"aarch64": "aarch64-linux-gnu", "arm": "arm-linux-gnueabihf"}


def skip(why):
    print(f"Skipped: {why}")
    sys.exit(77)


def clang_arguments(command):
    """Those of a compiler's command, without its object, what only GCC knows and what makes an
    error of a newer Clang's warning."""
    words = shlex.split(command)
    output = words.index("-o")
    return [word for word in words[1:output] + words[output + 2:]
            if word != "-c" and not word.startswith(("-O", "-Werror", "-fno-schedule-insns"))]


def main():
    build = Build(sys.argv[1])
    clang = shutil.which("clang++")
    if not clang:
        skip("there is no clang++")
    command = [clang, f"--target={TRIPLES[build.text('OCTET_TARGET')]}", *FRONT_END]
    status, said = attempt(*command, "-x", "c++", "-", input="#include <cstdlib>\n#include <new>\n")
    if status:
        skip(f"{clang} does not find the target's headers: {said}")
    commands = Path(build.text("PROJECT_BINARY_DIR")) / "compile_commands.json"
    if not commands.exists():
        skip("there is no compile_commands.json: CMAKE_EXPORT_COMPILE_COMMANDS was off")

    kernels = [entry for entry in json.loads(commands.read_text(encoding="utf-8"))
               if Path(entry["file"]).parent == ROOT / "kernels/arm"]
    if not kernels:
        sys.exit(f"{commands} has none of Arm's kernels")

    def complaint(entry):
        status, said = attempt(*command, *clang_arguments(entry["command"]), cwd=entry["directory"])
        return said if status else ""

    with ThreadPoolExecutor(2) as pool:
        complaints = list(filter(None, pool.map(complaint, kernels)))
    print(*complaints, sep="\n")
    print(f"{len(kernels)} files, {len(complaints)} of which Clang refuses")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
