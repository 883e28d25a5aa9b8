# SPDX-License-Identifier: Apache-2.0
"""Models whose shapes are computed of sizes that only a run has, as exporters write them."""
import numpy as np
from onnx import TensorProto

from models import Builder


class Written(Builder):
    """With the nodes that exporters make of a size, a tuple of sizes and their functions."""

    def integers(self, *values):
        return self.constant(np.int64(values))

    def size(self, x, axis):
        """As a vector of one: Shape, Gather and Unsqueeze."""
        return self.op("Unsqueeze", [self.op("Gather", [self.op("Shape", [x]), self.constant(np.int64(axis))], axis=0), self.integers(0)])

    def reshape(self, x, *sizes):
        """sizes: numbers and names of vectors."""
        parts = [size if isinstance(size, str) else self.integers(size) for size in sizes]
        return self.op("Reshape", [x, self.op("Concat", parts, axis=0)])

    def last_size(self, x):
        """By a Slice of the Shape, as a float."""
        return self.op("Cast", [self.op("Slice", [self.op("Shape", [x]), self.integers(-1), self.integers(2 ** 63 - 1)])], to=TensorProto.FLOAT)


def attention_network(way, hidden=48, heads=3):
    """way: "view": PyTorch's view, permute and division; "sdpa": its scaled_dot_product_attention, which scales both operands by the square root of a size."""
    b = Written(31)
    x, mask = b.input("x", ["images", "tokens", hidden]), b.input("mask", ["images", 1, 1, "tokens"])
    vector = lambda n: b.constant((b.rng.standard_normal(n) * 0.1).astype(np.float32))
    linear = lambda y, k, n: b.op("Add", [b.op("MatMul", [y, b.constant(b.weights(k, n))]), vector(n)])
    depth = hidden // heads
    images, tokens = (b.size(x, axis) for axis in (0, 1)) if way == "sdpa" else (None, None)

    def split(y, perm):
        y = linear(y, hidden, hidden)
        if way == "view":  # all sizes of the product's own result
            return b.op("Transpose", [b.reshape(y, b.size(y, 0), b.size(y, 1), heads, depth)], perm=perm)
        return b.op("Transpose", [b.reshape(y, images, -1, heads, depth)], perm=perm)

    q, k, v = (split(x, perm) for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    if way == "view":
        scores = b.op("Div", [b.op("MatMul", [q, k]), b.constant(np.float32(np.sqrt(depth)))])
    else:
        root = b.op("Sqrt", [b.op("Div", [b.constant(np.float32([1])), b.op("Sqrt", [b.last_size(q)])])])
        scores = b.op("MatMul", [b.op("Mul", [q, root]), b.op("Mul", [k, root])])
    y = b.op("MatMul", [b.op("Softmax", [b.op("Add", [scores, mask])], axis=-1), v])
    y = b.op("Transpose", [y], perm=[0, 2, 1, 3])
    y = b.reshape(y, b.size(y, 0), b.size(y, 1), hidden) if way == "view" else b.reshape(y, images, tokens, hidden)
    y = b.op("Add", [x, linear(y, hidden, hidden)])
    b.op("MatMul", [y, b.constant(b.weights(hidden, 7))], outputs=["y"])
    b.output("y", ["images", "tokens", 7])
    return b.model()


def places_network():
    """Nodes that move elements, with free sizes: Slices of channels, a Squeeze of all ones, a pool that rounds up."""
    b = Written(32)
    x = b.input("x", ["N", 6, "H", "W"])
    of = [b.constant(np.float32(0.03)), b.constant(np.int8(-3))]
    quantized = lambda y: b.op("DequantizeLinear", [b.op("QuantizeLinear", [y, *of]), *of])
    weights = lambda *shape: b.op("DequantizeLinear", [b.constant(b.rng.integers(-60, 60, shape, np.int8)), b.constant(np.float32(0.01)), b.constant(np.int8(0))])
    y = quantized(b.op("Conv", [quantized(x), weights(8, 6, 1, 1)]))
    left, right = (quantized(b.op("Slice", [y, b.integers(start), b.integers(end), b.integers(1)])) for start, end in ((0, 3), (-5, 2 ** 62)))
    y = quantized(b.op("Concat", [right, left], axis=1))
    y = quantized(b.op("Conv", [y, weights(5, 8, 1, 1)]))
    b.output(b.op("QuantizeLinear", [b.op("Unsqueeze", [y, b.integers(-1)]), *of]), None, TensorProto.INT8)
    z = quantized(b.op("GlobalAveragePool", [y]))
    b.output(b.op("QuantizeLinear", [b.op("Squeeze", [z]), *of]), None, TensorProto.INT8)
    return b.model()


def detour_network():
    """A Reshape whose shape the host computes of a result of the same network, in which another operator would be behind it."""
    b = Written(33)
    x = b.input("x", ["N", 16])
    of = [b.constant(np.float32(0.03)), b.constant(np.int8(-3))]
    quantized = lambda y: b.op("DequantizeLinear", [b.op("QuantizeLinear", [y, *of]), *of])
    weights = lambda *shape: b.op("DequantizeLinear", [b.constant(b.rng.integers(-60, 60, shape, np.int8)), b.constant(np.float32(0.01)), b.constant(np.int8(0))])
    y = quantized(b.op("MatMul", [quantized(x), weights(16, 16)]))
    nought = b.op("Mul", [b.op("Cast", [b.op("ReduceMin", [y], keepdims=0)], to=TensorProto.INT64), b.constant(np.int64(0))])
    # Two sizes, since ONNX Runtime computes a single one itself
    sizes = [b.op("Unsqueeze", [b.op("Add", [nought, b.constant(np.int64(size))]), b.integers(0)]) for size in (2, -1)]
    z = quantized(b.op("Reshape", [y, b.op("Concat", [*sizes, b.integers(8)], axis=0)]))
    b.nodes[-3].name = "detour"
    b.output(b.op("QuantizeLinear", [b.op("Sigmoid", [z]), *of]), None, TensorProto.INT8)
    b.output(b.op("QuantizeLinear", [b.op("Sigmoid", [y]), *of]), None, TensorProto.INT8)
    return b.model()
