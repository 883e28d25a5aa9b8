#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the layers of a SEANet, of 16x8, in LiteRT with Octet's delegate and with LiteRT's own optimized kernels, in turn.

    litert_s16.py <liboctet_litert.so> [--rounds 9] [layer ...]

Needs the packages of tests/litert/requirements.txt. Each figure is the least time of an invocation in microseconds, one thread, tensors of the interpreter
included; XNNPACK takes no int16, so LiteRT's side are its own kernels. Time is a column of pixels. The delegate
leaves a function without a product to LiteRT, whose time is then on both sides. "differ" counts bytes that are not those of LiteRT's
reference kernels.
"""
import argparse
import pathlib
import sys
import time

import numpy as np
from ai_edge_litert.interpreter import OpResolverType, Interpreter

from litert_networks import interpreter, least, outputs

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests"
sys.path[:0] = [str(TESTS / "litert"), str(TESTS / "conformance")]
import networks  # noqa: E402
import tflite  # noqa: E402


def conv(m, x, channels, kernel=1, stride=1, dilation=1):
    """In time only."""
    n, steps, _, depth = x.shape
    return m.weighted("CONV_2D", x, (channels, kernel, 1, depth), kernel * depth, (n, -(-steps // stride), 1, channels), "Conv2DOptions", 0, "NONE",
                      channels, padding=tflite.PADDING["SAME"], strideH=stride, strideW=1, dilationHFactor=dilation, dilationWFactor=1)


# Of an encoder of 32 channels whose strides are 2, 4, 5 and 8: input steps, channels
def layers():
    made = {"first 7, 1 to 32": lambda m: conv(m, m.given(1, 1280, 1, 1), 32, 7)}
    for steps, channels, stride in ((1280, 32, 2), (640, 64, 4), (160, 128, 5), (32, 256, 8)):
        made[f"residual 3, {channels} to {channels // 2}, {steps} steps"] = lambda m, s=steps, c=channels: conv(m, m.given(1, s, 1, c), c // 2, 3, dilation=3)
        made[f"residual 1, {channels // 2} to {channels}, {steps} steps"] = lambda m, s=steps, c=channels: conv(m, m.given(1, s, 1, c // 2), c)
        made[f"down {2 * stride} by {stride}, {channels} to {2 * channels}, {steps} steps"] = (
            lambda m, s=steps, c=channels, by=stride: conv(m, m.given(1, s, 1, c), 2 * c, 2 * by, by))
        made[f"LEAKY_RELU, {channels}, {steps} steps"] = lambda m, s=steps, c=channels: m.unary("LEAKY_RELU", m.given(1, s, 1, c))
        made[f"ADD, {channels}, {steps} steps"] = lambda m, s=steps, c=channels: m.binary("ADD", m.given(1, s, 1, c), m.given(1, s, 1, c))
        made[f"up 2, {2 * channels} to {channels}, {steps // 2} steps"] = lambda m, s=steps, c=channels: m.enlarged(m.given(1, s // 2, 1, 2 * c), c)
    made["last 7, 32 to 1"] = lambda m: conv(m, m.given(1, 1280, 1, 32), 1, 7)
    made["depthwise 7, 256, 160 steps"] = lambda m: m.depthwise(m.given(1, 160, 1, 256), 7)
    made["FULLY_CONNECTED 512 to 512"] = lambda m: m.dense(m.given(1, 512), 512)
    made["TANH, 1280 steps"] = lambda m: m.unary("TANH", m.given(1, 1280, 1, 1))
    return made


def own(content, resolver):
    made = Interpreter(model_content=content, num_threads=1, experimental_op_resolver_type=resolver)
    made.allocate_tensors()
    rng = np.random.default_rng(4)  # as litert_networks.interpreter
    for end in made.get_input_details():
        limits = np.iinfo(end["dtype"])
        made.set_tensor(end["index"], rng.integers(limits.min, limits.max, end["shape"], end["dtype"], endpoint=True))
    made.invoke()
    return made


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("layer", nargs="*")
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_intermixed_args()
    library = str(pathlib.Path(given.library).resolve())
    print("| layer | Octet, microseconds | LiteRT | ratio | differ |\n|---|---|---|---|---|")
    for name, layer in layers().items():
        if given.layer and name not in given.layer:
            continue
        network = networks.Network(1, words=True)
        content = bytes(network.file(layer(network)))
        mine, other = interpreter(content, 1, library, "reference"), own(content, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
        reference = outputs(own(content, OpResolverType.BUILTIN_REF))
        differ = sum(a != b for a, b in zip(outputs(mine), reference))
        times = [[], []]
        for _ in range(given.rounds):
            for kept, made in zip(times, (mine, other)):
                time.sleep(0.005)
                kept.append(1e3 * least(made.invoke, 0.02))
        octet, theirs = map(min, times)
        print(f"| {name} | {octet:.1f} | {theirs:.1f} | {theirs / octet:.2f} | {differ} |", flush=True)


if __name__ == "__main__":
    main()
