#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes vectors/*.bin: small problems with the results of other implementations. README.md says which and why.

The numbers come from ONNX's reference evaluator, ONNX Runtime and LiteRT only. check.py evaluates Octet's contract on them.
"""
import importlib.metadata
import itertools
import pathlib
import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, ValueInfoProto, helper
from onnx.helper import make_node as node
from onnx.reference import ReferenceEvaluator

import tflite

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "vectors"))
import contract
import vectors

S8, U8, S32, F32 = np.int8, np.uint8, np.int32, np.float32

# M, K, N: single values, whole tiles, and one more or less than them.
SHAPES = [(1, 1, 1), (4, 16, 16), (3, 5, 7), (5, 33, 17), (1, 64, 64), (8, 50, 24), (13, 31, 33), (2, 130, 9), (6, 64, 49),
          (17, 7, 32)]


def integers(rng, dtype, shape=(), extremes=False):
    limits = np.iinfo(dtype)
    if extremes:
        return rng.choice(np.array([limits.min, limits.max], dtype), shape)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def zero_points(rng, dtype, kind, channels=()):
    return np.zeros((), dtype) if kind == "zero" else integers(rng, dtype, () if kind == "tensor" else channels)


def accumulators(lhs, rhs, lhs_zero_point=0, rhs_zero_point=0, bias=0):
    return (lhs.astype(np.int64) - lhs_zero_point) @ (rhs.astype(np.int64) - rhs_zero_point) + bias


def name_of(lhs, rhs, *words):
    return " ".join([f"{lhs.dtype} x {rhs.dtype}", "x".join(map(str, (*lhs.shape, rhs.shape[-1]))), *filter(None, words)])


# ---- ONNX ----------------------------------------------------------------------------------------------------------------------


def onnx_model(nodes, inputs):
    """The last node's output is the graph's."""
    values = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
              for name, array in inputs.items()]
    graph = helper.make_graph(nodes, "graph", values, [ValueInfoProto(name=nodes[-1].output[0])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def onnx_runtime(nodes, inputs):
    """Runs the operators as they are written: no fusion."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = onnx_model(nodes, inputs).SerializeToString()
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, inputs)[0]


def matmul_integer(rng):
    """MatMulInteger by ONNX's reference evaluator: every pair of types, every kind of zero point."""
    def case(lhs, rhs, lhs_zero_point, rhs_zero_point, *words):
        inputs = {"a": lhs, "b": rhs, "az": lhs_zero_point, "bz": rhs_zero_point}
        dst, = ReferenceEvaluator(onnx_model([node("MatMulInteger", list(inputs), ["y"])], inputs)).run(None, inputs)
        return name_of(lhs, rhs, *words), {
            "lhs": lhs.reshape(-1, lhs.shape[-1]),
            "rhs_kn": rhs.reshape(-1, rhs.shape[-1]),
            "batch": S32(lhs.shape[0] if lhs.ndim == 3 else 1),
            "lhs_zero_points": lhs_zero_point.astype(S32).reshape(1, -1),
            "rhs_zero_points": rhs_zero_point.astype(S32),
            "dst": dst.reshape(-1, dst.shape[-1]),
        }

    shapes = itertools.cycle(SHAPES)
    for lhs_type, rhs_type in itertools.product((U8, S8), repeat=2):
        for lhs_kind, rhs_kind in itertools.product(("zero", "tensor", "row"), ("zero", "tensor", "column")):
            m, k, n = next(shapes)
            yield case(integers(rng, lhs_type, (m, k)), integers(rng, rhs_type, (k, n)),
                       zero_points(rng, lhs_type, lhs_kind, (m, 1)), zero_points(rng, rhs_type, rhs_kind, n),
                       f"lhs zero point: {lhs_kind}, rhs zero point: {rhs_kind}")
        yield case(integers(rng, lhs_type, (7, 67), True), integers(rng, rhs_type, (67, 18), True),
                   integers(rng, lhs_type, (7, 1), True), integers(rng, rhs_type, 18, True), "extremes")
        yield case(integers(rng, lhs_type, (3, 5, 19)), integers(rng, rhs_type, (3, 19, 10)),
                   integers(rng, lhs_type), integers(rng, rhs_type, 10), "batch")


def ties(rng, acc, factor):
    """Column scales that put one result of each column as close to a tie between two integers as float32 can."""
    chosen = np.abs(np.take_along_axis(acc, rng.integers(0, len(acc), (1, acc.shape[1])), 0)[0])
    return F32((rng.integers(0, 100, chosen.shape) + 0.5) / (np.maximum(chosen, 1) * np.float64(factor)))


