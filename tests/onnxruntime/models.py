# SPDX-License-Identifier: Apache-2.0
"""Makes ONNX models with random weights and quantizes them as ONNX Runtime's users do."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static


class Builder:
    """A graph of f32 that grows node by node; tensors are known by their names."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.count = 0

    def name(self):
        self.count += 1
        return f"t{self.count}"

    def constant(self, values):
        name = self.name()
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def kind_of(self, constant):
        return next(numpy_helper.to_array(c) for c in self.constants if c.name == constant).dtype

    def op(self, kind, inputs, domain="", outputs=None, **attributes):
        outputs = outputs or [self.name()]
        self.nodes.append(helper.make_node(kind, inputs, outputs, name=f"n{len(self.nodes)}", domain=domain, **attributes))
        return outputs[0]

    def input(self, name, shape, kind=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name, shape, kind=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def weights(self, *shape):
        fan = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
        return (self.rng.standard_normal(shape) * np.sqrt(2 / fan)).astype(np.float32)

    def conv(self, x, channels, out, kernel, activation="", **attributes):
        groups = attributes.get("group", 1)
        bias = (self.rng.standard_normal(out) * 0.05).astype(np.float32)
        attributes.setdefault("pads", [kernel // 2] * 4)
        y = self.op("Conv", [x, self.constant(self.weights(out, channels // groups, kernel, kernel)), self.constant(bias)],
                    kernel_shape=[kernel, kernel], **attributes)
        if activation == "Relu":
            return self.op("Relu", [y])
        if activation == "Clip":
            return self.op("Clip", [y, self.constant(np.float32(0)), self.constant(np.float32(6))])
        return y

    def model(self, operators=17):
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.constants)
        sets = [helper.make_opsetid("", operators), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=sets, ir_version=8)


def image_network(batch=1, size=30):
    """Convolutions of all kinds, a residual, pools, a concatenation, a resize and a product."""
    b = Builder(5)
    x = b.conv(b.input("x", [batch, 3, size, size]), 3, 16, 7, "Relu", strides=[2, 2])
    x = b.op("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    y = b.conv(b.conv(x, 16, 24, 1, "Relu"), 24, 16, 3)
    x = b.op("Relu", [b.op("Add", [y, x])])
    y = b.conv(b.conv(x, 16, 32, 1, "Clip"), 32, 32, 3, "Clip", group=32)
    x = b.op("Concat", [y, b.conv(x, 16, 8, 1)], axis=1)
    x = b.op("AveragePool", [x], kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4)
    none = b.constant(np.zeros(0, np.float32))
    x = b.op("Resize", [x, none, b.constant(np.float32([1, 1, 2, 2]))], mode="nearest", nearest_mode="floor",
             coordinate_transformation_mode="asymmetric")
    x = b.conv(x, 40, 20, 3, group=4, dilations=[2, 2], pads=[2] * 4)
    x = b.op("Flatten", [b.op("GlobalAveragePool", [x])])
    b.op("Gemm", [x, b.constant(b.weights(10, 20)), b.constant(np.zeros(10, np.float32))], transB=1, outputs=["y"])
    b.output("y", [batch, 10])
    return b.model()


def split_network(operators=17):
    """Channels and lines in parts: sizes given, of unlike parts or, from set 18 on, by their number, of which the last part is smaller."""
    b = Builder(31)

    def split(x, axis, sizes, given):
        outputs = [b.name() for _ in sizes]
        if not given:
            b.op("Split", [x], outputs=outputs, axis=axis, **({"num_outputs": len(sizes)} if operators >= 18 else {}))
        elif operators < 13:
            b.op("Split", [x], outputs=outputs, axis=axis, split=sizes)
        else:
            b.op("Split", [x, b.constant(np.int64(sizes))], outputs=outputs, axis=axis)
        return outputs

    x = b.conv(b.input("x", ["N", 3, 20, 20]), 3, 16, 3, "Relu")
    left, right = split(x, 1, [4, 12], True)
    x = b.op("Concat", [left, right, b.op("Add", [b.conv(right, 12, 12, 3, "Relu"), right])], axis=1)
    parts = [7, 7, 6] if operators >= 18 else [10, 10]
    top, *others = split(b.conv(x, 28, 8, 1), -2, parts, False)
    x = b.op("Concat", [b.op("AveragePool", [top], kernel_shape=[3, 3], pads=[1] * 4), *others], axis=2)
    x = b.op("Flatten", [b.op("GlobalAveragePool", [x])])
    b.op("Gemm", [x, b.constant(b.weights(10, 8)), b.constant(np.zeros(10, np.float32))], transB=1, outputs=["y"])
    b.output("y", ["N", 10])
    return b.model(operators)


def divided_network():
    """An operator that nobody quantizes between convolutions, beside a way around it."""
    b = Builder(8)
    x = b.conv(b.input("x", [1, 3, 12, 12]), 3, 8, 3, "Relu")
    y = b.conv(b.op("Erf", [b.conv(x, 8, 8, 3)]), 8, 8, 3)
    x = b.op("Add", [y, b.conv(x, 8, 8, 1)])
    x = b.op("Flatten", [b.op("GlobalAveragePool", [x])])
    b.op("Gemm", [x, b.constant(b.weights(4, 8)), b.constant(np.zeros(4, np.float32))], transB=1, outputs=["y"])
    b.output("y", [1, 4])
    return b.model()


def token_network(tokens="tokens", depth=48):
    """Products of three dimensions: a part of an encoder, whose Q, K and V read one tensor."""
    b = Builder(6)
    x = b.input("x", [1, tokens, depth])
    linear = lambda x, n, k: b.op("Add", [b.op("MatMul", [x, b.constant(b.weights(n, k))]), b.constant(b.weights(k))])
    q, k, v = (linear(x, depth, depth) for _ in range(3))
    s = b.op("Softmax", [b.op("MatMul", [q, b.op("Transpose", [k], perm=[0, 2, 1])])], axis=-1)
    x = b.op("Add", [b.op("MatMul", [s, v]), x])
    x = b.op("Add", [linear(b.op("Relu", [linear(x, depth, 3 * depth)]), 3 * depth, depth), x])
    b.op("Identity", [x], outputs=["y"])
    b.output("y", [1, tokens, depth])
    return b.model()


def written_encoder_network(layers=1, hidden=48, heads=3):
    """An encoder as PyTorch writes it, for quantize_static: attention and GELU from single operators, LayerNormalization between them."""
    b = Builder(22)
    x, mask = b.input("x", ["images", "tokens", hidden]), b.input("mask", ["images", 1, 1, "tokens"])
    vector = lambda n, mean=0: b.constant((mean + b.rng.standard_normal(n) * 0.1).astype(np.float32))
    number = lambda value: b.constant(np.float32(value))
    normalize = lambda x: b.op("LayerNormalization", [x, vector(hidden, 1), vector(hidden)])
    linear = lambda x, k, n: b.op("Add", [b.op("MatMul", [x, b.constant(b.weights(k, n))]), vector(n)])
    split = lambda x, perm: b.op("Transpose", [b.op("Reshape", [x, b.constant(np.int64([0, 0, heads, hidden // heads]))])], perm=perm)
    for _ in range(layers):
        q, k, v = (split(linear(x, hidden, hidden), perm) for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        scores = b.op("Add", [b.op("Div", [b.op("MatMul", [q, k]), number(np.sqrt(hidden / heads))]), mask])
        y = b.op("Transpose", [b.op("MatMul", [b.op("Softmax", [scores], axis=-1), v])], perm=[0, 2, 1, 3])
        y = linear(b.op("Reshape", [y, b.constant(np.int64([0, 0, hidden]))]), hidden, hidden)
        x = normalize(b.op("Add", [x, y]))
        y = linear(x, hidden, 4 * hidden)
        erf = b.op("Erf", [b.op("Div", [y, number(np.sqrt(2))])])
        y = b.op("Mul", [b.op("Mul", [y, b.op("Add", [erf, number(1)])]), number(0.5)])
        x = normalize(b.op("Add", [x, linear(y, 4 * hidden, hidden)]))
    b.op("Identity", [x], outputs=["y"])
    b.output("y", ["images", "tokens", hidden])
    return b.model()


def encoder_network(layers=2, hidden=48, heads=3, operators=17):
    """An encoder as transformers' optimizer leaves it: quantize_dynamic makes QAttention of its Attention."""
    b = Builder(20)
    x, mask = b.input("x", ["images", "tokens", hidden]), b.input("mask", ["images", "tokens"], TensorProto.INT32)
    vector = lambda n, mean=0: b.constant((mean + b.rng.standard_normal(n) * 0.1).astype(np.float32))
    normalize = lambda x: b.op("LayerNormalization", [x, vector(hidden, 1), vector(hidden)])
    linear = lambda x, k, n: b.op("Add", [b.op("MatMul", [x, b.constant(b.weights(k, n))]), vector(n)])
    for _ in range(layers):
        y = b.op("Attention", [x, b.constant(b.weights(hidden, 3 * hidden)), vector(3 * hidden), mask], "com.microsoft", num_heads=heads)
        x = normalize(b.op("Add", [x, linear(y, hidden, hidden)]))
        y = b.op("Gelu", [linear(x, hidden, 4 * hidden)], "com.microsoft")
        x = normalize(b.op("Add", [x, linear(y, 4 * hidden, hidden)]))
    b.op("Identity", [x], outputs=["y"])
    b.output("y", ["images", "tokens", hidden])
    return b.model(operators)


def integer_network():
    """Operators on bytes with scales and zero points at random, and those with sums of int32 and f32 as results."""
    b = Builder(7)
    scale = lambda low=0.01, high=0.04: b.constant(np.float32(b.rng.uniform(low, high)))
    zero = lambda kind=np.uint8: b.constant(kind(b.rng.integers(100, 140) if kind is np.uint8 else b.rng.integers(-9, 9)))
    weights = lambda kind, *shape: b.constant(b.rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape, kind, endpoint=True))
    per_channel = lambda n: b.constant(b.rng.uniform(0.001, 0.003, n).astype(np.float32))
    bias = lambda n: b.constant(b.rng.integers(-900, 900, n, np.int32))
    own = lambda kind, *inputs, **attributes: b.op(kind, list(inputs), "com.microsoft", **attributes)
    x, xs, xz = b.input("x", [2, 8, 11, 9], TensorProto.UINT8), scale(), zero()
    ys, yz = scale(0.05, 0.1), zero()
    y = b.op("QLinearConv", [x, xs, xz, weights(np.int8, 16, 8, 3, 3), per_channel(16), b.constant(np.zeros(16, np.int8)), ys, yz, bias(16)],
             auto_pad="SAME_UPPER", strides=[2, 1])
    z = b.op("QLinearConv", [y, ys, yz, weights(np.uint8, 16, 1, 3, 3), scale(0.001, 0.004), zero(), ys, yz], pads=[1] * 4, group=16)
    zs, zz = scale(0.05, 0.1), zero()
    z = own("QLinearAdd", z, ys, yz, y, ys, yz, zs, zz)
    ms, mz = scale(0.2, 0.4), zero()
    m = own("QLinearMul", z, zs, zz, y, ys, yz, ms, mz)
    cs, cz = scale(0.2, 0.4), zero()
    c = own("QLinearConcat", cs, cz, m, ms, mz, z, zs, zz, axis=1)
    c = b.op("MaxPool", [c], kernel_shape=[2, 2], strides=[1, 1])
    ps, pz = scale(0.1, 0.3), zero()
    p = own("QLinearAveragePool", c, cs, cz, ps, pz, kernel_shape=[2, 3], strides=[1, 2], pads=[0, 1, 0, 1], count_include_pad=1)
    gs, gz = scale(0.05, 0.1), zero()
    g = own("QLinearGlobalAveragePool", p, ps, pz, gs, gz, channels_last=0)
    g = b.op("Flatten", [g])
    qs, qz = scale(0.1, 0.2), zero()
    q = b.op("QLinearMatMul", [g, gs, gz, weights(np.uint8, 32, 12), scale(0.001, 0.004), zero(), qs, qz])
    own("QGemm", q, qs, qz, weights(np.int8, 7, 12), per_channel(7), b.constant(np.zeros(7, np.int8)), bias(7), transB=1, outputs=["real"])
    b.op("MatMulInteger", [q, weights(np.int8, 12, 5), qz], outputs=["sums"])
    b.op("ConvInteger", [x, weights(np.uint8, 6, 8, 3, 3), xz, zero()], outputs=["images"], pads=[1] * 4)
    b.output("real", [2, 7])
    b.output("sums", [2, 5], TensorProto.INT32)
    b.output("images", [2, 6, 11, 9], TensorProto.INT32)
    return b.model()


def looked_up_network():
    """Every function of one tensor, and of a tensor and a constant, between DequantizeLinear and QuantizeLinear; and com.microsoft's on bytes."""
    b = Builder(9)
    kinds = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8}
    numbers = lambda scale, zero, kind: [b.constant(np.float32(scale)), b.constant(kind(zero))]
    quantize = lambda x, of, **outputs: b.op("QuantizeLinear", [x, *of], **outputs)
    dequantize = lambda x, of: b.op("DequantizeLinear", [x, *of])

    def constant(scale, zero, kind, *shape):
        of = numbers(scale, zero, kind)
        # Products of two neighbours fit 16 bits, so that ONNX Runtime's kernels for AVX2 do not saturate.
        return dequantize(b.constant(b.rng.integers(-60 if kind is np.int8 else 0, 60, shape, kind, endpoint=True)), of)

    x = b.input("x", [2, 3, 9, 7])
    for kind, zero in ((np.uint8, 128), (np.int8, -3)):
        given, made = numbers(0.03, zero, kind), numbers(0.05, zero + 5, kind)
        y = b.op("Conv", [dequantize(quantize(x, given), given), constant(0.01, 0, np.int8, 8, 3, 3, 3)], pads=[1] * 4)
        bytes_ = quantize(y, made)
        y = dequantize(bytes_, made)

        def give(z, scale, shape=(2, 8, 9, 7), low=0):
            of = numbers(scale, low, kind)
            name = b.name()
            quantize(z, of, outputs=[name])
            b.output(name, shape, kinds[kind])

        for function, attributes in (("Sigmoid", {}), ("Tanh", {}), ("HardSwish", {}), ("HardSigmoid", {}), ("HardSigmoid", {"alpha": 1 / 6, "beta": 0.4}), ("LeakyRelu", {"alpha": 0.1}), ("Relu", {}), ("Erf", {}), ("Gelu", {"domain": "com.microsoft"}), ("FastGelu", {"domain": "com.microsoft"})):
            give(b.op(function, [y], **attributes), 0.04)
        for function in ("BiasGelu", "FastGelu"):
            give(b.op(function, [y, b.constant(np.full(7, 0.25, np.float32))], "com.microsoft"), 0.04)
        # A number that is not quantized: 1 / sqrt(32), as attention has it, on either side
        for function, left, right in (("Mul", y, np.float32(32 ** -0.5)), ("Mul", np.float32([0.3]), y), ("Add", np.float32(-0.7), y), ("Sub", y, np.float32([[0.7]]))):
            give(b.op(function, [x if isinstance(x, str) else b.constant(x) for x in (left, right)]), 0.03, low=zero)
        give(b.op("Erf", [b.op("Div", [y, b.constant(np.float32(np.sqrt(2)))])]), 0.01)
        give(b.op("Div", [y, b.constant(np.float32([-3]))]), 0.02, low=zero)
        give(b.op("Add", [y, constant(0.02, zero, kind, 7)]), 0.06)
        give(b.op("Transpose", [y], perm=[0, 2, 3, 1]), 0.05, (2, 9, 7, 8), zero + 5)
        give(b.op("Add", [y, constant(0.02, zero, kind, 1, 8, 1, 1)]), 0.06)
        give(b.op("Mul", [y, constant(0.02, zero, kind, 1, 8, 1, 1)]), 0.07)
        give(b.op("Mul", [constant(0.02, zero, kind, 1), y]), 0.07)
        own = lambda function, **attributes: b.op(function, [bytes_, *made, *numbers(0.03, zero, kind)], "com.microsoft", outputs=[b.name()], **attributes)
        for name in (own("QLinearSigmoid"), own("QLinearLeakyRelu", alpha=0.2)):
            b.output(name, (2, 8, 9, 7), kinds[kind])
    return b.model()


def moved_network():
    """Operators that move values, each behind a scale and before another one, or another type, as exporters write them that do not quantize them; windows at the ends of
    pools that round their sizes up; a difference; and pads of bytes."""
    b = Builder(17)
    numbers = lambda scale, zero, kind: [b.constant(np.float32(scale)), b.constant(kind(zero))]
    quantize = lambda x, of, **outputs: b.op("QuantizeLinear", [x, *of], **outputs)
    dequantize = lambda x, of: b.op("DequantizeLinear", [x, *of])
    ints = lambda *values: b.constant(np.int64(values))
    kinds = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8}
    x = b.input("x", ["N", 3, 10, 13])
    for kind, other, zero in ((np.uint8, np.int8, 100), (np.int8, np.uint8, -9)):
        given, weights, made = numbers(0.03, zero, kind), numbers(0.01, 0, np.int8), numbers(0.05, zero + 5, kind)
        w = dequantize(b.constant(b.rng.integers(-60, 60, (8, 3, 3, 3), np.int8, endpoint=True)), weights)
        bytes_ = quantize(b.op("Conv", [dequantize(quantize(x, given), given), w], pads=[1] * 4), made)
        y = dequantize(bytes_, made)
        for of in (numbers(0.043, zero - 2, kind), numbers(0.06, 7, other)):

            def give(z, shape):
                name = b.name()
                quantize(z, of, outputs=[name])
                b.output(name, ["N", *shape], kinds[b.kind_of(of[1]).type])

            give(b.op("MaxPool", [y], kernel_shape=[3, 2], strides=[2, 2]), (8, 4, 6))
            give(b.op("Relu", [b.op("MaxPool", [y], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)]), (8, 5, 7))
            give(b.op("MaxPool", [y], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1), (8, 5, 6))
            give(b.op("MaxPool", [y], kernel_shape=[2, 4], strides=[3, 3], pads=[0, 1, 0, 1], ceil_mode=1), (8, 4, 5))
            give(b.op("Slice", [y, ints(2, 1), ints(9, 7), ints(2, 1)]), (6, 7, 13))
            give(b.op("Transpose", [y], perm=[0, 3, 1, 2]), (13, 8, 10))
            give(b.op("Pad", [y, ints(0, 0, 1, 2, 0, 0, 3, 1)]), (8, 14, 16))
            give(b.op("DepthToSpace", [y], blocksize=2), (2, 20, 26))
            give(b.op("Resize", [y, "", b.constant(np.float32([1, 1, 2, 3]))], mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric"), (8, 20, 39))
            if b.kind_of(of[1]) == kind:
                give(b.op("AveragePool", [y], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 0], ceil_mode=1), (8, 5, 7))
            give(b.op("Sub", [y, dequantize(quantize(y, of), of)]), (8, 10, 13))
        b.output(b.op("Pad", [bytes_, ints(0, 0, 1, 0, 0, 0, 0, 2), made[1]]), ["N", 8, 11, 15], kinds[kind])
    return b.model(19)


def mean_network(operators, rank):
    """ReduceMean over planes between DequantizeLinear and QuantizeLinear, with scales at random and such as make halves; 5 channels, so that planes lie at any place."""
    b = Builder(12)
    axes = list(range(2, rank))
    free = ["H", "W"][:rank - 2]
    x = b.input("x", ["N", 3, *free])
    numbers = lambda scale, zero, kind: [b.constant(np.float32(scale)), b.constant(kind(zero))]
    quantized = lambda y, of: b.op("DequantizeLinear", [b.op("QuantizeLinear", [y, *of]), *of])
    for kind, zero, to in ((np.uint8, 131, TensorProto.UINT8), (np.int8, -3, TensorProto.INT8)):
        weights = b.constant(b.rng.integers(-60, 60, (5, 3, *[1] * (rank - 2)), np.int8))
        weights = b.op("DequantizeLinear", [weights, *numbers(0.01, 0, np.int8)])
        scale = b.rng.uniform(0.02, 0.03)
        y = quantized(b.op("Conv", [quantized(x, numbers(0.03, zero, kind)), weights]), numbers(scale, zero, kind))
        for times in (1, 0.5, 0.25, *b.rng.uniform(0.2, 1, 3)):
            for keep in (0, 1):
                given = {"axes": axes} if operators < 18 else {}
                inputs = [y] if operators < 18 else [y, b.constant(np.int64([axis - rank * (axis % 2) for axis in axes]))]
                z = b.op("ReduceMean", inputs, keepdims=keep, **given)
                if keep and times == 1:
                    z = b.op("Relu", [z])
                b.output(b.op("QuantizeLinear", [z, *numbers(scale * times, 2, kind)]), ["N", 5, *[1] * (rank - 2) * keep], to)
    return b.model(operators)


def softmax_network(operators=17):
    """Softmax on bytes and between DequantizeLinear and QuantizeLinear, over channels and over columns, with few and many of them."""
    b = Builder(16)
    given = b.input("x", ["N", "rows", 24])
    image = b.input("image", ["N", 3, 5, "W"])
    numbers = lambda scale, zero, kind: [b.constant(np.float32(scale)), b.constant(kind(zero))]
    for kind, zero, to in ((np.uint8, 120, TensorProto.UINT8), (np.int8, -3, TensorProto.INT8)):
        quantized = lambda y, scale: b.op("QuantizeLinear", [y, *numbers(scale, zero, kind)])
        real = lambda y, scale: b.op("DequantizeLinear", [y, *numbers(scale, zero, kind)])
        weights = lambda *shape: b.op("DequantizeLinear", [b.constant(b.rng.integers(-60, 60, shape, np.int8)), *numbers(0.01, 0, np.int8)])
        x = real(quantized(given, 0.02), 0.02)
        rows = [(quantized(b.op("MatMul", [x, weights(24, n)]), scale), scale, n) for n, scale in ((1, 0.03), (50, 0.02), (300, 0.3))]
        x = real(quantized(image, 0.02), 0.02)
        rows.append((quantized(b.op("Conv", [x, weights(4, 3, 3, 3)], pads=[1] * 4), 0.05), 0.05, "W"))
        for y, scale, n in rows:
            shape = ["N", "rows", n] if n != "W" else ["N", 4, 5, "W"]
            for steps in (256, 255, 127, 10000):
                of = numbers(1 / steps, np.iinfo(kind).min, kind)
                b.output(b.op("QLinearSoftmax", [y, *numbers(scale, zero, kind), *of], "com.microsoft", opset=13), shape, to)
                axis = {"axis": len(shape) - 1} if steps == 127 or operators < 13 else {}
                b.output(b.op("QuantizeLinear", [b.op("Softmax", [real(y, scale)], **axis), *of]), shape, to)
    return b.model(operators)


def refused_softmax_network():
    """Softmax that is none over the last axis; with a part of the sentence that each named node gets."""
    b = Builder(17)
    of = [b.constant(np.float32(0.03)), b.constant(np.uint8(120))]
    given = b.input("x", [2, 6, 4], TensorProto.UINT8)
    x = b.op("DequantizeLinear", [given, *of])
    clipped = [b.constant(np.float32(value)) for value in (0.1, 0.5)]
    for name, axis in (("middle", 1), ("clipped", 2)):
        y = b.op("Softmax", [x], axis=axis)
        b.nodes[-1].name = name
        y = b.op("Clip", [y, *clipped]) if name == "clipped" else y
        b.output(b.op("QuantizeLinear", [y, *of]), [2, 6, 4], TensorProto.UINT8)
    # Before the 13th operator set all axes from this one on are one.
    b.output(b.op("QLinearSoftmax", [given, *of, *of], "com.microsoft", opset=12, axis=1), [2, 6, 4], TensorProto.UINT8)
    b.nodes[-1].name = "flattened"
    axis = "it is not over the last axis"
    return b.model(), {"middle": axis, "flattened": axis, "clipped": "it would need an activation of a softmax's results"}


def block_network():
    """DepthToSpace in both orders and SpaceToDepth, on bytes with one scale and between operators."""
    b = Builder(14)
    x = b.input("x", ["N", 3, "H", "W"])
    for kind, zero, to in ((np.uint8, 131, TensorProto.UINT8), (np.int8, -3, TensorProto.INT8)):
        of = [b.constant(np.float32(0.03)), b.constant(kind(zero))]
        quantized = lambda y, of=of: b.op("DequantizeLinear", [b.op("QuantizeLinear", [y, *of]), *of])
        weights = lambda *shape: b.op("DequantizeLinear", [b.constant(b.rng.integers(-60, 60, shape, np.int8)), b.constant(np.float32(0.01)), b.constant(np.int8(0))])
        y = quantized(b.op("Conv", [quantized(x), weights(36, 3, 1, 1)]))
        for block, mode, channels in ((2, "DCR", 9), (2, "CRD", 9), (3, "CRD", 4), (6, "CRD", 1)):
            z = quantized(b.op("DepthToSpace", [y], blocksize=block, mode=mode))
            z = quantized(b.op("Conv", [z, weights(2, channels, 1, 1)]))
            b.output(b.op("QuantizeLinear", [b.op("SpaceToDepth", [z], blocksize=block), *of]), ["N", 2 * block * block, None, None], to)
    return b.model()


def refused_block_network():
    """Blocks of no images; with a part of the sentence that the named node gets."""
    b = Builder(15)
    of = [b.constant(np.float32(0.03)), b.constant(np.uint8(120))]
    y = b.op("SpaceToDepth", [b.op("DequantizeLinear", [b.input("any", None, TensorProto.UINT8), *of])], blocksize=2)
    b.nodes[-1].name = "unknown"
    b.output(b.op("QuantizeLinear", [y, *of]), None, TensorProto.UINT8)
    return b.model(), {"unknown": "it is not of rank 4 with blocks of 1 to 2^14 pixels"}


def refused_mean_network():
    """Means that are no image's; with a part of the sentence that each named node gets."""
    b = Builder(13)
    of = [b.constant(np.float32(0.03)), b.constant(np.uint8(120))]
    x = b.op("DequantizeLinear", [b.input("x", [2, 3, 4, 5], TensorProto.UINT8), *of])
    for name, axes, shape in (("channels", [1], (2, 1, 4, 5)), ("lines", [2], (2, 3, 1, 5)), ("all", [0, 1, 2, 3], (1, 1, 1, 1)), ("twice", [3, -1], (2, 3, 4, 1))):
        y = b.op("ReduceMean", [x, b.constant(np.int64(axes))])
        b.nodes[-1].name = name
        b.output(b.op("QuantizeLinear", [y, *of]), shape, TensorProto.UINT8)
    y = b.op("ReduceMean", [x, b.input("axes", [2], TensorProto.INT64)])
    b.nodes[-1].name = "computed"
    b.output(b.op("QuantizeLinear", [y, *of]), ("a", "b", "c", "d"), TensorProto.UINT8)
    y = b.op("ReduceMean", [b.op("DequantizeLinear", [b.input("any", None, TensorProto.UINT8), *of]), b.constant(np.int64([2, 3]))])
    b.nodes[-1].name = "unknown"
    b.output(b.op("QuantizeLinear", [y, *of]), None, TensorProto.UINT8)
    reasons = dict.fromkeys(("channels", "lines", "all", "twice"), "its axes are not those of lines and columns")
    return b.model(18), {**reasons, "computed": "its axes are computed; it needs constants", "unknown": "its input is not known to be of rank 3 or 4"}


def refused_dynamic_network():
    """Products of tensors that are quantized in the run as Octet takes none; with a part of the sentence that each named node gets."""
    b = Builder(11)
    reasons = {}
    x = b.input("x", [5, 6])
    weights = b.constant(b.rng.integers(-60, 60, (6, 4), np.int8))
    scale = lambda *values: b.constant(np.float32(values))

    def named(name, reason):
        b.nodes[-1].name = name
        reasons[name] = reason

    def fused(name, reason, *inputs):
        b.output(b.op("DynamicQuantizeMatMul", [x, *inputs], "com.microsoft"), [5, 4])
        named(name, reason)

    def quantize(name, reason, y):
        outputs = [f"{name}_{end}" for end in ("bytes", "scale", "zero")]
        b.op("DynamicQuantizeLinear", [y], outputs=outputs)
        named(name, reason)
        return outputs

    fused("weights", "its weights or their scales are computed; it needs constants", b.input("w", [6, 4], TensorProto.INT8), scale(0.1))
    fused("scales", "its weights have 2 scales, neither one nor one for each column", weights, scale(0.1, 0.2))
    fused("bias", "its bias is no constant of f32 with a value for each column", weights, scale(0.1), "", scale(0.5))
    fused("zero", "its product MatMulInteger 'zero': a zero point is no constant", weights, scale(0.1), b.input("z", [1], TensorProto.INT8))
    bytes_, _, _ = quantize("copied", "'cast' (Cast) reads what it makes", b.op("Abs", [x]))
    b.output(b.op("Cast", [bytes_], to=TensorProto.FLOAT), [5, 6])
    named("cast", "Octet has no such operator")
    bytes_, own, zero = quantize("given", "the graph gives out what it makes", b.op("Neg", [x]))
    b.output(own, [])
    b.output(b.op("MatMulIntegerToFloat", [bytes_, weights, own, scale(0.1), zero], "com.microsoft"), [5, 4])
    named("alone", "its input is not quantized by a DynamicQuantizeLinear that is taken")
    bytes_, _, zero = quantize("unscaled", "'sums' is not followed by a Cast to f32 and a Mul by the scale of its input, or by that times a constant", b.op("Exp", [x]))
    b.output(b.op("MatMulInteger", [bytes_, weights, zero]), [5, 4], TensorProto.INT32)
    named("sums", "a zero point is no constant")
    return b.model(), reasons


class Calibration(CalibrationDataReader):
    def __init__(self, shapes):
        rng = np.random.default_rng(1)
        self.feeds = iter([{name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()} for _ in range(3)])

    def get_next(self):
        return next(self.feeds, None)


TYPES = {"s8": QuantType.QInt8, "u8": QuantType.QUInt8}


def quantized(model, folder, how, shapes, size=None):
    """how: "qdq-s8s8", "qdq-u8s8-channel", "qoperator-u8u8", "dynamic-s8", ...; returns a path."""
    form, types, *channel = how.split("-")
    source, path = str(folder / "float.onnx"), str(folder / f"{how}.onnx")
    onnx.save(model, source)
    if form == "dynamic":
        # The output type of com.microsoft's operators, which ONNX cannot infer
        quantize_dynamic(source, path, per_channel=bool(channel), weight_type=TYPES[types], extra_options={"DefaultTensorType": TensorProto.FLOAT})
    else:
        quantize_static(source, path, Calibration(shapes), per_channel=bool(channel),
                        quant_format=QuantFormat.QDQ if form == "qdq" else QuantFormat.QOperator,
                        activation_type=TYPES[types[:2]], weight_type=TYPES[types[2:]])
    return path
