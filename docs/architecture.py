#!/usr/bin/env python3
"""Draws docs/architecture.svg from the code: folders and what they include, tiers and their
kernels, algorithms and which kernels they multiply by.

    docs/architecture.py            draws it
    docs/architecture.py --check    fails if the picture, the tour (docs/architecture.md) or the
                                    glossary is not of the present code
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/architecture.svg"

# What the code does not say.
ROLES = {
    "network": "networks: checks, one workspace, runs",
    "traffic": "a model of what moves through memory",
    "tune": "choices measured on this machine, and kept",
    "dispatch": "checks, CPU detection, selection, plans",
    "dispatch/tables": "tiers, forms, kernels, operations, algorithms",
    "kernels/conv": "algorithms of convolution",
    "kernels/gemm": "products of matrices",
    "kernels/nest": "the loop nest of every product",
    "kernels/pack": "weights into forms and blobs",
    "kernels/sparse": "2:4 weights: streams, pruning",
    "kernels/core": "vocabulary: layout, tile, micro-kernel, epilogue; nothing to link",
    "kernels/simd": "plain loops, compiled once for each tier: epilogue, row work, transforms",
    "kernels/ref": "portable",
    "kernels/x86": "AVX2 and up; SSE4.1 by xsimd's text",
    "kernels/xsimd": "kernels in one text for all that xsimd knows",
    "kernels/arm": "NEON and up",
    "octet": "the public headers",
}


# ---- the code ------------------------------------------------------------------------------------


def find(path, pattern):
    """All that a pattern finds in a file: at least one, or the file no longer is what we think."""
    found = re.findall(pattern, (ROOT / path).read_text(), re.M | re.S)
    if not found:
        sys.exit(f"{path} has nothing of the form {pattern}: docs/architecture.py is out of date")
    return found


def read_layers():
    """Per folder, those that it may include: only steps that no longer way makes."""
    layers = {
        layer: [name for name in names.split() if name != layer]
        for layer, names in find("cmake/check_layering.cmake", r"^set\(may_include_(\S+) ([^)]*)\)")
    }
    if set(ROLES) != set(layers) | {n for names in layers.values() for n in names}:
        sys.exit("cmake/check_layering.cmake has other folders than ROLES in docs/architecture.py")

    def kin(a, b):
        return a.startswith(b + "/") or b.startswith(a + "/")

    direct = {a: [b for b in names if not kin(a, b)] for a, names in layers.items()}

    def below(a):
        return {c for b in direct.get(a, []) for c in {b} | below(b)}

    def reached(a, b):  # by what else it may include, or the folder that it is within
        ways = direct[a] + [c for c in layers if a.startswith(c + "/")]
        return any(b in below(c) for c in ways)

    return {a: [b for b in names if not reached(a, b)] for a, names in direct.items()}


def read_tiers():
    """(name, architecture, {kind: kernels}) per tier, the best first."""
    named = {
        isa: (name, architecture)
        for isa, name, architecture in find(
            "dispatch/tables/tiers.cc",
            r'\.isa = Isa::(\w+),\s*\.name = "(\w+)",\s*\.architecture = Architecture::k(\w+)')
    }
    tiers = {}
    for kind, isa, first, second in find("dispatch/tables/kernels.def",
                                         r"^(TIER|BYTES|SPARSE|WORDS|DEPTHWISE)\((\w+), (\w+), (\w+)\)"):
        kinds = tiers.setdefault(isa, {})
        if kind == "TIER":
            kinds["operations"] = [first, second]
        else:
            forced = " *" if second == "kForced" else ""
            kinds.setdefault({"SPARSE": "Bytes"}.get(kind, kind.capitalize()), []).append(first + forced)
    return [(*named[isa], kinds) for isa, kinds in tiers.items()]


def read_algorithms():
    """Kind of kernel -> the algorithms that multiply by it."""
    operands = {
        name: kind
        for path in sorted((ROOT / "kernels/conv").glob("*.cc"))
        for name, kind in re.findall(r'"(\w+)",\s+(?:\.operands = )?KernelKind::k(\w+)',
                                     path.read_text())
    }
    kinds = {}
    for name in find("dispatch/api/algorithm_names.cc", r'case OCTET_CONV_\w+: return "(\w+)"'):
        if name == "auto":
            continue
        if name not in operands:
            sys.exit(f"kernels/conv has no method of the name {name}")
        kind = operands[name].replace("Grouped", "Depthwise")  # they share a table
        kinds.setdefault(kind, []).append(name)
    return kinds


# ---- the picture ---------------------------------------------------------------------------------

WIDTH, MARGIN, GAP, LINE = 1100, 20, 16, 17
shapes = []
boxes, arrows, captions = [], [], []  # of the folders: what check_layout looks at


def text(x, y, content, style="", anchor="start"):
    content = content.replace("&", "&amp;").replace("<", "&lt;")
    shapes.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="{style}">'
                  f'{content}</text>')


def box(x, y, width, height, style):
    shapes.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" '
                  f'class="{style}"/>')


def line(x0, y0, x1, y1):
    shapes.append(f'<line x1="{x0:g}" y1="{y0:g}" x2="{x1:g}" y2="{y1:g}"/>')


def folder(x, y, width, height, style, name, role, x1=None):
    """A folder's box, its name and its role in lines of the width up to x1."""
    box(x, y, width, height, style)
    boxes.append((name, x, y, x + width, y + height))
    x1 = x1 or x + width
    lines = wrapped(role, x1 - x - 2 * PAD)
    first = y + height / 2 - 8 * len(lines) + 4 + (4 if len(lines) > 1 else 0)
    for i, line in enumerate([name + "/", *lines]):
        text((x + x1) / 2, first + (14 if len(lines) > 1 else 16) * i, line,
             "small" if i else "bold", "middle")
        captions.append((name, x1 - x, line if len(lines) < 3 else role))


