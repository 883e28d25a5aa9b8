# SPDX-License-Identifier: Apache-2.0
"""Operators and tensors of an .onnx model: operators on integers, and operators between DequantizeLinear and QuantizeLinear."""
import numpy as np
import onnx
from onnx import numpy_helper

import onnx_data
import onnx_functions
import onnx_places
import onnx_shapes
import operators as ops

TYPES = {onnx.TensorProto.INT8: "s8", onnx.TensorProto.UINT8: "u8", onnx.TensorProto.INT32: "s32", onnx.TensorProto.FLOAT: "f32"}
# These clamp a float result, between the operator and its QuantizeLinear
ACTIVATIONS = {"Relu": "RELU", "Clip": "CLIP"}


def merged(name, a, b):
    """Merges the quantizations that two operators state for a tensor. Operators whose result is s32 know no scales."""
    if not a or not b or a == b:
        return a or b
    if a["zero_points"] != b["zero_points"] or (a["scales"] and b["scales"]):
        raise ops.Unreadable(f"'{name}' is quantized in two ways")
    return a if a["scales"] else b


class Graph:
    def __init__(self, model, data):
        """data: a bytearray for constants, of a description that is to be run; None without."""
        self.graph, self.data, self.opsets = model.graph, data, model.opset_import
        self.made_floats = set()  # tensors of f32 that operators of the description make
        self.flattened = {}  # channels, height, width of images that are a line now
        self.clips = {}  # bounds, by the clamped tensor
        self.constants = {t.name: t for t in self.graph.initializer}
        self.values = {v.name: v.type.tensor_type for v in (*self.graph.input, *self.graph.value_info, *self.graph.output)}
        # Whether some input's size is open, for --shape to state
        self.is_open = any(not d.HasField("dim_value") for v in self.graph.input for d in v.type.tensor_type.shape.dim)
        self.inputs = {v.name for v in self.graph.input} - set(self.constants)
        self.outputs = {v.name for v in self.graph.output}
        self.maker = {out: node for node in self.graph.node for out in node.output}
        self.users = {}
        for node in self.graph.node:
            for name in node.input:
                self.users.setdefault(name, []).append(node)
        self.index, self.tensors = {}, []

    def shape(self, name):
        if name in self.constants:
            return list(self.constants[name].dims)
        dims = self.values[name].shape.dim if name in self.values and self.values[name].HasField("shape") else None
        if dims is None or any(not d.HasField("dim_value") for d in dims):
            raise ops.UnknownShape(f"the shape of '{name}' is not known" + ("; give those of the inputs: --shape INPUT=N,..." if self.is_open else ""))
        return [d.dim_value for d in dims]

    def type(self, name):
        kind = self.constants[name].data_type if name in self.constants else self.values[name].elem_type if name in self.values else 0
        return TYPES.get(kind, "other")

    def value(self, name):
        return numpy_helper.to_array(self.constants[name]) if name in self.constants else None

    def quantization(self, scale, zero_point):
        scales, zero_points = self.value(scale), self.value(zero_point) if zero_point else np.zeros(1, np.int32)
        if scales is None or zero_points is None:
            return None
        return {"scales": [float(x) for x in np.atleast_1d(scales)], "zero_points": [int(x) for x in np.atleast_1d(zero_points)]}

    def zero_points(self, name):
        """The quantization of an operand whose scale does not matter."""
        value = self.value(name) if name else np.zeros(1, np.int32)
        return None if value is None else {"scales": [], "zero_points": [int(x) for x in np.atleast_1d(value)]}

    def tensor(self, name, quantization=None):
        """The tensor's number; -1 for none."""
        if not name:
            return -1
        if name not in self.index:
            try:
                shape = self.shape(name)
            except ops.Unreadable:
                shape = None
            self.index[name] = len(self.tensors)
            self.tensors.append({"name": name, "shape": shape, "type": self.type(name), "quantization": None, "constant": name in self.constants})
        tensor = self.tensors[self.index[name]]
        tensor["quantization"] = merged(name, tensor["quantization"], quantization)
        return self.index[name]

    # ---- DequantizeLinear -> operator -> QuantizeLinear

    def is_retyped(self, name):
        """Whether ONNX Runtime computes an s8 tensor as u8 with a zero point that is 128 larger: one between QuantizeLinear and DequantizeLinear."""
        maker = self.maker.get(name)
        between = maker is not None and maker.op_type == "QuantizeLinear" and any(u.op_type == "DequantizeLinear" for u in self.users.get(name, []))
        return between and self.type(name) == "s8"

    def integers(self, name):
        """The integers that a float tensor is made of: (name, quantization), or None."""
        node = self.maker.get(name)
        if node is None or node.op_type != "DequantizeLinear":
            return None
        return node.input[0], self.quantization(node.input[1], node.input[2] if len(node.input) > 2 else "")

    def quantized(self, name):
        """The integers that a float result becomes: (name, quantization, activation, the operators on the way), or None."""
        activation, taken = "NONE", []
        while len(self.users.get(name, [])) == 1 and name not in self.outputs:
            node = self.users[name][0]
            taken.append(id(node))
            if node.op_type in ACTIVATIONS and activation == "NONE":
                activation, name, end = ACTIVATIONS[node.op_type], node.output[0], node
            elif node.op_type == "QuantizeLinear":
                if activation == "CLIP":
                    self.clips[node.output[0]] = self.bounds(end)
                return node.output[0], self.quantization(node.input[1], node.input[2] if len(node.input) > 2 else ""), activation, taken
            else:
                return None
        return None


    def bounds(self, clip):
        """[lower bound, upper bound], None for a missing one; None if they are no constants."""
        a, found = attributes(clip), []
        for i, name in ((1, "min"), (2, "max")):
            given = clip.input[i] if len(clip.input) > i else ""
            if given and self.value(given) is None:
                return None
            found.append(float(self.value(given)) if given else a.get(name))
        return [x if x is not None and np.isfinite(x) else None for x in found]


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def geometry(graph, node, lhs, rhs, out):
    a, transposed = attributes(node), node.op_type == "ConvTranspose"
    x, w, y = graph.shape(lhs), graph.shape(rhs), graph.shape(out)
    strides, dilations, pads = (list(a.get(name, [default] * count)) for name, default, count in
                                (("strides", 1, len(x) - 2), ("dilations", 1, len(x) - 2), ("pads", 0, 2 * len(x) - 4)))
    if len(x) == 3:  # one line of a picture
        x, w, y = ([*shape[:2], 1, *shape[2:]] for shape in (x, w, y))
        strides, dilations, pads = [1, *strides], [1, *dilations], [0, pads[0], 0, pads[1]]
    if len(x) != 4:
        raise ops.Unreadable(f"it has {len(x) - 2} spatial dimensions; one or two are Octet's")
    kernel = w[2:]
    groups, auto = a.get("group", 1), a.get("auto_pad", b"NOTSET").decode()
    sizes = y[2:] if transposed else x[2:]
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        both = [ops.same_padding(size, k, s, d) for size, k, s, d in zip(sizes, kernel, strides, dilations)]
        both = [pair[::-1] for pair in both] if auto == "SAME_LOWER" else both
        pads = [both[0][0], both[1][0], both[0][1], both[1][1]]
    return {"batch": x[0], "in_h": x[2], "in_w": x[3], "in_channels": x[1], "out_h": y[2], "out_w": y[3], "out_channels": y[1], "groups": groups,
            "kernel_h": kernel[0], "kernel_w": kernel[1], "stride_h": strides[0], "stride_w": strides[1], "dilation_h": dilations[0],
            "dilation_w": dilations[1], "pad_top": pads[0], "pad_bottom": pads[2], "pad_left": pads[1], "pad_right": pads[3], "transposed": transposed}


