#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the additions and averages of `octet run --network` with ONNX Runtime's, byte by byte: on integers, and between floats, which ONNX Runtime
turns into integers.

    run_onnx_functions.py <directory for a virtual environment> <the octet command>

ONNX Runtime's bytes are those of x86 with AVX2; it computes additions otherwise on other processors, and the test is skipped there. Exits with 77, which ctest
shows as skipped, where the Python packages are missing and cannot be installed, too.
"""
import pathlib
import platform
import sys
import tempfile

import run_onnx
from run_onnx import F32, S8, U8, np, onnx, onnxruntime

LEVELS = np.arange(256)
RANDOM = np.random.default_rng(11)
TYPES = {U8: (np.uint8, 0), S8: (np.int8, -128)}


class Built:
    """An operator with quantized inputs and output.

    as_one: QLinear and the operator's name; else the operator between DequantizeLinear and QuantizeLinear. floats: the model's inputs and outputs are
    floats, so that ONNX Runtime makes u8 of s8.
    """

    def __init__(self, kind, as_one, floats=False):
        self.kind, self.as_one, self.floats = kind, as_one, floats
        self.dtype, self.least = TYPES[kind]
        self.nodes, self.constants, self.inputs, self.operands = [], [], [], []

    def quantization(self, name, scale, zero_point):
        for suffix, value, dtype in (("scale", scale, np.float32), ("zero", zero_point, self.dtype)):
            self.constants.append(onnx.numpy_helper.from_array(np.array(value, dtype), f"{name}_{suffix}"))
        return [f"{name}_scale", f"{name}_zero"]

    def node(self, kind, inputs, output, **more):
        self.nodes.append(onnx.helper.make_node(kind, inputs, [output], output, **more))
        return output

    def input(self, name, shape, scale, zero_point):
        q = self.quantization(name, scale, zero_point)
        self.inputs.append(onnx.helper.make_tensor_value_info(name, F32 if self.floats else self.kind, shape))
        integers = self.node("QuantizeLinear", [name, *q], f"{name}_integers") if self.floats else name
        self.operands += [integers, *q] if self.as_one else [self.node("DequantizeLinear", [integers, *q], f"{name}_floats")]

    def save(self, path, operator, scale, zero_point, relu=False, **attributes):
        q = self.quantization("y", scale, zero_point)
        last = "y_integers" if self.floats else "y"
        if self.as_one:
            self.node(f"QLinear{operator}", [*self.operands, *q], last, domain="com.microsoft", **attributes)
        else:
            y = self.node(operator, self.operands, "result", **attributes)
            y = self.node("Relu", [y], "rectified") if relu else y
            self.node("QuantizeLinear", [y, *q], last)
        if self.floats:
            self.node("DequantizeLinear", [last, *q], "y")
        output = onnx.helper.make_tensor_value_info("y", F32 if self.floats else self.kind, None)
        graph = onnx.helper.make_graph(self.nodes, "made", self.inputs, [output], self.constants)
        opsets = [onnx.helper.make_opsetid("", 19), onnx.helper.make_opsetid("com.microsoft", 1)]
        onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9), path)


def compare(octet, built, model, inputs, quantizations):
    """inputs: integers. quantizations: (scale, zero point) of each, then of the output."""
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    given = {}
    for value, x, (scale, zero_point) in zip(built.inputs, inputs, quantizations):
        given[value.name] = (x.astype(np.float32) - zero_point) * np.float32(scale) if built.floats else x.astype(built.dtype)
    y = session.run(None, given)[0]
    if built.floats:
        y = (np.rint(y / np.float32(quantizations[-1][0])) + quantizations[-1][1]).astype(built.dtype)
    run_onnx.compare(octet, model, [x.astype(built.dtype) for x in inputs], y)


# Scales of both inputs and the output: ties of powers of two, with odd and even zero points; ties of equal scales; any scales
ADDITIONS = [((2**-5, 128), (2**-6, 131), (2**-5, 90)), ((2**-5, 128), (2**-6, 131), (2**-5, 91)), ((0.02, 127), (0.02, 3), (0.04, 158)),
             ((0.02, 127), (0.02, 3), (0.04, 157)), ((0.0123, 0), (0.0457, 255), (0.031, 17)), ((1e-7, 200), (0.06, 30), (0.055, 128)),
             ((0.0911, 77), (0.0037, 66), (0.0613, 101)), ((0.0311, 5), (0.0287, 250), (0.0419, 222)), ((0.05, 3), (0.07, 5), (0.12, 0))]


def additions(octet, path):
    a, b = (x.reshape(1, 256, 16, 16) for x in np.meshgrid(LEVELS, LEVELS, indexing="ij"))  # all pairs
    for number, of in enumerate(ADDITIONS):
        for kind in (U8, S8):
            for case, as_one, floats, relu in (("one", True, False, False), ("qdq", False, True, False), ("relu", False, True, True)):
                built = Built(kind, as_one, floats)
                quantizations = [(scale, zero_point + built.least) for scale, zero_point in of]
                for name, q in zip("ab", quantizations):
                    built.input(name, [1, 256, 16, 16], *q)
                model = path / f"add_{case}_{built.dtype.__name__}_{number}.onnx"
                built.save(model, "Add", *quantizations[2], relu)
                compare(octet, built, model, [a + built.least, b + built.least], quantizations)


# Image, window, strides, pads; none: GlobalAveragePool
AVERAGES = [((9, 8), (2, 2), (2, 2), (0, 0, 0, 0)), ((9, 8), (3, 3), (1, 2), (1, 1, 1, 1)), ((7, 11), (3, 2), (2, 1), (2, 0, 1, 1)),
            ((6, 6), (5, 4), (1, 1), (0, 3, 2, 0)), ((7, 7), (7, 7), (1, 1), (0, 0, 0, 0)),
            ((4, 4), (4, 4), (1, 1), (0, 0, 1, 1)), ((7, 5), None, None, None)]
# Scales of input and output
AVERAGED = [((0.0140036, 141), (0.0140036, 141)), ((0.0140036, 140), (0.0140036, 140)), ((2**-7, 141), (2**-7, 141)), ((0.02, 127), (0.02, 127)),
            ((0.031, 3), (0.0378, 51)), ((0.0057, 99), (0.0041, 200))]


def averages(octet, path):
    for number, ((image, window, strides, pads), of) in enumerate((a, of) for a in AVERAGES for of in AVERAGED):
        for kind in (U8, S8):
            built = Built(kind, False, floats=number % 3 > 0)
            quantizations = [(scale, zero_point + built.least) for scale, zero_point in of]
            shape = [2, 300 if number % 2 else 37, *image]
            built.input("x", shape, *quantizations[0])
            attributes = {"kernel_shape": window, "strides": strides, "pads": pads} if window else {}
            model = path / f"average_{built.dtype.__name__}_{number}.onnx"
            built.save(model, "AveragePool" if window else "GlobalAveragePool", *quantizations[1], **attributes)
            x = RANDOM.integers(0, 256, [*shape[:2], 1, 1]) + RANDOM.integers(-40, 41, shape)  # averages over the whole range, too
            compare(octet, built, model, [np.clip(x, 0, 255) + built.least], quantizations)


def main():
    if platform.machine() not in ("x86_64", "AMD64") or " avx2 " not in pathlib.Path("/proc/cpuinfo").read_text():
        run_onnx.packages.skip("ONNX Runtime has these bytes on x86 with AVX2")
    octet = sys.argv[2]
    with tempfile.TemporaryDirectory() as scratch:
        additions(octet, pathlib.Path(scratch))
        averages(octet, pathlib.Path(scratch))


if __name__ == "__main__":
    main()
