#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of octet.torch, where a Python has PyTorch and pytest.

    torch_check.py <the directory that check.py was given>

The Python is this one, or OCTET_TORCH_PYTHON, of the same version. PyTorch takes gigabytes, so that
nothing installs it: without it this exits with 77, which ctest shows as skipped.
"""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "tools" / "models"))
import packages  # noqa: E402

directory = pathlib.Path(sys.argv[1]).resolve()
python = os.environ.get("OCTET_TORCH_PYTHON", sys.executable)
wheels = list((directory / "wheels").glob("*.whl"))
if subprocess.run([python, "-c", "import numpy, pytest, torch"], check=False).returncode:
    packages.skip(f"{python} has no PyTorch and pytest; OCTET_TORCH_PYTHON names one that has")
if not wheels:
    packages.skip(f"{directory} has no wheel: run the test python first")
target = directory / "torch"
command = [python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--upgrade"]
if subprocess.run([*command, "--target", str(target), str(wheels[0])], check=False).returncode:
    sys.exit(f"FAILED: {wheels[0].name} cannot be installed for {python}")
os.environ["PYTHONPATH"] = str(target)
os.chdir(directory)
test = [python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(HERE / "test_torch.py")]
os.execv(python, test)
