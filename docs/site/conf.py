# SPDX-License-Identifier: Apache-2.0
"""Configures Sphinx for scripts/docs: the pages are the Markdown files of this repository, and the
reference is made of the public headers."""

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

project = "Octet"
author = "The Octet Authors"
copyright = "2026 The Octet Authors"  # noqa: A001
version = release = re.search(r"project\(octet\s+VERSION\s+([\d.]+)",
                              (ROOT / "CMakeLists.txt").read_text())[1]
# Files that are no page, such as sources, are shown where the repository is.
home = re.search(r'HOMEPAGE_URL\s+"?([^\s")]+)', (ROOT / "CMakeLists.txt").read_text())[1]

extensions = ["myst_parser", "breathe"]
root_doc = "docs/site/index"
include_patterns = ["README.md", "DESIGN.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
                    "CODE_OF_CONDUCT.md", "docs/*.md", "docs/site/**", "docs/measurements/*.md",
                    "examples/README.md", "examples/digits/README.md", "packaging/README.md"]
# Sphinx follows links: Wine's prefix in build has one to the whole file system.
exclude_patterns = ["build*", ".*"]
myst_heading_anchors = 6
# A repository's viewer shows lines that begin with % or +++, or are (name)=, as text.
myst_disable_syntax = ["myst_line_comment", "myst_block_break", "myst_target"]
breathe_projects = {"octet": str(ROOT / "build/docs/xml")}
breathe_default_project = "octet"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
html_theme = "furo"
html_title = f"Octet {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
# The pages are written for a repository's viewer, which knows more languages than Pygments.
suppress_warnings = ["misc.highlighting_failure"]


def to_repository(app, docname, source):
    """Points links to what is no page at the repository."""
    folder = posixpath.dirname(docname)

    def point(match):
        target, anchor = match[2], match[3] or ""
        path = posixpath.normpath(posixpath.join(folder, target))
        if "://" in target or posixpath.splitext(path)[0] in app.env.found_docs:
            return match[0]
        if path.endswith((".svg", ".png")) or not (ROOT / path).exists():
            return match[0]  # a picture, or a broken link, which Sphinx reports
        return f"{match[1]}({home}/blob/main/{path}{anchor})"

    source[0] = re.sub(r"(\])\(([^)#\s]+)(#[^)\s]*)?\)", point, source[0])


def setup(app):
    app.connect("source-read", to_repository)
