#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Includes point one way, and names stand in their tables: check_layering.py [ROOT]

rooms.txt has the rooms whose headers each room may include. An ISA kernel is compiled with flags
that the rest of the program does not have, so its file includes only intrinsics, C headers and
headers of kernels/.

And names are kept apart: a name of which there are several, and of which more will come (tiers,
formats, algorithms), stands in its tables and its own files, so that one more is its rows and its
own files; all others ask the tables.
"""

import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).resolve().parents[2]
ROOMS = Path(__file__).resolve().parent / "rooms.txt"
FOLDERS = ("analysis", "dispatch", "engines", "kernels", "operators", "packing")
ISA_ROOMS = ("kernels/core", "kernels/generic", "kernels/scalar", "kernels/x86",
             "kernels/x86/shared", "kernels/arm", "kernels/arm/shared")
C_HEADERS = re.compile(r"^(stddef|stdint|string|immintrin|cpuid|arm_neon|arm_sve)\.h$")
OWN = r"dispatch/tables/|kernels/(?:x86|arm|scalar)/"

complaints = []


def rooms():
    """Room -> the rooms that it may include."""
    rows = {}
    for line in re.sub(r"\n +", " ", ROOMS.read_text()).split("\n"):
        room, colon, others = line.partition(":")
        if colon and not line.startswith("#"):
            rows[room] = [room, *others.split()]
            complaints.extend(f"{room} may not include {other}, whose row is not above its own"
                              for other in rows[room] if other not in rows)
    return rows


def words(file, pattern):
    """"a|b|c", what the pattern's group is wherever it matches."""
    found = re.findall(pattern, (ROOT / file).read_text(encoding="utf-8"))
    if not found:
        sys.exit(f"{file} has nothing of the form {pattern}: it is not as this file thinks")
    return "|".join(dict.fromkeys(found))


def kept():
    """(what, pattern, files): code that has a word like this stands in these files only. Comments
    may have it. The names of tiers, formats and algorithms are those that the tables have."""
    tables = "dispatch/tables/"
    isas = words(tables + "tiers.cc", r"\.tier_id = (TierId::k[A-Za-z0-9]+)")
    tiers = words(tables + "tiers.cc", r"\.name = \"([A-Z0-9]+)\"")
    algorithms = words("dispatch/api/algorithm_names.cc",
                       r"(OCTET_CONV_[A-Z0-9_]+): return \"[b-z]")
    implementations = words("operators/conv/algorithms/table.cc",
                            r"[&(]([a-z0-9]+_[a-z0-9_]*algorithm)[,)]")
    yield "tier", f"{isas}|(?:OCTET_[A-Z_]*)?(?:{tiers})", r"kernels/core/tier_id\.h"
    yield ("layout", words(tables + "formats.cc", r", (k[A-Za-z0-9]+Layout)"),
           "kernels/core/(depthwise|sparse)|"
           "operators/conv/algorithms/(depthwise|grouped|channelwise)")
    yield "format", words(tables + "formats.cc", r"(FormatId::k[A-Za-z0-9_]+)"), "(?!)"
    yield ("kernel", words(tables + "kernels.def", r", ([a-z0-9]+_[a-z0-9_]+)"),
           "kernels/generic/portable")
    yield ("feature", "kHas[A-Z][A-Za-z0-9]*",
           r"kernels/core/feature\.h|dispatch/cpu/features\.")
    yield ("algorithm", f"{algorithms}|{implementations}",
           r"dispatch/api/algorithm_names\.|operators/conv/algorithms/")
    yield ("architecture", "__(?:x86_64|aarch64|AVX[A-Z0-9]*|ARM_[A-Z0-9_]*)__",
           r"dispatch/cpu/features\.|kernels/core/compiler\.h")


def check_includes(source, room, text, may_include):
    for line in re.findall(r"^[ \t]*#[ \t]*include.*", text, re.M):
        header = re.search(r"[<\"]([^>\"]+)[>\"]", line)[1]
        if '"' in line:
            if str(Path(header).parent) not in may_include:
                yield f"{source} includes {header}: {room} may include {' '.join(may_include)}"
        elif room in ISA_ROOMS and not C_HEADERS.match(header):
            yield f"{source} includes {header}: kernels include only intrinsics and C headers"


def main():
    rows = rooms()
    names = [(what, re.compile(rf"(?<![A-Za-z0-9_])({pattern})(?![A-Za-z0-9_])"),
              re.compile(f"{OWN}|{files}")) for what, pattern, files in kept()]
    sources = sorted(str(path.relative_to(ROOT)) for folder in FOLDERS
                     for path in ROOT.joinpath(folder).rglob("*")
                     if path.is_file() and path.suffix not in (".cmake", ".md", ".txt"))
    for source in sources:
        room = str(Path(source).parent)
        text = (ROOT / source).read_text(encoding="utf-8")
        if room not in rows:
            complaints.append(f"{source}: {room} has no row; give it one in {ROOMS}")
        complaints.extend(check_includes(source, room, text, rows.get(room, [])))
        code = re.sub(r"//[^\n]*", "", text)
        for what, pattern, files in names:
            match = pattern.search(code)
            if match and not files.match(source):
                complaints.append(
                    f"{source} names the {what} {match[1]}: the tables know which; ask them")
    print(*complaints, f"{len(sources)} files looked at", sep="\n")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
