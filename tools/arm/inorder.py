#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cycles of the kernels' depth loops on in-order cores, Cortex-A53 and A55, by the issue rules that README.md cites. Nothing is timed.

The loop is the one that does most multiply-adds in a whole call, counted as in estimate.py.
"""
import argparse
import pathlib
import re

import estimate

CASES = {"neon": ("cortex-a53", "196x256x1024"), "dotprod": ("neoverse-n1", "196x256x1024")}
PEAK = {"neon": 16 / 3, "dotprod": 16.0}

LOAD_LATENCY = 2     # a vector register's, from when the load pipe is free again; an integer register's is 3 in all
VECTOR_LATENCY = 4   # a result's; an accumulator reaches the next accumulation after 1
ACCUMULATES = re.compile(r"^([su]mlal2?|[su]mlsl2?|[su]adalp|u?s?u?dot|[su]mmla|usmmla|mla|mls|fmla)$")


def registers(text):
    """Registers of an operand, without width: d5, q5 and v5 are one."""
    return [("v" if r[0] in "bhsdqv" else "x") + r[1:] for r in re.findall(r"\b([bhsdqvxw]\d+)\b", text)]


class Step:
    """An instruction: the registers that it reads and writes, and the pipes that it occupies."""

    def __init__(self, instruction, core):
        name, text = instruction.name, instruction.operands
        first, _, rest = text.partition(",")
        self.reads, self.writes, self.based = registers(rest), registers(first), []
        self.vector = self.memory = 0  # cycles for which the vector pipe, the load pipe take nothing else
        self.is_insert = name in ("mov", "ins") and "[" in first and registers(first)[0][0] == "v"
        self.accumulator = self.writes[0] if ACCUMULATES.match(name) else None
        self.latency = 1
        if name.startswith(("ld", "st")):
            data, _, address = text.partition("[")
            self.writes, self.reads = registers(data), registers(address)
            if "]!" in text or "]," in text:
                self.based = registers(address)[:1]
            self.memory, self.latency = len(self.writes), 3
            if self.writes[0][0] == "v":
                whole = not re.match(r"^[bhsd]\d", data) and ".8b" not in data and not re.search(r"\}\[", text)
                self.memory = len(self.writes) * (2 if whole else 1)
                self.vector = self.memory if whole or core == "cortex-a53" else 0
                self.latency = self.memory + LOAD_LATENCY
                if name.startswith("ld1") and "[" in data:
                    self.reads += self.writes
            if name.startswith("st"):
                self.reads, self.writes = self.reads + self.writes, []
        elif self.is_insert:
            self.reads += self.writes
            self.vector = 1 if core == "cortex-a53" else 0
            self.latency = 2
        elif self.writes and self.writes[0][0] == "v":
            self.vector, self.latency = 1, VECTOR_LATENCY
            if self.accumulator:
                self.reads = self.reads + [self.accumulator]
        elif estimate.BRANCHES.match(name) or name in ("cmp", "tst"):
            self.reads, self.writes = registers(text), []


def cycles_per_turn(steps, core, turns=60):
    """Cycles per iteration in the steady state: in order, at most two instructions per cycle."""
    ready, forwarded = {}, {}  # when a register can be read; by the next accumulation into it
    vector_free = memory_free = cycle = slots = 0
    loaded_here = False
    ends = []
    for _ in range(turns):
        for s in steps:
            start = cycle
            for r in s.reads:
                start = max(start, forwarded.get(r, 0) if r == s.accumulator else ready.get(r, 0))
            while True:
                if start > cycle:
                    cycle, slots, loaded_here = start, 0, False
                beside_load = s.is_insert and core == "cortex-a53" and loaded_here
                busy = max(vector_free if s.vector and not beside_load else 0, memory_free if s.memory else 0)
                if slots < 2 and busy <= cycle:
                    break
                start = max(cycle + 1, busy)
            slots += 1
            if s.vector:
                vector_free = cycle + s.vector
            if s.memory:
                memory_free = cycle + s.memory
                loaded_here = True
            for r in s.writes:
                ready[r] = cycle + s.latency
                forwarded[r] = cycle + (1 if s.accumulator or s.vector == 1 and not s.memory else s.latency)
            for r in s.based:
                ready[r] = cycle + 1
        ends.append(cycle)
    return (ends[-1] - ends[turns // 2]) / (turns - 1 - turns // 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build-dir", action="append", type=pathlib.Path, required=True, help="aarch64 build of Octet; repeat to compare compilers")
    parser.add_argument("--tier", action="append", choices=CASES, help="default: all")
    parser.add_argument("--shape", help="default: " + CASES["neon"][1])
    parser.add_argument("--print-loop", action="store_true")
    options = parser.parse_args()
    for tier in options.tier or CASES:
        cpu, shape = CASES[tier]
        for build in options.build_dir:
            directory = estimate.programs_of(build)
            counts, printed = estimate.count_one_call(directory, cpu, [options.shape or shape, *estimate.DEFAULT_TYPES.split(":")])
            blocks = estimate.blocks_of(estimate.Program(directory / "one_shape"), counts)
            loop = max((b for b in blocks if b.is_loop), key=lambda b: b.executions * estimate.macs_of(b))
            macs = estimate.macs_of(loop)
            line = f"{printed.split()[1]:<24} {estimate.compiler_of(build):<9} {len(loop.instructions):>4} instructions {1000 * len(loop.instructions) / macs:6.1f} /kMAC"
            for core in ("cortex-a53", "cortex-a55"):
                if core == "cortex-a53" and tier == "dotprod":
                    continue
                cycles = cycles_per_turn([Step(i, core) for i in loop.instructions], core)
                line += f" | {core} {cycles:6.1f} cycles {macs / cycles:6.2f} MAC/c {100 * macs / cycles / PEAK[tier]:5.1f} %"
            print(line)
            if options.print_loop:
                print(loop.assembly())


if __name__ == "__main__":
    main()
