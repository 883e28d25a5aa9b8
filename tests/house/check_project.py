#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file has a licence (REUSE), and GitHub's workflows are what GitHub takes:
check_project.py VENV

Workflows are held to GitHub's schema; by actionlint, too, where that is installed.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools/models"))
import packages  # noqa: E402

packages.need(Path(sys.argv[1]), [Path(__file__).parent / "requirements.txt"], "reuse",
              "check_jsonschema")


def main():
    if subprocess.run(["git", "-C", ROOT, "rev-parse"], capture_output=True, check=False).returncode:
        packages.skip("git does not list the files of this tree")
    workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
    commands = [[sys.executable, "-m", "reuse", "--root", ROOT, "lint", "--quiet"],
                [sys.executable, "-m", "check_jsonschema", "--builtin-schema",
                 "vendor.github-workflows", *workflows]]
    if shutil.which("actionlint"):
        commands.append(["actionlint", *workflows])
    failed = [command for command in commands if subprocess.run(command, check=False).returncode]
    if failed:
        subprocess.run([sys.executable, "-m", "reuse", "--root", ROOT, "lint"], check=False)
    missing = [word for path in workflows for word in path.read_text().split()
               if word.startswith("scripts/") and not (ROOT / word).is_file()]
    print(*(f"There is no {word}, which a workflow calls" for word in missing), sep="\n")
    sys.exit(bool(failed or missing))


if __name__ == "__main__":
    main()
