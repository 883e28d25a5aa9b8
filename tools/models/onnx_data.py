# SPDX-License-Identifier: Apache-2.0
"""Writes an .onnx model's data for `octet run`: tensors in NHWC, and weights in the order for NHWC."""
import numpy as np

import operators as ops

# The greatest relative error of a bias's scale: a rounding or two of the product of both operands'
SCALE_ERROR = 2.0**-22


def store(graph, index, array):
    """Stores a constant for one operator, because others may need it in another order. Returns its number."""
    graph.tensors.append({**graph.tensors[index], "shape": list(array.shape), "data_at": len(graph.data)})
    graph.data += np.ascontiguousarray(array).tobytes()
    return len(graph.tensors) - 1


def operand(graph, name, quantization, rank):
    """An operand of a sum or a product; a constant is stored as those of so many axes have it."""
    index = graph.tensor(name, quantization)
    if name not in graph.constants or graph.data is None:
        return index
    value = graph.value(name)
    if value.ndim < rank:
        value = value.reshape([1] * (rank - value.ndim) + list(value.shape))
    return store(graph, index, value.transpose(0, 2, 3, 1) if rank == 4 else value)


def check_axis(graph, node, quantization, wanted):
    """Checks that the scales of weights are those of output channels."""
    maker = graph.maker.get(node.input[1]) if not node.op_type.startswith("Q") else None
    if maker is None or quantization is None or len(quantization["scales"]) < 2:
        return
    a = {attribute.name: attribute.i for attribute in maker.attribute}
    if a.get("block_size") or a.get("axis", 1) % len(graph.shape(maker.input[0])) != wanted:
        raise ops.Unreadable("its weights' scales are not those of output channels")


def weights_of_convolution(graph, node, name, g):
    w = graph.value(name)
    if w.ndim != 4:
        raise ops.Unreadable("a convolution of one dimension is described, and not run")
    if not g["transposed"]:
        return w.transpose(0, 2, 3, 1), 0
    if g["groups"] > 1:
        raise ops.Unreadable("a transposed convolution of groups is described, and not run")
    return w.transpose(1, 2, 3, 0), 1


def weights_of_product(graph, node, name, lhs, transposed):
    if len(graph.shape(lhs)) > 3:
        raise ops.Unreadable("a product of four dimensions is described, and not run")
    w = graph.value(name)
    w, axis = (w, 0) if transposed else (w.T, 1)
    if lhs in graph.flattened:  # an image's channels come last now
        w = w.reshape(len(w), *graph.flattened[lhs]).transpose(0, 2, 3, 1).reshape(len(w), -1)
    return w, axis


def bias_of(graph, name, scale, lhs, weights, n):
    """The bias as n times int32. scale: the bias's, None if it is integers by definition."""
    bias = graph.value(name)
    if bias is None or bias.dtype != np.int32:
        raise ops.Unreadable("its bias is no constant of s32")
    if bias.size != n:
        raise ops.Unreadable(f"its bias has {bias.size} elements, and {n} are wanted")
    if scale is not None:
        if None in (lhs, weights) or scale.get("scales") is None or any(scale["zero_points"]):
            raise ops.Unreadable("the scale of its bias is not known, or it has a zero point")
        wanted = lhs["scales"][0] * np.array(weights["scales"])
        if np.any(np.abs(np.array(scale["scales"]) - wanted) > SCALE_ERROR * wanted):
            raise ops.Unreadable("the scale of its bias is not the product of those of its operands")
    return bias.reshape(-1)


def add_data(graph, node, op, operands):
    """Gives a convolution or a product its constants. operands: (name, quantization) of lhs, rhs, bias, output."""
    (lhs, lhs_quantization), (rhs, rhs_quantization), (bias, bias_quantization), _ = operands
    if graph.value(rhs) is None:
        raise ops.Unreadable("its weights are no constants")
    a = {attribute.name: attribute.f if attribute.type == 1 else attribute.i for attribute in node.attribute}
    if a.get("alpha", 1) != 1 or a.get("beta", 1) != 1:
        raise ops.Unreadable("its alpha or beta is not 1")
    if op["kind"] == "convolution":
        w, axis = weights_of_convolution(graph, node, rhs, op["geometry"])
        op["layout"] = "nhwc"
    else:
        w, axis = weights_of_product(graph, node, rhs, lhs, a.get("transB"))
    check_axis(graph, node, rhs_quantization, axis)
    op["inputs"][1] = store(graph, op["inputs"][1], w)
    if bias:
        op["inputs"][2] = store(graph, op["inputs"][2], bias_of(graph, bias, bias_quantization, lhs_quantization, rhs_quantization, len(w)))


def to_nhwc(tensors):
    for tensor in tensors:
        if not tensor.pop("as_it_is", False) and not tensor["constant"] and tensor["shape"] and len(tensor["shape"]) == 4:
            n, c, h, w = tensor["shape"]
            tensor["shape"] = [n, h, w, c]
