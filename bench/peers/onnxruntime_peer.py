#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime as a peer of `octet bench`: a quantized model of one layer, in the QDQ form that its quantizer writes, optimized by it.

u8 -> u8 becomes one QGemm or one QLinearConv. The model's images are NHWC behind a transposition; it cancels the one that the runtime
puts there itself, because its convolution is NHWC, too: as in the midst of a network, no time goes into layouts. u8 -> s32 is MatMulInteger.
Inputs and outputs are bound to memory once. The cost of a call from Python is measured with a model that computes nothing."""

import numpy as np
import onnxruntime
from onnx import TensorProto, checker, helper, numpy_helper

import peer

node = helper.make_node


def model(nodes, constants, x_shape, y_shape, y_type=TensorProto.UINT8):
    graph = helper.make_graph(
        nodes, "layer", [helper.make_tensor_value_info("x", TensorProto.UINT8, x_shape)],
        [helper.make_tensor_value_info("y", y_type, y_shape)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    checker.check_model(made)
    return made.SerializeToString()


def quantized(layer, x, y, weights, axis, tensors, zero_point):
    """Nodes and constants around a float layer that maps xf, wf, bf to yf: u8 activations of scale 1, s8 weights and s32 biases with
    a scale per output channel. Outputs below 0 clamp to 0, so a ReLU needs no node."""
    nodes = [
        node("DequantizeLinear", [x, "one", "x_zero"], ["xf"]),
        node("DequantizeLinear", ["w", "scales", "zeros8"], ["wf"], axis=axis),
        node("DequantizeLinear", ["bias", "scales", "zeros32"], ["bf"], axis=0),
        layer,
        node("QuantizeLinear", ["yf", "one", "zero"], [y]),
    ]
    constants = {"w": weights, "one": np.float32(1), "zero": np.uint8(0), "x_zero": zero_point, "bias": tensors["bias"], "scales": tensors["scales"],
                 "zeros8": np.zeros(tensors["bias"].size, np.int8), "zeros32": np.zeros(tensors["bias"].size, np.int32)}  # fmt: skip
    return nodes, constants


class OnnxRuntime:
    lhs_zero_point = True

    def __init__(self, threads):
        self.name = f"ONNX Runtime {onnxruntime.__version__}"
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1
        self.empty_call, _ = self.bound(model([node("Identity", ["x"], ["y"])], {}, [1], [1]), np.zeros(1, np.uint8), np.zeros(1, np.uint8))

    def bound(self, model, x, y):
        session = onnxruntime.InferenceSession(model, self.options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for bind, name, array in (binding.bind_input, "x", x), (binding.bind_output, "y", y):
            bind(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
        return lambda _=(x, y): session.run_with_iobinding(binding), y

    def gemm(self, problem, tensors):
        m, n, k = problem["m"], problem["n"], problem["k"]
        x_zero = np.array(problem["lhs_zero_point"], tensors["lhs"].dtype)
        x, w = tensors["lhs"].reshape(m, k), tensors["rhs"].reshape(k, n)
        if peer.types_of(problem) == "u8s8s32":
            nodes, constants = [node("MatMulInteger", ["x", "w", "x_zero"], ["y"])], {"w": w, "x_zero": x_zero}
            return self.bound(model(nodes, constants, [m, k], [m, n], TensorProto.INT32), x, peer.aligned((m, n), np.int32))
        if peer.types_of(problem) != "u8s8u8":
            return None
        nodes, constants = quantized(node("Gemm", ["xf", "wf", "bf"], ["yf"]), "x", "y", w, 1, tensors, x_zero)
        return self.bound(model(nodes, constants, [m, k], [m, n]), x, peer.aligned((m, n), np.uint8))

    def conv(self, problem, tensors):
        if peer.types_of(problem) != "u8s8u8" or problem["transposed"]:
            return None
        weights = np.ascontiguousarray(tensors["filter"].reshape(problem["filter"]).transpose(0, 3, 1, 2))
        layer = node("Conv", ["xf", "wf", "bf"], ["yf"], kernel_shape=problem["filter"][1:3], group=problem["groups"],
                     strides=problem["stride"], dilations=problem["dilation"], pads=problem["padding"])  # fmt: skip
        nodes, constants = quantized(layer, "x_nchw", "y_nchw", weights, 0, tensors, np.uint8(problem["lhs_zero_point"]))
        nodes.insert(0, node("Transpose", ["x"], ["x_nchw"], perm=[0, 3, 1, 2]))
        nodes.append(node("Transpose", ["y_nchw"], ["y"], perm=[0, 2, 3, 1]))
        x = tensors["lhs"].reshape(problem["in"])
        return self.bound(model(nodes, constants, problem["in"], problem["out"]), x, peer.aligned(problem["out"], np.uint8))


if __name__ == "__main__":
    peer.serve(OnnxRuntime)
