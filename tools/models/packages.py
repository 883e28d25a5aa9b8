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
        wanted = [argument for file in requirements for argument in ("-r", file)]
        for command in ([sys.executable, "-m", "venv", environment], [python, "-m", "pip", "install", "-q", *wanted]):
            if subprocess.run(command, check=False).returncode:
                skip(f"the Python packages of {names} are missing and cannot be installed")
        os.execv(python, [python, *sys.argv])