def multiplied(graph, node, operands, activation):
    """operands: (name, quantization) of lhs, rhs, bias, output."""
    (lhs, _), (rhs, _), (bias, _), (out, _) = operands
    types = [graph.type(name) for name in (lhs, rhs, out)]
    *inputs, output = [graph.tensor(*operand) for operand in operands]
    common = (name_of(node), node.op_type, types, inputs, output)
    return with_data(graph, node, described(graph, node, operands, common, activation), operands)


def with_data(graph, node, op, operands):
    if graph.clips.get(operands[3][0]):
        op["clip"] = graph.clips[operands[3][0]]
    if graph.data is not None and op["kind"] != "other":
        onnx_data.add_data(graph, node, op, operands)
    return op


def described(graph, node, operands, common, activation):
    (lhs, _), (rhs, _), _, (out, _) = operands
    inputs, output = common[3:]
    if "Conv" in node.op_type:
        return ops.convolution(*common, geometry(graph, node, lhs, rhs, out), "nchw", activation=activation)
    a, x, w = attributes(node), graph.shape(lhs), graph.shape(rhs)
    if a.get("transA") or len(w) != 2:
        return ops.other(*common[:2], inputs, [output], "a product whose rhs is no matrix, or whose lhs is transposed")
    k, n = w[::-1] if a.get("transB") else w
    return ops.product(*common, int(np.prod(x)) // k, n, k, activation=activation)


# The number of inputs that an operator must have
WANTED = {"MatMulNBits": 3, "QLinearConv": 8, "QLinearMatMul": 8, "QGemm": 6, "QLinearAdd": 8, "QLinearMul": 8, "QLinearSigmoid": 4, "QLinearLeakyRelu": 4, "QLinearConcat": 5, "ConvInteger": 2, "MatMulInteger": 2, "Conv": 2, "ConvTranspose": 2,
          "Gemm": 2, "MatMul": 2, "Add": 2, "Mul": 2, "Concat": 1, "Sigmoid": 1, "Tanh": 1, "LeakyRelu": 1, "MaxPool": 1, "AveragePool": 1, "GlobalAveragePool": 1, "QLinearAveragePool": 4, "QLinearGlobalAveragePool": 4, "Flatten": 1, "Reshape": 2, "Relu": 1,
          "Transpose": 1, "Slice": 1, "Split": 1, "Pad": 1, "Resize": 1, "Upsample": 1, "DepthToSpace": 1, "Softmax": 1, "HardSwish": 1, "QuantizeLinear": 2,
          "Squeeze": 1, "Unsqueeze": 1}


def name_of(node):
    return node.name or (node.output[0] if node.output else "")


ON_FLOATS = "not Octet's on floats: it would need a DequantizeLinear before and a QuantizeLinear behind it"


def left_out(graph, node, *reason):
    """A left-out operator; its inputs are the integers that its floats are made of."""
    reason = reason or ([ON_FLOATS] if node.op_type in WANTED and node.op_type != "QuantizeLinear" else [])
    inputs = [(graph.integers(name) or [name])[0] for name in node.input]
    return ops.other(name_of(node), node.op_type, [graph.tensor(name) for name in inputs], [graph.tensor(name) for name in node.output], *reason)


def operator(graph, node, taken):
    """The descriptions that an operator becomes; one that cannot be read is left out with the reason."""
    found = try_operator(graph, node, taken)
    return found if isinstance(found, list) else [found]


def try_operator(graph, node, taken):
    try:
        return read_operator(graph, node, taken)
    except ops.UnknownShape as error:
        if graph.is_open:
            raise
        return left_out(graph, node, str(error))
    except ops.Unreadable as error:
        return left_out(graph, node, str(error))
    except Exception as error:  # an unforeseen error of these scripts
        return left_out(graph, node, ops.unforeseen(error))


def read_operator(graph, node, taken):
    i = [*node.input] + [""] * 9
    if not node.output or not all(i[:WANTED.get(node.op_type, 0)]):
        raise ops.Unreadable(f"it has {sum(map(bool, node.input))} inputs and {len(node.output)} outputs; {WANTED.get(node.op_type, 0)} and 1 are wanted")
    if node.op_type in ("QLinearConv", "QLinearMatMul"):
        operands = [(i[0], graph.quantization(i[1], i[2])), (i[3], graph.quantization(i[4], i[5])), (i[8], None),
                    (node.output[0], graph.quantization(i[6], i[7]))]
        return multiplied(graph, node, operands, "NONE")
    if node.op_type == "QGemm":
        operands = [(i[0], graph.quantization(i[1], i[2])), (i[3], graph.quantization(i[4], i[5])), (i[6], None),
                    (node.output[0], graph.quantization(i[7], i[8]))]
        return multiplied(graph, node, operands, "NONE")
    if node.op_type in ("ConvInteger", "MatMulInteger"):
        return multiplied(graph, node, [(i[0], graph.zero_points(i[2])), (i[1], graph.zero_points(i[3])), ("", None), (node.output[0], None)], "NONE")
    if node.op_type == "MatMulNBits":
        return in_blocks(graph, node, i)
    if node.op_type in ("QLinearAdd", "QLinearMul"):
        return added(graph, node, (i[0], graph.quantization(i[1], i[2])), (i[3], graph.quantization(i[4], i[5])),
                     (node.output[0], graph.quantization(i[6], i[7])), "NONE", ())
    if node.op_type in ("Conv", "ConvTranspose", "Gemm", "MatMul", "Add", "Mul"):
        lhs, rhs, after = graph.integers(i[0]), graph.integers(i[1]), graph.quantized(node.output[0])
        if lhs and rhs and after:
            out, quantization, activation, ends = after
            if node.op_type in ("Add", "Mul"):
                return added(graph, node, lhs, rhs, (out, quantization), activation, ends, taken)
            bias = graph.integers(i[2]) if i[2] else None
            op = multiplied(graph, node, [lhs, rhs, bias or (i[2], None), (out, quantization)], activation)
            taken.update(ends)
            return op
        if node.op_type not in ("Add", "Mul"):
            return left_out(graph, node, "not quantized: its operands are no integers")
    if node.op_type in ("MaxPool", "AveragePool", "GlobalAveragePool", "QLinearAveragePool", "QLinearGlobalAveragePool", "Relu", "Flatten", "Reshape"):
        try:
            return onnx_functions.read(graph, node, taken) or left_out(graph, node)
        except onnx_functions.OtherOrder:
            if graph.data is None:
                raise
            return onnx_places.moved(graph, node, taken)
    if node.op_type in ("Transpose", "Slice", "Split", "Pad", "Resize", "Upsample", "DepthToSpace", "Squeeze", "Unsqueeze"):
        return onnx_places.moved(graph, node, taken) or left_out(graph, node)
    if node.op_type in ("Softmax", "QuantizeLinear"):
        return (onnx_places.ended if node.op_type == "Softmax" else onnx_places.quantized)(graph, node) or left_out(graph, node)
    if node.op_type in onnx_functions.TABLES or node.op_type in ("QLinearConcat", "Concat"):
        return onnx_functions.read_more(graph, node, taken) or left_out(graph, node)
    return left_out(graph, node)


def in_blocks(graph, node, inputs):
    """A MatMulNBits: a product of floats by weights in scale blocks."""
    x, b, by, zeros, groups, bias = inputs[:6]
    a, output = attributes(node), node.output[0]
    n, k, block, nibbles = a["N"], a["K"], a["block_size"], a.get("bits", 4) == 4
    if a.get("accuracy_level", 0) != 4:
        raise ops.Unreadable("its accuracy_level is not 4, which lets Octet quantize the input")
    if graph.data is None:
        raise ops.Unreadable("a product by weights in scale blocks, which a description has with --data only")
    if a.get("bits", 4) not in (4, 8) or groups or block < 1 or k % block or a.get("weight_prepacked"):
        raise ops.Unreadable("its weights have other bits than 4 or 8, a g_idx, or a last block that is short")
    if len(graph.shape(x)) > 3 or not (x in graph.inputs or x in graph.made_floats):
        raise ops.Unreadable("its input is neither one of the model nor one that Octet makes in floats, of up to three axes")
    codes, scales, given = (graph.value(name) if name else None for name in (b, by, zeros))
    if codes is None or scales is None or (zeros and given is None) or (given is not None and given.dtype != np.uint8):
        raise ops.Unreadable("its weights or scales are no constants, or its zero points are floats")
    blocks = k // block
    if codes.size != n * k // (1 + nibbles) or scales.size != n * blocks or (given is not None and given.size != n * ((blocks + nibbles) // (1 + nibbles))):
        raise ops.Unreadable("its weights, scales or zero points are not as many as its N and K say")
    zero_points = np.array([8 if nibbles else 128], np.uint8)
    if given is not None:
        rows = given.reshape(n, -1)
        zero_points = (np.stack([rows & 15, rows >> 4], -1).reshape(n, -1)[:, :blocks] if nibbles else rows).reshape(-1)
    if not nibbles and (zero_points != 128).any():
        raise ops.Unreadable("its weights have 8 bits and zero points other than 128")
    weights = {"name": b, "shape": [n, k], "type": "u4" if nibbles else "u8", "constant": True, "scale_block": block,
               "quantization": {"scales": [float(s) for s in scales.reshape(-1)], "zero_points": [int(z) for z in zero_points]}}
    at = len(graph.tensors)
    graph.tensors.append({**weights, "data_at": len(graph.data)})
    graph.data += codes.tobytes()
    operands = [graph.tensor(x), at]
    if bias:
        operands.append(onnx_data.store(graph, graph.tensor(bias), graph.value(bias)))
    graph.made_floats.add(output)
    return {"kind": "product", "name": name_of(node), "operator": node.op_type, "inputs": operands, "outputs": [graph.tensor(output)],
            "case": f"{int(np.prod(graph.shape(x))) // k}x{n}x{k}", "types": f"f32{weights['type']}f32", "activation": "NONE"}


def added(graph, node, a, b, result, activation, ends, taken=None):
    """The description of an addition or a multiplication; a, b and result are (name, quantization)."""
    names = [operand[0] for operand in (a, b, result)]
    if graph.flattened.get(a[0]) != graph.flattened.get(b[0]):
        raise ops.Unreadable("only one of its inputs is an image that was flattened")
    if a[0] in graph.flattened:
        graph.flattened[result[0]] = graph.flattened[a[0]]
    rank = len(graph.shape(result[0]))
    inputs, output = [onnx_data.operand(graph, *a, rank), onnx_data.operand(graph, *b, rank)], graph.tensor(*result)
    op = (ops.multiplication if "Mul" in node.op_type else ops.addition)(name_of(node), node.op_type, [graph.type(name) for name in names], inputs, output, activation=activation)
    if graph.clips.get(result[0]):
        op["clip"] = graph.clips[result[0]]
    if graph.is_retyped(result[0]):
        op["as_unsigned"] = True
    if taken is not None:
        taken.update(ends)
    return op


def output_of(graph, name):
    """The number of an output of the model; for dequantized floats, the integers' number."""
    integers = graph.integers(name)
    return graph.tensor(integers[0] if integers else name)


def read(path, batch, shapes, constants=None):
    """Operators, tensors, inputs and outputs. With a bytearray for constants the tensors are in NHWC, as octet runs them."""
    try:
        model = onnx.load(path)
    except OSError:
        raise
    except Exception as error:  # protobuf's own
        raise ops.Unreadable(f"it is no ONNX model: {error}") from error
    if not model.graph.node:
        raise ops.Unreadable("it is no ONNX model: it has no operators")
    onnx_shapes.settle_inputs(model, batch, shapes)
    try:
        onnx_shapes.complete(model)
        graph = Graph(model, constants)
    except ops.Unreadable:
        raise
    except Exception as error:  # an unforeseen error of these scripts
        raise ops.Unreadable(ops.unforeseen(error)) from error
    taken, found = set(), []
    for node in graph.graph.node:
        if id(node) in taken or node.op_type in ("Constant", "DequantizeLinear"):
            continue
        found += operator(graph, node, taken)
    inputs = [graph.tensor(v.name) for v in graph.graph.input if v.name in graph.inputs]
    outputs = [output_of(graph, v.name) for v in graph.graph.output]
    onnx_places.spread(found, graph.tensors)
    ops.convert_outside(found, inputs, ("QuantizeLinear", "Cast"))
    if constants is not None:
        onnx_data.to_nhwc(graph.tensors)
    return found, graph.tensors, inputs, outputs
