#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""XNNPACK as a peer of `octet bench`, through LiteRT, whose default delegate it is: a model of one layer, s8 x s8 -> s8 with a scale per
output channel.

Activations have scale 1, and outputs the zero point 0, so the weights' scales are Octet's own and float mode's outputs are to be the same, byte by
byte. TFLite pads as SAME does or not at all: other paddings are an operator of their own in the model, which XNNPACK fuses. The input is
set once. The cost of a call from Python is measured with a product of single numbers."""

import importlib.metadata
import pathlib
import sys

import numpy as np

import peer

# First: PyPI has a package of the same name
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/conformance"))
import tflite


class Output:
    """A copy of the last call's output: a view would block the interpreter's next call."""

    def __init__(self, interpreter):
        self.interpreter = interpreter
        details, = interpreter.get_output_details()
        self.index, self.nbytes = details["index"], int(np.prod(details["shape"]))

    def tobytes(self):
        return self.interpreter.get_tensor(self.index).tobytes()


class LiteRt:
    lhs_zero_point = True

    def __init__(self, threads):
        self.name = f"XNNPACK of LiteRT {importlib.metadata.version('ai-edge-litert')}"
        self.threads = threads
        one = {"lhs": np.int8([1]), "rhs": np.int8([1]), "bias": np.int32([0]), "scales": np.float32([1])}
        self.empty_call, _ = self.gemm({"lhs": "s8", "rhs": "s8", "dst": "s8", "lhs_zero_point": 0, "m": 1, "n": 1, "k": 1}, one)

    def made(self, model):
        interpreter = model.interpreter(delegate=True, threads=self.threads)
        return interpreter and (interpreter.invoke, Output(interpreter))

    def gemm(self, problem, tensors):
        if peer.types_of(problem) != "s8s8s8":
            return None
        m, n, k = problem["m"], problem["n"], problem["k"]
        model = tflite.Model()
        inputs = [model.input(tensors["lhs"].reshape(m, k), 1, problem["lhs_zero_point"]), model.constant(np.ascontiguousarray(tensors["rhs"].reshape(k, n).T), tensors["scales"]),
                  model.constant(tensors["bias"], tensors["scales"])]  # fmt: skip
        model.operator("FULLY_CONNECTED", "NONE", inputs, model.tensor((m, n), np.int8, 1))
        return self.made(model)

    def conv(self, problem, tensors):
        if peer.types_of(problem) != "s8s8s8" or problem["transposed"]:
            return None
        (batch, in_h, in_w, channels), (out_channels, kernel_h, kernel_w, _) = problem["in"], problem["filter"]
        (stride_h, stride_w), (dilation_h, dilation_w), groups = problem["stride"], problem["dilation"], problem["groups"]
        depthwise = groups == channels and groups > 1
        model = tflite.Model()
        x = model.input(tensors["lhs"].reshape(problem["in"]), 1, problem["lhs_zero_point"])
        padding = self.padding(problem)
        if not padding:
            padding, (top, left, bottom, right) = "VALID", problem["padding"]
            pads = model.constant(np.int32([[0, 0], [top, bottom], [left, right], [0, 0]]))
            padded = model.tensor((batch, in_h + top + bottom, in_w + left + right, channels), np.int8, 1, problem["lhs_zero_point"])
            model.operator("PAD", None, [x, pads], padded)
            x = padded
        weights = tensors["filter"].reshape(problem["filter"])
        if depthwise:  # OHW1 to 1HWO
            weights = np.ascontiguousarray(weights.transpose(3, 1, 2, 0))
        inputs = [x, model.constant(weights, tensors["scales"], 0, 3 if depthwise else 0), model.constant(tensors["bias"], tensors["scales"])]
        settings = {"strideH": stride_h, "strideW": stride_w, "dilationHFactor": dilation_h, "dilationWFactor": dilation_w,
                    "padding": tflite.PADDING[padding]}  # fmt: skip
        if depthwise:
            settings["depthMultiplier"] = out_channels // channels
        model.operator("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D", "RELU" if problem["relu"] else "NONE", inputs,
                       model.tensor(problem["out"], np.int8, 1), **settings)  # fmt: skip
        return self.made(model)

    @staticmethod
    def padding(problem):
        """TFLite's name of the padding; None if it has none."""
        (_, in_h, in_w, _), (_, kernel_h, kernel_w, _) = problem["in"], problem["filter"]
        geometry = {"transposed": 0}
        for axis, size, kernel, index in (("h", in_h, kernel_h, 0), ("w", in_w, kernel_w, 1)):
            geometry.update({"in_" + axis: size, "kernel_" + axis: kernel, "stride_" + axis: problem["stride"][index],
                             "dilation_" + axis: problem["dilation"][index]})  # fmt: skip
        for name in ("VALID", "SAME"):
            g = tflite.padded(geometry, name)
            if [g["pad_top"], g["pad_left"], g["pad_bottom"], g["pad_right"]] == problem["padding"]:
                return name
        return None


if __name__ == "__main__":
    peer.serve(LiteRt)