def qlinear_matmul(rng):
    """QLinearMatMul by ONNX Runtime. The output has the type of the lhs; s8 x u8 does not exist there.

    ONNX Runtime multiplies the accumulator by float32 (a_scale * b_scale) / y_scale, in this order.
    """
    shapes = itertools.cycle(SHAPES)
    for (lhs_type, rhs_type), per_column in itertools.product(((U8, U8), (U8, S8), (S8, S8)), (False, True)):
        for regime in ("spread", "ties", "scale above 1", "scale of a million", "spread"):
            m, k, n = next(shapes)
            lhs, rhs = integers(rng, lhs_type, (m, k)), integers(rng, rhs_type, (k, n))
            lhs_zero_point, dst_zero_point = integers(rng, lhs_type), integers(rng, lhs_type)
            rhs_zero_point = integers(rng, rhs_type, n if per_column else ())
            acc = accumulators(lhs, rhs, lhs_zero_point, rhs_zero_point)
            lhs_scale, rhs_scale = F32(rng.uniform(0.001, 0.1)), F32(rng.uniform(0.001, 0.1, n if per_column else ()))
            largest_scale = {"scale above 1": 3, "scale of a million": 1e6}.get(regime, rng.uniform(60, 200) / np.abs(acc).max())
            dst_scale = F32(lhs_scale * rhs_scale.max() / largest_scale)
            if regime == "ties":
                rhs_scale = ties(rng, acc, lhs_scale / dst_scale)[... if per_column else 0]
            inputs = {"a": lhs, "as": lhs_scale, "az": lhs_zero_point, "b": rhs, "bs": rhs_scale, "bz": rhs_zero_point,
                      "ys": dst_scale, "yz": dst_zero_point}
            inputs = {key: np.asarray(array) for key, array in inputs.items()}
            yield name_of(lhs, rhs, "per column," if per_column else "per tensor,", regime), {
                "lhs": lhs,
                "rhs_kn": rhs,
                "lhs_zero_points": S32(lhs_zero_point),
                "rhs_zero_points": rhs_zero_point.astype(S32),
                "scales": lhs_scale * rhs_scale / dst_scale,
                "dst_zero_point": S32(dst_zero_point),
                "dst": onnx_runtime([node("QLinearMatMul", list(inputs), ["y"])], inputs),
            }


def float_rows(rng, k):
    """Rows of every kind that DynamicQuantizeLinear treats in its own way."""
    normal = rng.standard_normal((7, k))
    rows = [normal[0], np.abs(normal[1]), -np.abs(normal[2]), np.zeros(k), np.full(k, 3.7), np.full(k, -0.01), 1e-20 * normal[3],
            1e30 * normal[4], np.where(np.arange(k) == k // 2, 1e4, normal[5]), normal[6] + 100]
    halves = 0.25 * rng.integers(-200, 311, k)  # the range below is 255 halves, so that odd quarters are ties
    halves[:2] = (-50, 77.5)[:k]
    return F32([*rows, halves])


def dynamic_quantize(rng):
    """DynamicQuantizeLinear and the operators behind it, by ONNX Runtime, a row at a time: its scale is per tensor, Octet's per row."""
    def case(name, k, nodes, extra_inputs, tensors):
        lhs = float_rows(rng, k)
        nodes = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), *nodes]
        dst = np.concatenate([onnx_runtime(nodes, {"x": row[None], **extra_inputs}) for row in lhs])
        return name, {"lhs": lhs, **tensors, "dst": dst}

    # Alone: the identity as weights shows the quantized row, back in float.
    for k in (1, 2, 37, 64):
        yield case(f"DynamicQuantizeLinear alone, K = {k}", k, [node("DequantizeLinear", ["q", "s", "z"], ["y"])], {},
                   {"rhs_kn": np.eye(k, dtype=S8), "scales": F32(1)})

    shapes = itertools.cycle([(1, 1), (16, 16), (5, 7), (33, 17), (64, 30), (130, 9), (31, 33)])
    epilogues = itertools.cycle(("no bias", "bias", "bias and ReLU"))
    for rhs_type, rhs_kind, scale_kind in itertools.product((S8, U8), ("zero", "tensor", "column"), ("tensor", "column")):
        (k, n), epilogue = next(shapes), next(epilogues)
        rhs, rhs_zero_point = integers(rng, rhs_type, (k, n)), zero_points(rng, rhs_type, rhs_kind, n)
        scale = np.asarray(F32(rng.uniform(0.001, 0.1, n if scale_kind == "column" else ())))
        bias = F32(rng.standard_normal(n))
        nodes = [node("MatMulInteger", ["q", "b", "z", "bz"], ["acc"]), node("Cast", ["acc"], ["float"], to=TensorProto.FLOAT),
                 node("Mul", ["s", "bs"], ["scale"]), node("Mul", ["float", "scale"], ["scaled"])]
        inputs = {"b": rhs, "bz": rhs_zero_point, "bs": scale}
        tensors = {"rhs_kn": rhs, "rhs_zero_points": rhs_zero_point.astype(S32), "scales": scale}
        if epilogue != "no bias":
            nodes.append(node("Add", ["scaled", "bias"], ["sum"]))
            inputs["bias"] = tensors["bias_f32"] = bias
        if "ReLU" in epilogue:
            nodes.append(node("Relu", ["sum"], ["y"]))
            tensors["activations"] = S32(contract.ACTIVATION_RELU)
        name = f"float32 x {rhs.dtype} {k}x{n} rhs zero point: {rhs_kind}, scale: {scale_kind}, {epilogue}"
        yield case(name, k, nodes, inputs, tensors)


