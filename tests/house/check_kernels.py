#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at the object code of a library: check_kernels.py BUILD [--print]

No object may have an instruction that its tier lacks: an object in kernels/x86 or kernels/arm is of
the tier that its name begins with, whose features are those of its row in dispatch/tables/tiers.cc,
and those that a kernel of its source needs beyond them; any other object is of the baseline, which
has no feature. A ledger, depth_loops_*.txt, has, for GCC 12, the stack accesses, the copies between
vector registers and the second loads of a vector in the depth loops of each kernel's object: the
innermost loops that multiply. They may not grow, so that a workaround for a compiler can be seen to
be of use, or be deleted. --print renews the ledger.
"""

import re
import subprocess
import sys
from pathlib import Path

from build import Build

# Instructions, and the features any of which has them: {} where no tier uses them yet. Of VNNI the VEX
# encoding is AVX-VNNI's, the EVEX encoding AVX512-VNNI's.
INSTRUCTIONS = {
    "x86": [
        (r"\b(pmaddubsw|pshufb|pmuldq|pmaxs[bd]|pmulld)\b", {"kHasSse41"}),
        (r"%[yz]mm|\bv[a-z]+\d*\s+.*%xmm", {"kHasAvx2"}),
        (r"%zmm|%[xy]mm(1[6-9]|2\d|3[01])|%k[0-7]", {"kHasAvx512"}),
        (r"\{vex\} vpdp(bus|wss)ds?\b", {"kHasAvxVnni"}),
        (r"(?<!\{vex\} )\bvpdp(bus|wss)ds?\b", {"kHasAvx512Vnni"}),
        (r"\bvperm([it]2)?b\b", {"kHasAvx512Vbmi"}),
        (r"\b(tdpb[su][su]d|tile\w+|(ld|st)tilecfg)\b", {"kHasAmxInt8"}),
        (r"\bvpdpb(ss|su|uu)ds?\b", {"kHasAvxVnniInt8"}),
        (r"\b(vpdpw(su|us|uu)ds?|tdp(bf16|fp16)ps|tcmm\w+|vp4dp\w+)\b", {}),
    ],
    "arm": [
        (r"\b[su]dot\b", {"kHasDotprod"}),
        (r"\b(us|su)dot\b|\b(us|[su])mmla\b", {"kHasI8mm"}),
        (r"\b(ptrue|z\d+\.)", {"kHasSve256I8mm", "kHasSme"}),
        (r"\b(smstart|smstop|rdsvl|[us]mopa|usmopa|sumopa|za)\b", {"kHasSme"}),
    ],
}
ROOT = Path(__file__).parents[2]
TIERS = ROOT / "dispatch/tables/tiers.cc"
FEATURES = {name.lower(): set(re.findall(r"\w+", needs)) for name, needs in re.findall(
    r'\.name = "(\w+)".*?\.needs = ([^,]*),', TIERS.read_text(), re.S)}
# Operations that CPUs of a tier have beyond it
FEATURES["avx512vbmi"] = FEATURES["avx512vnni"] | {"kHasAvx512Vbmi"}
FEATURES["sve256"] = FEATURES["i8mm"] | {"kHasSve256I8mm"}

MULTIPLY = re.compile(r"\btdpb[su][su]d\b|\bv?(pdpbusd|pdpbssd|pdpwssd|pmaddwd|pmaddubsw)\b|\b([su]dot|[su]mmla|usmmla|"
                      r"[su]mull2?|[su]mlal2?|smopa)\b")
STACK = re.compile(r"\(%rsp|\(%rbp|\[sp[,\]]|\[x29[,\]]")
COPY = re.compile(r"\bv?mov(dq[au]\d*|aps|ups)\s+%([xyz])mm\d+,%\2mm\d+|\bmov\s+v\d+\.\d*[bhsd], v\d+\.")
# A load, or a product or conversion that reads memory, and an instruction that writes a register of an
# address
OPERAND = re.compile(r"^v?(?:p(?!.*broadcast)|movdq[au]|mov[au]ps)\w*\s+(?:\$\w+,)?(-?(?:0x[0-9a-f]+)?\((?!%rsp)[^)]*\))(?:,|$)(?!\{)")
ADDRESS = re.compile(r"^(?!cmp|test).*%(r\d+|[re](?:[abcd]x|[sd]i|bp))d?$")


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
    """Innermost loops that multiply: their only branch back is their own."""
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


def loads_again(loop):
    """Vectors that the loop has loaded before from the same address: weights, for example, that the
    compiler does not keep in a register."""
    writes, seen, count = {}, set(), 0
    for text in loop:
        operand = OPERAND.match(text)
        if operand and "{1to" not in text:
            key = operand[1], *(writes.get(register, 0) for register in re.findall(r"%(\w+)", operand[1]))
            count += key in seen
            seen.add(key)
        written = ADDRESS.match(text)
        if written:
            register = re.sub("^e", "r", written[1])
            writes[register] = writes.get(register, 0) + 1
    return count


def check(path, objdump, counts):
    kernel = re.search(r"/(kernels/(?:x86|arm)/(?:(?:functions|runtime|int4|amx|avx512bw|byte_rows|scale_blocks|sparse|s16|shared|taps)/)?((\w+?)(?:_\w+)?)\.cc)\.[^/]*$", path)
    tier = kernel[3] if kernel and kernel[3] in FEATURES else "baseline"
    having = FEATURES.get(tier, set())
    if kernel:
        having = having.union(re.findall(r"\.needs = (\w+)", (ROOT / kernel[1]).read_text()))
    bodies = list(functions(objdump, path))
    architecture = "x86" if any("%r" in text for body in bodies for _, text in body[:200]) else "arm"
    lacking = [pattern for pattern, features in INSTRUCTIONS[architecture] if not having & set(features)]
    beyond = re.compile("|".join(f"(?:{pattern})" for pattern in lacking) or "(?!)")  # or never
    for body in bodies:
        for address, text in body:
            if beyond.search(text.split("<")[0]):
                yield f"{path}: {address:x} has an instruction that {tier} lacks: {text}"
                break
    if kernel and "/functions/" not in path:
        loops = [loop for body in bodies for loop in depth_loops(body)]
        counts[kernel[2]] = *(sum(1 for loop in loops for text in loop if pattern.search(text))
                              for pattern in (STACK, COPY)), sum(map(loads_again, loops))


def main():
    build = Build(sys.argv[1])
    ledger = Path(__file__).with_name(f"depth_loops_{build.text('OCTET_TARGET')}.txt")
    counts, complaints = {}, []
    paths = build.items("octet_objects")
    for path in paths:
        complaints += check(path, build.text("CMAKE_OBJDUMP"), counts)
    if sys.argv[2:] == ["--print"]:
        ledger.write_text(
            "# stack accesses, copies of vector registers, second loads of a vector in depth loops, by object\n" +
            "".join(f"{name} {s} {c} {l}\n" for name, (s, c, l) in sorted(counts.items()) if s or c or l))
    elif re.match("GNU 12\\.", build.text("CMAKE_CXX_COMPILER_ID") + " " +
                  build.text("CMAKE_CXX_COMPILER_VERSION")):
        known = {name: (int(s), int(c), int(l)) for name, s, c, l in re.findall(
            r"^(\w+) (\d+) (\d+) (\d+)$", ledger.read_text(), re.M)}
        for name, count in sorted(counts.items()):
            before = known.get(name, (0, 0, 0))
            if name not in known and any(count):
                complaints.append(f"{name} is new, with {count} stack accesses, copies and second "
                                  "loads in depth loops: renew the ledger")
            elif any(now > old for now, old in zip(count, before)):
                complaints.append(f"{name}: stack accesses, copies or second loads in depth loops "
                                  f"grew from {before} to {count}")
            elif count != before:
                complaints.append(f"{name}: the ledger says {before}, now {count}: renew it")
    print(*complaints, sep="\n")
    if any("renew" in complaint for complaint in complaints):
        print("To renew the ledger:", *sys.argv, "--print")
    print(f"{len(paths)} objects looked at, {len(counts)} of tiers")
    if complaints or not counts:
        sys.exit(1)


if __name__ == "__main__":
    main()
