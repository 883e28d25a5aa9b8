#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenVINO, and with it oneDNN 3, as a peer of `octet bench`: a model of one layer with FakeQuantize on its input and its output and s8
weights, in the form that its quantizer writes. It compiles to one int8 convolution or fully connected layer with u8 input and output.

Images are NHWC behind a transposition that costs nothing, because the compiled layer is NHWC, too. The cost of a call from Python is measured with a
model that computes nothing."""

import numpy as np
import openvino
import openvino.opset13 as op

import peer


def per_channel(values, rank):
    """Reshapes values along the output channels of an OI.. filter, or the last axis of a product's weights."""
    return op.constant(values.astype(np.float32).reshape((1, -1) + (1,) * (rank - 2)))


def to_u8_levels(value):
    low, high = op.constant(np.float32(0)), op.constant(np.float32(255))
    return op.fake_quantize(value, low, high, low, high, 256)


class OpenVino:
    def __init__(self, threads):
        self.name = f"OpenVINO {openvino.__version__.split('-')[0]}"
        self.core = openvino.Core()
        self.config = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1}
        x = op.parameter([1], np.uint8)
        self.empty_call, _ = self.bound(x, x, np.zeros(1, np.uint8), np.zeros(1, np.uint8))

    def bound(self, x, y, x_array, y_array):
        request = self.core.compile_model(openvino.Model([y], [x]), "CPU", self.config).create_infer_request()
        request.set_input_tensor(openvino.Tensor(x_array, shared_memory=True))
        request.set_output_tensor(openvino.Tensor(y_array, shared_memory=True))
        return lambda _=(x_array, y_array): request.infer(share_outputs=True), y_array

    def gemm(self, problem, tensors):
        if peer.types_of(problem) != "u8s8u8":
            return None
        m, n, k = problem["m"], problem["n"], problem["k"]
        x = op.parameter([m, k], np.uint8)
        weights = op.multiply(op.convert(op.constant(tensors["rhs"].reshape(k, n)), "f32"), per_channel(tensors["scales"], 2))
        y = op.matmul(to_u8_levels(op.convert(x, "f32")), weights, False, False)
        y = op.add(y, per_channel(tensors["bias"] * tensors["scales"], 2))
        y = op.convert(to_u8_levels(y), "u8")
        return self.bound(x, y, tensors["lhs"].reshape(m, k), peer.aligned((m, n), np.uint8))

    def conv(self, problem, tensors):
        if peer.types_of(problem) != "u8s8u8" or problem["transposed"]:
            return None
        groups, (top, left, bottom, right) = problem["groups"], problem["padding"]
        weights = np.ascontiguousarray(tensors["filter"].reshape(problem["filter"]).transpose(0, 3, 1, 2))
        scales = tensors["scales"].reshape(-1, 1, 1, 1)
        window = [problem["stride"], [top, left], [bottom, right], problem["dilation"]]
        convolution = op.convolution
        if groups > 1:
            convolution = op.group_convolution
            weights, scales = (a.reshape((groups, -1) + a.shape[1:]) for a in (weights, scales))
        x = op.parameter(problem["in"], np.uint8)
        y = to_u8_levels(op.transpose(op.convert(x, "f32"), op.constant([0, 3, 1, 2])))
        y = convolution(y, op.multiply(op.convert(op.constant(weights), "f32"), op.constant(scales)), *window)
        y = op.relu(op.add(y, per_channel(tensors["bias"] * tensors["scales"], 4)))
        y = op.convert(op.transpose(to_u8_levels(y), op.constant([0, 2, 3, 1])), "u8")
        return self.bound(x, y, tensors["lhs"].reshape(problem["in"]), peer.aligned(problem["out"], np.uint8))


if __name__ == "__main__":
    peer.serve(OpenVino)