PAD = 4


def width_of(line):
    """Of a caption, by the widest of the fonts that sans-serif is likely to be (DejaVu Sans)."""
    return sum(3.9 if c in "iljI.,:;'" else 5.2 if c in "ftr() -/" else 10.2 if c in "mwMW" else 7.2
               for c in line)


def wrapped(line, width):
    """In as few lines as fit."""
    lines = [""]
    for word in line.split():
        longer = (lines[-1] + " " + word).strip()
        if lines[-1] and width_of(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def arrow(x0, y0, x1, y1):
    arrows.append((x0, y0, x1, y1))
    shapes.append(f'<line x1="{x0:g}" y1="{y0:g}" x2="{x1:g}" y2="{y1:g}" '
                  'marker-end="url(#tip)"/>')


def draw_layers(layers, top):
    """One row per distance from the top; a folder is as wide as those that include it, or shares
    their width with others that they include."""
    parent = {a: b for a in layers for b in layers if a.startswith(b + "/")}
    public = [b for b in ROLES if b not in layers]

    def rooted(a):
        return parent.get(a, a)

    def depth(a):
        over = {rooted(b) for b in layers for c in layers[b] if rooted(c) == a} - {a}
        return 1 + max([depth(b) for b in over], default=-1)

    highest = max(depth(rooted(a)) for a in layers)
    level = {a: highest - depth(rooted(a)) for a in layers}
    span = {}

    def share(row, x0, x1):
        width = (x1 - x0 - (len(row) - 1) * GAP) / len(row)
        for i, a in enumerate(row):
            span[a] = (x0 + i * (width + GAP), x0 + i * (width + GAP) + width)

    base = level["dispatch"]  # as wide as the picture; what is above it stands side by side
    share(sorted((a for a in layers if level[a] == highest),  # inner folders are drawn at the right
                 key=lambda a: any(b in parent for b in layers[a])), MARGIN, WIDTH - MARGIN)
    for at in range(highest - 1, -1, -1):
        row = [a for a in layers if level[a] == at]
        if at == base:
            share(row, MARGIN, WIDTH - MARGIN)
            continue
        for a in row:
            above = [span[b] for b in span if b not in row and a in layers[b]]
            span[a] = (min(s[0] for s in above), max(s[1] for s in above))
        groups = []  # of overlapping spans, which are shared
        for a in sorted(row, key=lambda a: span[a]):
            if groups and span[a][0] < groups[-1][1]:
                groups[-1][1] = max(groups[-1][1], span[a][1])
                groups[-1][2].append(a)
            else:
                groups.append([*span[a], [a]])
        for x0, x1, shared in groups:
            share(shared, x0, x1)

    tall, step = 52, 84
    y_of = {a: top + (highest - at + len(public)) * step for a, at in level.items()}
    bottom_of = {}
    outer = dict(span)  # with the folders inside
    for a, b in parent.items():
        outer[b] = min(outer[b][0], span[a][0]), max(outer[b][1], span[a][1])
    for a in sorted(layers, key=lambda a: a in parent):  # the outer ones first
        x0, x1 = outer[a]
        y = y_of[a]
        inside = [b for b in parent if parent[b] == a]
        if a in parent:
            folder(x0 + 6, y + 4, x1 - x0 - 12, tall - 8, "inner", a, ROLES[a])
            bottom_of[a] = y + tall - 4
        else:
            folder(x0, y, x1 - x0, tall, "folder", a, ROLES[a],
                   min((span[b][0] for b in inside), default=x1))
            bottom_of[a] = y + tall
    for i, name in enumerate(public):
        y = top + i * step
        folder(MARGIN, y, WIDTH - 2 * MARGIN, tall, "public", f"include/{name}", ROLES[name])
        y_of[name], span[name] = y, (MARGIN, WIDTH - MARGIN)

    # Neighbours with the same several targets leave from one bracket: their arrows would cross
    brackets = {}
    for a, targets in layers.items():
        for b in layers:
            if len(targets) > 1 and a < b and layers[b] == targets and level[a] == level[b]:
                x0, x1 = min(span[a][0], span[b][0]), max(span[a][1], span[b][1])
                y = bottom_of[a] + 8
                for c in (a, b):
                    line(sum(span[c]) / 2, bottom_of[c], sum(span[c]) / 2, y)
                brackets[a], brackets[b] = (x0, x1, y, True), (x0, x1, y, False)
                ends = [(max(x0, span[c][0]) + min(x1, span[c][1])) / 2 for c in targets]
                ends += [sum(span[c]) / 2 for c in (a, b)]
                line(min(ends), y, max(ends), y)
    for a, targets in layers.items():
        x0, x1, y, draws = brackets.get(a, (*span[a], bottom_of[a], True))
        for b in targets if draws else []:
            # What may include a folder and one inside it: one arrow, into the inner one
            if any(parent.get(c) == b for c in targets):
                continue
            ends = max(x0, outer.get(b, span[b])[0]), min(x1, outer.get(b, span[b])[1])
            if b in public:
                arrow(WIDTH / 2, y_of[a], WIDTH / 2, y_of[b] + tall)
            else:
                arrow(sum(ends) / 2, y, sum(ends) / 2, y_of[b] + (4 if b in parent else 0))
    return max(y_of.values()) + tall


def draw_tiers(tiers, algorithms, top):
    kinds = [("operations", "operations"), ("Bytes", "kernels of bytes"),
             ("Words", "kernels of words"), ("Depthwise", "depthwise, grouped")]
    columns = [MARGIN, 140, 320, 610, 860, WIDTH - MARGIN]
    y = top + LINE
    text(columns[0] + 8, y, "tier", "bold")
    for (kind, title), x in zip(kinds, columns[1:]):
        text(x, y, title, "bold")
    users = {"operations": ["TierOps, WinogradOps"]}
    for kind, names in algorithms.items():
        users[kind] = (["matrices"] if kind == "Bytes" else []) + names
    rows = 1
    for (kind, _), x in zip(kinds, columns[1:]):
        names, line = users[kind], 0
        while names:  # as many to a line as fit
            count = 3 if len(", ".join(names[:3])) < 36 else 2
            comma = "," if names[count:] else ""
            text(x, y + LINE * (line + 1), ", ".join(names[:count]) + comma, "small")
            names, line = names[count:], line + 1
        rows = max(rows, line)
    y += LINE * rows + 10
    for i, (name, architecture, kernels) in enumerate(tiers):
        lines = max(len(k) for k in kernels.values())
        box(MARGIN, y, WIDTH - 2 * MARGIN, lines * LINE + 8, "x86" if architecture == "X86" else
            "arm" if architecture == "Arm" else "any")
        text(columns[0] + 8, y + LINE, name, "bold")
        for (kind, _), x in zip(kinds, columns[1:]):
            for line, kernel in enumerate(kernels.get(kind, [])):
                text(x, y + LINE * (line + 1), kernel, "code")
            if kind not in kernels:
                text(x, y + LINE, "those of the next tiers", "small")
        y += lines * LINE + 8 + 4
    text(columns[0] + 8, y + LINE, "The best first, tiers and kernels. *: never chosen, for tests.",
         "small")
    return y + LINE + 8


def check_layout():
    """No box lies on another but an inner one in its folder, no caption is wider than its box, no
    arrow crosses another or a box that it does not begin or end at."""
    for i, (a, *p) in enumerate(boxes):
        for b, *q in boxes[i + 1:]:
            apart = p[2] <= q[0] or q[2] <= p[0] or p[3] <= q[1] or q[3] <= p[1]
            within = b.startswith(a + "/") and p[0] <= q[0] and q[2] <= p[2] and p[1] <= q[1] and q[3] <= p[3]
            if not apart and not within:
                sys.exit(f"docs/architecture.svg: the boxes of {a} and {b} overlap")
    for name, width, caption in captions:
        if width_of(caption) > width:
            sys.exit(f"docs/architecture.svg: '{caption}' is wider than the box of {name}")
    for i, (x0, y0, x1, y1) in enumerate(arrows):
        top, bottom = sorted((y0, y1))
        if x0 != x1:
            sys.exit(f"docs/architecture.svg: the arrow from {x0:g}, {y0:g} is aslant")
        for a, bx0, by0, bx1, by1 in boxes:
            ends_in = by0 <= y0 <= by1 or by0 <= y1 <= by1
            if bx0 < x0 < bx1 and by0 < bottom and top < by1 and not ends_in:
                sys.exit(f"docs/architecture.svg: an arrow crosses the box of {a}")
        for x, other0, _, other1 in arrows[i + 1:]:
            low, high = sorted((other0, other1))
            if abs(x - x0) < 8 and low < bottom and top < high:
                sys.exit(f"docs/architecture.svg: arrows lie on each other at {x:g}")


def draw():
    text(MARGIN, 26, "Folders: an arrow is what one may include (what it reaches on the way, too)",
         "title")
    y = draw_layers(read_layers(), 40)
    text(MARGIN, y + 40, "Tiers, and whose kernels the algorithms multiply by", "title")
    y = draw_tiers(read_tiers(), read_algorithms(), y + 50)
    style = ("text{font:13px sans-serif;fill:#1b1f24}.bold{font-weight:bold}"
             ".small{font-size:11.5px;fill:#57606a}.code{font:11.5px monospace}"
             ".title{font-size:16px;font-weight:bold}rect{stroke:#8c959f}line{stroke:#57606a}"
             ".folder,.x86{fill:#eef4fb}.inner{fill:#dbe9f8}.public{fill:#fff8d6}"
             ".arm{fill:#eaf7ea}.any{fill:#f3f3f3}")
    return "\n".join([
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<!-- docs/architecture.py draws this from the code. -->",
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y:g}" '
        f'viewBox="0 0 {WIDTH} {y:g}">', f"<style>{style}</style>",
        '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#57606a"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{y:g}" fill="#ffffff" stroke="none" style="stroke:none"/>',
        *shapes, "</svg>", ""
    ])


# ---- the words -----------------------------------------------------------------------------------


FILE = r"`((?:dispatch|include|kernels|tests)/[\w/]+\.\w+)`"


def check_words():
    """Files that the tour and the glossary name exist, and a function is where the tour says."""
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
    check_layout()
    if sys.argv[1:] == []:
        PICTURE.write_text(picture)
    elif sys.argv[1:] != ["--check"]:
        sys.exit(__doc__)
    elif not PICTURE.exists() or PICTURE.read_text() != picture:
        sys.exit("docs/architecture.svg is not of the present code: docs/architecture.py draws it")
    else:
        check_words()


if __name__ == "__main__":
    main()
