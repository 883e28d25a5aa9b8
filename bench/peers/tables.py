#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes Markdown of the files of `octet bench --json`: tables.py [--into PAGE] FILE...

Prints it, or replaces all text of the page behind the line '<!-- made by scripts/compare -->'."""

import argparse
import math

from results import Run

SUITES = {"gemm": "GEMM", "resnet50": "ResNet-50 v1.5", "vgg16": "VGG-16, 3x3", "mobilenet_v2": "MobileNetV2"}
ONE_BY_ONE = ("gemm", "resnet50")
MARK = "<!-- made by scripts/compare -->\n"
SMALL = 3  # microseconds; products below take less than a call of some peers


def table(header, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header)] + rows) + "\n"


def title(suite, types):
    return f"{SUITES[suite]}, {types[:2]} x {types[2:4]} -> {types[4:]}"


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def compared(run, part):
    return [case for case in run.of(*part).values() if "ratio" in case]


def summary_cell(run, part):
    """Products: the geometric mean; a network: its time, and the time without the cost of calls."""
    cases = compared(run, part)
    if not cases:
        return ""
    if part[0] == "gemm":
        logarithms = [math.log(case["ratio"]) for case in cases if case["octet_us"] >= SMALL]
        return f"**{math.exp(sum(logarithms) / len(logarithms)):.2f}**"
    octet, peer, calls = (sum(case["count"] * value(case) for case in cases) for value in
                          (lambda c: c["octet_us"], lambda c: c["peer_us"], lambda c: run.call_us))  # fmt: skip
    return f"**{peer / octet:.2f}**" + (f" ({(peer - calls) / octet:.2f})" if calls else "")


def agreement(peer, cases):
    wrong = sum(not case["peer_verified"] for case in cases)
    equal = math.floor(min(case["peer_percent_equal"] for case in cases) * 1e3) / 1e3
    return peer + (f" wrong in {wrong} of {len(cases)} cases" if wrong else " all" if equal == 100 else f" at least {equal} % in each case")


def details(part, runs):
    """A row per case, two columns per peer; Octet's time is the first run's, each ratio is its own run's."""
    network = part[0] != "gemm"
    results = [run.of(*part) for run in runs]
    rows = []
    for name, case in results[0].items():
        row = [name] + ([str(case["count"]), case["algorithm"]] if network else []) + [number(case["octet_us"])]
        for result in results:
            other = result.get(name, {})
            row += [number(other["peer_us"]), f"{other['ratio']:.2f}"] if "ratio" in other else ["", ""]
        rows.append(row)
    header = ["convolution", "count", "algorithm"] if network else ["M x N x K"]
    header += ["Octet us"] + [column for run in runs for column in (f"{run.product} us", "x")]
    return f"<details><summary>{title(*part)}, one by one</summary>\n\n{table(header, rows)}\n</details>\n"


def markdown(runs):
    parts = {(case["suite"], case["types"]) for run in runs for case in run.cases}
    parts = sorted(parts, key=lambda part: (list(SUITES).index(part[0]), part[1]))
    peers = {}  # name -> its runs
    for run in runs:
        peers.setdefault(run.peer, []).append(run)
    for owned in peers.values():
        for run in owned:
            run.call_us = min(other.call_us or 0 for other in owned)
    runs_of = lambda part: [run for run in runs if compared(run, part)]

    machine = runs[0].machine
    text = f"{machine['cpu']}, {machine['isa']}, {machine['date']}, medians of {machine['repetitions']} repetitions, "
    text += "one thread:\n\n" if machine["threads"] == 1 else f"{machine['threads']} threads:\n\n"
    rows = [[title(*part)] + ["".join(summary_cell(run, part) for run in owned) for owned in peers.values()] for part in parts]
    text = f"Peers: {', '.join(peers)}.\n" + text
    text += table(["x"] + [owned[0].product for owned in peers.values()], rows)
    costs = [f"{owned[0].product} {owned[0].call_us:.1f} us" for owned in peers.values() if owned[0].call_us]
    text += "\nA call that computes nothing: " + ", ".join(costs) + ".\n" if costs else ""
    equal = [agreement(owned[0].product, [case for run in owned for part in parts for case in compared(run, part)]) for owned in peers.values()]
    text += "Outputs that equal Octet's: " + ", ".join(equal) + ".\n"
    return text + "".join("\n" + details(part, runs_of(part)) for part in parts if part[0] in ONE_BY_ONE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", metavar="PAGE")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    text = markdown([Run(path) for path in arguments.files])
    if not arguments.into:
        print(text)
        return
    with open(arguments.into) as page:
        head, mark, _ = page.read().partition(MARK)
    if not mark:
        raise SystemExit(f"{arguments.into} has no line {MARK}")
    with open(arguments.into, "w") as page:
        page.write(head + mark + "\n" + text)


if __name__ == "__main__":
    main()
