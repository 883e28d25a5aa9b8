# SPDX-License-Identifier: Apache-2.0
"""The octet command that the wheel carries: the console script octet."""

import os
import pathlib
import sys


def main() -> None:
    """Becomes the program octet/bin/octet, with the arguments of this process."""
    program = pathlib.Path(__file__).with_name("bin") / "octet"
    if not program.exists():
        sys.exit(
            "octet: this wheel was built without the command, "
            "which needs CLI11, fmt and nlohmann_json"
        )
    os.execv(program, [str(program), *sys.argv[1:]])
