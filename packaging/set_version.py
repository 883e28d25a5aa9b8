#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a version wherever it stands, and dates the changelog's unreleased section:
set_version.py VERSION [DATE]"""

import datetime
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def replaced(name, *pairs):
    """Each pattern has to be there once."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for pattern, by in pairs:
        text, count = re.subn(pattern, by, text, flags=re.M)
        if count != 1:
            sys.exit(f"{name}: {pattern} is there {count} times")
    (ROOT / name).write_text(text, encoding="utf-8")


def main():
    version = sys.argv[1]
    date = sys.argv[2] if len(sys.argv) > 2 else datetime.date.today().isoformat()
    major, minor, patch = version.split(".")
    replaced("CMakeLists.txt", (r"^project\(octet VERSION [\d.]+", f"project(octet VERSION {version}"))
    replaced("include/octet/octet.h",
             (r"^#define OCTET_VERSION_MAJOR \d+", f"#define OCTET_VERSION_MAJOR {major}"),
             (r"^#define OCTET_VERSION_MINOR \d+", f"#define OCTET_VERSION_MINOR {minor}"),
             (r"^#define OCTET_VERSION_PATCH \d+", f"#define OCTET_VERSION_PATCH {patch}"),
             (r'of the library: "[\d.]+"', f'of the library: "{version}"'))
    replaced("CHANGELOG.md", (r"^## \[Unreleased\]", f"## [Unreleased]\n\n## [{version}] - {date}"))
    for name, pattern, by in (
            ("packaging/conan/conanfile.py", r'version = "[\d.]+"', f'version = "{version}"'),
            ("packaging/vcpkg/vcpkg.json", r'"version": "[\d.]+"', f'"version": "{version}"'),
            ("packaging/bazel/MODULE.bazel", r'version = "[\d.]+",  # Octet',
             f'version = "{version}",  # Octet'),
            ("packaging/buildroot/package/octet/octet.mk", r"^OCTET_VERSION = [\d.]+",
             f"OCTET_VERSION = {version}"),
            ("packaging/homebrew/octet.rb", r"octet-[\d.]+\.tar\.gz", f"octet-{version}.tar.gz")):
        replaced(name, (pattern, by))
    wrap = ROOT / "packaging/meson/octet.wrap"
    wrap.write_text(re.sub(r"octet-[\d.]+\d", f"octet-{version}", wrap.read_text()))
    day = datetime.datetime.fromisoformat(date)
    path = ROOT / "packaging/debian/changelog"
    path.write_text(f"octet ({version}-1) unstable; urgency=medium\n\n  * New version.\n\n"
                    " -- The Octet Authors <octet@example.org>  "
                    f"{day:%a, %d %b %Y} 12:00:00 +0000\n\n" + path.read_text())
    for path in (ROOT / "packaging/openembedded").glob("octet_*.bb"):
        path.rename(path.with_name(f"octet_{version}.bb"))


if __name__ == "__main__":
    main()
