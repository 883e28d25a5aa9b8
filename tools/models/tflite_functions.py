# SPDX-License-Identifier: Apache-2.0
"""The operators between a .tflite model's products that have a kind of their own in engines/graph."""
import numpy as np
import tflite

import operators as ops

CLAMPS = {"RELU": "RELU", "RELU6": "RELU6", "RELU_N1_TO_1": "RELU_N1_TO_1"}


def constant(graph, inputs, k, what):
    """The integers of input k, which is an argument of the operator."""
    values = graph.model.tensors[inputs[k]].integers() if len(inputs) > k and inputs[k] >= 0 else None
    if values is None:
        raise ops.Unreadable(f"{what} is no constant")
    return values


def binary(kind, options):
    def read(graph, op, inputs, activations):
        return kind, inputs[:2], {"activation": activations[op.options(options).FusedActivationFunction()]}

    return read


def is_power_of_two(scale):
    """As LiteRT decides."""
    log2 = np.log(np.float32(scale)) * np.float32(1 / np.log(np.float32(2)))
    return abs(log2 - np.round(log2)) < 1e-3


def total(kind, options):
    """ADD or SUB. With scales that are powers of two, 16 bits are added after a shift, where the model does not say otherwise."""
    read = binary(kind, options)

    def checked(graph, op, inputs, activations):
        tensors = [graph.model.tensors[i] for i in (*inputs[:2], op.outputs[0])]
        scales = [tensor.quantization["scales"][0] for tensor in tensors if tensor.quantization]
        if tensors[2].type == "s16" and op.options(options).PotScaleInt16() and len(set(scales)) > 1 and all(map(is_power_of_two, scales)):
            raise ops.Unreadable("its tensors of 16 bits have scales that are powers of two, which LiteRT adds in another way")
        return read(graph, op, inputs, activations)

    return checked


def lstm(options):
    def read(graph, op, inputs, activations):
        o, kept = op.options(options), op.intermediates
        if len(inputs) not in (20, 24):
            raise ops.Unreadable("it has neither 20 nor 24 inputs")
        if any(i >= 0 for i in inputs[9:12] + inputs[20:]):
            raise ops.Unreadable("it has peepholes or layer norms, which Octet does not compute")
        if activations[o.FusedActivationFunction()] != "TANH":
            raise ops.Unreadable("its activation is not TANH")
        if len(kept) == 12:
            raise ops.Unreadable("it is of the form 8x8_8, which Octet does not compute")
        sequence = options is tflite.UnidirectionalSequenceLSTMOptions
        if not sequence and len(graph.shape(inputs[0])) != 2:
            raise ops.Unreadable("its input is no matrix")
        return "LSTM", inputs[:9] + inputs[12:20], {"time_major": sequence and bool(o.TimeMajor()), "cell_clip": o.CellClip(), "projection_clip": o.ProjClip(),
                                                    "hidden": kept[4] if len(kept) > 4 else -1}

    return read


def svdf(graph, op, inputs, activations):
    o = op.options(tflite.SVDFOptions)
    return "SVDF", inputs, {"rank": o.Rank(), "activation": activations[o.FusedActivationFunction()]}


def mean(graph, op, inputs, _):
    rank = len(graph.shape(inputs[0]))
    if rank != 4 or sorted(axis % rank for axis in constant(graph, inputs, 1, "its axes")) != [1, 2]:
        raise ops.Unreadable("its axes are not those of lines and columns")
    return "mean", inputs[:1], {}


def pad(graph, op, inputs, _):
    if len(inputs) > 2:
        raise ops.Unreadable("it pads with a value of its own")
    pads = constant(graph, inputs, 1, "its padding")
    if len(pads) != 8 or any(pads[:2] + pads[6:]):
        raise ops.Unreadable("it pads other axes than lines and columns")
    return "pad", inputs[:1], {"pads": pads[2:6]}


def concatenation(graph, op, inputs, activations):
    o = op.options(tflite.ConcatenationOptions)
    return "concatenate", inputs, {"axis": o.Axis(), "activation": activations[o.FusedActivationFunction()]}


def packed(graph, op, inputs, _):
    """A concatenation whose inputs lack the axis. LiteRT copies bytes, whatever their quantization."""
    if any(graph.model.tensors[tensor].quantization != graph.model.tensors[op.outputs[0]].quantization for tensor in inputs):
        raise ops.Unreadable("an input is quantized in another way than its output")
    return "concatenate", inputs, {"axis": op.options(tflite.PackOptions).Axis()}


def sliced(graph, op, inputs, _):
    return "slice", inputs[:1], {"begins": constant(graph, inputs, 1, "its beginning")}


