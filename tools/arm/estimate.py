#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instruction counts and estimated cycles of Octet's Arm kernels, without Arm hardware. README.md says what the numbers mean.

Counts come from qemu-user with the plugin in count_blocks.c, cycles per block from llvm-mca's models. Nothing is timed, so the output is
the same on every machine. Nothing is built either: give it one or more aarch64 build directories of Octet.
"""
import argparse
import bisect
import collections
import pathlib
import re
import subprocess
import sys

# Instructions per cycle that the decoder can feed, from Arm's software optimization guides: the models' own widths count micro-operations.
DISPATCH = {"cortex-a72": 3, "neoverse-n1": 4, "neoverse-n2": 5, "neoverse-v1": 8, "neoverse-v2": 8}

# A tier's name: the qemu CPU that makes Octet choose it, the cores it is estimated for, and the instructions whose throughput is its peak,
# with the MACs that they do together. Registers are filled in so that the instructions are independent.
Tier = collections.namedtuple("Tier", "qemu_cpu cores peak peak_macs")
TIERS = {
    "i8mm": Tier("max,sme=off", ["neoverse-n2", "neoverse-v1", "neoverse-v2"], ["smmla v{0}.4s, v30.16b, v31.16b"], 32),
    "dotprod": Tier("neoverse-n1", ["neoverse-n1", "neoverse-v1"], ["sdot v{0}.4s, v30.16b, v31.16b"], 16),
    "neon": Tier("cortex-a72", ["cortex-a72", "neoverse-n1"],
                 ["smull v{0}.8h, v30.8b, v31.8b", "smlal2 v{0}.8h, v30.16b, v31.16b", "sadalp v{1}.4s, v{0}.8h"], 16),
}
SHAPES = ["196x512x512", "64x64x256", "49x512x4608", "3136x24x144", "1x512x512", "ic512oc512_ih7kh3ph1", "ic144oc24_ih56"]
DEFAULT_TYPES = "s8:s8:s8"


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", **options)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nfailed: {result.stderr.strip()[-400:]}")
    return result


# ---- counting ---------------------------------------------------------------------------------------------------------------------

def count(build, qemu_cpu, arguments, runs):
    """{address: executions} of a whole program, and its output: multiply-adds and names."""
    result = run("qemu-aarch64", "-cpu", qemu_cpu, "-d", "plugin", "-plugin", str(build / "libcount_blocks.so"),
                 str(build / "one_shape"), *arguments[:4], str(runs), *arguments[4:])
    counts = collections.Counter()
    for line in result.stderr.splitlines():
        fields = line.split()
        if fields and fields[0] == "block":
            start, instructions, executions = int(fields[1], 16), int(fields[2]), int(fields[3])
            for i in range(instructions):
                counts[start + 4 * i] += executions
    if not counts:
        sys.exit("the plugin counted nothing; is this Debian's qemu-user 7.2?")
    return counts, result.stdout.strip()


def count_one_call(build, qemu_cpu, arguments):
    once, kernel = count(build, qemu_cpu, arguments, 1)
    twice, _ = count(build, qemu_cpu, arguments, 2)
    return {address: n - once[address] for address, n in twice.items() if n > once[address]}, kernel


# ---- code -------------------------------------------------------------------------------------------------------------------------

Instruction = collections.namedtuple("Instruction", "name operands target")
BRANCHES = re.compile(r"^(b|bl|br|blr|ret|cbz|cbnz|tbz|tbnz|b\..*)$")


class Program:
    """The disassembly of an executable, with its functions."""

    def __init__(self, path):
        self.instructions, self.starts, self.functions = {}, [], []
        text = run("llvm-objdump-19", "-d", "--no-show-raw-insn", "--mattr=+all", "--demangle", str(path)).stdout
        for line in text.splitlines():
            if match := re.match(r"^([0-9a-f]+) <(.*)>:$", line):
                self.starts.append(int(match[1], 16))
                self.functions.append(match[2].replace("(anonymous namespace)::", "").split("(")[0])
            elif match := re.match(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$", line):
                operands = re.sub(r"\s*<.*>", "", match[3].split("//")[0]).strip()
                target = re.search(r"0x([0-9a-f]+)$", operands) if BRANCHES.match(match[2]) else None
                self.instructions[int(match[1], 16)] = Instruction(match[2], operands, int(target[1], 16) if target else None)

    def function(self, address):
        return self.functions[bisect.bisect_right(self.starts, address) - 1]


class Block:
    """Instructions that ran one after the other, equally often."""

    def __init__(self, program, addresses, executions):
        self.address, self.executions = addresses[0], executions
        self.instructions = [program.instructions[a] for a in addresses]
        self.is_loop = self.instructions[-1].target == self.address
        self.function = program.function(self.address)

    def assembly(self):
        # Branches go to a label of their own: only their cost matters. Calls and returns cost one slot, like a branch.
        lines = []
        for i in self.instructions:
            if i.target is not None and i.name != "bl":
                lines.append(f"{i.name} {re.sub(r'0x[0-9a-f]+$', '.Lx', i.operands)}")
            elif i.name in ("bl", "blr", "br", "ret"):
                lines.append("b .Lx")
            else:
                lines.append(f"{i.name} {i.operands}")
        return "\n".join(lines)

    def stores(self):
        return sum(i.name.startswith("st") for i in self.instructions)


def blocks_of(program, counts):
    targets = {i.target for i in program.instructions.values() if i.target}
    blocks, current = [], []
    for address in sorted(counts):
        if current:
            last = current[-1]
            if (address != last + 4 or address in targets or counts[address] != counts[last]
                    or BRANCHES.match(program.instructions[last].name)):
                blocks.append(Block(program, current, counts[last]))
                current = []
        current.append(address)
    blocks.append(Block(program, current, counts[current[-1]]))
    return blocks


# ---- cycles -----------------------------------------------------------------------------------------------------------------------

def simulate(core, regions, iterations):
    """[(cycles of all iterations, reciprocal throughput)] of pieces of assembly, by llvm-mca."""
    source = ".Lx:\n" + "".join(f"# LLVM-MCA-BEGIN {i}\n{text}\n# LLVM-MCA-END\n" for i, text in enumerate(regions))
    result = run("llvm-mca-19", "-mtriple=aarch64", f"-mcpu={core}", "-mattr=+v8.6a,+sve2", f"-iterations={iterations}",
                 f"-dispatch={DISPATCH[core]}", "-instruction-info=0", "-resource-pressure=0", "-skip-unsupported-instructions=any",
                 input=source)
    results = [(0, 0.0)] * len(regions)
    for part in re.split(r"^\[\d+\] Code Region - ", result.stdout, flags=re.M)[1:]:
        cycles, throughput = re.search(r"Total Cycles:\s+(\d+)", part), re.search(r"Block RThroughput:\s+([\d.]+)", part)
        results[int(part.split("\n")[0])] = (int(cycles[1]), float(throughput[1]))
    return results


def steady_cycles(core, regions):
    """Cycles per iteration once a loop is under way."""
    if not regions:
        return []
    short, long = simulate(core, regions, 100), simulate(core, regions, 300)
    return [(b[0] - a[0]) / 200 for a, b in zip(short, long)]


def peak(core, tier):
    """MACs per cycle of the tier's instructions alone, without loads, on 12 independent accumulators."""
    lines = [line.format(i, i + 12) for line in tier.peak for i in range(12)]
    return 12 * tier.peak_macs / steady_cycles(core, ["\n".join(lines)])[0]


