#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a public header with its comments as Doxygen reads them: doxygen_filter.py HEADER

The first comment is about the file, but for the line that names the licence. Any other on lines of
its own belongs to what follows it, one behind code to what is before it. Titles of sections stay
plain comments.
"""

import re
import sys
from pathlib import Path


def escape(text):
    """Comments are plain text: what Doxygen would take for a command or a tag is not meant so. Lines
    that are indented are code, which Doxygen shows as it is."""
    return "\n".join(line if line.startswith("     ") else re.sub(r"([<>@#\\&%])", r"\\\1", line)
                     for line in text.split("\n"))


def of_c(text):
    """/* ... */ of octet.h and the others in C."""
    def comment(match):
        before, body = match[1], match[2]
        if body.lstrip(" *").startswith("--"):
            return match[0]
        body = re.sub(r"^ ?\*(?= |$)", "", body, flags=re.M)
        mark = "/**<" if before.strip() and not before.strip().startswith("#") else "/**"
        return f"{before}{mark}{escape(body)}*/"

    return re.sub(r"^([^\n]*?)/\*(?!\*)(.*?)\*/", comment, text, flags=re.M | re.S)


def of_cpp(text):
    """// ... of octet.hpp and functions.hpp."""
    def comment(match):
        if match[1].startswith("}"):  # the end of a namespace
            return match[1]
        mark = "///<" if match[1].strip() and not match[1].strip().startswith("#") else "///"
        return f"{match[1]}{mark}{escape(match[2])}"

    return re.sub(r"^([^\n]*?)//(?!/)([^\n]*)$", comment, text, flags=re.M)


def main():
    path = Path(sys.argv[1])
    text = re.sub(r"SPDX-\S+ .*", "", path.read_text(encoding="utf-8"), count=1)
    if path.suffix == ".hpp":
        sys.stdout.write("/// @file\n" + of_cpp(text))
    else:
        sys.stdout.write(of_c(text).replace("/**", "/** @file", 1))


if __name__ == "__main__":
    main()
