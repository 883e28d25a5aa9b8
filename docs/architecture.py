#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/architecture.svg from the code: folders and what they may include, tiers with their
weight formats and kernels, and which kernels each algorithm multiplies by.

    docs/architecture.py            draws the picture
    docs/architecture.py --check    fails if the picture, the tour (docs/architecture.md) or the
                                    glossary does not agree with the code
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/architecture.svg"

# The code does not say how the folders are stacked, nor what each is for.
FLOORS = [
    ["engines"], ["analysis"], ["operators"], ["dispatch"], ["packing", "kernels/macro"],
    ["kernels/x86", "kernels/arm", "kernels/scalar"], ["kernels/xsimd"], ["kernels/generic"],
    ["kernels/core", "octet"],
]
ROLES = {
    "engines": "for plug-ins and packages of engines",
    "engines/graph": "sub-graphs of engines as networks",
    "engines/graph/memory": "blobs, also in mapped files",
    "engines/graph/blocks": "products by weights in scale blocks",
    "engines/graph/recurrent": "LSTM and SVDF layers",
    "engines/graph/stored": "int8 that is stored as uint8",
    "engines/litert": "LiteRT's external delegate",
    "engines/python": "the wheel: import octet",
    "engines/python/octet": "the package's Python",
    "engines/onnxruntime": "ONNX Runtime's execution provider",
    "engines/onnxruntime/floats": "f32 between products",
    "engines/onnxruntime/host": "what is known of its graphs",
    "engines/threads": "one pool of threads for a process",
    "analysis": "programs link it only to measure or to predict",
    "analysis/tune": "measures choices on this machine",
    "analysis/traffic": "predicts what moves through memory",
    "operators": "the public functions: check, pack, create, run",
    "operators/common": "blobs, arguments, the one allocation",
    "operators/epilogue": "from accumulators to outputs",
    "operators/gemm": "matrix products",
    "operators/conv": "convolutions",
    "operators/conv/algorithms": "im2col, depthwise, grouped; what all share",
    "operators/conv/algorithms/direct": "direct, transposed",
    "operators/conv/algorithms/winograd": "Winograd",
    "operators/network": "networks in one workspace",
    "operators/sparse": "imports and prunes 2:4 weights",
    "operators/functions": "sums and look-ups between products",
    "operators/helpers": "converts numbers of models",
    "dispatch": "finds out what this CPU runs, and chooses",
    "dispatch/api": "error messages, struct versions",
    "dispatch/os": "memory, a clock, files",
    "dispatch/tables": "tiers, formats, kernels",
    "dispatch/cpu": "CPU features, environment",
    "dispatch/self_test": "tests each tier before its use",
    "dispatch/select": "chooses tiers and kernels",
    "dispatch/tuning": "keeps measured choices",
    "packing": "packs weights into formats and blobs",
    "kernels/macro": "the macro-kernel: blocks, panels, tiles",
    "kernels/x86": "AVX512VNNI, AVXVNNI, AVX2, SSE4.1",
    "kernels/x86/avx512bw": "AVX-512 without VNNI",
    "kernels/x86/byte_rows": "AVX2's rows of bytes",
    "kernels/x86/functions": "sums, pools, resizes",
    "kernels/x86/runtime": "weights of a run",
    "kernels/x86/int4": "weights of 4 bits",
    "kernels/x86/amx": "tile registers",
    "kernels/x86/s16": "activations of 16 bits",
    "kernels/x86/sparse": "2:4 weights",
    "kernels/x86/scale_blocks": "weights in scale blocks",
    "kernels/x86/taps": "small images",
    "kernels/x86/shared": "inlined into the kernels",
    "kernels/arm": "SME, I8MM, DOTPROD, NEON",
    "kernels/arm/shared": "inlined into the kernels",
    "kernels/scalar": "portable kernels",
    "kernels/xsimd": "kernel templates on xsimd batches",
    "kernels/generic": "plain loops compiled for each tier: epilogue, row sums, transforms",
    "kernels/generic/functions": "loops of functions between products",
    "kernels/core": "plain structs that all share",
    "octet": "the public headers",
}


# ---- the code ------------------------------------------------------------------------------------


def find(path, pattern):
    """All matches of a pattern in a file; none means that the file has changed its form."""
    found = re.findall(pattern, (ROOT / path).read_text(), re.M | re.S)
    if not found:
        sys.exit(f"{path} has nothing of the form {pattern}: docs/architecture.py is out of date")
    return found