def estimate(core, blocks):
    """Estimated cycles of each block over the whole call."""
    loops = [b for b in blocks if b.is_loop]
    others = [b for b in blocks if not b.is_loop]
    cycles = dict(zip(loops, steady_cycles(core, [b.assembly() for b in loops])))
    for block, (_, throughput) in zip(others, simulate(core, [b.assembly() for b in others], 1)):
        cycles[block] = max(throughput, len(block.instructions) / DISPATCH[core])
    return {block: block.executions * cycles[block] for block in blocks}


# ---- the table --------------------------------------------------------------------------------------------------------------------

def compiler_of(build):
    files = list(build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"))
    text = files[0].read_text() if files else ""
    name, version = re.search(r'CMAKE_CXX_COMPILER_ID "(\w+)"', text), re.search(r'CMAKE_CXX_COMPILER_VERSION "(\d+)', text)
    return f"{name[1]} {version[1]}".replace("GNU", "GCC") if name and version else "?"


def programs_of(build):
    """The directory below a build directory that holds the program and the plugin."""
    for candidate in (build, build / "tools/arm"):
        if (candidate / "one_shape").exists() and (candidate / "libcount_blocks.so").exists():
            return candidate
    sys.exit(f"{build}: no one_shape and libcount_blocks.so here; build the targets octet_one_shape and octet_count_blocks")


def macs_of(block):
    """Multiply-adds that one pass over the block does, from its instructions."""
    macs = {"smmla": 32, "ummla": 32, "usmmla": 32, "sdot": 16, "udot": 16, "usdot": 16, "smull": 8, "smull2": 8, "smlal2": 8}
    return sum(macs.get(i.name, 0) for i in block.instructions)


def by_function(blocks):
    """[(executed instructions, function)], most first."""
    totals = collections.Counter()
    for block in blocks:
        totals[block.function] += block.executions * len(block.instructions)
    return [(instructions, function) for function, instructions in totals.most_common()]


def report(build, tier, cores, peaks, shape, top):
    """Prints one line of the table, and the `top` functions and blocks that cost most."""
    case, _, types = shape.partition(":")
    directory = programs_of(build)
    counts, printed = count_one_call(directory, tier.qemu_cpu, [case, *(types or DEFAULT_TYPES).split(":")])
    macs, _, kernel = printed.partition(" ")
    macs = int(macs)
    blocks = blocks_of(Program(directory / "one_shape"), counts)
    instructions = sum(counts.values())
    inner = max((b for b in blocks if b.is_loop), key=lambda b: b.executions * macs_of(b), default=None)

    line = f"{shape:<21} {kernel:<27} {compiler_of(build):<9} {instructions:>9} {1000 * instructions / macs:>7.1f}"
    details = [f"    {100 * executed / instructions:5.1f} % of the instructions in {function}" for executed, function in by_function(blocks)[:top]]
    for core in cores:
        cycles = estimate(core, blocks)
        total = sum(cycles.values())
        inner_percent = 100 * inner.executions * macs_of(inner) / cycles[inner] / peaks[core] if inner else 0
        line += f" | {round(total):>9} {macs / total:>6.1f} {100 * macs / total / peaks[core]:>5.1f} {inner_percent:>6.1f}"
        for block in sorted(blocks, key=cycles.get, reverse=True)[:top]:
            details.append(f"    {core} {100 * cycles[block] / total:5.1f} %  {block.executions:>8} x "
                           f"{cycles[block] / block.executions:6.2f} cycles, {len(block.instructions):>3} instructions"
                           f"{', loop' if block.is_loop else ''} at {block.address:#x} in {block.function}")
    print(line + f" | {inner.stores() if inner else '-'}", *details, sep="\n", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build-dir", action="append", type=pathlib.Path, required=True,
                        help="aarch64 build of Octet; repeat to compare compilers")
    parser.add_argument("--tier", action="append", choices=TIERS, help="default: all")
    parser.add_argument("--cpu", action="append", choices=DISPATCH, help="only these of a tier's cores")
    parser.add_argument("--shape", action="append", metavar="CASE[:LHS:RHS:DST[:OPTION]...]",
                        help=f"MxNxK, or a convolution as octet bench names it; default: {' '.join(SHAPES)}, types {DEFAULT_TYPES}")
    parser.add_argument("--blocks", type=int, default=0, metavar="COUNT", help="also list the functions and blocks that cost most")
    options = parser.parse_args()

    print("instr, /kMAC: executed instructions of the whole call, and per 1000 multiply-adds. Per core: estimated cycles, MACs per cycle,\n"
          "% of the peak of the tier's multiply instruction, and the same % for the innermost loop alone. spills: stores in that loop.")
    for name in options.tier or TIERS:
        tier = TIERS[name]
        cores = [core for core in tier.cores if not options.cpu or core in options.cpu]
        if not cores:
            continue
        peaks = {core: peak(core, tier) for core in cores}
        print(f"\n{name}: peak MACs per cycle: " + ", ".join(f"{core} {peaks[core]:.0f}" for core in cores))
        heads = "".join(f" | {core:<11} MAC/c     % inner%" for core in cores)
        print(f"{'shape':<21} {'kernel':<27} {'compiler':<9} {'instr':>9} {'/kMAC':>7}{heads} | spills")
        for shape in options.shape or SHAPES:
            for build in options.build_dir:
                report(build, tier, cores, peaks, shape, options.blocks)


if __name__ == "__main__":
    main()
