# SPDX-License-Identifier: Apache-2.0
"""The Python packages that a script needs."""
import importlib
import os
import pathlib
import subprocess
import sys

SKIPPED = 77  # ctest shows this as skipped


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def need(environment, requirements, *modules):
    """Goes on in a virtual environment of these requirement files if this Python lacks the modules."""
    try:
        for module in modules:
            importlib.import_module(module)
    except ImportError:
        names = ", ".join(str(file.relative_to(pathlib.Path(__file__).resolve().parents[2])) for file in requirements)
        python = environment / "bin" / "python"
        if pathlib.Path(sys.prefix) == environment.resolve():
            skip(f"the Python packages of {names} do not work here")
        if not install(environment, python, requirements):
            skip(f"the Python packages of {names} are missing and cannot be installed")
        os.execv(python, [python, *sys.argv])


def install(environment, python, requirements):
    """Whether the environment has the packages now. Scripts may share it, one after the other: the first one installs.
    Modules are compiled when they are imported, which few are: that halves the time."""
    texts, done = "".join(file.read_text() for file in requirements), environment / "installed.txt"
    wanted = [argument for file in requirements for argument in ("-r", file)]
    if not done.exists() or done.read_text() != texts:
        venv, pip = [sys.executable, "-m", "venv", environment], [sys.executable, "-m", "pip", "--python", python]
        if subprocess.run([*venv, "--without-pip"], check=False).returncode:
            return False
        # A pip of its own takes seconds to make; this Python's, from 22.3 on, installs for another one
        if subprocess.run([*pip, "--version"], check=False, capture_output=True).returncode:
            pip = [python, "-m", "pip"]
            if subprocess.run(venv, check=False).returncode:
                return False
        if subprocess.run([*pip, "install", "-q", "--no-compile", *wanted], check=False).returncode:
            return False
        done.write_text(texts)
    return True
