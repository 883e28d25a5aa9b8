# SPDX-License-Identifier: Apache-2.0
"""Operators and tensors of a .tflite model."""
import numpy as np
import tflite

import operators as ops
import tflite_functions
import tflite_shapes
from tflite_model import Model

ACTIVATIONS = {value: name for name, value in vars(tflite.ActivationFunctionType).items() if not name.startswith("_")}
# The least number of inputs that an operator has
WANTED = {"BATCH_MATMUL": 2, "CONV_2D": 2, "DEPTHWISE_CONV_2D": 2, "TRANSPOSE_CONV": 3, "FULLY_CONNECTED": 2, "ADD": 2, "SUB": 2, "MUL": 2, "AVERAGE_POOL_2D": 1, "MAX_POOL_2D": 1}


class Graph:
    def __init__(self, model, data):
        """data: a bytearray for constants; None without."""
        self.model, self.data = model, data

    def shape(self, index):
        tensor = self.model.tensors[index]
        if tensor.shape is None:
            raise ops.UnknownShape(f"the shape of '{tensor.name}' is not known")
        return tensor.shape

    def type(self, index):
        return self.model.tensors[index].type

    def constant(self, index):
        return self.model.tensors[index].data is not None

    def tensor(self, index):
        tensor = self.model.tensors[index]
        described = {"name": tensor.name, "shape": tensor.shape, "type": tensor.type, "quantization": tensor.quantization, "constant": self.constant(index)}
        if tensor.variable:
            described["variable"] = True
        if self.data is not None and described["constant"]:
            described["data_at"] = len(self.data)
            self.data += tensor.data.tobytes()
        return described


def padding(kind, size, kernel, stride, dilation):
    return ops.same_padding(size, kernel, stride, dilation) if kind == tflite.Padding.SAME else (0, 0)


def geometry(lhs, out, kernel_h, kernel_w, groups, o, transposed=False):
    """The geometry of a convolution of tensors in NHWC. A transposed convolution is padded as the convolution from its output to its input would
    be."""
    dilation = (1, 1) if transposed else (o.DilationHFactor(), o.DilationWFactor())
    sizes = (out if transposed else lhs)[1:3]
    (top, bottom), (left, right) = (padding(o.Padding(), size, kernel, stride, d) for size, kernel, stride, d in
                                    zip(sizes, (kernel_h, kernel_w), (o.StrideH(), o.StrideW()), dilation))
    return {"batch": lhs[0], "in_h": lhs[1], "in_w": lhs[2], "in_channels": lhs[3], "out_h": out[1], "out_w": out[2], "out_channels": out[3],
            "groups": groups, "kernel_h": kernel_h, "kernel_w": kernel_w, "stride_h": o.StrideH(), "stride_w": o.StrideW(),
            "dilation_h": dilation[0], "dilation_w": dilation[1], "pad_top": top, "pad_bottom": bottom, "pad_left": left, "pad_right": right,
            "transposed": transposed}


def convolution(graph, op, name, common, inputs, output):
    transposed, depthwise = name == "TRANSPOSE_CONV", name == "DEPTHWISE_CONV_2D"
    lhs, rhs = (inputs[2], inputs[1]) if transposed else inputs[:2]
    o = op.options(tflite.TransposeConvOptions if transposed else tflite.DepthwiseConv2DOptions if depthwise else tflite.Conv2DOptions)
    shape, filter_shape = graph.shape(lhs), graph.shape(rhs)
    groups = shape[3] if depthwise else 1 if transposed else shape[3] // filter_shape[3]
    activation = "NONE" if transposed else ACTIVATIONS[o.FusedActivationFunction()]
    bias = inputs[3] if transposed and len(inputs) > 3 else inputs[2] if not transposed and len(inputs) > 2 else -1
    return ops.convolution(*common, [graph.type(i) for i in (lhs, rhs, output)], [lhs, rhs, bias], output,
                           geometry(shape, graph.shape(output), filter_shape[1], filter_shape[2], groups, o, transposed), "nhwc", activation=activation)


