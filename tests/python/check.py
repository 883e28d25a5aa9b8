#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel octet-int8, installs it into a new environment, and runs the tests there.

    check.py <build of Octet> <directory for environments and the wheel> [<argument of pytest>...]

Exits with 77, which ctest shows as skipped, where the Python packages are missing and cannot be
installed.
"""

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "tools" / "models"))
import packages  # noqa: E402

build, directory = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
if not (build / "octet-build.cmake").exists():
    packages.skip(
        f"{build} has no octet-build.cmake: it was configured without OCTET_BUILD_ENGINES"
    )
if sys.version_info < (3, 10):
    packages.skip("Python 3.10 or later is needed")
packages.need(
    directory / "tools",
    [HERE / "requirements.txt"],
    "nanobind",
    "numpy",
    "pip",
    "pytest",
    "scikit_build_core",
)


def run(*command, **settings):
    result = subprocess.run([str(word) for word in command], check=False, **settings)
    if result.returncode:
        sys.exit(f"FAILED: {' '.join(map(str, command))}")


wheels, user = directory / "wheels", directory / "user"
shutil.rmtree(wheels, ignore_errors=True)
run(
    sys.executable,
    "-m",
    "pip",
    "wheel",
    "-q",
    "--no-deps",
    "--no-build-isolation",
    "-w",
    wheels,
    f"--config-settings=build-dir={directory}/build",
    f"--config-settings=cmake.define.OCTET_BUILD_DIR={build}",
    ROOT / "engines" / "python",
)
(wheel,) = wheels.glob("*.whl")
run(sys.executable, "-m", "venv", "--clear", user)
python = user / "bin" / "python"
if subprocess.run(
    [python, "-m", "pip", "install", "-q", "numpy", "pytest"], check=False
).returncode:
    packages.skip("numpy and pytest cannot be installed")
run(python, "-m", "pip", "install", "-q", "--no-index", wheel)
optional = os.environ.get(
    "OCTET_PYTHON_PACKAGES", ""
).split()  # such as torch, whose tests skip without it
if optional:
    run(python, "-m", "pip", "install", "-q", *optional)
os.chdir(directory)  # so that the package is the installed one
os.execv(
    python,
    [str(python), "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(HERE), *sys.argv[3:]],
)
