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
    "kernels/x86": "AVX2 and up; what SSE4.1 makes of xsimd's text",
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
    for kind, isa, first, second in find("dispatch/tables/tiers.def",
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
    for name in find("dispatch/conv_names.cc", r'case OCTET_CONV_\w+: return "(\w+)"'):
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


def text(x, y, content, style="", anchor="start"):
    content = content.replace("&", "&amp;").replace("<", "&lt;")
    shapes.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="{style}">'
                  f'{content}</text>')


def box(x, y, width, height, style):
    shapes.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" '
                  f'class="{style}"/>')


def arrow(x0, y0, x1, y1):
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
    share([a for a in layers if level[a] == highest], MARGIN, WIDTH - MARGIN)
    for at in range(highest - 1, -1, -1):
        row = [a for a in layers if level[a] == at]
        if at == base:
            share(row, MARGIN, WIDTH - MARGIN)
            continue
        for a in row:
            above = [span[b] for b in span if b not in row and a in layers[b]]
            span[a] = (min(s[0] for s in above), max(s[1] for s in above))
        alike = {s: [a for a in row if span[a] == s] for s in {span[a] for a in row}}
        for (x0, x1), shared in alike.items():
            share(shared, x0, x1)

    tall, step = 46, 76
    y_of = {a: top + (highest - at + len(public)) * step for a, at in level.items()}
    bottom_of = {}
    for a in layers:
        x0, x1 = span[a]
        y = y_of[a]
        if a in parent:
            box(x0 + 6, y + 5, x1 - x0 - 12, tall - 10, "inner")
            bottom_of[a] = y + tall - 5
        else:
            box(x0, y, x1 - x0, tall, "folder")
            bottom_of[a] = y + tall
        inside = [b for b in parent if parent[b] == a]
        center = (x0 + (min(span[b][0] for b in inside) if inside else x1)) / 2
        text(center, y + 20, a + "/", "bold", "middle")
        text(center, y + 36, ROLES[a], "small", "middle")
    for i, name in enumerate(public):
        y = top + i * step
        box(MARGIN, y, WIDTH - 2 * MARGIN, tall, "public")
        text(WIDTH / 2, y + 20, f"include/{name}/", "bold", "middle")
        text(WIDTH / 2, y + 36, ROLES[name], "small", "middle")
        y_of[name], span[name] = y, (MARGIN, WIDTH - MARGIN)
    for a, targets in layers.items():
        for b in targets:
            both = max(span[a][0], span[b][0]), min(span[a][1], span[b][1])
            x0, x1 = [sum(both) / 2] * 2
            if both[0] > both[1]:  # from the side that is nearer, aslant
                x0, x1 = [(3 * near + far) / 4 for near, far in
                          ((span[s][s == left], span[s][s != left])
                           for left in [min(a, b, key=lambda c: span[c])] for s in (a, b))]
            if b in public:
                arrow(WIDTH / 2, y_of[a], WIDTH / 2, y_of[b] + tall)
            else:
                arrow(x0, bottom_of[a], x1, y_of[b])
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
