# SPDX-License-Identifier: Apache-2.0
"""Shapes of all tensors of an .onnx model: onnx's inference, through operators that only ONNX Runtime has, and with the results of operators that
compute shapes in their place."""
import numpy as np
import onnx
from onnx import helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

import operators as ops

# Exporters write these to compute a shape from others
FOLDED = {"Add", "Cast", "Ceil", "Concat", "Constant", "ConstantOfShape", "Div", "Equal", "Expand", "Floor", "Gather", "Identity", "Max", "Min", "Mod", "Mul", "Neg",
          "Range", "ReduceProd", "Reshape", "Slice", "Squeeze", "Sub", "Transpose", "Unsqueeze", "Where"}
FOLDED_ELEMENTS = 4096
KEEP_SHAPE = ("BiasGelu", "FastGelu", "Gelu", "QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax", "QuickGelu")
POOLINGS = {"QLinearAveragePool": "AveragePool", "QLinearGlobalAveragePool": "GlobalAveragePool"}


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def settle_inputs(model, batch, shapes):
    constants = {t.name for t in model.graph.initializer}
    for value in model.graph.input:
        if value.name in constants:
            continue
        dims = value.type.tensor_type.shape.dim
        if value.name in shapes:
            given = shapes.pop(value.name)
            if len(given) != len(dims):
                raise ops.Unreadable(f"--shape {value.name}: the input has {len(dims)} dimensions, not {len(given)}")
            for dim, n in zip(dims, given):
                dim.dim_value = n
        elif dims and not dims[0].HasField("dim_value"):
            dims[0].dim_value = batch
    if shapes:
        raise ops.Unreadable(f"--shape {next(iter(shapes))}: there is no such input")


# ---- operators that only ONNX Runtime has


def standard(node):
    """Standard operators whose results have the same shapes and types; none if there are none, or if the node is standard."""
    kind, i, out, a = node.op_type, list(node.input), list(node.output)[:1], attributes(node)
    if a.pop("channels_last", 0):
        return []
    if kind in ("QLinearAdd", "QLinearMul"):
        return [helper.make_node("Add", [i[0], i[3]], out)]
    if kind in POOLINGS:
        return [helper.make_node(POOLINGS[kind], i[:1], out, **a)]
    if kind == "QLinearConcat":
        return [helper.make_node("Concat", i[2::3], out, axis=a["axis"])]
    if kind == "MatMulNBits":  # the last axis becomes N
        shape = out[0] + "/a matrix"
        made = helper.make_node("ConstantOfShape", [shape + "'s shape"], [shape])
        sizes = helper.make_node("Constant", [], [shape + "'s shape"], value_ints=[a["K"], a["N"]])
        return [sizes, made, helper.make_node("MatMul", [i[0], shape], out)]
    if kind in KEEP_SHAPE:
        return [helper.make_node("Identity", i[:1], out)]
    if kind == "QGemm":
        transposed = {name: a[name] for name in ("transA", "transB") if name in a}
        return to_float(helper.make_node("Gemm", [i[0], i[3]], out, **transposed), len(i) < 9 or not i[8])
    if kind == "MatMulIntegerToFloat":
        return to_float(helper.make_node("MatMul", i[:2], out), True)
    if kind == "FusedConv":
        geometry = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
        return [helper.make_node("Conv", i[:3], out, **{name: a[name] for name in geometry if name in a})]
    if kind in ("QuantizeLinear", "DequantizeLinear") and node.domain:
        return [helper.make_node(kind, i, out, **a)]
    return []


def to_float(node, wanted):
    if not wanted:
        return [node]
    out, node.output[0] = node.output[0], node.output[0] + "/as integers"
    return [node, helper.make_node("Cast", [node.output[0]], [out], to=onnx.TensorProto.FLOAT)]


def infer(model):
    """Adds the known shapes and types of tensors to the model."""
    other = onnx.ModelProto()
    other.CopyFrom(model)
    del other.graph.node[:]
    for node in model.graph.node:
        try:
            other.graph.node.extend(standard(node) or [node])
        except (IndexError, KeyError, ValueError):  # an operator without its attributes or inputs
            other.graph.node.append(node)
    try:
        inferred = shape_inference.infer_shapes(other).graph
    except Exception as error:  # onnx throws several kinds
        raise ops.Unreadable(f"onnx infers no shapes of it: {error}") from error
    del model.graph.value_info[:], model.graph.output[:]
    model.graph.value_info.extend(inferred.value_info)
    model.graph.output.extend(inferred.output)


# ---- shapes that the model computes


def known_shapes(graph):
    values = [v for v in (*graph.input, *graph.value_info, *graph.output) if v.type.tensor_type.HasField("shape")]
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in values if all(d.HasField("dim_value") for d in v.type.tensor_type.shape.dim)}
    shapes.update({t.name: list(t.dims) for t in graph.initializer})
    return shapes


def evaluated(node, constants, opsets):
    """The node's results; None if it cannot be computed here."""
    inputs = [name for name in node.input if name]
    graph = helper.make_graph([node], "one", [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(constants[name].dtype), constants[name].shape)
                                              for name in dict.fromkeys(inputs)], [helper.make_empty_tensor_value_info(name) for name in node.output])
    try:
        return ReferenceEvaluator(helper.make_model(graph, opset_imports=opsets)).run(None, {name: constants[name] for name in inputs})
    except Exception:  # the evaluator cannot do it: the operator remains
        return None


def fold(model):
    """Replaces operators on constants by constants. Returns whether there were any."""
    graph, shapes = model.graph, known_shapes(model.graph)
    constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer if np.prod(t.dims) <= FOLDED_ELEMENTS and not t.external_data}
    kept = []
    for node in graph.node:
        results = None
        if node.op_type == "Shape" and node.input[0] in shapes:
            a = attributes(node)
            results = [np.array(shapes[node.input[0]][a.get("start", 0):a.get("end")], np.int64)]
        elif node.op_type in FOLDED and all(name in constants for name in node.input if name):
            results = evaluated(node, constants, model.opset_import)
        if results is None or any(np.size(r) > FOLDED_ELEMENTS and node.op_type != "Constant" for r in results):
            kept.append(node)
            continue
        for name, result in zip(node.output, results):
            constants[name] = np.asarray(result)
            graph.initializer.append(numpy_helper.from_array(constants[name], name))
    folded = len(kept) < len(graph.node)
    del graph.node[:]
    graph.node.extend(kept)
    return folded


def complete(model):
    """Changes the model."""
    fold(model)
    infer(model)
    while fold(model):
        infer(model)
