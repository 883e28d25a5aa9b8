#!/usr/bin/env python3
"""Installs Octet, moves the installation to prove that it is relocatable, then builds and runs one
consumer against it: run.py BUILD CONFIG c|cpp|pkg-config|readme|integration"""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "house"))
from build import ROOT, Build, run  # noqa: E402

DOCUMENTS = {"readme": "README.md", "integration": "docs/integration.md"}


def say(*command, **options):
    print(shlex.join(map(str, command)))
    print(run(*command, **options))


def by_pkg_config(build, consumer, work, prefix):
    """A program of one C file: the project c's, or the C example of a document, as it is there."""
    source = HERE / "c/main.c"
    if consumer in DOCUMENTS:
        source = work / "example.c"
        text = (ROOT / DOCUMENTS[consumer]).read_text(encoding="utf-8")
        source.write_text(text.rpartition("\n```c\n")[2].partition("\n```")[0] + "\n")
    pkg_config = shutil.which("pkg-config") or shutil.which("pkgconf")
    if not pkg_config:
        sys.exit("There is no pkg-config")
    # Beside what it may require.
    packages = prefix / build.text("CMAKE_INSTALL_LIBDIR") / "pkgconfig"
    where = {**os.environ, "PKG_CONFIG_PATH": str(packages)}
    flags = shlex.split(run(pkg_config, "--cflags", "--libs", "octet", env=where))
    say(*build.c_compiler(), "-std=c11", "-Wall", "-Wpedantic", "-Werror", source, *flags,
        "-o", work / "consumer")
    return work / "consumer"


def by_cmake(build, config, consumer, work, prefix):
    cmake = build.text("CMAKE_COMMAND")
    toolchain = build.text("CMAKE_TOOLCHAIN_FILE")
    say(cmake, "-S", HERE / consumer, "-B", work / "build", "-G", build.text("CMAKE_GENERATOR"),
        f"-DCMAKE_BUILD_TYPE={config}", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}",
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_FIND_ROOT_PATH={prefix}")
    say(cmake, "--build", work / "build")
    return work / "build/consumer"


def main():
    path, config, consumer = sys.argv[1:]
    build = Build(path)
    work = Path(build.text("PROJECT_BINARY_DIR")) / "consumer" / consumer
    prefix = work / "prefix"
    shutil.rmtree(work, ignore_errors=True)
    say(build.text("CMAKE_COMMAND"), "--install", build.text("PROJECT_BINARY_DIR"),
        "--prefix", work / "elsewhere", "--config", config, "--component", "development")
    (work / "elsewhere").rename(prefix)
    if consumer in ("c", "cpp"):
        program = by_cmake(build, config, consumer, work, prefix)
    else:
        program = by_pkg_config(build, consumer, work, prefix)
    headers = run(build.text("CMAKE_OBJDUMP"), "-p", program)
    cxx_runtime = re.search(r"NEEDED +(libstdc|libgcc_s|libc\+\+)", headers)
    if consumer != "cpp" and cxx_runtime:
        sys.exit(f"A C program that links Octet needs {cxx_runtime[1]}")
    say(*build.items("CMAKE_CROSSCOMPILING_EMULATOR"), program)


if __name__ == "__main__":
    main()
