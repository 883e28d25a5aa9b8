#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the files of `octet bench --json`: plots.py roofline|layers --to FILE.svg FILE...

The same input gives the same bytes. Colours are Okabe and Ito's, which colour-blind readers can tell apart."""

import argparse
import math
import re
import statistics

import matplotlib
from results import Run

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "octet", "svg.fonttype": "none", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
                            "axes.edgecolor": "#555555", "axes.labelcolor": "#222222", "xtick.color": "#444444", "ytick.color": "#222222"})  # fmt: skip
from matplotlib import pyplot  # noqa: E402: after the choice of the back end

BLUE, SKY, ORANGE, GREEN, GREY = "#0072B2", "#56B4E9", "#D55E00", "#009E73", "#555555"


def caption(figure, text):
    figure.text(0.01, 0.008, text, fontsize=8, color=GREY, va="bottom")


def where(run):
    machine = run.machine
    return f"{machine['cpu']}, {machine['isa']}, {machine['threads']} thread{'s' * (machine['threads'] > 1)}, {machine['date']}"


def intensity(case):
    return case["gops"] / case["gbps"]


def weights_mb(case):
    _, n, k = map(int, case["name"].split("x"))
    return n * k / 2**20


UNDERLAY = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}  # text on a line


def mark(axes, case, y, text, place="right"):
    offset, horizontal, vertical = {"right": ((6, 0), "left", "center"), "below": ((0, -7), "center", "top")}[place]
    axes.annotate(text, (intensity(case), y), xytext=offset, textcoords="offset points", ha=horizontal, va=vertical, fontsize=8.5, bbox=UNDERLAY)


def roofline(products, network):
    """All products and the network's layers under the roof of the dot-product instruction and those of reading weights."""
    figure, axes = pyplot.subplots(figsize=(9, 5.6))
    figure.subplots_adjust(left=0.075, right=0.985, top=0.93, bottom=0.15)
    axes.set(xscale="log", yscale="log", xlim=(0.2, 2000), ylim=(2.5, 1200))
    gemm = [case for case in products.cases if case["types"] == "u8s8s32" and case["suite"] == "gemm" and "ratio" in case]
    layers = [case for case in network.cases if "ratio" in case]
    left, right = axes.get_xlim()

    peak = statistics.median(case["concurrent_peak_gops"] for case in gemm + layers)
    axes.plot([left, right], [peak, peak], color="black", lw=1.6, zorder=1)
    axes.text(left * 1.1, peak * 1.06, f"{peak:.0f} GOPS: concurrent peak of the dot-product instruction", va="bottom")
    streams = [case for case in gemm if "read_gbps" in case and weights_mb(case) > 1]
    for megabytes in {round(weights_mb(case)) for case in streams}:
        bandwidth = statistics.median(case["read_gbps"] for case in streams if round(weights_mb(case)) == megabytes)
        ends = [(left, left * bandwidth), (peak / bandwidth, peak)]
        axes.plot(*zip(*ends), color="black", lw=1.2, ls=(0, (5, 2)), zorder=1)
        (x0, y0), (x1, y1) = axes.transData.transform(ends)
        axes.text(0.6, 0.6 * bandwidth, f"{bandwidth:.0f} GB/s: {megabytes} MB of weights", ha="center", va="center", fontsize=9,
                  rotation=math.degrees(math.atan2(y1 - y0, x1 - x0)), rotation_mode="anchor", bbox=UNDERLAY)  # fmt: skip

    for name, of, face, edge, order in (("Octet", 1, BLUE, "none", 4), (products.product, 0, "white", ORANGE, 3)):
        for cases, marker, size, what in (gemm, "o", 44, "products u8 x s8 → s32"), (layers, "s", 36, "ResNet-50 layers u8 x s8 → u8"):
            speeds = [case["gops"] if of else case["gops"] / case["ratio"] for case in cases]
            axes.scatter([intensity(case) for case in cases], speeds, s=size, marker=marker, facecolor=face, edgecolor=edge, lw=1.4, zorder=order,
                         label=f"{name}, {what}")  # fmt: skip
    for case in gemm + layers:
        axes.plot([intensity(case)] * 2, [case["gops"] / case["ratio"], case["gops"]], color="#BBBBBB", lw=1, zorder=2)

    for case in gemm:  # a few labels: the rest is a crowd under the roof
        lower = min(case["gops"], case["gops"] / case["ratio"])
        if case["name"].startswith("1x") and case in streams:
            mark(axes, case, case["gops"], "M = 1", "right")
        elif case["name"].startswith("4x"):
            mark(axes, case, lower, "M = 4", "below")
        elif weights_mb(case) < 0.005:
            mark(axes, case, lower, case["name"], "below" if case["name"] == "64x64x64" else "right")
    winograd = [case for case in layers if case["algorithm"].startswith("winograd")]
    if winograd:
        fewest = min(winograd, key=intensity)
        axes.annotate("Winograd: fewer products\nthan GOPS counts", (intensity(fewest), fewest["gops"]), xytext=(-10, 9),
                      textcoords="offset points", ha="right", va="center", fontsize=9)  # fmt: skip

    axes.set_xlabel("operations per byte: 2 M N K ÷ (left operand + weights + result, each once)")
    axes.set_ylabel("GOPS")
    for axis in axes.xaxis, axes.yaxis:
        axis.set_major_formatter("{x:g}")
    axes.grid(True, color="#E4E4E4", lw=0.8)
    axes.set_axisbelow(True)
    axes.legend(loc="lower right", framealpha=1, edgecolor="#CCCCCC", fontsize=9)
    axes.set_title("Roofline of one core", loc="left", fontsize=12)
    caption(figure, f"{where(products)}. Grey lines join the two on one case. M: rows of LLaMA-7B's products. GB/s: a loop that reads.")
    return figure


