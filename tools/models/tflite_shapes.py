# SPDX-License-Identifier: Apache-2.0
"""Shapes of tensors that a .tflite model does not state, as LiteRT infers them when it loads the model."""
import numpy as np
import tflite

import operators as ops

SAME_SHAPE = ("ABS", "CAST", "CEIL", "COS", "DEQUANTIZE", "ELU", "EXP", "FLOOR", "GELU", "HARD_SWISH", "L2_NORMALIZATION", "LEAKY_RELU", "LOG", "LOGISTIC",
              "LOG_SOFTMAX", "NEG", "PRELU", "QUANTIZE", "RELU", "RELU6", "RELU_N1_TO_1", "RSQRT", "SIN", "SOFTMAX", "SQRT", "SQUARE", "TANH")
BROADCAST = ("ADD", "DIV", "EQUAL", "FLOOR_DIV", "GREATER", "LESS", "MAXIMUM", "MINIMUM", "MUL", "POW", "SQUARED_DIFFERENCE", "SUB")
REDUCE = ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "SUM")


class NotKnown(Exception):
    """A shape that this script does not infer."""


def spatial(o, size, kernel, dilation):
    """Height or width behind a window; each argument is a pair."""
    strides = (o.StrideH(), o.StrideW())
    if o.Padding() == tflite.Padding.SAME:
        return [-(-n // s) for n, s in zip(size, strides)]
    return [ops.out_size(n, k, s, d, 0, 0) for n, k, s, d in zip(size, kernel, strides, dilation)]


def convolution(op, x, w, *_):
    depthwise = op.name == "DEPTHWISE_CONV_2D"
    o = op.options(tflite.DepthwiseConv2DOptions if depthwise else tflite.Conv2DOptions)
    return [x[0], *spatial(o, x[1:3], w[1:3], (o.DilationHFactor(), o.DilationWFactor())), w[3] if depthwise else w[0]]


def pooling(op, x):
    o = op.options(tflite.Pool2DOptions)
    return [x[0], *spatial(o, x[1:3], (o.FilterHeight(), o.FilterWidth()), (1, 1)), x[3]]


def fully_connected(op, x, w, *_):
    if op.options(tflite.FullyConnectedOptions).KeepNumDims():
        return [*x[:-1], w[0]]
    return [int(np.prod(x)) // w[1], w[0]]


def concatenation(op, *shapes):
    axis = op.options(tflite.ConcatenationOptions).Axis()
    joined = list(shapes[0])
    joined[axis] = sum(shape[axis] for shape in shapes)
    return joined


def resized(x, wanted):
    """The shape of a RESHAPE, with its -1 settled."""
    known = int(np.prod([n for n in wanted if n >= 0]))
    return [int(np.prod(x)) // known if n < 0 else n for n in wanted]


def depth(op, x):
    deeper = op.name == "SPACE_TO_DEPTH"
    block = op.options(tflite.SpaceToDepthOptions if deeper else tflite.DepthToSpaceOptions).BlockSize()
    return [x[0], x[1] // block, x[2] // block, x[3] * block**2] if deeper else [x[0], x[1] * block, x[2] * block, x[3] // block**2]


def squeezed(op, x):
    o = op.options(tflite.SqueezeOptions)
    axes = [int(a) % len(x) for a in o.SqueezeDimsAsNumpy()] if o.SqueezeDimsLength() else [i for i, n in enumerate(x) if n == 1]
    return [n for i, n in enumerate(x) if i not in axes]


def reduced(op, x, axes):
    axes = [a % len(x) for a in axes]
    if op.options(tflite.ReducerOptions).KeepDims():
        return [1 if i in axes else n for i, n in enumerate(x)]
    return [n for i, n in enumerate(x) if i not in axes]


def sliced(op, x, begin, end, strides):
    o = op.options(tflite.StridedSliceOptions)
    if o.EllipsisMask() or o.NewAxisMask():
        raise NotKnown
    found = []
    for i, n in enumerate(x):
        if i < len(begin) and o.ShrinkAxisMask() >> i & 1:
            continue
        first, last, step = (begin[i], end[i], strides[i]) if i < len(begin) else (0, n, 1)
        found.append(len(range(n)[slice(None if o.BeginMask() >> i & 1 else first, None if o.EndMask() >> i & 1 else last, step)]))
    return found


def shape_of(op, shapes, constants):
    """The shape of the only output. shapes and constants are the inputs'; constants are integers, or None."""
    first = shapes[0]
    if op.name in ("CONV_2D", "DEPTHWISE_CONV_2D"):
        return convolution(op, *shapes)
    if op.name == "FULLY_CONNECTED":
        return fully_connected(op, *shapes)
    if op.name in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        return pooling(op, first)
    if op.name in SAME_SHAPE:
        return list(first)
    if op.name in BROADCAST:
        return list(np.broadcast_shapes(*map(tuple, shapes)))
    if op.name == "CONCATENATION":
        return concatenation(op, *shapes)
    if op.name == "PACK":
        axis = op.options(tflite.PackOptions).Axis() % (len(first) + 1)
        return [*first[:axis], len(shapes), *first[axis:]]
    if op.name in ("SPACE_TO_DEPTH", "DEPTH_TO_SPACE"):
        return depth(op, first)
    if op.name == "SQUEEZE":
        return squeezed(op, first)
    if op.name == "RESHAPE" and len(constants) < 2:
        return resized(first, [int(n) for n in op.options(tflite.ReshapeOptions).NewShapeAsNumpy()])
    return from_constants(op, first, constants)


def from_constants(op, x, constants):
    """The output shape of operators whose sizes are operands."""
    if op.name == "TRANSPOSE_CONV" and constants[0]:
        return constants[0]
    if len(constants) < 2 or any(values is None for values in constants[1:]):
        raise NotKnown
    second = constants[1]
    if op.name == "RESHAPE":
        return resized(x, second)
    if op.name in ("PAD", "PADV2", "MIRROR_PAD"):
        return [n + before + after for n, before, after in zip(x, second[::2], second[1::2])]
    if op.name in REDUCE:
        return reduced(op, x, second)
    if op.name in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
        return [x[0], *second, x[3]]
    if op.name == "TRANSPOSE":
        return [x[axis] for axis in second]
    if op.name == "STRIDED_SLICE":
        return sliced(op, x, *constants[1:4])
    raise NotKnown


def infer(model):
    """Gives tensors without a shape the shape that their operators make, if it can be inferred."""
    for op in model.operators:
        if len(op.outputs) != 1 or model.tensors[op.outputs[0]].shape is not None:
            continue
        inputs = [model.tensors[i] for i in op.inputs if i >= 0]
        if not inputs or any(tensor.shape is None for tensor in inputs):
            continue
        try:
            shape = shape_of(op, [tensor.shape for tensor in inputs], [tensor.integers() for tensor in inputs])
        except (NotKnown, ops.Unreadable, IndexError, OverflowError, TypeError, ValueError, ZeroDivisionError):
            continue  # operators that need the shape report it
        model.tensors[op.outputs[0]].shape = [int(n) for n in shape]
