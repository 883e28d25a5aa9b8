#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times a MatMulNBits of accuracy_level 4 in ONNX Runtime with and without Octet's execution provider, in turn.

    onnxruntime_scale_blocks.py <liboctet_onnxruntime.so> [--block 32] [--zeros] [--threads 1] [--rounds 9] [MxNxK ...]

Needs the packages of tests/onnxruntime/requirements.txt. The figure of each is its least time of a run in microseconds; "differ" is the largest difference of
an element over the largest element: neither has the other's order of sums.
"""
import argparse
import pathlib
import sys
import time

import numpy as np
import onnxruntime as ort

from onnxruntime_networks import least, session

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "onnxruntime"))
import models  # noqa: E402
import scale_blocks  # noqa: E402


def measured(shape, given):
    m, n, k = map(int, shape.split("x"))
    b = models.Builder(3)
    product = scale_blocks.Product(n, k, given.block, given.zeros)
    product.draw(b.rng)
    product.add(b, b.input("x", ["rows", k]), "y")
    b.output("y", ["rows", n])
    model = b.model().SerializeToString()
    feed = {"x": b.rng.standard_normal((m, k)).astype(np.float32)}
    runs = [session(model, given.threads, {"threads": str(given.threads)})[0], session(model, given.threads)[0]]
    mine, other = (made.run(None, feed)[0] for made in runs)
    times = [[], []]
    for _ in range(given.rounds):
        for kept, made in zip(times, runs):
            time.sleep(0.02)
            kept.append(1e3 * least(made.run, feed))
    octet, theirs = map(min, times)
    print(f"| {shape} | {octet:.0f} | {theirs:.0f} | {theirs / octet:.2f} | {np.abs(mine - other).max() / np.abs(other).max():.1e} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("shape", nargs="*", default=["1x4096x4096", "16x4096x4096", "128x4096x4096"])
    parser.add_argument("--block", type=int, default=32)
    parser.add_argument("--zeros", action="store_true", help="a zero point for each block")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_intermixed_args()
    ort.register_execution_provider_library("octet", str(pathlib.Path(given.library).resolve()))
    print("| M x N x K | Octet, microseconds | ONNX Runtime | ratio | differ |\n|---|---|---|---|---|")
    for shape in given.shape:
        measured(shape, given)


if __name__ == "__main__":
    main()
