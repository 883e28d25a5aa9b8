# SPDX-License-Identifier: Apache-2.0
"""The operators between an .onnx model's products: poolings, Relu, and reshapes, on integers or between DequantizeLinear and QuantizeLinear."""
import operators as ops


class OtherOrder(ops.Unreadable):
    """The elements would lie in another order with channels last."""


def ends(graph, node, taken):
    """(input, its quantization), (output, its quantization), activation; None where they are floats."""
    name, out = node.input[0], node.output[0]
    if node.op_type.startswith("QLinear"):
        i = [*node.input, ""]
        return (name, graph.quantization(i[1], i[2])), (out, graph.quantization(i[3], i[4])), "NONE"
    if graph.type(name) in ops.BYTES:
        return None if node.op_type == "Relu" else ((name, None), (out, None), "NONE")  # the operators that read them state their quantization
    before, after = graph.integers(name), graph.quantized(out)
    if not before or not after:
        return None
    result, quantization, activation, ended = after
    taken.update(ended)
    return before, (result, quantization), activation


def attributes(node):
    import onnx

    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def window(graph, node, x, y):
    """The geometry of a pooling of tensors x to y, in NCHW."""
    a = attributes(node)
    if len(x) != 4 or len(y) != 4:
        raise ops.Unreadable(f"it has {len(x) - 2} spatial dimensions; a pooling has two")
    if a.get("channels_last"):
        raise ops.Unreadable("its channels come last")
    if "Global" in node.op_type:
        kernel, strides, pads = x[2:], [1, 1], [0] * 4
    else:
        kernel, strides, pads = a["kernel_shape"], a.get("strides", [1, 1]), a.get("pads", [0] * 4)
    auto = a.get("auto_pad", b"NOTSET").decode()
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        both = [ops.same_padding(size, k, s, 1) for size, k, s in zip(x[2:], kernel, strides)]
        both = [pair[::-1] for pair in both] if auto == "SAME_LOWER" else both
        pads = [both[0][0], both[1][0], both[0][1], both[1][1]]
    if any(d != 1 for d in a.get("dilations", [1])):
        raise ops.Unreadable("a pooling with dilations")
    if a.get("count_include_pad") and any(pads):
        raise ops.Unreadable("an average that counts padding")
    return {"in_h": x[2], "in_w": x[3], "out_h": y[2], "out_w": y[3], "kernel_h": kernel[0], "kernel_w": kernel[1],
            "stride_h": strides[0], "stride_w": strides[1], "pad_top": pads[0], "pad_left": pads[1]}


POINT = {"kernel_h": 1, "kernel_w": 1, "stride_h": 1, "stride_w": 1, "pad_top": 0, "pad_left": 0}


def in_one_order(shape):
    """Whether the tensor's elements have the same order with channels first and last."""
    return len(shape) != 4 or shape[1] == 1 or shape[2] * shape[3] == 1


def reshaped(graph, name, out):
    x, y = graph.shape(name), graph.shape(out)
    image = graph.flattened.get(name)
    if image is None and in_one_order(x) and in_one_order(y):
        return
    if image is None and len(x) == 4 and len(y) == 2 and y[0] == x[0]:
        image = x[1:]
    elif x != y:
        raise OtherOrder("images keep their order only where each becomes a line")
    if image:
        graph.flattened[out] = image


# The kinds of operators that look up each byte
TABLES = {"QLinearSigmoid": "logistic", "Sigmoid": "logistic", "Tanh": "tanh", "QLinearLeakyRelu": "leaky relu", "LeakyRelu": "leaky relu", "HardSwish": "hard swish"}


def read_more(graph, node, taken):
    """A look-up or a concatenation; None if it is on floats."""
    claimed, i = set(), [*node.input, ""]
    if node.op_type == "QLinearConcat":
        result = node.output[0], graph.quantization(i[0], i[1]), "NONE"
        operands = [(i[k], graph.quantization(i[k + 1], i[k + 2])) for k in range(2, len(node.input) - 2, 3)]
    elif node.op_type.startswith("QLinear"):
        operands, result = [(i[0], graph.quantization(i[1], i[2]))], (node.output[0], graph.quantization(i[3], i[4]), "NONE")
    else:
        operands, after = [graph.integers(name) for name in node.input], graph.quantized(node.output[0])
        if None in operands or not after or after[2] != "NONE":
            return None
        result = after[:3]
        claimed.update(after[3])
    name, quantization, _ = result
    if any(operand[0] in graph.flattened or operand[0] in graph.constants for operand in operands):
        raise ops.Unreadable("one of its inputs is a constant or an image that was flattened")
    more, a, rank = {}, attributes(node), len(graph.shape(name))
    if "Concat" in node.op_type:
        axis = a["axis"] % rank
        more = {"axis": {0: 0, 1: 3, 2: 1, 3: 2}[axis] if rank == 4 and graph.data is not None else axis}
    elif TABLES[node.op_type] == "leaky relu":
        more = {"alpha": a.get("alpha", 0.01)}
    taken.update(claimed)
    return {"kind": TABLES.get(node.op_type, "concatenate"), "name": node.name or name, "operator": node.op_type,
            "inputs": [graph.tensor(*operand) for operand in operands], "outputs": [graph.tensor(name, quantization)], **more}


def read(graph, node, taken):
    """None if it is on floats."""
    claimed = set()
    found = ends(graph, node, claimed)
    if not found:
        return None
    (name, before), (out, after), activation = found
    average = "Average" in node.op_type
    if before != after and not average:
        raise ops.Unreadable("its input and its output are quantized differently")
    common = (node.name or node.output[0], node.op_type)
    if node.op_type in ("Flatten", "Reshape"):
        if activation != "NONE":
            raise ops.Unreadable("an activation behind it")
        reshaped(graph, name, out)
        op = ops.reshape(*common, [graph.tensor(name, before)], graph.tensor(out, after))
    else:
        relu = node.op_type == "Relu"
        if relu and activation != "NONE":
            raise ops.Unreadable("an activation behind it")
        if relu and name in graph.flattened:
            graph.flattened[out] = graph.flattened[name]
        geometry = POINT if relu else window(graph, node, graph.shape(name), graph.shape(out))
        op = ops.pooling(*common, [graph.tensor(name, before)], graph.tensor(out, after), geometry, activation="RELU" if relu else activation)
        if graph.clips.get(out):
            op["clip"] = graph.clips[out]
        if node.op_type in ("AveragePool", "GlobalAveragePool") and graph.is_retyped(out):
            op["as_unsigned"] = True
    taken.update(claimed)
    return op
