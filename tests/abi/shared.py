#!/usr/bin/env python3
"""The shared library: what it exports and needs, and programs of before: shared.py BUILD

One is built and installed, of the SCALAR tier alone. The header of 0.2 makes the shared library of
that time, without code: a program that was linked with it runs on today's, and abidiff compares
both. Structs may grow as "versions" in octet.h says: at the end, or into `reserved`.
"""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "house"))
from build import ROOT, Build, attempt, run  # noqa: E402

BUILD = Build(sys.argv[1])
WORK = Path(BUILD.text("PROJECT_BINARY_DIR")) / "shared"
MAY_NEED = re.compile(r"lib[cm]\.so\.6|ld-linux.*|libcpuinfo\.so.*")
# abidiff may say of a function that the structs behind its pointers have grown.
GROWN = re.compile(
    r"\[C\] 'function .*has some indirect sub-type changes:|parameter \d+ of type .* has sub-type "
    r"changes:|in (pointed to|unqualified underlying) type .*:|underlying type .* changed:|"
    r"\d+ data member (insertions?|changes?).*|no data member change.*|"
    r"'.*', at offset \d+ \(in bits\) at .*|"
    r"type of 'octet_(epilogue|conv2d_shape|machine) \w+' changed:|"
    r"type of 'uintptr_t reserved\[\d\]' changed:|type name changed from 'uintptr_t\[.*|"
    r"array type (size|subrange) .*changed.*")
# ... and of a member `reserved` that it is further behind, and shorter.
SHORTER = re.compile(r"and offset changed.*|array subrange changed:|"
                     r"upper bound of '.*' change from '(\d+)' to '(\d+)'")
complaints = []


def prototypes(header):
    """{name: prototype without its semicolon} of the functions that a header declares."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    found = re.finditer(r"^(?!typedef|static|extern)[A-Za-z][\w\s*]*\b(octet_\w+)\([^;{}]*\);",
                        text, re.M)
    return {match[1]: match[0][:-1] for match in found}


def build_shared():
    """The installed library."""
    shutil.rmtree(WORK, ignore_errors=True)
    off = ["-DOCTET_BUILD_TOOLS=OFF", "-DOCTET_BUILD_EXAMPLES=OFF", "-DOCTET_BUILD_ENGINES=OFF",
           "-DOCTET_WITH_ADAPTERS=OFF", "-DCMAKE_INSTALL_LIBDIR=lib"]
    cmake = BUILD.text("CMAKE_COMMAND")
    run(cmake, "-S", ROOT, "-B", WORK / "build", "-G", BUILD.text("CMAKE_GENERATOR"),
        *BUILD.options(), "-DCMAKE_BUILD_TYPE=Debug", "-DBUILD_SHARED_LIBS=ON",
        "-DOCTET_TIERS=SCALAR", *off)
    run(cmake, "--build", WORK / "build", "--parallel", len(os.sched_getaffinity(0)))
    run(cmake, "--install", WORK / "build", "--prefix", WORK / "prefix")
    return WORK / "prefix/lib/liboctet.so.0"


def build_of_0_2():
    """The shared library of 0.2 as a linker and abidiff see it."""
    source = WORK / "of_0_2.c"
    bodies = [f"{each} {{ __builtin_trap(); }}"
              for each in prototypes(HERE / "octet_0_2.h").values()]
    source.write_text("\n".join(['#include "octet_0_2.h"', *bodies, ""]))
    library = WORK / "of_0_2/liboctet.so"
    library.parent.mkdir()
    run(*BUILD.c_compiler(), "-w", "-g", "-shared", "-fPIC", f"-I{HERE}", source, "-o", library,
        "-Wl,-soname,liboctet.so.0", f"-Wl,--version-script={ROOT}/packaging/octet.map")
    return library


def check_exports(library):
    symbols = run(BUILD.text("CMAKE_NM"), "-DP", "--defined-only", library)
    exported = set(re.findall(r"^(\S+)@@OCTET_0\.2 T", symbols, re.M))
    others = re.findall(r"^(?!OCTET_0\.2)(?!\S+@@OCTET_0\.2 T)(\S+)", symbols, re.M)
    if others:
        complaints.append(f"It exports {others}")
    declared = {name for header in (ROOT / "include/octet").glob("*.h")
                if header.stem not in ("openmp", "pthreadpool") for name in prototypes(header)}
    if exported != declared:
        complaints.append("Exported, or declared in a header, and not both (a declaration lacks "
                          f"OCTET_API): {sorted(exported ^ declared)}")
    dynamic = run(BUILD.text("CMAKE_OBJDUMP"), "-p", library)
    complaints.extend(f"It needs {name}" for name in re.findall(r"NEEDED +(\S+)", dynamic)
                      if not MAY_NEED.fullmatch(name))
    if not re.search(r"SONAME +liboctet\.so\.0$", dynamic, re.M):
        complaints.append("Its soname is not liboctet.so.0")
    print(f"{len(exported)} functions exported")


def check_program(name, source, *flags):
    """Compiles a C program, and runs it with today's library."""
    run(*BUILD.c_compiler(), "-std=c11", source, *flags, "-o", WORK / name)
    found = {**os.environ, "LD_LIBRARY_PATH": str(WORK / "prefix/lib")}
    status, output = attempt(WORK / name, env=found)
    print(output)
    if status:
        complaints.append(f"{name}: {status}")


def check_types(old, library):
    if not shutil.which("abidiff"):
        print("There is no abidiff (Debian: abigail-tools): types were not compared")
        return
    status, output = attempt("abidiff", "--no-added-syms", old, library)
    if status & 8:
        complaints.append(f"abidiff: {output}")
    member = ""
    for line in filter(None, map(str.strip, output.split("\n")[3:])):
        member = line if line.startswith("type of '") else member
        size = re.fullmatch(r"type size changed from (\d+) to (\d+) \(in bits\)", line)
        shorter = " reserved[" in member and SHORTER.fullmatch(line)
        longer = shorter and shorter[1] and int(shorter[1]) <= int(shorter[2])
        if not (size and int(size[1]) < int(size[2]) or GROWN.fullmatch(line)
                or (shorter and not longer)
                or re.fullmatch(r"\d+ functions? with some indirect sub-type change:", line)):
            complaints.append(f"abidiff, of {member or 'a function'}: {line}")
    print(f"{len(re.findall(r'type size changed', output))} structs have grown, as abidiff sees it")


def main():
    library, old = build_shared(), build_of_0_2()
    check_exports(library)
    check_program("program_of_0_2", HERE / "program_0_2.c", f"-I{HERE}", old)
    packages = {**os.environ, "PKG_CONFIG_PATH": str(WORK / "prefix/lib/pkgconfig")}
    names = [path.stem for path in (WORK / "prefix/lib/pkgconfig").iterdir()]
    flags = shlex.split(run("pkg-config", "--cflags", "--libs", *names, env=packages))
    check_program("consumer", HERE.parent / "consumer/c/main.c", *flags)
    check_types(old, library)
    print(*complaints, sep="\n")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
