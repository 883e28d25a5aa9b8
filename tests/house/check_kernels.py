#!/usr/bin/env python3
"""Looks at the object code of a library: check_kernels.py BUILD [--print]

No object may have an instruction that its tier lacks: an object in kernels/x86 or kernels/arm is of
the tier that its name begins with, any other of the baseline. A ledger, depth_loops_*.txt, has, for
GCC 12, the stack accesses and the copies between vector registers in the depth loops of each
kernel's object: the innermost loops that multiply. They may not grow, so that a workaround for a
compiler can be seen to be of use, or be deleted. --print renews it.
"""

import re
import subprocess
import sys
from pathlib import Path

from build import Build

AVX512 = r"%zmm|%[xy]mm(1[6-9]|2\d|3[01])|%k[0-7]"
VNNI = r"\bvpdp(bus|wss)ds?\b"
NEWER = r"\b(vpdp(bss|bsu|buu|wsu|wus|wuu)ds?|tdp\w+|tile\w+|vp4dp\w+)\b"
DOTPROD = r"\b[su]dot\b"
I8MM = r"\b(us|su)dot\b|\b(us|[su])mmla\b"
SME = r"\b(smstart|smstop|[us]mopa|usmopa|sumopa|ptrue|z\d+\.)"

# The first word of an object's name -> what it may not have. "baseline": all other objects.
BEYOND = {
    "x86": {
        "sse41": r"%[yz]mm|\bv[a-z]+\d*\s+.*%xmm",
        "avx2": "|".join((AVX512, VNNI, NEWER)),
        "avxvnni": "|".join((AVX512, NEWER)),
        "avx512": "|".join((VNNI, NEWER)),
        "avx512vnni": NEWER,
        "baseline": r"%[yz]mm|\bv[a-z]+\d*\s+.*%xmm|\b(pmaddubsw|pshufb|pmuldq|pmaxs[bd]|pmulld)\b",
    },
    "arm": {
        "neon": "|".join((DOTPROD, I8MM, SME)),
        "dotprod": "|".join((I8MM, SME)),
        "i8mm": SME,
        "baseline": "|".join((DOTPROD, I8MM, SME)),
    },
}
# What the other tiers share is compiled for the least of them.
ALIASES = {"avx512": "avx512vnni", "sparse": "neon"}

MULTIPLY = re.compile(r"\bv?(pdpbusd|pdpwssd|pmaddwd|pmaddubsw)\b|\b([su]dot|[su]mmla|usmmla|"
                      r"[su]mull2?|[su]mlal2?)\b")
STACK = re.compile(r"\(%rsp|\(%rbp|\[sp[,\]]|\[x29[,\]]")
COPY = re.compile(r"\bv?mov(dq[au]\d*|aps|ups)\s+%([xyz])mm\d+,%\2mm\d+|\bmov\s+v\d+\.\d*[bhsd], v\d+\.")


def functions(objdump, path):
    """Lists of (address, text of the instruction), one a function."""
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", path], capture_output=True, text=True,
                          check=True).stdout
    body = []
    for line in text.split("\n"):
        if re.match(r"^[0-9a-f]+ <.*>:$", line):
            yield body
            body = []
        match = re.match(r"^\s*([0-9a-f]+):\t(.*)$", line)
        if match:
            body.append((int(match[1], 16), match[2]))
    yield body


def depth_loops(body):
    """Innermost loops that multiply: no branch back within, but for their own."""
    back = []
    for at, (address, text) in enumerate(body):
        match = re.match(r"(?:j\w+|b\.\w+|b|cbn?z|tbn?z)\s+(?:.*, ?)?([0-9a-f]+) <", text)
        if match and int(match[1], 16) < address:
            back.append((int(match[1], 16), address, at))
    for first, last, _ in back:
        if any(first <= f and l <= last and (f, l) != (first, last) for f, l, _ in back):
            continue
        loop = [text for address, text in body if first <= address <= last]
        if any(MULTIPLY.search(text) for text in loop):
            yield loop


def tier_of(path):
    match = re.search(r"/kernels/(x86|arm)/(\w+?)(?:_|\.)[^/]*$", path)
    return match[2] if match else "baseline"


def check(path, objdump, counts):
    tier = tier_of(path)
    bodies = list(functions(objdump, path))
    architecture = "x86" if any("%r" in text for body in bodies for _, text in body[:200]) else "arm"
    rules = BEYOND[architecture]
    tier = tier if tier in rules else ALIASES.get(tier, tier)
    if tier not in rules:
        yield f"{path}: {tier} is no tier that this test knows"
        return
    beyond = re.compile(rules[tier])
    for body in bodies:
        for address, text in body:
            if beyond.search(text.split("<")[0]):
                yield f"{path}: {address:x} has an instruction that {tier} lacks: {text}"
                break
    if tier != "baseline":
        loops = [loop for body in bodies for loop in depth_loops(body)]
        name = re.search(r"kernels/\w+/(\w+)", path)[1]
        counts[name] = tuple(sum(1 for loop in loops for text in loop if pattern.search(text))
                             for pattern in (STACK, COPY))


def main():
    build = Build(sys.argv[1])
    ledger = Path(__file__).with_name(f"depth_loops_{build.text('OCTET_TARGET')}.txt")
    counts, complaints = {}, []
    paths = build.items("octet_objects")
    for path in paths:
        complaints += check(path, build.text("CMAKE_OBJDUMP"), counts)
    if sys.argv[2:] == ["--print"]:
        ledger.write_text(
            "# stack accesses and copies of vector registers in depth loops, by object\n" +
            "".join(f"{name} {s} {c}\n" for name, (s, c) in sorted(counts.items()) if s or c))
    elif re.match("GNU 12\\.", build.text("CMAKE_CXX_COMPILER_ID") + " " +
                  build.text("CMAKE_CXX_COMPILER_VERSION")):
        known = {name: (int(s), int(c)) for name, s, c in re.findall(
            r"^(\w+) (\d+) (\d+)$", ledger.read_text(), re.M)}
        for name, count in sorted(counts.items()):
            before = known.get(name, (0, 0))
            if any(now > old for now, old in zip(count, before)):
                complaints.append(f"{name}: stack accesses and copies in depth loops grew from "
                                  f"{before} to {count}")
            elif count != before:
                complaints.append(f"{name}: {ledger.name} says {before}, now {count}: renew it")
    print(*complaints, sep="\n")
    print(f"{len(paths)} objects looked at, {len(counts)} of tiers")
    if complaints or not counts:
        sys.exit(1)


if __name__ == "__main__":
    main()
