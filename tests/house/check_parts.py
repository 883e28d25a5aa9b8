#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Libraries with some of the parts: check_parts.py BUILD

Each is configured, put together of this build's objects and of tables of its own, linked with
tests/consumer/parts and run.
"""

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

from build import ROOT, Build, attempt, run

BUILD = Build(sys.argv[1])
WORK = Path(BUILD.text("PROJECT_BINARY_DIR")) / "parts"
# These depend on the parts; other objects are this build's.
COMPILED_ANEW = re.compile(
    r"^dispatch/tables/|algorithms/table\.cc|not_built|^dispatch/cpu/features|"
    r"^operators/(gemm/(check|weights)|epilogue/s16)\.cc")
# Other files that lack something without a part.
OF_PART = {
    "WITH_INT4=OFF": r"gemm/(loops|schedule)\.cc|self_test/products\.cc",
    "WITH_RUNTIME_WEIGHTS=OFF": r"gemm/loops\.cc|self_test/products\.cc",
    "WITH_INT16=OFF": r"gemm/(loops|schedule)\.cc|self_test/self_test\.cc|_dw\d+\.cc|_ops\.cc|generic/portable\.cc",
}
FILE_FUNCTIONS = re.compile(
    r"^_?(f?open|openat|opendir|f?read|readlink|l?stat|fstat|sysconf|cpuinfo_[a-z]+)(64)? U", re.M)
ARCHIVE_MEMBER = re.compile(r"liboctet\.a\(([^)]*)\.o\)")
NOT_OF_PRODUCTS = re.compile(r"octet_conv2d|Conv|[Ww]inograd|[Dd]epthwise|octet_sparse|prune|"
                             r"read_stream|read_indexed")
NOT_OF_CONVOLUTIONS = re.compile(r"[su]\d+[su]4_|i8mm_int4|_runtime\.| T octet_gemm_")

complaints = []


def attempted(off, *command, **options):
    """The output of a command; a complaint if it fails."""
    status, output = attempt(*command, **options)
    if status:
        complaints.append(f"With {off}: {shlex.join(map(str, command))}: {status}\n{output}")
    return output


def objects_of(build, off):
    """The objects of the files that this configuration compiles."""
    compiled_anew = [COMPILED_ANEW, *(OF_PART[part] for part in off if part in OF_PART)]
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = str(Path(entry["file"]).relative_to(ROOT))
        if any(re.search(files, file) for files in compiled_anew):
            command = shlex.split(entry["command"])
            target = build / command[command.index("-o") + 1]
            target.parent.mkdir(parents=True, exist_ok=True)
            attempted(off, *command, "-O1", cwd=build)  # compiles faster, and is as right
            yield target
        else:
            yield from (path for path in BUILD.items("octet_objects") if f"/{file}." in path)


def check(*off):
    build = WORK / re.sub(r"\W", "_", "".join(off))
    attempted(off, BUILD.text("CMAKE_COMMAND"), "-S", ROOT, "-B", build,
              "-G", BUILD.text("CMAKE_GENERATOR"), *BUILD.options(),
              *[f"-DOCTET_{option}" for option in off],
              "-DOCTET_BUILD_TESTS=OFF", "-DOCTET_BUILD_BENCHMARKS=OFF", "-DOCTET_BUILD_TOOLS=OFF",
              "-DOCTET_BUILD_EXAMPLES=OFF", "-DOCTET_INSTALL=OFF", "-DOCTET_WITH_ADAPTERS=OFF",
              "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    objects = list(objects_of(build, off))
    if "WITH_CPU_FILES=OFF" in off:
        undefined = attempted(off, BUILD.text("CMAKE_NM"), "-P", "-u", *objects)
        opened = FILE_FUNCTIONS.findall(undefined)
        if opened:
            complaints.append(f"With {off} the library still refers to files: {opened}")
    attempted(off, *BUILD.cxx_compiler(), *BUILD.flags(), WORK / "parts.o", *objects, "-o",
              build / "parts")
    output = attempted(off, *BUILD.items("CMAKE_CROSSCOMPILING_EMULATOR"), build / "parts")
    # A part that is left out is refused by the option's name, and nothing else is.
    for part in ("CONVOLUTION", "SPARSE", "INT4", "INT16", "RUNTIME_WEIGHTS"):
        if (f"OCTET_WITH_{part}=OFF" in output) != (f"WITH_{part}=OFF" in off):
            complaints.append(f"With {off}, of {part}:\n{output}")
    print(f"With {off}:\n{output}")


def check_programs():
    """A program that only multiplies matrices links nothing of convolutions, nor of reading sparse
    weights; one that only convolves links no kernels that only products have."""
    for program, unwanted in (("gemm", NOT_OF_PRODUCTS), ("conv", NOT_OF_CONVOLUTIONS)):
        linked = run(*BUILD.c_compiler(), *BUILD.flags(), f"-I{ROOT}/include",
                     ROOT / f"tests/consumer/sizes/{program}.c", BUILD.text("octet_archive"),
                     "-Wl,-M", "-o", WORK / program)
        files = set(ARCHIVE_MEMBER.findall(linked))
        symbols = run(BUILD.text("CMAKE_NM"), "-C", WORK / program).splitlines()
        found = [name for name in (*sorted(files), *symbols) if unwanted.search(name)
                 and "octet_conv_algorithm_name" not in name]  # of all, for OCTET_CONV
        if not files or found:
            complaints.append(f"{program} of {len(files)} files links what it does not need: {found}")


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir()
    run(*BUILD.cxx_compiler(), *BUILD.flags(), "-std=c++17", "-O1", f"-I{ROOT}/include", "-c",
        ROOT / "tests/consumer/parts/main.cc", "-o", WORK / "parts.o")
    check_programs()
    check("TIERS=SCALAR")
    tiers = BUILD.items("octet_tiers")
    # A tier that is built alone lacks all that it, or a table, might take from another one.
    for tier in tiers:
        check(f"TIERS={tier}")
    check("WITH_CPU_FILES=OFF", "WITH_TUNING=OFF")
    if BUILD.text("CMAKE_CROSSCOMPILING") != "TRUE":
        for part in ("CONVOLUTION", "SPARSE", "INT4", "INT16", "RUNTIME_WEIGHTS", "TUNING",
                     "NETWORK", "TRAFFIC", "WINOGRAD", "DEPTHWISE"):
            check(f"WITH_{part}=OFF")
        check("WITH_CONVOLUTION=OFF", "WITH_TUNING=OFF")
        check("WITH_WINOGRAD=OFF", "WITH_DEPTHWISE=OFF", f"TIERS={tiers[0]}")
        check("WITH_CONVOLUTION=OFF", "WITH_SPARSE=OFF", f"TIERS={tiers[0]}")
    print(*complaints, sep="\n")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