# ---- convolutions --------------------------------------------------------------------------------------------------------------


def geometry(in_size, in_channels, out_channels, kernel, stride=1, pads=0, **more):
    """octet_conv2d_shape by name. A size is one number for both axes or (height, width), pads are one number or (top, bottom, left, right)."""
    def both(value):
        return value if isinstance(value, tuple) else (value, value)

    values = {"batch": 1, "groups": 1, "transposed": 0, **more, "in_channels": in_channels, "out_channels": out_channels}
    for name, value in {"in": in_size, "kernel": kernel, "stride": stride, "dilation": more.get("dilation", 1),
                        "output_padding": more.get("output_padding", 0)}.items():
        values[name + "_h"], values[name + "_w"] = both(value)
    sides = ("pad_top", "pad_bottom", "pad_left", "pad_right")
    values.update(zip(sides, pads if isinstance(pads, tuple) else (pads,) * 4))
    return {field: values[field] for field in contract.CONV_FIELDS}


def geometry_name(g):
    kind = "transposed " if g["transposed"] else ""
    words = [f"{kind}{g['batch']}x{g['in_h']}x{g['in_w']}x{g['in_channels']} to {g['out_channels']}, {g['kernel_h']}x{g['kernel_w']}"]
    for name, neutral in (("stride", 1), ("dilation", 1), ("output_padding", 0)):
        if (g[name + "_h"], g[name + "_w"]) != (neutral, neutral):
            words.append(f"{name} {g[name + '_h']}x{g[name + '_w']}")
    if g["groups"] > 1:
        words.append(f"groups {g['groups']}")
    pads = [g["pad_" + side] for side in ("top", "bottom", "left", "right")]
    if any(pads):
        words.append("pads " + " ".join(map(str, pads)))
    return ", ".join(words)


def planes(array):
    """N x C x H x W as the matrix that a vector file holds."""
    return array.reshape(array.shape[0] * array.shape[1], -1)


def pixels(array):
    """N x H x W x C as the matrix that a vector file holds."""
    return array.reshape(-1, array.shape[-1])


ONNX_CONVOLUTIONS = [
    geometry(1, 1, 1, 1), geometry(5, 3, 6, 3, pads=1), geometry((6, 7), 5, 9, 3, stride=2, pads=(0, 1, 0, 1)), geometry(4, 17, 5, 1, batch=2),
    geometry((1, 19), 6, 7, (1, 5), pads=(0, 0, 2, 3)), geometry(8, 4, 6, 3, dilation=2, pads=2), geometry(7, 6, 8, (3, 2), stride=(2, 1), groups=2),
    geometry(6, 8, 8, 3, groups=8, pads=1), geometry(5, 6, 12, 3, stride=2, groups=6, pads=1, batch=2), geometry(3, 4, 5, 5, pads=3),
    geometry(2, 3, 4, 2, stride=3, pads=4), geometry(9, 3, 4, 7, stride=2, pads=3), geometry((5, 9), 16, 17, 3, pads=1),
]


def conv_attributes(g):
    return {"kernel_shape": [g["kernel_h"], g["kernel_w"]], "strides": [g["stride_h"], g["stride_w"]], "dilations": [g["dilation_h"], g["dilation_w"]],
            "pads": [g["pad_top"], g["pad_left"], g["pad_bottom"], g["pad_right"]], "group": g["groups"]}