def read_rooms():
    """Room on a floor -> (the rooms inside it, the other rooms that these may include)."""
    rows = {}
    for room, included in find("tests/house/rooms.txt", r"^([\w/]+):((?:[^\n]|\n )*)"):
        rows[room] = included.split()
    if set(rows) != set(ROLES) - {"analysis", "dispatch", "engines"}:
        odd = set(rows) ^ (set(ROLES) - {"analysis", "dispatch", "engines"})
        sys.exit(f"ROLES in docs/architecture.py and tests/house/rooms.txt differ in {odd}")
    floor = {top: i for i, row in enumerate(FLOORS) for top in row}

    def top_of(room):
        return next(top for top in floor if room == top or room.startswith(top + "/"))

    rooms = {top: ([], []) for top in floor}
    for room, included in rows.items():
        inside, below = rooms[top_of(room)]
        if room not in floor:
            inside.append(room)
        for other in map(top_of, included):
            if other != top_of(room) and floor[other] <= floor[top_of(room)]:
                sys.exit(f"{room} may include {other}, which FLOORS does not draw below it")
            if other != top_of(room) and other not in below:
                below.append(other)
    return {top: (inside, sorted(below, key=list(floor).index))
            for top, (inside, below) in rooms.items()}


def read_tiers():
    """(name, architecture, weight formats, {kind: kernels}) per tier, the best first."""
    named = {
        isa: (name, architecture, re.findall(r"\.(?:s8|u8|s16) = FormatId::k(\w+)", rest))
        for isa, name, architecture, rest in find(
            "dispatch/tables/tiers.cc", r'\.tier_id = TierId::(\w+),\s*\.name = "(\w+)",\s*'
            r"\.architecture = Architecture::k(\w+),(.*?)\n    \}")
    }
    tiers = {}
    for kind, isa, first, second in find(
            "dispatch/tables/kernels.def",
            r"^(TIER|INT8|SPARSE|INT16|DEPTHWISE)\((\w+), (\w+), (\w+)(?:, \w+)?\)"):
        kinds = tiers.setdefault(isa, {})
        if kind == "TIER":
            kinds["operations"] = [first, second]
        else:
            forced = " *" if second == "kForced" else ""
            kind = {"SPARSE": "Int8"}.get(kind, kind.capitalize())
            kinds.setdefault(kind, []).append(first + forced)
    return [(*named[isa], kinds) for isa, kinds in tiers.items()]


def read_algorithms():
    """Kind of kernel -> the algorithms that multiply by it."""
    operands = {
        name: kind
        for path in sorted((ROOT / "operators/conv/algorithms").rglob("*.cc"))
        for name, kind in re.findall(r'"(\w+)",\s+(?:\.operands = )?KernelKind::k(\w+)',
                                     path.read_text())
    }
    kinds = {}
    for name in find("dispatch/api/algorithm_names.cc", r'case OCTET_CONV_\w+: return "(\w+)"'):
        if name == "auto":
            continue
        if name not in operands:
            sys.exit(f"operators/conv/algorithms has no algorithm of the name {name}")
        kind = operands[name].replace("Grouped", "Depthwise")  # they share a table
        kinds.setdefault(kind, []).append(name)
    return kinds


# ---- the picture ---------------------------------------------------------------------------------

WIDTH, MARGIN, GAP, LINE, PAD = 1100, 20, 10, 17, 10
ROLE = 186  # where a folder's role begins, beside its name
shapes = []


def text(x, y, content, style=""):
    content = content.replace("&", "&amp;").replace("<", "&lt;")
    shapes.append(f'<text x="{x:g}" y="{y:g}" class="{style}">{content}</text>')


def fitting(x, y, width, content, style):
    """Text that must fit, in the widest of the fonts that a viewer may take (DejaVu)."""
    wide = sum(6.93 if style == "code" else 3.9 if c in "iljI.,:;'" else 5.2 if c in "ftr() -/" else
               10.2 if c in "mwMW" else 7.2 for c in content)
    if wide > width:
        sys.exit(f"docs/architecture.svg: '{content}' is wider than its box")
    text(x, y, content, style)


def box(x, y, width, height, style):
    shapes.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" '
                  f'class="{style}"/>')


