#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All C and C++ sources are as .clang-format says, at most 100 columns wide."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("analysis", "bench", "dispatch", "engines", "examples", "include", "kernels", "operators",
           "packing", "tests", "tools")


def clang_format():
    for command in ("clang-format-14", "clang-format"):
        try:
            if " version 14." in subprocess.run([command, "--version"], capture_output=True,
                                                text=True).stdout:
                return command
        except OSError:
            pass
    print("Skipped: there is no clang-format 14, which .clang-format is for.")
    sys.exit(77)


def main():
    command = clang_format()
    sources = sorted(path for folder in FOLDERS for path in ROOT.joinpath(folder).rglob("*")
                     if path.suffix in (".c", ".cc", ".h", ".hpp"))
    # clang-format breaks neither comments nor long strings.
    complaints = [f"{source}:{number} has more than 100 columns"
                  for source in sources
                  for number, line in enumerate(source.read_text("utf-8").split("\n"), 1)
                  if len(line.encode()) > 100]
    if subprocess.run([command, "--dry-run", "-Werror", *sources]).returncode:
        complaints.append("Some sources are not formatted: scripts/format does it")
    print(*complaints, f"{len(sources)} files looked at", sep="\n")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
