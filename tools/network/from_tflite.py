"""Operators and tensors of a .tflite model."""
import struct

import flatbuffers  # noqa: F401
import numpy as np
import tflite

import operators as ops

TYPES = {tflite.TensorType.INT8: "s8", tflite.TensorType.UINT8: "u8", tflite.TensorType.INT32: "s32", tflite.TensorType.FLOAT32: "f32",
         tflite.TensorType.INT16: "s16", tflite.TensorType.FLOAT16: "f16", tflite.TensorType.INT64: "s64", tflite.TensorType.BOOL: "bool"}
NAMES = {value: name for name, value in vars(tflite.BuiltinOperator).items() if not name.startswith("_")}
ACTIVATIONS = {value: name for name, value in vars(tflite.ActivationFunctionType).items() if not name.startswith("_")}


class Graph:
    def __init__(self, model, batch, data):
        if model.SubgraphsLength() < 1:
            raise ops.Unreadable("it has no graph")
        self.model, self.graph, self.batch, self.data = model, model.Subgraphs(0), batch, data

    def shape(self, index):
        """With the batch where the model leaves it open."""
        tensor = self.graph.Tensors(index)
        shape = [int(n) for n in tensor.ShapeAsNumpy()] if tensor.ShapeLength() else []
        signature = [int(n) for n in tensor.ShapeSignatureAsNumpy()] if tensor.ShapeSignatureLength() else shape
        return [self.batch if i == 0 and open_ < 0 else n for i, (n, open_) in enumerate(zip(shape, signature))]

    def type(self, index):
        return TYPES.get(self.graph.Tensors(index).Type(), "other")

    def quantization(self, index):
        q = self.graph.Tensors(index).Quantization()
        if q is None or not q.ScaleLength():
            return None
        return {"scales": [float(np.float32(x)) for x in q.ScaleAsNumpy()], "zero_points": [int(x) for x in q.ZeroPointAsNumpy()]}

    def tensor(self, index):
        buffer = self.model.Buffers(self.graph.Tensors(index).Buffer())
        described = {"name": self.graph.Tensors(index).Name().decode(), "shape": self.shape(index), "type": self.type(index),
                "quantization": self.quantization(index), "constant": buffer.DataLength() > 0}
        if self.data is not None and described["constant"]:
            described["data_at"] = len(self.data)
            self.data += buffer.DataAsNumpy().tobytes()
        return described

    def name_of(self, op):
        code = self.model.OperatorCodes(op.OpcodeIndex())
        builtin = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
        custom = code.CustomCode()
        return custom.decode() if custom else NAMES.get(builtin, str(builtin))


def options(op, kind):
    table = op.BuiltinOptions()
    made = kind()
    made.Init(table.Bytes, table.Pos)
    return made


def padding(kind, size, kernel, stride, dilation):
    return ops.same_padding(size, kernel, stride, dilation) if kind == tflite.Padding.SAME else (0, 0)


def geometry(lhs, out, kernel_h, kernel_w, groups, o, transposed=False):
    """Of tensors in NHWC. A transposed convolution is padded as the convolution from its output to its input would be."""
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
    o = options(op, tflite.TransposeConvOptions if transposed else tflite.DepthwiseConv2DOptions if depthwise else tflite.Conv2DOptions)
    shape, filter_shape = graph.shape(lhs), graph.shape(rhs)
    groups = shape[3] if depthwise else 1 if transposed else shape[3] // filter_shape[3]
    activation = "NONE" if transposed else ACTIVATIONS[o.FusedActivationFunction()]
    bias = inputs[3] if transposed and len(inputs) > 3 else inputs[2] if not transposed and len(inputs) > 2 else -1
    return ops.convolution(*common, [graph.type(i) for i in (lhs, rhs, output)], [lhs, rhs, bias], output,
                           geometry(shape, graph.shape(output), filter_shape[1], filter_shape[2], groups, o, transposed), "nhwc", activation=activation)


def pooling(graph, op, common, inputs, output):
    o, lhs, out = options(op, tflite.Pool2DOptions), graph.shape(inputs[0]), graph.shape(output)
    if any(graph.type(i) not in ops.BYTES for i in (inputs[0], output)):
        return ops.other(*common, inputs, [output], "only poolings of 8 bits")
    (top, _), (left, _) = (padding(o.Padding(), size, kernel, stride, 1) for size, kernel, stride in
                           zip(lhs[1:3], (o.FilterHeight(), o.FilterWidth()), (o.StrideH(), o.StrideW())))
    geometry = {"in_h": lhs[1], "in_w": lhs[2], "out_h": out[1], "out_w": out[2], "kernel_h": o.FilterHeight(), "kernel_w": o.FilterWidth(),
                "stride_h": o.StrideH(), "stride_w": o.StrideW(), "pad_top": top, "pad_left": left}
    return ops.pooling(*common, inputs, output, geometry, activation=ACTIVATIONS[o.FusedActivationFunction()])


def operator(graph, op):
    name, inputs = graph.name_of(op), [int(i) for i in op.InputsAsNumpy()] if op.InputsLength() else []
    outputs = [int(i) for i in op.OutputsAsNumpy()] if op.OutputsLength() else []
    common = (graph.graph.Tensors(outputs[0]).Name().decode() if outputs else "", name)
    if name in ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"):
        return convolution(graph, op, name, common, inputs, outputs[0])
    if name == "FULLY_CONNECTED":
        n, k = graph.shape(inputs[1])
        m = int(np.prod(graph.shape(inputs[0]))) // k
        o = options(op, tflite.FullyConnectedOptions)
        return ops.product(*common, [graph.type(i) for i in (inputs[0], inputs[1], outputs[0])], (inputs + [-1])[:3], outputs[0], m, n, k,
                           activation=ACTIVATIONS[o.FusedActivationFunction()])
    if name == "ADD":
        if graph.shape(inputs[0]) != graph.shape(inputs[1]):
            return ops.other(*common, inputs, outputs, "its inputs have different shapes")
        o = options(op, tflite.AddOptions)
        return ops.addition(*common, [graph.type(i) for i in (*inputs, *outputs)], inputs, outputs[0], activation=ACTIVATIONS[o.FusedActivationFunction()])
    if name in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        return pooling(graph, op, common, inputs, outputs[0])
    if name == "RESHAPE":
        return ops.reshape(*common, inputs[:1], outputs[0])
    return ops.other(*common, inputs, outputs)


def read(data, batch, constants=None):
    """Operators and tensors; the bytes of constants are appended to a bytearray."""
    if data[4:8] != b"TFL3":
        raise ops.Unreadable("it is no TFLite model")
    try:
        graph = Graph(tflite.Model.GetRootAsModel(data, 0), batch, constants)
        return ([operator(graph, graph.graph.Operators(i)) for i in range(graph.graph.OperatorsLength())],
                [graph.tensor(i) for i in range(graph.graph.TensorsLength())])
    except (AttributeError, IndexError, struct.error, TypeError, UnicodeDecodeError, ValueError, ZeroDivisionError) as error:
        raise ops.Unreadable(f"it is damaged: {error}") from error
