#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows docs/add-a-tier.md and docs/add-a-format.md once: run.py BUILD

In a copy of the library: a tier with a feature, two weight formats and two kernels of its own. The
library must then find the tier, pack for it and compute the right bytes with it, and no other file
must have changed.
"""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "house"))
from build import ROOT, Build, run  # noqa: E402

BUILD = Build(sys.argv[1])
COPY = Path(BUILD.text("PROJECT_BINARY_DIR")) / "throwaway_tier"
COPIED = ("cmake", "analysis", "dispatch", "engines", "include", "kernels", "operators", "packing")

TIER = """
    {
        .tier_id = TierId::kThrowaway,
        .name = "THROWAWAY",
        .architecture = Architecture::kAny,
        .needs = kHasThrowaway,
        .s8 = FormatId::kS8_8x4,
        .u8 = FormatId::kS8_8x4,
        .s4 = FormatId::kS4_4x8,
        .s16 = FormatId::kS16_4x2,
        .costs = like(kScalarCosts, [](TierCosts& c) constexpr { c.mr = 32; c.nr = 8; }),
    },"""
KERNELS = """#if defined(OCTET_THROWAWAY)
TIER(kThrowaway, portable_ops, portable_winograd)
INT8(kThrowaway, throwaway_u8s8_32x8x4, kChosen, kHasThrowaway)
INT8(kThrowaway, throwaway_u8s8_4x16x16, kChosen)
#endif
"""
BUILT = """octet_add_tier(THROWAWAY FLAGS
  SOURCES ../scalar/throwaway_u8s8_32x8x4.cc ../scalar/throwaway_u8s8_4x16x16.cc PROBE 0)
"""
LAYOUTS = """constexpr RhsLayout kThrowawayLayout = {8, 8, 4, ElementType::kS8};
extern const MicroKernel throwaway_u8s8_32x8x4;
constexpr RhsLayout kThrowawayQuarters = {16, 16, 16, ElementType::kS8, 2};
extern const MicroKernel throwaway_u8s8_4x16x16;
"""
FORMATS = """    {FormatId::kS8_8x4, "s8_8x4", kThrowawayLayout, kInt8, &kDensePacking},
    {FormatId::kS2_16x16, "s2_16x16", kThrowawayQuarters, kInt8, &kQuarterPacking},
"""


def add(file, text, *, before="", after=""):
    """Puts a text before or after another, which the file has once."""
    path, place = COPY / file, before or after
    old = path.read_text(encoding="utf-8")
    if old.count(place) != 1:
        sys.exit(f"{file} has {place!r} {old.count(place)} times: "
                 "has docs/add-a-tier.md changed, too?")
    path.write_text(old.replace(place, text + place if before else place + text), encoding="utf-8")


def add_tier():
    # The tier's number. 31 is the last; a real tier takes the next one.
    add("include/octet/octet.h", ",\n  OCTET_ISA_THROWAWAY = 31", before="\n} octet_isa")
    add("kernels/core/tier_id.h", "kThrowaway = 31, ", before="kScalar = 1,")
    # The feature that it needs, which this CPU has.
    add("kernels/core/feature.h", "  kHasThrowaway = 1u << 31,\n",
        after="enum Feature : uint32_t {\n")
    add("dispatch/cpu/features.cc", "kHasThrowaway | ", after="cpu.features = ")
    # How its weights lie: formats of its own, as docs/add-a-format.md says; and its kernels.
    add("kernels/scalar/kernels.h", LAYOUTS, before="\n}  // namespace octet\n")
    for name in ("throwaway_u8s8_32x8x4.cc", "throwaway_u8s8_4x16x16.cc"):
        shutil.copy(HERE / name, COPY / "kernels/scalar")
    for name in ("quarters.h", "quarters.cc"):
        shutil.copy(HERE / name, COPY / "packing")
    add("packing/sources.cmake", " quarters.cc", after="octet_sources(int4.cc interleave.cc")
    add("packing/format.h", "  kS8_8x4 = 65535,\n  kS2_16x16 = 65534,\n",
        after="enum class FormatId : uint16_t {\n")
    add("dispatch/tables/formats.cc", FORMATS, after="constexpr WeightFormat kFormats[] = {\n")
    add("dispatch/tables/formats.cc", '#include "packing/quarters.h"\n',
        before='#include "packing/sparse.h"')
    # Its rows.
    add("dispatch/tables/tiers.cc", TIER, after="constexpr Tier kTiers[] = {")
    add("dispatch/tables/kernels.def", KERNELS, before="TIER(kScalar,")
    # The build.
    with open(COPY / "kernels/x86/tiers.cmake", "a", encoding="utf-8") as tiers:
        tiers.write(BUILT)


def expect(pattern, *command, **options):
    output = run(*command, **options)
    if not re.search(pattern, output):
        sys.exit(f"{shlex.join(map(str, command))}: expected {pattern}:\n{output}")
    print(output)


def main():
    shutil.rmtree(COPY, ignore_errors=True)
    for folder in COPIED:
        shutil.copytree(ROOT / folder, COPY / folder)
    shutil.copy(ROOT / "CMakeLists.txt", COPY)
    add_tier()

    cmake = BUILD.text("CMAKE_COMMAND")
    off = ("BUILD_TESTS", "BUILD_BENCHMARKS", "BUILD_TOOLS", "BUILD_EXAMPLES", "INSTALL",
           "WITH_ADAPTERS")
    print(run(cmake, "-S", COPY, "-B", COPY / "build", "-G", BUILD.text("CMAKE_GENERATOR"),
              *BUILD.options(), "-DCMAKE_BUILD_TYPE=Debug", "-DOCTET_TIERS=THROWAWAY",
              *[f"-DOCTET_{option}=OFF" for option in off]))
    print(run(cmake, "--build", COPY / "build"))
    print(run(sys.executable, ROOT / "tests/house/check_layering.py", COPY))
    program = COPY / "build/parts"
    run(*BUILD.cxx_compiler(), *BUILD.flags(), "-std=c++17", "-O1", f"-I{COPY}/include",
        ROOT / "tests/consumer/parts/main.cc", COPY / "build/liboctet.a", "-o", program)

    of_2_bits = COPY / "build/parts_of_2_bits"
    run(*BUILD.cxx_compiler(), *BUILD.flags(), "-std=c++17", "-O1", "-fno-fast-math",
        "-ffp-contract=off", "-DOCTET_STRICT_FLOAT", f"-I{COPY}", f"-I{COPY}/include",
        HERE / "two_bits.cc", COPY / "build/liboctet.a", "-o", of_2_bits)

    # One product, and convolutions by all algorithms, beside plain loops.
    its = "throwaway_u8s8_32x8x4: right"
    expect(rf"\A{its}\n(.|\n)*\ndirect by {its}\nim2col by {its}\n", program,
           env={**os.environ, "OCTET_MAX_ISA": "THROWAWAY"})
    expect(r"\Ascalar_u8s8_4x16x4: right", program, env={**os.environ, "OCTET_MAX_ISA": "SCALAR"})

    # Matrices and filters of 2 bits.
    its = "by throwaway_u8s8_4x16x16: right\n"
    expect(rf"\A2x37x21 {its}(.|\n)*direct {its}(.|\n)*im2col {its}", of_2_bits,
           env={**os.environ, "OCTET_MAX_ISA": "THROWAWAY"})


if __name__ == "__main__":
    main()
