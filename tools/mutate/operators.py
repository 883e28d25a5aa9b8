# SPDX-License-Identifier: Apache-2.0
"""The mutations of one point of a source. They rely on clang-format's spaces: a binary operator stands between two, a template's bracket and a
pointer's star do not."""

import functools
import re
from collections import namedtuple

from tokens import partners, tokenize

# text[start:end] becomes `new`.
Change = namedtuple("Change", "operator start end new")

_RELATIONS = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
              "==": ["!="], "!=": ["=="]}
_ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "+=": "-=", "-=": "+=",
               "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|", "|=": "=", "&=": "=",
               "^=": "="}
_LOGIC = {"&&": "||", "||": "&&"}
_VALUES = {"true": "false", "false": "true"}
_BEFORE_UNARY = {"(", ",", "=", "?", ":", "[", "{", "return", "&&", "||", "+", "*", "<", ">", "=="}

# Pairs of names that people confuse: parts of a name, each with its context before and behind.
_NAMES = [
    (r"\b", "smaller", "larger", r"\b"), (r"\b", "least", "most", r"\b"),
    (r"_", "h", "w", r"\b"), (r"\b", "before", "after", r"\b"), (r"\b", "lo", "hi", r"\b"),
    (r"\b", "positive", "negative", r"\b"), (r"\b", "width", "step", r"\b"),
    (r"\b", "rows", "cols", r"\b"), (r"pad_", "top", "left", r"\b"), (r"\b", "n0", "n1", r"\b"),
    # Intrinsics of x86, the functions of x86/shared/requantize.h on them, and intrinsics of Arm.
    (r"(?:_mm\d*_|\b)", "max", "min", r"_[us]"), (r"(?:_mm\d*_|\b)", "max", "min", r"_ep[iu]"),
    (r"_mm\d*_", "add", "sub", r"_"), (r"_mm\d*_", "adds", "subs", r"_"),
    (r"_mm\d*_s", "l", "r", r"li_"), (r"_mm\d*_unpack", "lo", "hi", r"_"),
    (r"_mm\d*_pack", "s", "us", r"_"), (r"\bvq?", "add", "sub", r"l?q?_"),
    (r"\bv", "max", "min", r"q?_"), (r"\bv(?:zip|trn|uzp)", "1", "2", r"q?_"),
    (r"\bvget_", "low", "high", r"_"),
]
_SWAPS = [(re.compile(f"({before}){a}(?={behind})"), rf"\g<1>{b}")
          for before, one, other, behind in _NAMES for a, b in ((one, other), (other, one))]
_SWAPPED_WORDS = {"smaller", "larger", "least", "most"}

_NO_STATEMENT = {
    "return", "const", "constexpr", "static", "auto", "using", "typedef", "struct", "class", "enum",
    "union", "template", "extern", "inline", "namespace", "goto", "delete", "friend", "public",
    "private", "default", "do", "typename", "alignas", "static_assert", "case", "operator",
    "__asm__",
}


def changes(text):
    """Every change of this source, in its order."""
    tokens = tokenize(text)
    pairs = partners(tokens)
    found = list(_statements(text, tokens, pairs))
    template_end = 0
    for i, token in enumerate(tokens):
        if token.text == "template":
            template_end = _end_of_template(tokens, i)
        if i >= template_end:
            found += _at(text, tokens, pairs, i)
    return sorted(set(found), key=lambda c: (c.start, c.end, c.operator, c.new))


def applied(text, change):
    return text[:change.start] + change.new + text[change.end:]


def _end_of_template(tokens, i):
    depth = 0
    for j in range(i + 1, len(tokens)):
        depth += {"<": 1, ">": -1, ">>": -2}.get(tokens[j].text, 0)
        if depth <= 0:
            return j + 1
    return len(tokens)