def onnx_operands(rng, g, lhs_type, rhs_type, extremes=False):
    transposed, groups = g["transposed"], g["groups"]
    outer, inner = (g["in_channels"], g["out_channels"] // groups) if transposed else (g["out_channels"], g["in_channels"] // groups)
    lhs = integers(rng, lhs_type, (g["batch"], g["in_channels"], g["in_h"], g["in_w"]), extremes)
    return lhs, integers(rng, rhs_type, (outer, inner, g["kernel_h"], g["kernel_w"]), extremes)


def onnx_tensors(g, lhs, rhs, lhs_zero_point, rhs_zero_point):
    return {"conv": S32(list(g.values())), "nchw": S32(1), "lhs": planes(lhs), "filter_iohw" if g["transposed"] else "filter_oihw": rhs.reshape(len(rhs), -1),
            "lhs_zero_points": S32(lhs_zero_point), "rhs_zero_points": np.asarray(rhs_zero_point).astype(S32)}


def conv_integer(rng):
    """ConvInteger by ONNX's reference evaluator."""
    kinds = itertools.cycle(itertools.product(("zero", "tensor"), ("zero", "tensor", "channel")))
    for types, g in itertools.product(((U8, S8), (S8, S8), (U8, U8), (S8, U8)), ONNX_CONVOLUTIONS):
        lhs_kind, rhs_kind = next(kinds)
        lhs, rhs = onnx_operands(rng, g, *types, extremes=rng.integers(6) == 0)
        inputs = {"x": lhs, "w": rhs, "xz": zero_points(rng, types[0], lhs_kind), "wz": zero_points(rng, types[1], rhs_kind, len(rhs))}
        nodes = [node("ConvInteger", list(inputs), ["y"], **conv_attributes(g))]
        dst, = ReferenceEvaluator(onnx_model(nodes, inputs)).run(None, inputs)
        yield f"{lhs.dtype} x {rhs.dtype} {geometry_name(g)}, zero points: {lhs_kind}, {rhs_kind}", {
            **onnx_tensors(g, lhs, rhs, inputs["xz"], inputs["wz"]), "dst": planes(dst)}


def conv_transpose(rng):
    """ConvTranspose by ONNX Runtime, on the integers less their zero points, in float32: exact, since all sums stay below 2^24."""
    shapes = [geometry(4, 5, 6, 3, stride=2, pads=1, output_padding=1, transposed=1), geometry((3, 5), 4, 7, 2, stride=2, transposed=1, batch=2),
              geometry(4, 6, 4, (2, 4), stride=(3, 2), pads=(1, 0, 2, 1), transposed=1, output_padding=(2, 0)),
              geometry(5, 8, 12, 3, groups=4, transposed=1), geometry(3, 6, 6, 3, stride=2, groups=6, pads=1, transposed=1),
              geometry(4, 3, 5, 3, stride=2, dilation=(2, 1), pads=1, transposed=1), geometry(1, 9, 17, 4, stride=2, pads=1, transposed=1),
              geometry((1, 7), 4, 3, (1, 2), stride=(1, 4), transposed=1, output_padding=(0, 3))]
    for types, g in itertools.product(((U8, S8), (S8, U8)), shapes):
        lhs, rhs = onnx_operands(rng, g, *types)
        lhs_zero_point, rhs_zero_point = integers(rng, types[0]), integers(rng, types[1])
        inputs = {"x": F32(lhs) - F32(lhs_zero_point), "w": F32(rhs) - F32(rhs_zero_point)}
        assert g["in_channels"] // g["groups"] * g["kernel_h"] * g["kernel_w"] * 255 * 255 < 2**24
        nodes = [node("ConvTranspose", list(inputs), ["y"], output_padding=[g["output_padding_h"], g["output_padding_w"]], **conv_attributes(g))]
        dst = onnx_runtime(nodes, inputs)
        yield f"{lhs.dtype} x {rhs.dtype} {geometry_name(g)}", {**onnx_tensors(g, lhs, rhs, lhs_zero_point, rhs_zero_point), "dst": planes(dst.astype(S32))}


def qlinear_conv(rng):
    """QLinearConv by ONNX Runtime. It has no s8 x u8, and one zero point for all weights.

    ONNX Runtime multiplies the accumulator by float32 (x_scale * w_scale) / y_scale, in this order.
    """
    regimes = itertools.cycle(("spread", "ties", "scale above 1"))
    for (lhs_type, rhs_type), g in itertools.product(((U8, U8), (U8, S8), (S8, S8)), ONNX_CONVOLUTIONS):
        regime, per_channel, with_bias = next(regimes), rng.integers(2), rng.integers(2)
        lhs, rhs = onnx_operands(rng, g, lhs_type, rhs_type)
        lhs_zero_point, rhs_zero_point, dst_zero_point = integers(rng, lhs_type), integers(rng, rhs_type), integers(rng, lhs_type)
        bias = rng.integers(-3000, 3000, len(rhs), S32)
        tensors = onnx_tensors(g, lhs, rhs, lhs_zero_point, rhs_zero_point)
        if with_bias:
            tensors["bias"] = bias
        acc, _ = contract.accumulate({key: np.atleast_2d(value) for key, value in tensors.items()})
        lhs_scale, rhs_scale = F32(rng.uniform(0.001, 0.1)), F32(rng.uniform(0.001, 0.1, len(rhs) if per_channel else ()))
        largest_scale = 3 if regime == "scale above 1" else rng.uniform(60, 200) / max(1, np.abs(acc).max())
        dst_scale = F32(lhs_scale * rhs_scale.max() / largest_scale)
        if regime == "ties":
            rhs_scale = ties(rng, acc, lhs_scale / dst_scale)[... if per_channel else 0]
        inputs = {"x": lhs, "xs": lhs_scale, "xz": lhs_zero_point, "w": rhs, "ws": rhs_scale, "wz": rhs_zero_point, "ys": dst_scale, "yz": dst_zero_point}
        if with_bias:
            inputs["b"] = bias
        inputs = {key: np.asarray(array) for key, array in inputs.items()}
        dst = onnx_runtime([node("QLinearConv", list(inputs), ["y"], **conv_attributes(g))], inputs)
        yield f"{lhs.dtype} x {rhs.dtype} {geometry_name(g)}, per {'channel' if per_channel else 'tensor'}, {regime}", {
            **tensors, "scales": lhs_scale * rhs_scale / dst_scale, "dst_zero_point": S32(dst_zero_point), "dst": planes(dst)}


def float_conv(rng):
    """An f32 input: QuantizeLinear, then QLinearConv; or DynamicQuantizeLinear of an image, then ConvInteger. By ONNX Runtime."""
    for (lhs_type, rhs_type), g in itertools.product(((U8, U8), (U8, S8), (S8, S8)), ONNX_CONVOLUTIONS[::2]):
        drawn, rhs = onnx_operands(rng, g, lhs_type, rhs_type)
        lhs_scale, lhs_zero_point, dst_zero_point = F32(rng.uniform(0.001, 0.1)), integers(rng, lhs_type), integers(rng, lhs_type)
        # Ties, and a few values beyond both ends.
        lhs = F32(lhs_scale * (rng.integers(-600, 600, drawn.shape) * F32(0.5)))
        rhs_scale, dst_scale = F32(rng.uniform(0.001, 0.1)), F32(rng.uniform(0.5, 1.5))
        inputs = {"x": lhs, "xs": lhs_scale, "xz": lhs_zero_point, "w": rhs, "ws": rhs_scale, "wz": integers(rng, rhs_type),
                  "ys": dst_scale, "yz": dst_zero_point}
        inputs = {key: np.asarray(array) for key, array in inputs.items()}
        nodes = [node("QuantizeLinear", ["x", "xs", "xz"], ["q"]), node("QLinearConv", ["q", *list(inputs)[1:]], ["y"], **conv_attributes(g))]
        yield f"float32, {np.dtype(lhs_type)} x {rhs.dtype} {geometry_name(g)}", {
            **onnx_tensors(g, lhs, rhs, lhs_zero_point, inputs["wz"]), "lhs_real_scale": lhs_scale,
            "lhs_quantized_type": S32(2 if lhs_type == U8 else 1), "scales": lhs_scale * rhs_scale / dst_scale,
            "dst_zero_point": S32(dst_zero_point), "dst": planes(onnx_runtime(nodes, inputs))}
    for rhs_type, g in itertools.product((U8, S8), ONNX_CONVOLUTIONS[1::2]):
        drawn, rhs = onnx_operands(rng, g, U8, rhs_type)
        lhs = F32(rng.standard_normal(drawn.shape) * 3 + rng.uniform(-2, 2))
        extra = {"w": rhs, "wz": np.asarray(integers(rng, rhs_type)), "ws": np.asarray(F32(rng.uniform(0.001, 0.1)))}
        nodes = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), node("ConvInteger", ["q", "w", "z", "wz"], ["acc"], **conv_attributes(g)),
                 node("Cast", ["acc"], ["float"], to=TensorProto.FLOAT), node("Mul", ["s", "ws"], ["scale"]), node("Mul", ["float", "scale"], ["y"])]
        dst = np.concatenate([onnx_runtime(nodes, {"x": image[None], **extra}) for image in lhs])
        tensors = onnx_tensors(g, lhs, rhs, U8(0), extra["wz"])
        del tensors["lhs_zero_points"]
        yield f"float32, dynamic, x {rhs.dtype} {geometry_name(g)}", {**tensors, "scales": extra["ws"], "dst": planes(dst)}