def pooling(graph, op, common, inputs, output):
    o, lhs, out = op.options(tflite.Pool2DOptions), graph.shape(inputs[0]), graph.shape(output)
    if any(graph.type(i) not in ops.BYTES + ops.WORDS for i in (inputs[0], output)):
        return ops.other(*common, inputs, [output], "only poolings of 8 and 16 bits")
    (top, _), (left, _) = (padding(o.Padding(), size, kernel, stride, 1) for size, kernel, stride in
                           zip(lhs[1:3], (o.FilterHeight(), o.FilterWidth()), (o.StrideH(), o.StrideW())))
    geometry = {"in_h": lhs[1], "in_w": lhs[2], "out_h": out[1], "out_w": out[2], "kernel_h": o.FilterHeight(), "kernel_w": o.FilterWidth(),
                "stride_h": o.StrideH(), "stride_w": o.StrideW(), "pad_top": top, "pad_left": left}
    return ops.pooling(*common, inputs, output, geometry, activation=ACTIVATIONS[o.FusedActivationFunction()])


def product(graph, op, common, inputs, output):
    n, k = graph.shape(inputs[1])
    o = op.options(tflite.FullyConnectedOptions)
    if o.WeightsFormat() != tflite.FullyConnectedOptionsWeightsFormat.DEFAULT:
        raise ops.Unreadable("its weights are shuffled")
    m = int(np.prod(graph.shape(inputs[0]))) // k
    return ops.product(*common, [graph.type(i) for i in (inputs[0], inputs[1], output)], (inputs + [-1])[:3], output, m, n, k,
                       activation=ACTIVATIONS[o.FusedActivationFunction()])


def matrices(graph, op, common, inputs, output):
    """A product of two tensors' last two axes."""
    o, shapes = op.options(tflite.BatchMatMulOptions), [graph.shape(i) for i in (*inputs, output)]
    if o.AdjX():
        raise ops.Unreadable("its first operand is turned; it would need a transpose before it")
    m, n, k = int(np.prod(shapes[0][:-1])), shapes[2][-1], shapes[0][-1]
    return ops.product(*common, [graph.type(i) for i in (*inputs, output)], [*inputs, -1], output, m, n, k, activation="NONE", columns_last=not o.AdjY())


READERS = {"FULLY_CONNECTED": product, "BATCH_MATMUL": matrices, "AVERAGE_POOL_2D": pooling, "MAX_POOL_2D": pooling}


def read_operator(graph, op, common):
    if op.name not in WANTED and op.name not in tflite_functions.READERS:
        return ops.other(*common, op.inputs, op.outputs)
    wanted = WANTED.get(op.name, 1)
    if len(op.outputs) != 1 or -1 in op.inputs[:wanted] or len(op.inputs) < wanted:
        raise ops.Unreadable(f"it has {len(op.inputs)} inputs and {len(op.outputs)} outputs; {wanted} and 1 are wanted")
    if "CONV" in op.name:
        return convolution(graph, op, op.name, common, op.inputs, op.outputs[0])
    if op.name in tflite_functions.READERS:
        return tflite_functions.read(graph, op, common, op.inputs, op.outputs[0], ACTIVATIONS)
    return READERS[op.name](graph, op, common, op.inputs, op.outputs[0])


def operators(graph, op):
    """The descriptions of an operator; one that cannot be read is left out with the reason."""
    common = (graph.model.tensors[op.outputs[0]].name if op.outputs else "", op.name)
    try:
        if op.name in ("SPLIT", "SPLIT_V", "UNPACK"):
            return [{"kind": "slice", "name": graph.model.tensors[part["outputs"][0]].name, "operator": op.name, **part}
                    for part in tflite_functions.splits(graph, op, op.inputs)]
        return [read_operator(graph, op, common)]
    except ops.Unreadable as error:
        return [ops.other(*common, op.inputs, op.outputs, str(error))]
    except Exception as error:  # an unforeseen error of this script
        return [ops.other(*common, op.inputs, op.outputs, ops.unforeseen(error))]


def read(data, batch, constants=None):
    """Operators, tensors, inputs and outputs; the bytes of constants are appended to a bytearray."""
    model = Model(data, batch)
    tflite_shapes.infer(model)
    graph = Graph(model, constants)
    found = [made for op in model.operators for made in operators(graph, op)]
    ops.convert_outside(found, model.inputs, ("CAST",))
    return found, [graph.tensor(i) for i in range(len(model.tensors))], model.inputs, model.outputs
