# SPDX-License-Identifier: Apache-2.0
"""Mutation testing: changes one point of the library at a time and checks whether a test fails.

    python3 tools/mutate --count 150 --seed 1       a sample, resumed if it was begun before
    python3 tools/mutate --only operators/gemm/loops.cc:123
    python3 tools/mutate --again                    the survivors once more, after a new test
    python3 tools/mutate --again --sanitize         the same under ASan and UBSan
    python3 tools/mutate --arm --count 40           Arm's kernels, under qemu; also with --again
    python3 tools/mutate --report
"""

import argparse
import pathlib

import areas
from ledger import Ledger, identity, read_equivalent, stray, summary
from mutants import mutants_of, shuffled
from operators import applied
from workshop import Workshop

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def arguments():
    parser = argparse.ArgumentParser(prog="tools/mutate", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=150, help="mutants that compile to other code")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--area", action="append", help="only this area, also more than once")
    parser.add_argument("--only", action="append", metavar="FILE[:LINE]",
                        help="every mutant of a file or line")
    parser.add_argument("--again", action="store_true", help="try the survivors once more")
    parser.add_argument("--sanitize", action="store_true", help="build with ASan and UBSan")
    parser.add_argument("--report", action="store_true", help="print what is known, try nothing")
    parser.add_argument("--arm", action="store_true", help="build for Arm, run under qemu")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--directory", type=pathlib.Path, default=ROOT / "build-mutate",
                        help="of the copies, the builds and the results; build-mutate by default")
    return parser.parse_args()


def chosen(options, tree, ledger):
    """(mutants, area, how many of them count) for each area."""
    wanted = areas.ARM if options.arm else areas.NATIVE
    if options.again or options.only:
        wanted = areas.NATIVE + areas.ARM
    wanted = [area for area in wanted if not options.area or area.name in options.area]
    if options.again:
        survivors = {identity(entry) for entry in ledger.with_status("survived")}
        for area in wanted:
            yield [m for m in mutants_of(tree, area) if m.identity in survivors], area, None
    elif options.only:
        for area in wanted:
            yield [m for m in mutants_of(tree, area)
                   if m.path in options.only or f"{m.path}:{m.line}" in options.only], area, None
    else:
        shares = sum(area.share for area in wanted)
        for area in wanted:
            yield shuffled(tree, area, options.seed), area, -(-options.count * area.share // shares)


def workshop_of(options, directory):
    name, flags, configuration = "native", "-O2 -w", []
    if options.sanitize:
        name, flags = "sanitized", ("-O1 -w -fsanitize=address,undefined -fno-sanitize-recover=all"
                                    " -fno-omit-frame-pointer"
                                    " --param asan-instrumentation-with-call-threshold=0")
    if options.arm:  # one CPU model has every tier
        name, configuration = "arm", ["-DOCTET_QEMU_CPUS=max,sme=off", "-DCMAKE_TOOLCHAIN_FILE="
                                      f"{ROOT}/toolchains/aarch64-linux-gnu.cmake"]
    return Workshop(ROOT, directory / name, flags, configuration, options.jobs)


def work(options, directory, ledger, equivalent):
    workshop = workshop_of(options, directory)
    for mutants, area, quota in chosen(options, workshop.tree, ledger):
        counted = 0
        for mutant in mutants:
            if counted == quota:
                break
            status = ledger.status(mutant)
            if options.again and mutant.identity in equivalent:
                continue
            if status is None or options.again:
                text = (workshop.tree / mutant.path).read_text()
                mutated = applied(text, mutant.change)
                status, by = workshop.try_mutant(mutant.path, mutated, area)
                print(f"{status}{' by ' + by if by else ''}: {mutant}", flush=True)
                if status == "killed" or not options.again:
                    ledger.add(mutant, status, f"{by}, {workshop.name}" if by else None)
            counted += status in ("killed", "survived")


def main():
    options = arguments()
    directory = options.directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(directory / "results.jsonl")
    equivalent = read_equivalent(HERE / "equivalent.txt")
    if not options.report:
        work(options, directory, ledger, equivalent)
    lines = {}
    for area in areas.NATIVE + areas.ARM:
        for mutant in mutants_of(ROOT, area):
            lines.setdefault(mutant.identity, set()).add(mutant.line)
    entries = [entry for entry in ledger.entries.values() if identity(entry) in lines]
    print()
    for (path, before, after), count in stray(equivalent, lines):
        print(f"equivalent.txt: {count} lines of {path} match\n- {before}\n+ {after}\n")
    for entry in entries:
        if entry["status"] == "survived" and identity(entry) not in equivalent:
            line = min(lines[identity(entry)])
            print(f"{entry['path']}:{line}\n- {entry['before']}\n+ {entry['after']}\n")
    for row in summary(entries, equivalent):
        print("{:<12}{:>8}{:>10}{:>12}{:>22}".format(*row))


if __name__ == "__main__":
    main()