# ---- TFLite --------------------------------------------------------------------------------------------------------------------


def tied(rng, acc, factor, delegate):
    """Just below a tie, one rounding of TFLite's and two give different results; float mode rounds once: at the tie itself."""
    scales = ties(rng, acc, factor)
    return scales if delegate else scales * F32(1 - rng.uniform(0, 2**-14, scales.shape))


class Product:
    """A random matrix product as part of a TFLite model."""

    def __init__(self, rng, op, dtype, per_channel, shape, factor_above_1=False, delegate=False):
        self.op = op
        m, k, n = shape
        self.lhs, self.rhs = integers(rng, dtype, (m, k)), integers(rng, dtype, (n, k))
        self.bias = rng.integers(-3000, 3000, n, S32)
        self.lhs_zero_point, self.dst_zero_point = int(integers(rng, dtype)), int(integers(rng, dtype))
        self.rhs_zero_point = int(integers(rng, dtype)) if dtype == U8 else 0  # s8 weights are symmetric
        acc = accumulators(self.lhs, self.rhs.T, self.lhs_zero_point, self.rhs_zero_point, self.bias)
        self.lhs_scale = F32(rng.uniform(0.005, 0.05))
        self.rhs_scale = F32(rng.uniform(0.001, 0.01, n if per_channel else ()))
        largest_factor = rng.uniform(1, 9) if factor_above_1 else rng.uniform(60, 250) / np.abs(acc).max()
        self.dst_scale = F32(self.lhs_scale * self.rhs_scale.max() / largest_factor)
        if per_channel and not factor_above_1:
            self.rhs_scale = tied(rng, acc, self.lhs_scale / self.dst_scale, delegate)

    def add_to(self, model, activation):
        """Appends the operator to the model and returns the index of its output."""
        conv = self.op == "CONV_2D"
        lhs = model.input(self.lhs[None, None] if conv else self.lhs, self.lhs_scale, self.lhs_zero_point)
        rhs = model.constant(self.rhs[:, None, None] if conv else self.rhs, self.rhs_scale, self.rhs_zero_point)
        bias = model.constant(self.bias, self.lhs_scale * self.rhs_scale)
        m, n = len(self.lhs), len(self.rhs)
        dst = model.tensor((1, 1, m, n) if conv else (m, n), self.lhs.dtype, self.dst_scale, self.dst_zero_point)
        model.operator(self.op, activation, [lhs, rhs, bias], dst, **({"strideH": 1, "strideW": 1} if conv else {}))
        return dst

    def tensors(self):
        return {"lhs": self.lhs, "rhs_nk": self.rhs, "bias": self.bias,
                "lhs_zero_points": S32(self.lhs_zero_point), "rhs_zero_points": S32(self.rhs_zero_point),
                **tflite.rescaled(self.op, self.lhs_scale, self.rhs_scale, self.dst_scale)}

    def name(self, *words):
        return name_of(self.lhs, self.rhs.T, self.op, "per channel" if self.rhs_scale.ndim else "per tensor", *words)


