"""Mutation testing: changes one point of the library at a time and looks whether a test notices.

    python3 tools/mutate --count 150 --seed 1       a sample, resumed if it was begun before
    python3 tools/mutate --only kernels/gemm/gemm.cc:123
    python3 tools/mutate --again                    the survivors once more, after a new test
    python3 tools/mutate --sanitize                 the survivors under ASan and UBSan, as CI tests
    python3 tools/mutate --report
"""

import argparse
import pathlib

import areas
from ledger import Ledger, identity, read_equivalent, summary
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
    parser.add_argument("--sanitize", action="store_true", help="the same, with sanitizers")
    parser.add_argument("--report", action="store_true", help="print what is known, try nothing")
    parser.add_argument("--arm", action="store_true", help="mutate Arm's kernels, run under qemu")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--directory", type=pathlib.Path, default=None,
                        help="of the copy, the build and the results; build-mutate by default")
    options = parser.parse_args()
    options.again |= options.sanitize
    return options


def chosen(options, tree, all_areas, ledger):
    """Of each area: its mutants, itself, and how many of them are to count."""
    if options.again:
        survivors = {identity(entry) for entry in ledger.with_status("survived")}
        for area in all_areas:
            yield [m for m in mutants_of(tree, area) if m.identity in survivors], area, None
        return
    if options.only:
        for area in all_areas:
            yield [m for m in mutants_of(tree, area)
                   if m.path in options.only or f"{m.path}:{m.line}" in options.only], area, None
        return
    shares = sum(area.share for area in all_areas)
    for area in all_areas:
        yield shuffled(tree, area, options.seed), area, -(-options.count * area.share // shares)


def main():
    options = arguments()
    directory = options.directory or ROOT / ("build-mutate-arm" if options.arm else "build-mutate")
    directory = directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(directory / "results.jsonl")
    equivalent = read_equivalent(HERE / "equivalent.txt")
    if not options.report:
        work(options, directory, ledger, equivalent)
    print()
    for entry in ledger.with_status("survived"):
        if identity(entry) not in equivalent:
            print(f"{entry['path']}:{entry['line']}\n- {entry['before']}\n+ {entry['after']}\n")
    for row in summary(ledger.entries.values(), equivalent):
        print("{:<12}{:>8}{:>10}{:>12}{:>22}".format(*row))


def work(options, directory, ledger, equivalent):
    flags, configuration = "-O2 -w", []
    if options.sanitize:
        directory /= "sanitized"
        flags += (" -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
                  " --param asan-instrumentation-with-call-threshold=0")
    if options.arm:  # one CPU model has every tier
        configuration = [f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/toolchains/aarch64-linux-gnu.cmake",
                         "-DOCTET_QEMU_CPUS=max"]
    workshop = Workshop(ROOT, directory, flags, configuration, options.jobs)
    all_areas = [area for area in (areas.ARM if options.arm else areas.NATIVE)
                 if not options.area or area.name in options.area]
    for mutants, area, quota in chosen(options, workshop.tree, all_areas, ledger):
        counted = 0
        for mutant in mutants:
            if counted == quota:
                break
            status = ledger.status(mutant)
            if status is None or (options.again and mutant.identity not in equivalent):
                text = (workshop.tree / mutant.path).read_text()
                mutated = applied(text, mutant.change)
                status, by = workshop.try_mutant(mutant.path, mutated, area)
                if options.sanitize and status == "killed":
                    by += ", sanitized"
                ledger.add(mutant, status, by)
                print(f"{status}{' by ' + by if by else ''}: {mutant}", flush=True)
            counted += status in ("killed", "survived")


if __name__ == "__main__":
    main()
