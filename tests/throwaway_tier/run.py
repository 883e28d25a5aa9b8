#!/usr/bin/env python3
"""Follows docs/add-a-tier.md and docs/add-a-format.md once: run.py BUILD

In a copy of the library: a tier with a feature, a format and a kernel of its own. Then the library
must find it, pack for it and compute with it, with the right bytes, and nothing else must have had
to change.
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
COPIED = ("cmake", "analysis", "dispatch", "include", "kernels", "operators", "packing")

TIER = """
    {
        .isa = Isa::kThrowaway,
        .name = "THROWAWAY",
        .architecture = Architecture::kAny,
        .needs = kHasThrowaway,
        .s8 = FormatId::kS8_8x4,
        .u8 = FormatId::kS8_8x4,
        .s16 = FormatId::kS16_4x2,
        .costs = like(kScalarCosts, [](TierCosts& c) constexpr { c.mr = 32; c.nr = 8; }),
    },"""
KERNELS = """#if defined(OCTET_THROWAWAY)
TIER(kThrowaway, portable_ops, portable_winograd)
INT8(kThrowaway, throwaway_u8s8_32x8x4, kChosen)
#endif
"""
BUILT = """octet_add_tier(THROWAWAY FLAGS SOURCES ../scalar/throwaway_u8s8_32x8x4.cc PROBE 0)
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
    # Its number. 31 is the last; a tier to stay takes the next.
    add("include/octet/octet.h", ",\n  OCTET_ISA_THROWAWAY = 31", before="\n} octet_isa")
    add("kernels/core/isa.h", "kThrowaway = 31, ", before="kScalar = 1,")
    # What it needs, which this CPU has.
    add("kernels/core/feature.h", "  kHasThrowaway = 1u << 31,\n",
        after="enum Feature : uint32_t {\n")
    add("dispatch/cpu/features.cc", "kHasThrowaway | ", after="cpu.features = ")
    # How its weights lie: a format of its own, as docs/add-a-format.md says; and its kernel.
    add("kernels/scalar/kernels.h",
        "constexpr RhsLayout kThrowawayLayout = {8, 8, 4, ElementType::kS8};\n"
        "extern const MicroKernel throwaway_u8s8_32x8x4;\n", before="\n}  // namespace octet\n")
    shutil.copy(HERE / "throwaway_u8s8_32x8x4.cc", COPY / "kernels/scalar")
    add("packing/format.h", "  kS8_8x4 = 65535,\n", after="enum class FormatId : uint16_t {\n")
    add("dispatch/tables/formats.cc",
        "    {FormatId::kS8_8x4, \"s8_8x4\", kThrowawayLayout, kInt8, &kDensePacking},\n",
        after="constexpr WeightFormat kFormats[] = {\n")
    # Its rows.
    add("dispatch/tables/tiers.cc", TIER, after="constexpr Tier kTiers[] = {")
    add("dispatch/tables/kernels.def", KERNELS, before="TIER(kScalar,")
    # How it is built.
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
              *BUILD.options(), "-DOCTET_TIERS=THROWAWAY",
              *[f"-DOCTET_{option}=OFF" for option in off]))
    print(run(cmake, "--build", COPY / "build"))
    print(run(sys.executable, ROOT / "tests/house/check_layering.py", COPY))
    program = COPY / "build/parts"
    run(*BUILD.cxx_compiler(), *BUILD.flags(), "-std=c++17", "-O1", f"-I{COPY}/include",
        ROOT / "tests/consumer/parts/main.cc", COPY / "build/liboctet.a", "-o", program)

    # One product, and convolutions by all algorithms, beside plain loops.
    its = "throwaway_u8s8_32x8x4: right"
    expect(rf"\A{its}\n(.|\n)*\ndirect by {its}\nim2col by {its}\n", program,
           env={**os.environ, "OCTET_MAX_ISA": "THROWAWAY"})
    expect(r"\Ascalar_u8s8_4x16x4: right", program, env={**os.environ, "OCTET_MAX_ISA": "SCALAR"})


if __name__ == "__main__":
    main()