def splits(graph, op, inputs):
    """A slice for each part, as its attributes."""
    if op.name == "SPLIT":
        (axis,), inputs = constant(graph, inputs, 0, "its axis"), inputs[1:]
    else:
        (axis,) = constant(graph, inputs, 2, "its axis") if op.name == "SPLIT_V" else [op.options(tflite.UnpackOptions).Axis()]
    shape, at = graph.shape(inputs[0]), 0
    axis %= len(shape)
    for output in op.outputs:
        begins, sizes = [0] * len(shape), list(shape)
        begins[axis], sizes[axis] = at, 1 if op.name == "UNPACK" else graph.shape(output)[axis]
        at += sizes[axis]
        yield {"inputs": inputs[:1], "outputs": [output], "begins": begins, **({"sizes": sizes} if op.name == "UNPACK" else {})}


def strided(graph, op, inputs, _):
    o, shape = op.options(tflite.StridedSliceOptions), graph.shape(inputs[0])
    given, ends, strides = (constant(graph, inputs, i, name) for i, name in ((1, "its beginning"), (2, "its end"), (3, "its stride")))
    if o.EllipsisMask() or o.NewAxisMask() or getattr(o, "Offset", bool)() or any(stride != 1 for stride in strides):
        raise ops.Unreadable("it has strides, an ellipsis, axes of its own, or ends that are counted from its beginnings")
    begins, sizes = [], []
    for axis, size in enumerate(shape):
        def place(places, mask, otherwise):
            if axis >= len(places) or mask >> axis & 1:
                return otherwise
            return min(max(places[axis] + size if places[axis] < 0 else places[axis], 0), size)

        begins.append(place(given, o.BeginMask(), 0))
        shrinks = axis < len(given) and o.ShrinkAxisMask() >> axis & 1
        sizes.append(1 if shrinks else max(0, place(ends, o.EndMask(), size) - begins[-1]))
    return "slice", inputs[:1], {"begins": begins, **({"sizes": sizes} if o.ShrinkAxisMask() else {})}


def transpose(graph, op, inputs, _):
    rank = len(graph.shape(inputs[0]))
    return "transpose", inputs[:1], {"permutation": [axis % rank for axis in constant(graph, inputs, 1, "its permutation")]}


def resize(kind, options):
    def read(graph, op, inputs, _):
        o = op.options(options)
        return kind, inputs[:1], {"coordinates": "align corners" if o.AlignCorners() else "half pixel" if o.HalfPixelCenters() else "asymmetric"}

    return read


def depth_to_space(graph, op, inputs, _):
    return "depth to space", inputs[:1], {"block": op.options(tflite.DepthToSpaceOptions).BlockSize()}


def space_to_depth(graph, op, inputs, _):
    return "space to depth", inputs[:1], {"block": op.options(tflite.SpaceToDepthOptions).BlockSize()}


def softmax(graph, op, inputs, _):
    return "softmax", inputs[:1], {"beta": op.options(tflite.SoftmaxOptions).Beta()}


def leaky_relu(graph, op, inputs, _):
    return "leaky relu", inputs[:1], {"alpha": op.options(tflite.LeakyReluOptions).Alpha()}


def plain(kind):
    return lambda graph, op, inputs, _: (kind, inputs[:1], {"activation": CLAMPS.get(op.name, "NONE")})


READERS = {"ADD": total("addition", tflite.AddOptions), "SUB": total("subtract", tflite.SubOptions), "MUL": binary("multiply", tflite.MulOptions),
           "MEAN": mean, "PAD": pad, "PADV2": pad, "CONCATENATION": concatenation, "PACK": packed, "SLICE": sliced, "STRIDED_SLICE": strided, "TRANSPOSE": transpose,
           "RESIZE_BILINEAR": resize("resize bilinear", tflite.ResizeBilinearOptions),
           "RESIZE_NEAREST_NEIGHBOR": resize("resize nearest", tflite.ResizeNearestNeighborOptions), "DEPTH_TO_SPACE": depth_to_space,
           "SPACE_TO_DEPTH": space_to_depth, "SOFTMAX": softmax,
           "LEAKY_RELU": leaky_relu, "LOGISTIC": plain("logistic"), "TANH": plain("tanh"), "HARD_SWISH": plain("hard swish"), "RELU": plain("activation"),
           "RELU6": plain("activation"), "RELU_N1_TO_1": plain("activation"), "QUANTIZE": plain("quantize"), "DEQUANTIZE": plain("dequantize"),
           "RESHAPE": plain("reshape"), "SQUEEZE": plain("reshape"), "EXPAND_DIMS": plain("reshape"), "SVDF": svdf,
           "LSTM": lstm(tflite.LSTMOptions), "UNIDIRECTIONAL_SEQUENCE_LSTM": lstm(tflite.UnidirectionalSequenceLSTMOptions)}


def read(graph, op, common, inputs, output, activations):
    """The operator with its kind and attributes."""
    kind, inputs, more = READERS[op.name](graph, op, inputs, activations)
    return {"kind": kind, "name": common[0], "operator": common[1], "inputs": inputs, "outputs": [output], **more}
