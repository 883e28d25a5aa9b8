# SPDX-License-Identifier: Apache-2.0
"""Builds small TFLite models and runs them with LiteRT's reference kernels or its default delegate, XNNPACK; holds the rules that a model does not state."""
import math
import pathlib
import sys

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "vectors"))
import contract

PADDING = {"SAME": schema.Padding.SAME, "VALID": schema.Padding.VALID}
ACTIVATIONS = {"NONE": (None, None), "RELU": (0, None), "RELU_N1_TO_1": (-1, 1), "RELU6": (0, 6)}


def quantize_multiplier(factor):
    """factor ~ multiplier / 2^31 * 2^shift."""
    fraction, shift = math.frexp(factor)
    multiplier = math.floor(fraction * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier, shift = 2**30, shift + 1
    return (multiplier, shift) if shift >= -31 else (0, 0)


def activation_range(activation, scale, zero_point, dtype):
    """The clamp of an integer output: the real bounds, rounded half away from zero."""
    limits = np.iinfo(dtype)

    def quantized(real, limit):
        if real is None:
            return limit
        ratio = np.float32(real) / scale
        return np.clip(zero_point + int(ratio + np.copysign(np.float32(0.5), ratio)), limits.min, limits.max)

    low, high = ACTIVATIONS[activation]
    return quantized(low, limits.min), quantized(high, limits.max)


def activated(activation, scale, zero_point, dtype):
    """The output's quantization, and its fused activation as every octet_activation that means the same, for a vector file."""
    same = getattr(contract, "ACTIVATION_" + activation)
    return {"dst_scale": np.float32(scale), "dst_zero_point": np.int32(zero_point), "activations": np.int32([same, contract.ACTIVATION_CLAMP]),
            "clamp": np.float32(activation_range(activation, np.float32(scale), zero_point, dtype))}


def rescaled(op, lhs_scale, rhs_scale, dst_scale):
    """Multipliers and shifts of a product. The first two scales are multiplied in double per channel, in float per tensor; to
    FULLY_CONNECTED a single channel is a tensor."""
    # As arrays: numpy 1 would multiply a double scalar and an array of floats in float.
    per_channel = np.size(rhs_scale) > 1 if op == "FULLY_CONNECTED" else np.ndim(rhs_scale)
    wide = np.float64 if per_channel else np.float32
    products = np.atleast_1d(lhs_scale).astype(wide) * np.atleast_1d(rhs_scale).astype(wide)
    factors = products.astype(np.float64) / np.float64(dst_scale)
    multipliers, shifts = zip(*map(quantize_multiplier, factors))
    return {"lhs_real_scale": np.float32(lhs_scale), "rhs_real_scales": np.float32(rhs_scale),
            "product_real_scale": np.float32(dst_scale), "factors": factors, "multipliers": np.int32(multipliers), "shifts": np.int32(shifts)}


SCALES = ("lhs_real_scale", "rhs_real_scales", "product_real_scale")


def without(tensors, *names):
    return {name: array for name, array in tensors.items() if name not in names}


def float_mode(tensors):
    """The product in float mode, as XNNPACK rescales it: by float32 (lhs * rhs[n]) / dst, in this order."""
    lhs, rhs, dst = (np.float32(tensors[name]) for name in SCALES)
    return {**without(tensors, *SCALES, "factors", "multipliers", "shifts"), "scales": lhs * rhs / dst}


def double_mode(tensors):
    """The product as FULLY_CONNECTED of LiteRT 1.3 and later rescales it: by the double lhs * rhs[n] / dst, rounded once."""
    lhs, rhs, dst = (np.float64(tensors[name]) for name in SCALES)
    return {**without(tensors, *SCALES, "multipliers", "shifts"), "factors": np.atleast_1d(lhs * rhs / dst)}


def added(product_scale, residual_scale, dst_scale):
    """The numbers of ADD, which shifts both inputs left by 20 bits and brings them to one scale: twice the larger of the two."""
    unit = 2 * np.float64(max(product_scale, residual_scale))
    scales = [product_scale / unit, residual_scale / unit, unit / (2**20 * np.float64(dst_scale))]
    return {"add_real_scales": np.float32([product_scale, residual_scale, dst_scale]),
            "residual_scales": np.int32([quantize_multiplier(scale) for scale in scales])}


def padded(geometry, padding):
    """The geometry of a convolution with SAME or VALID padding: an odd pixel goes to the end."""
    g = dict(geometry)
    for axis, before, after in (("h", "pad_top", "pad_bottom"), ("w", "pad_left", "pad_right")):
        size, stride, reach = g["in_" + axis], g["stride_" + axis], g["dilation_" + axis] * (g["kernel_" + axis] - 1) + 1
        if g["transposed"]:
            # The output size is an operand: as large as the input of the convolution that is turned around.
            out = size * stride if padding == "SAME" else (size - 1) * stride + max(stride, reach)
            total = max((size - 1) * stride + reach - out, 0)
            g["output_padding_" + axis] = out - ((size - 1) * stride + reach - total)
        else:
            total = max(((size - 1) // stride) * stride + reach - size, 0) if padding == "SAME" else 0
        g[before], g[after] = total // 2, total - total // 2
    return g


class Model:
    """One subgraph. Tensors and operators are added in order; the last tensor is the output."""

    def __init__(self):
        self.graph = schema.SubGraphT()
        self.graph.tensors, self.graph.operators, self.graph.inputs = [], [], []
        self.model = schema.ModelT()
        self.model.version, self.model.subgraphs, self.model.operatorCodes = 3, [self.graph], []
        self.model.buffers = [schema.BufferT()]  # buffer 0 = no data
        self.feeds = []

    def tensor(self, shape, dtype, scales=(), zero_point=0, channels_axis=0):
        quantization = schema.QuantizationParametersT()
        quantization.scale = np.atleast_1d(scales).tolist()
        quantization.zeroPoint = [zero_point] * len(quantization.scale)
        quantization.quantizedDimension = channels_axis
        tensor = schema.TensorT()
        tensor.shape, tensor.quantization, tensor.buffer = list(shape), quantization, 0
        tensor.type = getattr(schema.TensorType, np.dtype(dtype).name.upper())
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def input(self, array, *quantization):
        self.feeds.append(array)
        self.graph.inputs.append(self.tensor(array.shape, array.dtype, *quantization))
        return self.graph.inputs[-1]

    def constant(self, array, *quantization):
        index = self.tensor(array.shape, array.dtype, *quantization)
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(array.tobytes(), np.uint8)
        self.model.buffers.append(buffer)
        self.graph.tensors[index].buffer = len(self.model.buffers) - 1
        return index

    def operator(self, name, activation, inputs, output, **settings):
        code = schema.OperatorCodeT()
        code.builtinCode = code.deprecatedBuiltinCode = getattr(schema.BuiltinOperator, name)
        code.version = 3 if name == "TRANSPOSE_CONV" else 1  # the first with a bias
        kind = {"FULLY_CONNECTED": "FullyConnectedOptions", "CONV_2D": "Conv2DOptions", "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions",
                "TRANSPOSE_CONV": "TransposeConvOptions", "ADD": "AddOptions", "PAD": "PadOptions"}[name]
        options = getattr(schema, kind + "T")()
        if activation:
            options.fusedActivationFunction = getattr(schema.ActivationFunctionType, activation)
        for key, setting in settings.items():
            setattr(options, key, setting)
        operator = schema.OperatorT()
        operator.opcodeIndex, operator.inputs, operator.outputs = len(self.model.operatorCodes), inputs, [output]
        operator.builtinOptions, operator.builtinOptionsType = options, getattr(schema.BuiltinOptions, kind)
        self.model.operatorCodes.append(code)
        self.graph.operators.append(operator)

    def interpreter(self, delegate=False, threads=1):
        """Runs the model with the reference kernels, or with XNNPACK, which takes whole operators or none: then returns None. Inputs are set."""
        self.graph.outputs = [len(self.graph.tensors) - 1]
        builder = flatbuffers.Builder()
        builder.Finish(self.model.Pack(builder), b"TFL3")
        kernels = OpResolverType.AUTO if delegate else OpResolverType.BUILTIN_REF
        interpreter = Interpreter(model_content=bytes(builder.Output()), experimental_op_resolver_type=kernels, num_threads=threads)
        interpreter.allocate_tensors()
        if delegate and "DELEGATE" not in {op["op_name"] for op in interpreter._get_ops_details()}:
            return None
        for details, array in zip(interpreter.get_input_details(), self.feeds):
            interpreter.set_tensor(details["index"], array)
        return interpreter

    def run(self, delegate=False):
        interpreter = self.interpreter(delegate)
        if not interpreter:
            return None
        interpreter.invoke()
        return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