def fully_connected(rng, delegate=False):
    """FULLY_CONNECTED and 1 x 1 CONV_2D by LiteRT's reference kernels."""
    shapes = itertools.cycle(SHAPES)
    kinds = [("FULLY_CONNECTED", S8, False), ("FULLY_CONNECTED", S8, True), ("FULLY_CONNECTED", U8, False), ("CONV_2D", S8, True)]
    for kind, activation, factor_above_1 in itertools.product(kinds, tflite.ACTIVATIONS, (False, True)):
        product = Product(rng, *kind, next(shapes), factor_above_1, delegate)
        model = tflite.Model()
        product.add_to(model, activation)
        tensors = product.tensors()
        yield product.name(activation, "factor above 1" if factor_above_1 else ""), {
            **(tflite.float_mode(tensors) if delegate else tensors),
            **tflite.activated(activation, product.dst_scale, product.dst_zero_point, product.lhs.dtype),
            "dst": model.run(delegate).reshape(len(product.lhs), -1),
        }


def fully_connected_in_double(rng):
    """FULLY_CONNECTED by the reference kernels of LiteRT 1.3 and later."""
    shapes = itertools.cycle(SHAPES)
    for (dtype, per_channel), activation, factor_above_1, at_ties in itertools.product(
            ((S8, False), (S8, True), (U8, False)), tflite.ACTIVATIONS, (False, True), (False, True)):
        product = Product(rng, "FULLY_CONNECTED", dtype, per_channel, next(shapes), factor_above_1, at_ties)
        if at_ties and not per_channel:  # powers of two: halves of a step
            product.lhs_scale, product.rhs_scale = F32(2.0**-6), F32(2.0**-7)
            product.dst_scale = F32(2.0**(np.ceil(np.log2(product.dst_scale)) if not factor_above_1 else -14))
        model = tflite.Model()
        product.add_to(model, activation)
        yield product.name(activation, "factor above 1" if factor_above_1 else "", "at ties" if at_ties else ""), {
            **tflite.double_mode(product.tensors()),
            **tflite.activated(activation, product.dst_scale, product.dst_zero_point, product.lhs.dtype),
            "dst": model.run().reshape(len(product.lhs), -1),
        }


def residual(rng):
    """CONV_2D followed by the ADD of a second input, by LiteRT's reference kernels."""
    yield from added(rng, [("NONE", activation) for activation in tflite.ACTIVATIONS])


def activated_residual(rng):
    """CONV_2D with a fused activation of its own, followed by the ADD, by LiteRT's reference kernels."""
    yield from added(rng, itertools.product((kind for kind in tflite.ACTIVATIONS if kind != "NONE"), ("NONE", "RELU6")))


