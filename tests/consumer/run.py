#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs Octet, moves the installation to prove that it is relocatable, then builds and runs one
consumer against it, or all examples of one file:
run.py BUILD CONFIG c|cpp|pkg-config|readme|integration|examples"""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "house"))
from build import ROOT, Build, run  # noqa: E402

EXAMPLES = ROOT / "examples"
DOCUMENTS = {"readme": "README.md", "integration": "docs/integration.md"}


def say(*command, **options):
    print(shlex.join(map(str, command)))
    print(run(*command, **options))


def block_of(document, language):
    """The last block of a document in this language."""
    text = document.read_text(encoding="utf-8")
    return text.rpartition(f"\n```{language}\n")[2].partition("\n```")[0] + "\n"


def by_pkg_config(build, consumer, work, prefix):
    """A program of one C file: the project c's, or the C example of a document, as it is there."""
    source = HERE / "c/main.c"
    if consumer in DOCUMENTS:
        source = work / "example.c"
        source.write_text(block_of(ROOT / DOCUMENTS[consumer], "c"))
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


def by_cmake(build, config, source, work, prefix):
    cmake = build.text("CMAKE_COMMAND")
    toolchain = build.text("CMAKE_TOOLCHAIN_FILE")
    say(cmake, "-S", source, "-B", work / "build", "-G", build.text("CMAKE_GENERATOR"),
        f"-DCMAKE_BUILD_TYPE={config}", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}",
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_FIND_ROOT_PATH={prefix}")
    say(cmake, "--build", work / "build")
    return work / "build"


def example_programs(build, config, work, prefix):
    """The examples in a project of their own, whose CMakeLists.txt is the one that their README
    shows."""
    source = work / "source"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(block_of(EXAMPLES / "README.md", "cmake"))
    examples = [path for path in sorted(EXAMPLES.iterdir()) if path.suffix in (".c", ".cc")]
    for example in examples:
        shutil.copy(example, source)
    built = by_cmake(build, config, source, work, prefix)
    return [built / example.stem for example in examples]


def main():
    path, config, consumer = sys.argv[1:]
    build = Build(path)
    work = Path(build.text("PROJECT_BINARY_DIR")) / "consumer" / consumer
    prefix = work / "prefix"
    shutil.rmtree(work, ignore_errors=True)
    say(build.text("CMAKE_COMMAND"), "--install", build.text("PROJECT_BINARY_DIR"),
        "--prefix", work / "elsewhere", "--config", config, "--component", "development")
    (work / "elsewhere").rename(prefix)
    if consumer == "examples":
        programs = example_programs(build, config, work, prefix)
    elif consumer in ("c", "cpp"):
        programs = [by_cmake(build, config, HERE / consumer, work, prefix) / "consumer"]
    else:
        programs = [by_pkg_config(build, consumer, work, prefix)]
    for program in programs:
        headers = run(build.text("CMAKE_OBJDUMP"), "-p", program)
        cxx_runtime = re.search(r"NEEDED +(libstdc|libgcc_s|libc\+\+)", headers)
        if consumer not in ("cpp", "examples") and cxx_runtime:
            sys.exit(f"A C program that links Octet needs {cxx_runtime[1]}")
        say(*build.items("CMAKE_CROSSCOMPILING_EMULATOR"), program, cwd=work)


if __name__ == "__main__":
    main()
