#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tiers, weight formats and kernels are named in the library's tables only, and in few other files.

A test, tool or script that lists them forgets the next one: it asks the tables (all_tiers() of
tests/support/tiers.h, octet_isa_name, octet info, octet_names in CMake). The portable tier, its format
and its kernels are in every build, so any file may name them. The files below are about a tier; a file that names none any more has to leave the
list.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("tests", "tools", "bench", "scripts", "examples")
# Prose, frozen interfaces of old versions, and another library's names.
SKIPPED = re.compile(r"\.(md|bin|clang-format)$|^tests/(abi|house|vectors)/|equivalent\.txt$|"
                     r"^tests/network/.*\.py$")
MAY_NAME = {
    "bench/machine/peak.cc": "a row for each tier; tool_test fails without one",
    "scripts/test": "the tier for which the installed qemu may be too old",
    "tests/CMakeLists.txt": "AVX-VNNI and AMX-INT8 are emulated; Arm compilers are told of features",
    "tests/conv/conv_limit_test.cc": "the default limit on machines that were measured",
    "tests/dispatch/elsewhere_test.cc": "features that the compiler was told of",
    "tests/dispatch/cpu_test.cc": "plans that were measured, by design of CPU",
    "tests/dispatch/plan_test.cc": "what is predicted for kernels of each kind",
    "tests/dispatch/selection_test.cc": "which machine runs which kernel",
    "tests/dispatch/tables_test.cc": "the one list of all tiers and formats",
    "tests/dispatch/streaming_test.cc": "the tier that has streaming mode, and the one whose blobs it reads",
    "tests/emulated_isa/CMakeLists.txt": "AMX-INT8 is emulated",
    "tests/emulated_isa/detect.cc": "the tiers that are emulated",
    "tests/emulated_isa/permission_test.cc": "the tier whose registers the system may refuse",
    "tests/packing/paired_test.cc": "the format of pairs and its kernels",
    "tests/sparse/sparse_weights_test.cc": "on which tiers 2:4 sparse weights gain",
    "tests/throwaway_tier/run.py": "follows docs/add-a-tier.md in a copy of the library",
    "tests/traffic/check.py": "the newest instructions that valgrind knows",
    "tests/traffic/traffic_network_test.cc": "a tier whose int16 kernels gather rows",
}


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def words_of(table, pattern):
    words = set(re.findall(pattern, text_of(table), re.M))
    if len(words) < 2:
        sys.exit(f"{table} has not what {pattern} looks for: it is not as this test thinks")
    return words


def names():
    """(kind, pattern) of the names that other files may not have."""
    rows = re.findall(r"\.tier_id = TierId::(k\w+),\s*\.name = \"(\w+)\"",
                      text_of("dispatch/tables/tiers.cc"))
    if len(rows) < 2:
        sys.exit("dispatch/tables/tiers.cc has no rows of the form that this test reads")
    portable = rows[-1][1].lower()
    kernels = words_of("dispatch/tables/kernels.def", r"^[A-Z0-9]+\(k\w+, (\w+),")
    kernels = {k for k in kernels if not k.startswith((portable + "_", "portable_"))}
    formats = words_of("dispatch/tables/formats.cc", r"FormatId::k\w+, \"(\w+)\"")
    portable_formats = {name for name in formats if re.search(
        rf'"{name}", k{portable.capitalize()}\w*Layout', text_of("dispatch/tables/formats.cc"))}
    tiers = [name for _, name in rows[:-1]]
    isas = [isa for isa, _ in rows[:-1]]
    yield "tier", rf"(?<![A-Za-z0-9_])(?:OCTET_ISA_)?({'|'.join(tiers)})(?![A-Za-z0-9_])"
    yield "tier", rf"TierId::({'|'.join(isas)})\b"
    yield "kernel", rf"\b({'|'.join(sorted(kernels))})\b"
    yield "format", rf"\b({'|'.join(sorted(formats - portable_formats))})\b"
    yield "format", r"FormatId::(?!kNone\b)(k\w+)"
    yield "feature", r"\b(kHas(?!Throwaway)[A-Z]\w*)"


def code_of(name):
    """The text without its comments."""
    text = text_of(name)
    if name.endswith((".c", ".cc", ".h")):
        return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"(?m)(^|\s)#[^\n]*", "", text)


def main():
    listed = sorted(str(path.relative_to(ROOT)) for room in ROOMS for path in ROOT.joinpath(room).rglob("*")
                    if path.is_file() and "__pycache__" not in path.parts)
    patterns = list(names())
    naming, looked_at, complaints = set(), 0, []
    for name in listed:
        if SKIPPED.search(name):
            continue
        looked_at += 1
        for kind, pattern in patterns:
            for match in re.finditer(pattern, code_of(name)):
                naming.add(name)
                if name not in MAY_NAME:
                    complaints.append(f"{name} names the {kind} {match[1]}: ask the tables")
    complaints += [f"{name} names nothing: it need not be in {Path(__file__).name}'s list"
                   for name in sorted(set(MAY_NAME) - naming)]
    print(*complaints, f"{looked_at} files looked at", sep="\n")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