def added(rng, activations):
    shapes = itertools.cycle(SHAPES[1:])
    for (own, activation), larger in itertools.product(activations, ("product", "residual")):
        product = Product(rng, "CONV_2D", S8, True, next(shapes))
        m, n = len(product.lhs), len(product.rhs)
        addend, addend_zero_point = integers(rng, S8, (1, 1, m, n)), int(integers(rng, S8))
        addend_scale = F32(product.dst_scale * rng.uniform(*{"product": (0.1, 1), "residual": (1, 10)}[larger]))
        dst_scale, dst_zero_point = F32(max(product.dst_scale, addend_scale) * rng.uniform(0.5, 1.5)), int(integers(rng, S8))

        model = tflite.Model()
        inputs = [product.add_to(model, own), model.input(addend, addend_scale, addend_zero_point)]
        model.operator("ADD", activation, inputs, model.tensor(addend.shape, S8, dst_scale, dst_zero_point))

        fused = tflite.activated(own, product.dst_scale, product.dst_zero_point, S8)
        yield product.name(*([] if own == "NONE" else [own]), "+ ADD", activation, f"larger {larger}"), {
            **product.tensors(),
            **tflite.activated(activation, dst_scale, dst_zero_point, S8),
            **({} if own == "NONE" else {"product_activations": fused["activations"], "product_clamp": fused["clamp"]}),
            "residual": addend.reshape(m, n),
            "residual_zero_points": S32([addend_zero_point, product.dst_zero_point]),
            **tflite.added(product.dst_scale, addend_scale, dst_scale),
            "dst": model.run().reshape(m, n),
        }