def draw_floors(rooms, y):
    """A box for each folder, with its role, the folders in it, and what it may include."""
    for row in FLOORS:
        width = (WIDTH - 2 * MARGIN - (len(row) - 1) * GAP) / len(row)
        columns = 2 if len(row) == 1 else 1
        lines = max(-(-len(rooms[top][0]) // columns) for top in row)
        height = LINE * (lines + 2 + (len(row) > 1)) + 8
        for i, top in enumerate(row):
            x, at, (inside, below) = MARGIN + i * (width + GAP), y + LINE + 2, rooms[top]
            box(x, y, width, height, "any" if top == "octet" else "folder")
            text(x + PAD, at, ("include/octet" if top == "octet" else top) + "/", "bold")
            if len(row) == 1:
                fitting(x + ROLE, at, width - ROLE - PAD, ROLES[top], "small")
            else:
                at += LINE
                fitting(x + PAD, at, width - 2 * PAD, ROLES[top], "small")
            for j, room in enumerate(inside):
                left, share = x + j % columns * width / columns, width / columns
                line = at + LINE * (1 + j // columns)
                fitting(left + PAD, line, ROLE - PAD, room[len(top) + 1:] + "/", "code")
                fitting(left + ROLE, line, share - ROLE - PAD, ROLES[room], "small")
            at = y + height - 6
            names = ", ".join(other.split("/")[-1] for other in below) or "nothing"
            fitting(x + PAD, at, width - 2 * PAD, f"includes {names}", "small")
        y += height + GAP
    return y


def draw_tiers(tiers, algorithms, y):
    kinds = [("operations", "operations"), ("Int8", "int8 kernels"), ("Int16", "int16 kernels"),
             ("Depthwise", "depthwise, grouped kernels")]
    columns = [MARGIN + 8, 150, 320, 610, 860]
    users = {"operations": ["TierOps, WinogradOps"], **algorithms}
    users["Int8"] = ["matrix products", *users["Int8"]]
    y += LINE
    text(columns[0], y, "tier", "bold")
    text(columns[0], y + LINE, "weight formats", "small")
    for (kind, title), x in zip(kinds, columns[1:]):
        text(x, y, title, "bold")
        for line in range(0, len(users[kind]), 2):
            text(x, y + LINE * (line // 2 + 1), ", ".join(users[kind][line:line + 2]), "small")
    y += LINE * (max(len(names) + 1 for names in users.values()) // 2) + 10
    for name, architecture, formats, kernels in tiers:
        formats = list(dict.fromkeys(f.lower() for f in formats))
        lines = max(len(formats) + 1, *map(len, kernels.values()))
        box(MARGIN, y, WIDTH - 2 * MARGIN, lines * LINE + 8,
            {"X86": "folder", "Arm": "arm"}.get(architecture, "any"))
        text(columns[0], y + LINE, name, "bold")
        for line, form in enumerate(formats):
            text(columns[0], y + LINE * (line + 2), form, "code")
        for (kind, _), x in zip(kinds, columns[1:]):
            for line, kernel in enumerate(kernels.get(kind, [])):
                text(x, y + LINE * (line + 1), kernel, "code")
            if kind not in kernels:
                text(x, y + LINE, "those of the next tiers", "small")
        y += lines * LINE + 12
    text(columns[0], y + LINE, "The best first. *: only tests choose it.", "small")
    return y + LINE + 8


def draw():
    text(MARGIN, 26, "Folders: each may include only those below it", "title")
    y = draw_floors(read_rooms(), 40)
    text(MARGIN, y + 30, "Tiers, and which kernels each algorithm multiplies by", "title")
    y = draw_tiers(read_tiers(), read_algorithms(), y + 40)
    style = ("text{font:13px sans-serif;fill:#1b1f24}.bold{font-weight:bold}"
             ".small{font-size:11.5px;fill:#57606a}.code{font:11.5px monospace}"
             ".title{font-size:16px;font-weight:bold}rect{stroke:#8c959f}"
             ".folder{fill:#eef4fb}.arm{fill:#eaf7ea}.any{fill:#f3f3f3}")
    return "\n".join([
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<!-- docs/architecture.py draws this from the code. -->",
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y:g}" '
        f'viewBox="0 0 {WIDTH} {y:g}">', f"<style>{style}</style>",
        f'<rect width="{WIDTH}" height="{y:g}" fill="#ffffff" stroke="none" style="stroke:none"/>',
        *shapes, "</svg>", ""
    ])


# ---- the words -----------------------------------------------------------------------------------


FILE = r"`((?:analysis|bench|dispatch|include|kernels|operators|packing|tests|tools)/[\w/]+\.\w+)`"


def check_words():
    """The files that the tour and the glossary name exist, with the functions named there."""
    for page in ("docs/architecture.md", "docs/glossary.md"):
        for line in (ROOT / page).read_text().splitlines():
            for path in re.findall(FILE, line):
                if not (ROOT / path).exists():
                    sys.exit(f"{page} names {path}, which is not there")
            row = re.match(rf"\| {FILE} \| ([^|]*) \|", line)
            places = [(name, row[1]) for name in re.findall(r"`([^`]+)`", row[2])] if row else []
            places += re.findall(rf"`([\w:]+)`(?: in | \(){FILE}", line)
            for name, path in places:
                name = re.match(r"[\w:]+", name)[0].split("::")[-1]
                if not re.search(rf"\b{name}\b", (ROOT / path).read_text()):
                    sys.exit(f"{page} says that {name} is in {path}, where it is not")


def main():
    picture = draw()
    if sys.argv[1:] == []:
        PICTURE.write_text(picture)
    elif sys.argv[1:] != ["--check"]:
        sys.exit(__doc__)
    elif not PICTURE.exists() or PICTURE.read_text() != picture:
        sys.exit("docs/architecture.svg does not show the present code: run docs/architecture.py")
    else:
        check_words()


if __name__ == "__main__":
    main()
