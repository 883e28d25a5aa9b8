#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a converter's numbers for the channels of one layer, for dead_channels_test; of the weights only each channel's sums.

    tools/models/describe.py model.tflite --data -o model.json
    channels.py model.json 14 > channels/NAME.txt

The first line is the layer's shape, quantization and range of outputs; each other line a channel: the sum of its positive and of its negative
weights, its bias, and its multiplier and shift (of a .tflite model) or its scale (of an .onnx model, as hexadecimal float).
"""
import json
import math
import pathlib
import struct
import sys


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def quantized(factor):
    """TensorFlow Lite's QuantizeMultiplier."""
    fraction, shift = math.frexp(factor)
    multiplier = math.floor(fraction * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier, shift = 2**30, shift + 1
    return (0, 0) if shift < -31 else (multiplier, shift)


def bounds(activation, scale, zero_point):
    steps = {"NONE": (-math.inf, math.inf), "RELU": (0, math.inf), "RELU6": (0, math.floor(6 / scale + 0.5))}[activation]
    return max(-128, zero_point + steps[0]), min(127, zero_point + steps[1])


def main():
    path, index = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    network, data = json.loads(path.read_text()), path.with_suffix(".bin").read_bytes()
    op, tensors = network["operators"][index], network["tensors"]
    if op["kind"] != "convolution" or op["types"] != "s8s8s8":
        sys.exit(f"operators[{index}] is no convolution of s8")
    lhs, rhs, bias = (tensors[i] for i in op["inputs"])
    dst, g = tensors[op["outputs"][0]], op["geometry"]
    channels, in_float = g["out_channels"], network.get("arithmetic") == "float"
    biases = struct.unpack_from(f"{channels}i", data, bias["data_at"])
    count = math.prod(rhs["shape"])
    weights = struct.unpack_from(f"{count}b", data, rhs["data_at"])
    depthwise = op["operator"] == "DEPTHWISE_CONV_2D"
    (lhs_scale,), (lhs_zero,) = lhs["quantization"]["scales"], lhs["quantization"]["zero_points"]
    (dst_scale,), (dst_zero,) = dst["quantization"]["scales"], dst["quantization"]["zero_points"]
    scales = rhs["quantization"]["scales"] * (channels if len(rhs["quantization"]["scales"]) == 1 else 1)
    least, most = bounds(op["activation"], dst_scale, dst_zero)
    print(g["in_h"], g["in_w"], g["in_channels"], channels, g["groups"], g["kernel_h"], g["kernel_w"], g["stride_h"], g["stride_w"],
          *(g[f"pad_{side}"] for side in ("top", "bottom", "left", "right")), lhs_zero, dst_zero, least, most, "float" if in_float else "tflite")
    for n in range(channels):
        own = weights[n::channels] if depthwise else weights[n * count // channels:(n + 1) * count // channels]
        sums = sum(w for w in own if w > 0), sum(w for w in own if w < 0)
        scale = (f32(f32(lhs_scale * scales[n]) / dst_scale).hex(),) if in_float else quantized(lhs_scale * scales[n] / dst_scale)
        print(*sums, biases[n], *scale)


if __name__ == "__main__":
    main()