def layer_name(case):
    fields = {name: int(value) for name, value in re.findall(r"([a-z]+)(\d+)", case["name"])}
    stride = f"/{fields['sh']}" if fields["sh"] > 1 else ""
    times = f" · {case['count']}×" if case["count"] > 1 else ""
    return f"{fields['kh']}x{fields['kh']}{stride} · {fields['ic']} → {fields['oc']} · {fields['oh']}²{times}"


def layers(*runs):
    """A bar for Octet, a mark for each peer, a row per layer."""
    cases = [case for case in runs[0].cases if "ratio" in case]
    figure, axes = pyplot.subplots(figsize=(9, 0.27 * len(cases) + 1.75))
    inch = 1 / figure.get_figheight()
    figure.subplots_adjust(left=0.225, right=0.985, top=1 - 0.72 * inch, bottom=0.78 * inch)
    rows = range(len(cases))
    for algorithm, colour in ("direct", SKY), ("winograd", BLUE):
        of = [row for row in rows if cases[row]["algorithm"].startswith(algorithm)]
        axes.barh(of, [cases[row]["percent_of_concurrent_peak"] for row in of], height=0.72, color=colour, label=f"Octet, {algorithm}")
    looks = [("o", ORANGE, -0.17), ("D", GREEN, 0), ("^", "black", 0.17)]
    for run, (marker, colour, shift) in zip(runs, looks):
        ratio = {case["name"]: case["ratio"] for case in run.cases if "ratio" in case}  # of its own run, in alternation with Octet
        points = [(cases[row]["percent_of_concurrent_peak"] / ratio[cases[row]["name"]], row + shift) for row in rows if cases[row]["name"] in ratio]
        axes.scatter(*zip(*points), s=30, marker=marker, facecolor=colour, edgecolor="white", lw=0.7, zorder=3, label=run.product)
    axes.axvline(100, color="black", lw=1.2, zorder=2)
    axes.set_yticks(rows, [layer_name(case) for case in cases], fontsize=9)
    axes.set_ylim(len(cases) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("% of the dot-product instruction's peak, which ran beside each repetition")
    axes.grid(True, axis="x", color="#E4E4E4", lw=0.8)
    axes.set_axisbelow(True)
    figure.suptitle("ResNet-50 v1.5, u8 x s8 → u8, layer by layer", x=0.01, y=1 - 0.08 * inch, ha="left", va="top", fontsize=12)
    marks, names = axes.get_legend_handles_labels()
    order = sorted(range(len(names)), key=lambda i: not names[i].startswith("Octet"))
    figure.legend([marks[i] for i in order], [names[i] for i in order], loc="upper left", bbox_to_anchor=(0, 1 - 0.34 * inch), ncols=5, frameon=False, fontsize=9, columnspacing=1.4, handletextpad=0.4)
    caption(figure, f"{where(runs[0])}, batch 1. Rows: kernel/stride · channels · output · count. Winograd does fewer products than counted.")
    return figure


def main():
    plots = {"roofline": roofline, "layers": layers}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plot", choices=plots)
    parser.add_argument("--to", required=True, metavar="FILE.svg")
    parser.add_argument("files", nargs="+", help="roofline: of gemm and of a network; layers: of one network, a file per peer")
    arguments = parser.parse_args()
    figure = plots[arguments.plot](*(Run(path) for path in arguments.files))
    figure.savefig(arguments.to, metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main()