class Convolution:
    """A random CONV_2D, DEPTHWISE_CONV_2D or TRANSPOSE_CONV as a TFLite model. s8: per channel, u8: per tensor."""

    def __init__(self, rng, op, dtype, padding, in_size, in_channels, out_channels, kernel, stride=1, factor_above_1=False, delegate=False, **more):
        self.op, self.padding, self.delegate = op, padding, delegate
        transposed = op == "TRANSPOSE_CONV"
        if op == "DEPTHWISE_CONV_2D":
            more["groups"] = in_channels
        self.g = tflite.padded(geometry(in_size, in_channels, out_channels, kernel, stride, transposed=int(transposed), **more), padding)
        g = self.g
        self.lhs = integers(rng, dtype, (g["batch"], g["in_h"], g["in_w"], in_channels))
        # OHWI; depthwise 1HWO.
        self.rhs = integers(rng, dtype, (1, g["kernel_h"], g["kernel_w"], out_channels) if op == "DEPTHWISE_CONV_2D" else
                            (out_channels, g["kernel_h"], g["kernel_w"], in_channels // g["groups"]))
        self.bias = rng.integers(-3000, 3000, out_channels, S32)
        self.lhs_zero_point, self.dst_zero_point = int(integers(rng, dtype)), int(integers(rng, dtype))
        self.rhs_zero_point = int(integers(rng, dtype)) if dtype == U8 else 0  # s8 weights are symmetric
        order = "filter_hwio" if op == "DEPTHWISE_CONV_2D" else "filter_ohwi"
        self.tensors = {"conv": S32(list(g.values())), "padding": S32(padding == "SAME"), "lhs": pixels(self.lhs), order: self.rhs.reshape(-1, self.rhs.shape[-1]), "bias": self.bias,
                        "lhs_zero_points": S32(self.lhs_zero_point), "rhs_zero_points": S32(self.rhs_zero_point)}
        acc, _ = contract.accumulate({key: np.atleast_2d(value) for key, value in self.tensors.items()})
        self.lhs_scale = F32(rng.uniform(0.005, 0.05))
        self.rhs_scale = F32(rng.uniform(0.001, 0.01, out_channels if dtype == S8 else ()))
        largest_factor = rng.uniform(1, 9) if factor_above_1 else rng.uniform(60, 250) / np.abs(acc).max()
        self.dst_scale = F32(self.lhs_scale * self.rhs_scale.max() / largest_factor)
        if dtype == S8 and not factor_above_1:
            self.rhs_scale = tied(rng, acc, self.lhs_scale / self.dst_scale, delegate)
        self.tensors.update(tflite.rescaled(self.op, self.lhs_scale, self.rhs_scale, self.dst_scale))
        if delegate:
            self.tensors = tflite.float_mode(self.tensors)

    def run(self, activation):
        g, model = self.g, tflite.Model()
        depthwise, transposed = self.op == "DEPTHWISE_CONV_2D", self.op == "TRANSPOSE_CONV"
        out_h, out_w = contract.conv_out(g)
        shape = (g["batch"], out_h, out_w, g["out_channels"])
        lhs = model.input(self.lhs, self.lhs_scale, self.lhs_zero_point)
        rhs = model.constant(self.rhs, self.rhs_scale, self.rhs_zero_point, 3 if depthwise else 0)
        bias = model.constant(self.bias, self.lhs_scale * self.rhs_scale)
        inputs = [model.constant(S32(shape)), rhs, lhs, bias] if transposed else [lhs, rhs, bias]
        settings = {"strideH": g["stride_h"], "strideW": g["stride_w"], "padding": tflite.PADDING[self.padding]}
        if not transposed:
            settings.update({"dilationHFactor": g["dilation_h"], "dilationWFactor": g["dilation_w"]})
        if depthwise:
            settings["depthMultiplier"] = g["out_channels"] // g["in_channels"]
        model.operator(self.op, activation, inputs, model.tensor(shape, self.lhs.dtype, self.dst_scale, self.dst_zero_point), **settings)
        return pixels(model.run(self.delegate))

    def case(self, activation, *words):
        name = f"{self.op} {self.lhs.dtype} {geometry_name(self.g)}, {activation}{''.join(', ' + word for word in words if word)}"
        return name, {**self.tensors, **tflite.activated(activation, self.dst_scale, self.dst_zero_point, self.lhs.dtype), "dst": self.run(activation)}


def tflite_cases(rng, op, shapes, delegate):
    activations = itertools.cycle(tflite.ACTIVATIONS)
    for (dtype, factor_above_1), (padding, *sizes, more) in itertools.product(((S8, False), (S8, True), (U8, False)), shapes):
        if delegate and (op, dtype) == ("DEPTHWISE_CONV_2D", U8):  # which the delegate leaves to other kernels
            continue
        convolution = Convolution(rng, op, dtype, padding, *sizes, factor_above_1=factor_above_1, delegate=delegate, **more)
        activation = next(activations)
        yield convolution.case(activation, "factor above 1" if factor_above_1 else "")


def conv_2d(rng, delegate=False):
    """CONV_2D by LiteRT's reference kernels."""
    yield from tflite_cases(rng, "CONV_2D", [
        ("SAME", 5, 3, 7, 3, 1, {}), ("VALID", (6, 8), 5, 6, 3, 2, {"batch": 2}), ("SAME", 6, 4, 9, (3, 5), 2, {}), ("SAME", 7, 8, 6, 3, 1, {"dilation": 2}),
        ("VALID", 5, 6, 8, 2, 1, {"groups": 2}), ("SAME", (1, 20), 4, 5, (1, 4), (1, 2), {}), ("VALID", 9, 3, 4, 7, 1, {}), ("SAME", 4, 16, 17, 1, 1, {})], delegate)


def depthwise_conv_2d(rng, delegate=False):
    """DEPTHWISE_CONV_2D by LiteRT's reference kernels."""
    yield from tflite_cases(rng, "DEPTHWISE_CONV_2D", [
        ("SAME", 6, 8, 8, 3, 1, {}), ("SAME", (7, 6), 5, 5, 3, 2, {"batch": 2}), ("VALID", 7, 17, 17, 5, 1, {}), ("SAME", 6, 3, 9, 3, 2, {}),
        ("SAME", 9, 4, 4, 3, 1, {"dilation": 3}), ("VALID", (5, 9), 6, 12, (4, 2), 1, {}), ("SAME", 1, 33, 33, 3, 1, {}),
        ("SAME", (1, 16), 7, 7, (1, 3), 1, {})], delegate)


def transpose_conv(rng, delegate=False):
    """TRANSPOSE_CONV by LiteRT's reference kernels."""
    yield from tflite_cases(rng, "TRANSPOSE_CONV", [
        ("SAME", 4, 5, 6, 3, 2, {}), ("VALID", 3, 4, 7, 2, 2, {"batch": 2}), ("SAME", (3, 5), 6, 5, 4, 2, {}), ("VALID", 4, 3, 4, 5, 3, {}),
        ("SAME", 5, 8, 3, 3, 1, {}), ("VALID", (1, 9), 4, 9, (1, 3), (1, 2), {})], delegate)


def xnnpack(rng):
    """The same operators by LiteRT's default delegate, XNNPACK, in float mode."""
    for group in (fully_connected, conv_2d, depthwise_conv_2d, transpose_conv):
        yield from group(rng, delegate=True)


def write(group):
    cases = list(group(np.random.default_rng(2024)))
    vectors.write(HERE / "vectors" / f"{group.__name__}.bin", cases)
    print(f"{group.__name__}: {len(cases)} cases, {sum(tensors['dst'].size for _, tensors in cases)} results")


def main():
    later = importlib.metadata.version("ai-edge-litert") != "1.2.0"
    if later:
        return write(fully_connected_in_double)
    # ONNX Runtime's AVX2 kernels saturate 16-bit sums of u8 x s8; with VNNI they are exact.
    if "vnni" not in pathlib.Path("/proc/cpuinfo").read_text():
        raise SystemExit("generate.py needs a CPU with VNNI")
    for group in (matmul_integer, qlinear_matmul, dynamic_quantize, fully_connected, residual, activated_residual, conv_integer, conv_transpose,
                  qlinear_conv, float_conv, conv_2d, depthwise_conv_2d, transpose_conv, xnnpack):
        write(group)
    packages = dict.fromkeys(line.split("==")[0] for line in (HERE / "requirements.txt").read_text().splitlines())  # each once
    versions = "".join(f"{package} {importlib.metadata.version(package)}\n" for package in packages)
    (HERE / "vectors" / "versions.txt").write_text(versions)


if __name__ == "__main__":
    main()
