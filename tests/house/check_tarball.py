#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The release tarball of a commit is the same for everybody, and configures: check_tarball.py BUILD

scripts/tarball makes it here and, a second later, in a clone, with another umask, time zone and
language. What is not committed is in neither. The tarball is configured, not built.
"""

import hashlib
import os
import shutil
import sys
import tarfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from build import ROOT, Build, attempt, run  # noqa: E402


def tarball(root, folder, **options):
    """(SHA-256, bill of materials, path) of what scripts/tarball makes."""
    run(root / "scripts/tarball", folder, **options)
    [path] = folder.glob("*.tar.gz")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    said = Path(f"{path}.sha256").read_text().split()
    if said != [digest, path.name]:
        sys.exit(f"{path.name}.sha256 says {said}, its SHA-256 is {digest}")
    [materials] = folder.glob("*.spdx.json")
    return digest, materials.read_text(), path


def main():
    build = Build(sys.argv[1])
    work = Path(build.text("PROJECT_BINARY_DIR")) / "tarball"
    if attempt("git", "-C", ROOT, "rev-parse", "HEAD")[0]:
        print("Skipped: this tree is no clone")
        sys.exit(77)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    *first, path = tarball(ROOT, work / "first")

    run("git", "clone", "-q", "--depth", "1", f"file://{ROOT}", work / "clone")
    time.sleep(1)  # a second that gzip or tar would write
    os.umask(0o077)
    elsewhere = {**os.environ, "TZ": "Pacific/Auckland", "LC_ALL": "C"}
    *second, _ = tarball(work / "clone", work / "second", env=elsewhere)
    if first != second:
        sys.exit(f"Two tarballs of one commit differ: {first[0]}, {second[0]}")

    name = path.name.removesuffix(".tar.gz")
    with tarfile.open(path) as archive:
        outside = [member for member in archive.getnames() if member.split("/")[0] != name]
        if outside:
            sys.exit(f"{path.name} has {outside[0]}, which is not in {name}/")
        archive.extractall(work)
    print(run(build.text("CMAKE_COMMAND"), "-S", work / name, "-B", work / "build",
              "-G", build.text("CMAKE_GENERATOR"), *build.options()))
    print(first[0])


if __name__ == "__main__":
    main()