def _at(text, tokens, pairs, i):
    token = tokens[i]
    start, end, word = token.start, token.end, token.text
    spaced = text[start - 1].isspace() and text[end:end + 1].isspace()
    if token.kind == "number":
        for new in _other_numbers(word):
            yield Change("constant", start, end, new)
    elif token.kind == "operator" and spaced:
        for new in _RELATIONS.get(word, []):
            yield Change("relation", start, end, new)
        if word in _ARITHMETIC:
            yield Change("arithmetic", start, end, _ARITHMETIC[word])
        if word in _LOGIC:
            yield Change("logic", start, end, _LOGIC[word])
        if word == "?":
            yield Change("choice", start, end, "&& false ?")
            yield Change("choice", start, end, "|| true ?")
    elif word in "-!~" and tokens[i - 1].text in _BEFORE_UNARY and not text[end].isspace():
        yield Change("sign", start, end, "")
    elif word in _VALUES:
        yield Change("value", start, end, _VALUES[word])
    elif token.kind == "word":
        for swapped in _swapped(word):
            yield Change("extreme" if word in _SWAPPED_WORDS else "name", start, end, swapped)
    if word == "if" and tokens[i + 1].text == "(":
        first, last = tokens[i + 1].end, tokens[pairs[i + 1]].start
        condition = text[first:last]
        if not condition.startswith("const ") and ";" not in condition:
            kept = "\n" * condition.count("\n")
            yield Change("condition", first, last, f"!({condition})")
            yield Change("condition", first, last, "true" + kept)
            yield Change("condition", first, last, "false" + kept)


@functools.lru_cache(maxsize=None)
def _swapped(word):
    """The names that a name may become; a source has few names, each many times."""
    return [new for new in (pattern.sub(behind, word) for pattern, behind in _SWAPS) if new != word]


def _other_numbers(word):
    match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlLzZ]*)", word)
    if match:
        value, suffix = int(match[1], 0), match[2]
        show = hex if match[1][:2] in ("0x", "0X") else str
        return [show(v) + suffix for v in (value + 1, value - 1) if v >= 0]
    match = re.fullmatch(r"(\d+\.\d*(?:e[+-]?\d+)?)(f?)", word)
    return [f"({word} + 1)", f"({word} * 2)"] if match else []


def _statements(text, tokens, pairs):
    """Deletes assignments, calls, continue and break."""
    inside = []  # of which brackets
    for end, token in enumerate(tokens):
        if token.text in ("(", "[", "{"):
            inside.append(token.text)
        elif token.text in (")", "]", "}"):
            inside.pop()
        if token.text != ";" or inside[-1:] == ["("]:  # the head of a for
            continue
        start = _start_of_statement(tokens, pairs, end)
        if start >= end or not _may_go(text, tokens, start, end):
            continue
        first, last = tokens[start].start, tokens[end].start
        yield Change("statement", first, last, "\n" * text.count("\n", first, last))


def _start_of_statement(tokens, pairs, end):
    i = end - 1
    while i >= 0 and tokens[i].text not in (";", "{"):
        if tokens[i].text == "}" and tokens[i + 1].text not in (";", ",", ")", ".", "["):
            break
        i = pairs[i] - 1 if tokens[i].text in ")]}" else i - 1
    i += 1
    while i < end:
        word = tokens[i].text
        if word in ("if", "for", "while", "switch"):
            i += 1 + (tokens[i + 1].text == "constexpr")
            i = pairs[i] + 1
        elif word == "else":
            i += 1
        elif word == "case":
            while tokens[i].text != ":":
                i += 1
            i += 1
        else:
            break
    return i


def _may_go(text, tokens, start, end):
    first, second = tokens[start], tokens[start + 1]
    if first.text in ("continue", "break"):
        return True
    if first.text == "return":
        return second.text == ";"
    if first.text in _NO_STATEMENT:
        return False
    if first.text in ("++", "--", "*", "("):
        return True
    if first.kind != "word" or second.kind == "word":
        return False
    if second.text in ("*", "&", "<", ":", "&&"):  # a declaration, or a label
        return text[second.start - 1].isspace() and second.text != ":"
    while second.text == "::" and start + 3 < end:
        start += 2
        second = tokens[start + 1]
    return second.kind == "operator" and second.text not in ("*", "&", "<", ";", ":", "{")
