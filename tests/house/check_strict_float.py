#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Float flags that break the numeric contract: check_strict_float.py BUILD [COMPILER FLAG...]

kernels/core/strict_float.h refuses those that a macro shows, in every source file but those without
a float; the flags of cmake/strict_float.cmake beat them all, whether a macro shows them or not. The
compiler is the build's, or a GCC that takes these strict flags.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from build import ROOT, Build

EXAMPLE = "kernels/generic/portable.cc"


class Compiler:
    def __init__(self, command, strict):
        self.command = command
        self.strict = strict
        self.complaints = []

    def compile(self, *flags):
        """(status, output, errors)."""
        done = subprocess.run([*self.command, "-std=c++17", "-w", f"-I{ROOT}", f"-I{ROOT}/include",
                               "-DOCTET_WITH_INT16=1", *flags],
                              cwd=ROOT, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def expect_refusal(self, source, *flags):
        status, _, errors = self.compile(*flags, "-E", source)
        if not status or not re.search(r"strict_float.h:\d+:\d+: error:", errors):
            self.complaints.append(f"{source} is not refused with the flags {flags}: {errors}")

    def code(self, *flags):
        """As compile. Through a file, because zig prints none."""
        with tempfile.TemporaryDirectory() as folder:
            code = Path(folder) / "code.s"
            status, _, errors = self.compile(*flags, "-O2", "-g0", "-DOCTET_STRICT_FLOAT",
                                             *self.strict, "-S", "-o", str(code), EXAMPLE)
            text = code.read_text(encoding="utf-8") if code.exists() else ""
            # Clang's name of the object for Windows: another one each time
            return status, re.sub(r"\n.*# Object name\n", "\n", text), errors


def main():
    build = Build(sys.argv[1])
    gcc = build.text("CMAKE_CXX_COMPILER_ID") == "GNU"
    compiler = Compiler(build.cxx_compiler(), build.items("octet_strict_float_flags"))
    if sys.argv[2:]:
        gcc = True
        compiler = Compiler([sys.argv[2]], sys.argv[3:])

    # Clang has macros for few of its flags.
    shown = [["-ffast-math"], ["-Ofast"], ["-ffinite-math-only"]]
    hidden = [["-funsafe-math-optimizations"], ["-freciprocal-math"], ["-fno-signed-zeros"]]
    if gcc:
        shown += hidden + [["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"]]
        hidden = []
    hidden.append(["-ffp-contract=fast"])
    # zig takes it for -O3
    if "__FAST_MATH__" not in compiler.compile("-Ofast", "-dM", "-E", "-x", "c++", "/dev/null")[1]:
        shown.remove(["-Ofast"])
        hidden.append(["-Ofast"])

    compiler.expect_refusal(EXAMPLE)
    for flags in shown:
        compiler.expect_refusal(EXAMPLE, "-DOCTET_STRICT_FLOAT", *flags)
    macros = compiler.compile("-dM", "-E", "-x", "c++", "/dev/null")[1]
    if "__i386__" in macros or ("__x86_64__" in macros and gcc):
        compiler.expect_refusal(EXAMPLE, "-DOCTET_STRICT_FLOAT", "-mfpmath=387")

    status, expected, errors = compiler.code()
    if status or not expected:
        sys.exit(f"{EXAMPLE} does not compile with {compiler.strict}: {errors}")
    for flags in shown + hidden:
        _, code, errors = compiler.code(*flags)
        if code != expected:
            compiler.complaints.append(
                f"{flags} before {compiler.strict} changes the code of {EXAMPLE}: {errors}")

    for source in build.items("octet_sources"):
        if re.search("float|double", (ROOT / source).read_text(encoding="utf-8")):
            compiler.expect_refusal(source, "-DOCTET_STRICT_FLOAT", "-ffast-math")
    print(*compiler.complaints, sep="\n")
    sys.exit(bool(compiler.complaints))


if __name__ == "__main__":
    main()
