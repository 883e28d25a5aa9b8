# SPDX-License-Identifier: Apache-2.0
"""Networks of the shapes of well-known models, small, with weights and scales at random: for comparisons of bytes.

Each function takes a seed and returns a .tflite file of int8, or of int16 where it says so. Scales are such that values spread over their range.
"""
import re

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

import tflite

SPREAD = 40  # the standard deviation of a tensor, in its steps


class Tensor:
    def __init__(self, index, shape, scale, zero_point):
        self.index, self.shape, self.scale, self.zero_point = index, tuple(shape), np.float32(scale), zero_point


class Network(tflite.Model):
    """words: tensors of int16 and biases of int64, TensorFlow Lite's 16x8."""

    def __init__(self, seed, words=False):
        super().__init__()
        self.rng = np.random.default_rng(seed)
        self.words, self.dtype, self.spread = words, np.int16 if words else np.int8, SPREAD * 256 if words else SPREAD

    # ---- tensors

    def made(self, shape, scale, zero_point=None):
        zero_point = 0 if self.words else int(self.rng.integers(-20, 20)) if zero_point is None else zero_point
        return Tensor(self.tensor(shape, self.dtype, [np.float32(scale)], zero_point), shape, scale, zero_point)

    def given(self, *shape):
        x = self.made(shape, self.rng.uniform(0.01, 0.05) / (256 if self.words else 1))
        self.graph.inputs.append(x.index)
        return x

    def fixed(self, *shape):
        """A constant."""
        limits, scale = np.iinfo(self.dtype), np.float32(self.rng.uniform(0.5, 1) / self.spread)
        return Tensor(self.constant(self.rng.integers(limits.min, limits.max, shape, self.dtype, endpoint=True), scale), shape, scale, 0)

    def bias(self, channels, scale):
        if self.words:
            return self.constant(self.rng.integers(-800000, 800000, channels, np.int64), scale)
        return self.constant(self.rng.integers(-3000, 3000, channels, np.int32), scale)

    def ints(self, *values):
        return self.constant(np.array(values, np.int32))

    # ---- operators

    def add(self, name, inputs, output, options=None, version=2, **settings):
        code, operator = schema.OperatorCodeT(), schema.OperatorT()
        code.builtinCode = getattr(schema.BuiltinOperator, name)
        code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), version
        outputs = output if isinstance(output, list) else [output]
        operator.opcodeIndex, operator.outputs = len(self.model.operatorCodes), [y.index for y in outputs]
        operator.inputs = [x.index if isinstance(x, Tensor) else x for x in inputs]
        if options:
            operator.builtinOptions, operator.builtinOptionsType = getattr(schema, options + "T")(), getattr(schema.BuiltinOptions, options)
            for key, value in settings.items():
                setattr(operator.builtinOptions, key, value)
        self.model.operatorCodes.append(code)
        self.graph.operators.append(operator)
        return output

    def activation(self, name):
        return getattr(schema.ActivationFunctionType, name)

    def weighted(self, name, x, w_shape, depth, out_shape, options, channels_axis, activation, channels, biased=True, first=(), **settings):
        """A convolution or a product: weights at random, a scale for each channel."""
        w = self.rng.integers(-127, 127, w_shape, np.int8, endpoint=True)
        scales = self.rng.uniform(0.5, 1, channels).astype(np.float32) * np.float32(0.02 / np.sqrt(depth))
        bias = self.bias(channels, x.scale * scales) if biased else -1
        y = self.made(out_shape, 73 * x.scale * scales.mean() * np.sqrt(depth), -128 if activation == "RELU6" else None)
        weights = self.constant(w, scales, 0, channels_axis)
        if activation == "RELU6":
            y = self.retyped(y, 7 / 32768 if self.words else 6 / 255)
        return self.add(name, [*first, weights, x, bias] if first else [x, weights, bias], y, options, version=3,
                        fusedActivationFunction=self.activation(activation), **settings)

    def retyped(self, y, scale):
        self.graph.tensors[y.index].quantization.scale = [float(np.float32(scale))]
        y.scale = np.float32(scale)
        return y

    def conv(self, x, channels, kernel=1, stride=1, dilation=1, activation="NONE"):
        n, h, w, depth = x.shape
        shape = (n, -(-h // stride), -(-w // stride), channels)
        return self.weighted("CONV_2D", x, (channels, kernel, kernel, depth), kernel * kernel * depth, shape, "Conv2DOptions", 0, activation, channels,
                             padding=tflite.PADDING["SAME"], strideH=stride, strideW=stride, dilationHFactor=dilation, dilationWFactor=dilation)

    def depthwise(self, x, kernel=3, stride=1, dilation=1, activation="NONE"):
        n, h, w, depth = x.shape
        shape = (n, -(-h // stride), -(-w // stride), depth)
        return self.weighted("DEPTHWISE_CONV_2D", x, (1, kernel, kernel, depth), kernel * kernel, shape, "DepthwiseConv2DOptions", 3, activation, depth,
                             padding=tflite.PADDING["SAME"], strideH=stride, strideW=stride, dilationHFactor=dilation, dilationWFactor=dilation,
                             depthMultiplier=1)

    def enlarged(self, x, channels):
        """A transposed convolution to twice the size."""
        n, h, w, depth = x.shape
        shape = (n, 2 * h, 2 * w, channels)
        return self.weighted("TRANSPOSE_CONV", x, (channels, 2, 2, depth), depth, shape, "TransposeConvOptions", 0, "NONE", channels,
                             first=[self.ints(*shape)], padding=tflite.PADDING["SAME"], strideH=2, strideW=2)

    def dense(self, x, channels, activation="NONE", biased=True):
        depth = x.shape[-1]
        w = self.rng.integers(-127, 127, (channels, depth), np.int8, endpoint=True)
        scale = np.float32(0.02 / np.sqrt(depth) * self.rng.uniform(0.5, 1))
        bias = self.bias(channels, x.scale * scale) if biased else -1
        y = self.made((*x.shape[:-1], channels), 73 * x.scale * scale * np.sqrt(depth))
        return self.add("FULLY_CONNECTED", [x, self.constant(w, scale), bias], y, "FullyConnectedOptions", version=4, keepNumDims=True,
                        fusedActivationFunction=self.activation(activation))

    def binary(self, name, a, b, activation="NONE", zero_point=None):
        scale = a.scale * self.spread * b.scale if name == "MUL" else 1.4 * max(a.scale, b.scale)
        shape = np.broadcast_shapes(a.shape, b.shape)
        return self.add(name, [a, b], self.made(shape, scale, zero_point), {"ADD": "AddOptions", "MUL": "MulOptions", "SUB": "SubOptions"}[name],
                        fusedActivationFunction=self.activation(activation))

    def unary(self, name, x):
        if name in ("LOGISTIC", "SOFTMAX"):
            y = self.made(x.shape, 1 / 32768 if self.words else 1 / 256, -128)
        elif name == "TANH":
            y = self.made(x.shape, 1 / 32768 if self.words else 1 / 128, 0)
        else:
            y = self.made(x.shape, x.scale * self.rng.uniform(0.5, 1))
        if name == "HARD_SWISH":
            return self.add(name, [x], y, "HardSwishOptions", version=1)
        options, settings = {"SOFTMAX": ("SoftmaxOptions", {"beta": 1.0}), "LEAKY_RELU": ("LeakyReluOptions", {"alpha": 0.3})}.get(name, (None, {}))
        return self.add(name, [x], y, options, **settings)

    def from_floats(self, *shape):
        """An input of f32, quantized."""
        x = Tensor(self.tensor(shape, np.float32), shape, 0, 0)
        self.graph.inputs.append(x.index)
        return self.add("QUANTIZE", [x], self.made(shape, 4 / (32768 if self.words else 128)))

    def to_floats(self, x):
        return self.add("DEQUANTIZE", [x], Tensor(self.tensor(x.shape, np.float32), x.shape, 0, 0))

    def pad(self, x, *pads):
        """pads: before and after each axis."""
        shape = [size + sum(pads[2 * i : 2 * i + 2]) for i, size in enumerate(x.shape)]
        return self.add("PAD", [x, self.constant(np.array(pads, np.int32).reshape(-1, 2))], self.like(x, shape), "PadOptions")

    # ---- layers with a state

    def variable(self, shape, dtype, scale, zero_point=0):
        index = self.tensor(shape, dtype, [np.float32(scale)], zero_point)
        self.graph.tensors[index].isVariable = True
        return index

    def svdf(self, x, units, memory, rank=2, biased=True):
        """A fully connected layer of rank `rank` over the last `memory` inputs."""
        depth, filters = x.shape[-1], units * rank
        feature, time = np.float32(0.02 / np.sqrt(depth)), np.float32(2**-15)
        # Sums of the state leave 16 bits now and then
        state = np.float32(73 * 73 * x.scale * feature * np.sqrt(depth) * 3.5 / 32768)
        weights = self.constant(self.rng.integers(-127, 127, (filters, depth), np.int8, endpoint=True), feature)
        over_time = self.constant(self.rng.integers(-20000, 20000, (filters, memory), np.int16), time)
        spread = state * 9000 * time * 11500 * np.sqrt(memory * rank)
        bias = self.constant(self.rng.integers(-3000000, 3000000, units, np.int32), state * time) if biased else -1
        # The first runs fill only a part of the states
        y = self.made((x.shape[0], units), spread / (3 * SPREAD), -128 if biased else None)
        return self.add("SVDF", [x, weights, over_time, bias, self.variable((x.shape[0], filters * memory), np.int16, state)], y, "SVDFOptions", version=3,
                        rank=rank, fusedActivationFunction=self.activation("RELU"))

    def sequence_lstm(self, x, cells, outputs=None, coupled=False, time_major=False, cell_clip=0.0, projection_clip=0.0, cell_scale=2**-11, peepholes=False):
        """outputs: of a projection; coupled: the input gate is 1 - forget. Of a matrix, the operator LSTM, one step."""
        depth, width = x.shape[-1], outputs or cells
        batch = x.shape[1 if time_major else 0]
        y = self.made((*x.shape[:-1], width), 1 / 128)
        small = lambda n, scale: self.constant(self.rng.integers(-127, 127, n, np.int8, endpoint=True), np.float32(scale * self.rng.uniform(0.5, 1)))
        missing = [-1] if coupled else [small((cells, depth), 0.06 / np.sqrt(depth) / x.scale / SPREAD)]
        of_x = missing + [small((cells, depth), 0.06 / np.sqrt(depth) / x.scale / SPREAD) for _ in range(3)]
        of_state = ([-1] if coupled else [small((cells, width), 0.05 / np.sqrt(width))]) + [small((cells, width), 0.05 / np.sqrt(width)) for _ in range(3)]
        biases = [-1 if gate == 0 and coupled else self.constant(self.rng.integers(-8000, 8000, cells, np.int32), np.float32(2**-14)) for gate in range(4)]
        projection, hidden = [-1, -1], (y.scale, y.zero_point)
        if outputs:
            projection = [small((outputs, cells), 0.03 / np.sqrt(cells)), self.constant(self.rng.integers(-2000, 2000, outputs, np.int32), np.float32(2**-14))]
            hidden = (np.float32(1 / 140), int(self.rng.integers(-20, 20)))
        states = [self.variable((batch, width), np.int8, y.scale, y.zero_point), self.variable((batch, cells), np.int16, cell_scale)]
        holes = [self.constant(self.rng.integers(-9999, 9999, cells, np.int16), np.float32(2**-12)) if peepholes else -1 for _ in range(3)]
        inputs = [x, *of_x, *of_state, *holes, *biases, *projection, *states, -1, -1, -1, -1]
        settings = {"fusedActivationFunction": self.activation("TANH"), "cellClip": cell_clip, "projClip": projection_clip}
        if len(x.shape) == 2:
            self.add("LSTM", inputs, y, "LSTMOptions", version=4, **settings)
        else:
            self.add("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, y, "UnidirectionalSequenceLSTMOptions", version=3, timeMajor=time_major, **settings)
        kept = [self.tensor((0,), np.int8, [np.float32(2**-12)], 0) for _ in range(4)] + [self.tensor((0,), np.int8, [hidden[0]], hidden[1])]
        self.graph.operators[-1].intermediates = kept
        return y

    def like(self, x, shape):
        return self.made(shape, x.scale, x.zero_point)

    def pool(self, name, x, kernel, stride):
        n, h, w, depth = x.shape
        return self.add(name, [x], self.like(x, (n, -(-h // stride), -(-w // stride), depth)), "Pool2DOptions", padding=tflite.PADDING["SAME"], strideH=stride,
                        strideW=stride, filterHeight=kernel, filterWidth=kernel)

    def mean(self, x):
        n, _, _, depth = x.shape
        return self.add("MEAN", [x, self.ints(1, 2)], self.made((n, 1, 1, depth), x.scale / 3), "ReducerOptions", keepDims=True)

    def resize(self, x, h, w, bilinear=True, **how):
        kind = "ResizeBilinear" if bilinear else "ResizeNearestNeighbor"
        return self.add("RESIZE_BILINEAR" if bilinear else "RESIZE_NEAREST_NEIGHBOR", [x, self.ints(h, w)], self.like(x, (x.shape[0], h, w, x.shape[3])),
                        kind + "Options", version=3, **how)

    def concat(self, tensors, axis=-1):
        shape = list(tensors[0].shape)
        shape[axis] = sum(x.shape[axis] for x in tensors)
        y = self.made(shape, max(x.scale for x in tensors))
        # Of int8 LiteRT joins tensors of one scale only; converters requantize the others before.
        joined = [self.add("QUANTIZE", [x], self.made(x.shape, y.scale, y.zero_point)) for x in tensors]
        return self.add("CONCATENATION", joined, y, "ConcatenationOptions", axis=axis)

    def reshape(self, x, *shape):
        return self.add("RESHAPE", [x, self.ints(*shape)], self.like(x, shape), "ReshapeOptions", version=1, newShape=list(shape))

    def transpose(self, x, *permutation):
        return self.add("TRANSPOSE", [x, self.ints(*permutation)], self.like(x, [x.shape[axis] for axis in permutation]), "TransposeOptions")

    def slice(self, x, begins, sizes):
        return self.add("SLICE", [x, self.ints(*begins), self.ints(*sizes)], self.like(x, sizes), "SliceOptions")

    def strided_slice(self, x, begins, ends, strides=None, **masks):
        """masks: beginMask, endMask and shrinkAxisMask, one bit for each axis. An end is one behind the slice."""
        has = lambda mask, axis: masks.get(mask, 0) >> axis & 1
        shape = []
        for axis, size in enumerate(x.shape):
            begin = 0 if axis >= len(begins) or has("beginMask", axis) else begins[axis]
            end = size if axis >= len(begins) or has("endMask", axis) else ends[axis]
            if axis >= len(begins) or not has("shrinkAxisMask", axis):
                shape.append(len(range(size)[begin:end]))
        strides = strides or [1] * len(begins)
        return self.add("STRIDED_SLICE", [x, self.ints(*begins), self.ints(*ends), self.ints(*strides)], self.like(x, shape), "StridedSliceOptions", **masks)

    def split(self, name, x, axis, sizes):
        """Parts of a tensor: by SPLIT they are alike, by UNPACK they are of one element and lack the axis."""
        shape = lambda size: [size if i == axis % len(x.shape) else n for i, n in enumerate(x.shape) if name != "UNPACK" or i != axis % len(x.shape)]
        made = [self.like(x, shape(size)) for size in sizes]
        if name == "SPLIT":
            return self.add(name, [self.ints(axis), x], made, "SplitOptions", numSplits=len(sizes))
        if name == "SPLIT_V":
            return self.add(name, [x, self.ints(*sizes), self.ints(axis)], made, "SplitVOptions", numSplits=len(sizes))
        return self.add(name, [x], made, "UnpackOptions", num=len(sizes), axis=axis)

    def pack(self, tensors, axis):
        """Tensors along a new axis of the result."""
        shape = list(tensors[0].shape)
        shape.insert(axis % (len(shape) + 1), len(tensors))
        return self.add("PACK", tensors, self.like(tensors[0], shape), "PackOptions", valuesCount=len(tensors), axis=axis)

    def blocks(self, name, x, block):
        n, h, w, depth = x.shape
        to_space = name == "DEPTH_TO_SPACE"
        shape = (n, h * block, w * block, depth // block**2) if to_space else (n, h // block, w // block, depth * block**2)
        return self.add(name, [x], self.like(x, shape), "DepthToSpaceOptions" if to_space else "SpaceToDepthOptions", version=1, blockSize=block)

    def multiply(self, a, b, turned=False):
        """The product of two tensors' last two axes; turned: b's are the other way round."""
        shape = (*a.shape[:-1], b.shape[-2 if turned else -1])
        y = self.made(shape, SPREAD * a.scale * b.scale * np.sqrt(a.shape[-1]))
        return self.add("BATCH_MATMUL", [a, b], y, "BatchMatMulOptions", version=2, adjX=False, adjY=turned)

    def file(self, *outputs):
        self.graph.outputs = [x.index for x in outputs]
        builder = flatbuffers.Builder()
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def squeezed(m, x):
    """Squeeze and excitation."""
    y = m.conv(m.mean(x), max(x.shape[3] // 4, 8), activation="RELU")
    return m.binary("MUL", x, m.unary("LOGISTIC", m.conv(y, x.shape[3])))


def bottleneck(m, x, channels, expansion, stride=1, kernel=3, activation="RELU6", squeeze=False, dilation=1):
    """activation: one that is fused, or an operator of its own."""
    fused = activation if activation.startswith("RELU") else "NONE"
    after = (lambda y: y) if fused != "NONE" else (lambda y: m.unary(activation, y))
    y = after(m.conv(x, x.shape[3] * expansion, activation=fused))
    y = after(m.depthwise(y, kernel, stride, dilation, fused))
    y = m.conv(squeezed(m, y) if squeeze else y, channels)
    return m.binary("ADD", y, x) if y.shape == x.shape else y


def mobilenet_v3(seed):
    m = Network(seed)
    x = m.unary("HARD_SWISH", m.conv(m.given(1, 32, 32, 3), 16, 3, 2))
    x = bottleneck(m, x, 16, 1, activation="RELU", squeeze=True)
    x = bottleneck(m, x, 24, 3, 2, activation="RELU")
    x = bottleneck(m, x, 24, 3, kernel=5, activation="HARD_SWISH", squeeze=True)
    x = m.unary("HARD_SWISH", m.conv(m.mean(m.unary("HARD_SWISH", m.conv(x, 64))), 96))
    return m.file(m.unary("SOFTMAX", m.reshape(m.conv(x, 20), 1, 20)))


def efficientnet_lite(seed):
    m = Network(seed)
    x = m.conv(m.given(1, 33, 33, 3), 16, 3, 2, activation="RELU6")
    for channels, stride, kernel in ((16, 1, 3), (24, 2, 5), (24, 1, 5), (40, 2, 3), (40, 1, 3)):
        x = bottleneck(m, x, channels, 4, stride, kernel)
    x = m.conv(x, 80, activation="RELU6")
    x = m.add("AVERAGE_POOL_2D", [x], m.like(x, (1, 1, 1, 80)), "Pool2DOptions", padding=tflite.PADDING["VALID"], strideH=1, strideW=1,
              filterHeight=x.shape[1], filterWidth=x.shape[2])
    return m.file(m.unary("SOFTMAX", m.dense(m.reshape(x, 1, 80), 30)))


def ssd(seed):
    m = Network(seed)
    x = m.conv(m.given(1, 40, 40, 3), 16, 3, 2, activation="RELU6")
    boxes, classes = [], []
    for channels in (24, 32, 48):
        x = m.conv(m.depthwise(x, stride=2, activation="RELU6"), channels, activation="RELU6")
        pixels = x.shape[1] * x.shape[2]
        boxes.append(m.reshape(m.conv(x, 12), 1, pixels * 3, 4))
        classes.append(m.reshape(m.conv(x, 21), 1, pixels * 3, 7))
    return m.file(m.concat(boxes, 1), m.unary("LOGISTIC", m.concat(classes, 1)))


def deeplab(seed):
    m = Network(seed)
    x = m.conv(m.given(1, 33, 33, 3), 16, 3, 2, activation="RELU6")
    early = x = bottleneck(m, x, 24, 3, 2)
    x = bottleneck(m, bottleneck(m, x, 32, 3, dilation=2), 32, 3, dilation=4)
    pooled = m.resize(m.conv(m.mean(x), 24, activation="RELU6"), x.shape[1], x.shape[2], alignCorners=True)
    x = m.conv(m.concat([m.conv(x, 24, activation="RELU6"), pooled]), 24, activation="RELU6")
    x = m.conv(m.concat([x, m.conv(early, 8)]), 19)
    return m.file(m.resize(x, 33, 33, halfPixelCenters=True))


def unet(seed):
    m = Network(seed)
    levels, x = [], m.given(1, 32, 24, 3)
    for channels in (8, 16, 32):
        x = m.conv(m.conv(x, channels, 3, activation="RELU"), channels, 3, activation="RELU")
        levels.append(x)
        x = m.pool("MAX_POOL_2D", x, 2, 2)
    x = m.conv(x, 48, 3, activation="RELU")
    for level in levels[::-1]:
        x = m.conv(m.concat([m.enlarged(x, level.shape[3]), level]), level.shape[3], 3, activation="RELU")
    return m.file(m.unary("LOGISTIC", m.conv(x, 1)))


def lstm(seed):
    """Five steps of a cell, unrolled: four gates of one product."""
    m = Network(seed)
    x, width = m.given(5, 16), 24
    h, c = m.given(1, width), m.given(1, width)
    for step in range(5):
        now = m.slice(x, [step, 0], [1, 16])
        gates = m.binary("ADD", m.dense(now, 4 * width), m.dense(h, 4 * width))
        i, f, g, o = (m.slice(gates, [0, k * width], [1, width]) for k in range(4))
        kept = m.binary("MUL", m.unary("LOGISTIC", f), c)
        c = m.binary("ADD", kept, m.binary("MUL", m.unary("LOGISTIC", i), m.unary("TANH", g)))
        h = m.binary("MUL", m.unary("LOGISTIC", o), m.unary("TANH", c))
    return m.file(h)


def encoder(seed):
    """Two layers of a transformer without its normalizations, which are of floats."""
    m = Network(seed)
    batch, rows, heads, depth = 2, 12, 3, 16
    x = m.given(batch, rows, heads * depth)
    for _ in range(2):
        q, k, v = (m.transpose(m.reshape(m.dense(x, heads * depth), batch, rows, heads, depth), 0, 2, 1, 3) for _ in range(3))
        read = m.multiply(m.unary("SOFTMAX", m.multiply(q, k, True)), v)
        read = m.dense(m.reshape(m.transpose(read, 0, 2, 1, 3), batch, rows, heads * depth), heads * depth)
        x = m.binary("ADD", x, read)
        x = m.binary("ADD", x, m.dense(m.dense(x, 96, "RELU"), heads * depth))
    return m.file(x)


def sub_pixels(seed):
    m = Network(seed)
    x = m.conv(m.blocks("SPACE_TO_DEPTH", m.conv(m.given(1, 12, 16, 3), 6, 3), 2), 16, 3)
    x = m.binary("SUB", m.conv(x, 16), x)
    x = m.blocks("DEPTH_TO_SPACE", x, 2)
    return m.file(m.conv(m.resize(x, 24, 32, False), 4))


def apart(seed):
    """What XNNPACK leaves to LiteRT, or takes in a way of its own: activations that requantize, biases without a scale or with another one,
    products of two activations."""
    m = Network(seed)
    x = m.conv(m.given(1, 9, 10, 6), 8, 3)
    for activation in ("RELU", "RELU6"):
        x = m.conv(m.add(activation, [x], m.made(x.shape, x.scale * 0.7)), 8)
    outputs = []
    for change in (lambda scale: [], lambda scale: [1.01 * s for s in scale]):
        for layer in (lambda: m.conv(x, 12, 3), lambda: m.depthwise(x), lambda: m.dense(x, 12)):
            outputs.append(layer())
            quantization = m.graph.tensors[m.graph.operators[-1].inputs[2]].quantization
            quantization.scale = change(quantization.scale)
            quantization.zeroPoint = [0] * len(quantization.scale)
    # XNNPACK multiplies by a tensor whose zero point is 0; encoder() has others.
    right = m.add("QUANTIZE", [x], m.made(x.shape, x.scale, 0))
    outputs.append(m.multiply(m.conv(x, 8), right, True))
    # FULLY_CONNECTED with weights that are computed
    rows, weights = m.reshape(m.conv(x, 8), 90, 8), m.reshape(m.mean(x), 1, 8)
    y = m.made((90, 1), rows.scale * weights.scale * SPREAD)
    outputs.append(m.add("FULLY_CONNECTED", [rows, weights, -1], y, "FullyConnectedOptions", version=4, keepNumDims=True,
                         fusedActivationFunction=m.activation("NONE")))
    return m.file(*outputs)


def interrupted(seed):
    """An operator in the middle that Octet does not take, and a branch around it."""
    m = Network(seed)
    x = m.conv(m.given(1, 9, 8, 5), 12, 3, activation="RELU6")
    y = m.add("TILE", [x, m.ints(1, 1, 1, 2)], m.like(x, (1, 9, 8, 24)))
    return m.file(m.conv(m.binary("ADD", m.conv(y, 12), x), 7), x)


def parts(m, x):
    """Slices of a tensor of rank 4, by places from either end, beyond the ends, and without axes."""
    far = 2**31 - 1
    return [m.strided_slice(x, [0, 1, -4, 2], [0, -1, far, 7], beginMask=1, endMask=1), m.strided_slice(x, [0, 3], [1, 6]),
            m.strided_slice(x, [0, -1, 0, 0], [0, 0, 0, 0], beginMask=13, endMask=13, shrinkAxisMask=2),
            m.strided_slice(x, [1, 2, 3, -1], [2, 3, 4, 0], shrinkAxisMask=9), m.strided_slice(x, [-far, 5], [far, far], shrinkAxisMask=2)]


def slices(seed):
    """A part of a convolution, and the last step of a sequence, into products."""
    m = Network(seed)
    x = m.conv(m.given(2, 9, 10, 6), 8, 3)
    last = m.strided_slice(m.dense(m.reshape(x, 2, 9, 80), 20), [0, -1, 0], [0, 0, 20], beginMask=5, endMask=5, shrinkAxisMask=2)
    outputs = [m.dense(last, 12)] + parts(m, x)
    return m.file(*outputs, m.conv(outputs[2], 5, 3))


def splits(seed):
    """Channels, lines and images in parts, one of which nothing reads; the steps of a sequence without their axis."""
    m = Network(seed)
    x = m.conv(m.given(2, 9, 10, 6), 12, 3)
    left, right = m.split("SPLIT", x, -1, [6, 6])
    top, _, bottom = m.split("SPLIT_V", m.concat([m.conv(left, 6, 3), right]), 1, [4, 1, 4])
    first, second = m.split("SPLIT_V", m.pool("MAX_POOL_2D", m.binary("ADD", top, bottom), 2, 2), 0, [1, 1])
    steps = m.split("UNPACK", m.dense(m.reshape(x, 2, 9, 120), 20), 1, [1] * 9)
    gates = m.split("SPLIT", m.dense(m.binary("ADD", steps[0], steps[8]), 16), 1, [4] * 4)
    return m.file(m.conv(first, 5), second, m.binary("MUL", m.unary("LOGISTIC", gates[0]), m.unary("TANH", gates[3])), gates[1])


def packs(seed):
    """Tensors of rank 1 to 4 along a new axis, the first, last or any other; more than an op of a network has inputs; what is packed goes on."""
    m = Network(seed)
    x = m.conv(m.given(2, 9, 10, 6), 12, 3)
    steps = m.split("UNPACK", m.dense(m.reshape(x, 2, 9, 120), 20), 1, [1] * 9)
    rows = m.split("UNPACK", steps[4], 0, [1] * 2)
    left, right = m.split("SPLIT", x, -1, [6, 6])
    images = [m.pack([left, right, left], axis) for axis in (0, 1, 2, 3, 4)]
    turned = m.dense(m.pack(steps[::-1], 1), 7)
    return m.file(turned, m.dense(m.pack(rows, 0), 5), m.pack(rows, -1), m.pack(steps[2:5], -1), m.pack(steps, 0), *images)


def svdf_spotter(seed):
    """A keyword spotter that hears one frame a run: layers over the last frames, then a product."""
    m = Network(seed)
    x = m.given(1, 40)
    for units, memory, rank in ((64, 10, 2), (48, 8, 1), (32, 5, 3)):
        x = m.svdf(x, units, memory, rank, biased=units != 48)
    return m.file(m.unary("SOFTMAX", m.dense(x, 12)), x)


def svdf_batch(seed):
    """Three streams at once; two layers read one tensor."""
    m = Network(seed)
    x = m.dense(m.given(3, 16), 20)
    return m.file(m.binary("ADD", m.svdf(x, 24, 7), m.svdf(x, 24, 1, 4)))


def lstm_spotter(seed):
    """A keyword spotter that hears some frames a run, and goes on in the next one."""
    m = Network(seed)
    x = m.conv(m.given(1, 12, 10, 1), 8, 3, activation="RELU")
    x = m.sequence_lstm(m.reshape(x, 1, 12, 80), 48)
    x = m.sequence_lstm(x, 33, coupled=True, cell_scale=2**-12, cell_clip=2.0)
    x = m.sequence_lstm(x, 40, 24, projection_clip=0.6)
    last = m.sequence_lstm(m.reshape(m.slice(x, [0, 11, 0], [1, 1, 24]), 1, 24), 30, 28, cell_clip=3.0)
    last = m.dense(last, 12)
    return m.file(m.unary("SOFTMAX", last), m.binary("ADD", last, last))


def lstm_batch(seed):
    """Streams in a batch, images first and steps first, more steps than are multiplied together."""
    m = Network(seed)
    x, y = m.given(3, 70, 9), m.given(70, 2, 9)
    return m.file(m.sequence_lstm(x, 17), m.sequence_lstm(x, 17, 5, True), m.sequence_lstm(y, 20, time_major=True),
                  m.sequence_lstm(y, 16, 7, time_major=True, cell_scale=2**-9), m.sequence_lstm(y, 16, coupled=True, time_major=True, cell_scale=2**-15))


def peepholes(seed):
    """A layer that Octet leaves to LiteRT."""
    m = Network(seed)
    return m.file(m.sequence_lstm(m.given(1, 5, 8), 12, peepholes=True))


def residual(m, x, dilation):
    """Of SEANet: two convolutions in time beside a shortcut."""
    y = m.conv(m.unary("LEAKY_RELU", x), x.shape[3] // 2, 3, dilation=dilation)
    return m.binary("ADD", m.conv(m.unary("LEAKY_RELU", y), x.shape[3]), m.conv(x, x.shape[3]))


def seanet(seed):
    """Of int16, from sound in f32 to sound in f32: time is a column of pixels; strided convolutions down and transposed ones up, each level with
    a skip to its own."""
    m = Network(seed, words=True)
    levels, x = [], m.conv(m.from_floats(1, 64, 1, 1), 8, 7)
    for channels in (16, 24):
        x = residual(m, x, 1)
        levels.append(x)
        x = m.conv(m.unary("LEAKY_RELU", x), channels, 4, 2)
    x = m.conv(m.unary("LEAKY_RELU", x), 24, 7)
    for level in levels[::-1]:
        x = m.enlarged(m.unary("LEAKY_RELU", x), level.shape[3])
        x = m.slice(x, [0, 0, 0, 0], level.shape)
        x = residual(m, m.binary("ADD", x, level), 3)
    x = m.conv(m.unary("LEAKY_RELU", x), 1, 7)
    return m.file(m.to_floats(m.unary("TANH", x)))


def words(seed):
    """Every operator that the delegate takes of int16."""
    m = Network(seed, words=True)
    x = m.conv(m.given(2, 9, 10, 6), 8, 3, activation="RELU6")
    y = m.conv(m.pad(x, 0, 0, 1, 2, 2, 1, 0, 0), 8, 1)
    x = m.conv(m.add("QUANTIZE", [m.slice(y, [0, 1, 2, 0], x.shape)], m.made(x.shape, y.scale * 0.7)), 8)
    gate = m.unary("LOGISTIC", m.conv(m.mean(x), 8))
    outputs = [m.binary("MUL", x, gate), m.binary("MUL", x, m.unary("TANH", x), "RELU"), m.binary("SUB", m.fixed(8), x), m.mean(x)]
    outputs += [m.binary("ADD", x, m.fixed(1, 9, 10, 8)), m.binary("ADD", x, gate, "RELU6")]
    outputs += [m.unary(name, x) for name in ("LEAKY_RELU", "RELU", "RELU6", "TANH", "LOGISTIC")]
    outputs += [m.pool("MAX_POOL_2D", x, 3, 2), m.pool("AVERAGE_POOL_2D", x, 3, 2), m.resize(x, 13, 7, False)]
    outputs += [m.concat([outputs[0], x, y := m.conv(x, 5)]), m.concat([x, outputs[1]], 1), m.concat([x, outputs[0]], 0)]
    outputs += [m.transpose(x, 0, 3, 1, 2), m.transpose(m.reshape(x, 2, 90, 8), 1, 0, 2), m.slice(x, [1, 2, 3, 1], [1, 6, 5, 6])]
    outputs += [m.unary("SOFTMAX", x), m.resize(x, 13, 7), m.resize(x, 5, 21, alignCorners=True), m.resize(x, 20, 20, halfPixelCenters=True)]
    outputs += parts(m, x)
    bytes_of = Tensor(m.tensor(x.shape, np.int8, [np.float32(x.scale * 256)], 7), x.shape, x.scale * 256, 7)
    outputs += [m.add("QUANTIZE", [x], bytes_of), m.to_floats(x)]
    return m.file(*outputs)


def means(seed):
    """Means of 2, 4 and 8 pixels by powers of two: many results are halves, above zero and below."""
    m = Network(seed)
    x = m.conv(m.given(1, 16, 2, 8), 60)
    outputs = []
    for n, h in ((16, 1), (8, 2), (4, 4)):
        y = m.reshape(x, n, h, 2, 60)
        for scale, zero_point in ((1, 0), (1, 7), (2, -12)):
            outputs.append(m.add("MEAN", [y, m.ints(1, 2)], m.made((n, 1, 1, 60), y.scale * scale, zero_point), "ReducerOptions", keepDims=True))
    return m.file(*outputs)


# States carry over from one run to the next one.
STATEFUL = {"SVDF spotter": svdf_spotter, "SVDF batch": svdf_batch, "LSTM spotter": lstm_spotter, "LSTM batch": lstm_batch}
S16 = {"SEANet of int16": seanet, "operators of int16": words}
ALL = {"MobileNetV3": mobilenet_v3, "EfficientNet-Lite": efficientnet_lite, "SSD": ssd, "DeepLab": deeplab, "U-Net": unet, "LSTM": lstm, "encoder": encoder,
       "sub-pixels": sub_pixels, **S16, **STATEFUL, "means": means, "slices": slices, "splits": splits, "packs": packs}


def version_of(text):
    """The three numbers that a version of LiteRT begins with."""
    return tuple(int(re.match("[0-9]+", part)[0]) for part in text.split(".")[:3])


def has_bytes_of_xnnpack(name, version, machine):
    """Whether LiteRT's default delegate has Octet's bytes of a network, by the version and the machine (docs/engines.md has the reasons)."""
    others = set(S16)  # It takes no int16, of which LiteRT's other kernels round in a way of their own.
    if version < (2, 1, 3):  # A MEAN's halves, and products of two activations
        others |= {"MobileNetV3", "means", "encoder", "apart"}
    if machine not in ("x86_64", "AMD64"):  # On Arm a MUL's halves, products of uint8, and LiteRT's own softmax and LSTM
        others |= {"MobileNetV3", "LSTM", "encoder", "products of uint8", "LSTM spotter"}
    return name not in others
