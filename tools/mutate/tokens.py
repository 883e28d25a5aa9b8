# SPDX-License-Identifier: Apache-2.0
"""C++ source as tokens: enough to change a point of it, no parser."""

import re
from collections import namedtuple

Token = namedtuple("Token", "kind text start end")  # kind: word, number, operator

_PATTERN = re.compile(
    r"""
    (?P<skip> //[^\n]* | /\*.*?\*/
      | R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)" | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
      | ^[ \t]*\#(?:[^\n]*\\\n)*[^\n]* )
  | (?P<number> \.?\d(?:[eEpP][+-]|[\w.']) * )
  | (?P<word> [A-Za-z_]\w* )
  | (?P<operator> <<= | >>= | -> | \+\+ | -- | << | >> | <= | >= | == | != | && | \|\|
      | [-+*/%&|^]= | :: | \.\.\. | [-+*/%&|^!~<>=?:;,.(){}\[\]] )
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_OPENERS = {"(": ")", "[": "]", "{": "}"}
_NO_CODE = {"static_assert", "alignas", "__attribute__", "__asm__"}  # their parentheses have no operators


def tokenize(text):
    """The tokens of the code; comments, strings and preprocessor lines are not among them."""
    tokens = [Token(m.lastgroup, m[0], m.start(), m.end())
              for m in _PATTERN.finditer(text) if not m["skip"]]
    return _without(tokens)


def partners(tokens):
    """The index of each bracket's partner."""
    found, open_ones = {}, []
    for i, token in enumerate(tokens):
        if token.text in _OPENERS:
            open_ones.append(i)
        elif token.text in _OPENERS.values():
            first = open_ones.pop()
            found[first], found[i] = i, first
    return found


def _without(tokens):
    pairs, kept, i = partners(tokens), [], 0
    while i < len(tokens):
        kept.append(tokens[i])
        if tokens[i].text in _NO_CODE:
            while i + 1 < len(tokens) and tokens[i + 1].text != "(":
                i += 1
            kept += [tokens[i + 1], tokens[pairs[i + 1]]]
            i = pairs[i + 1]
        i += 1
    return kept
