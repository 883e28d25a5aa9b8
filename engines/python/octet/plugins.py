# SPDX-License-Identifier: Apache-2.0
"""Where the wheel keeps the plug-ins of engines."""

import pathlib


def library(name: str, needs: str) -> str:
    """The path of a shared library of the wheel. RuntimeError: the wheel was built without it."""
    path = pathlib.Path(__file__).with_name("lib") / name
    if not path.exists():
        raise RuntimeError(f"this wheel was built without {name}, which needs {needs}")
    return str(path)
