# SPDX-License-Identifier: Apache-2.0
"""Operators that move bytes, with sizes, places, scales and zero points that no sane model has."""
import itertools
import resource

import numpy as np
from onnx import TensorProto

from models import Builder

FAR = 2 ** 63 - 1


class Move(Builder):
    """x of four channels, quantized, through a convolution and one operator, to another scale; other sizes are known only to a run."""

    def __init__(self, scale=np.float32(0.05), zero=np.uint8(3), after=(np.float32(0.03), np.uint8(130))):
        super().__init__(3)
        self.ways = {"before": (scale, zero), "after": after}
        self.given = self.input("x", ["d0", 4, "d2", "d3"])

    def quantized(self, x, way):
        scale, zero = (self.constant(value) for value in self.ways[way])
        return self.op("DequantizeLinear", [self.op("QuantizeLinear", [x, scale, zero]), scale, zero])

    def conv(self, x):
        weights = self.op("DequantizeLinear", [self.constant(self.rng.integers(-60, 60, (4, 4, 1, 1), np.int8)), self.constant(np.float32(0.01)), self.constant(np.int8(0))])
        return self.quantized(self.op("Conv", [x, weights]), "before")

    def through(self, kind, *more, **attributes):
        """more: constants; None: left out."""
        x = self.conv(self.quantized(self.given, "before"))
        y = self.op(kind, [x, *("" if m is None else self.constant(m) for m in more)], **attributes)
        y = self.quantized(y, "after")
        self.output(y, None)
        return self

    def bytes(self, operators=17, shape=()):
        model = self.model(operators)
        for size, stated in zip(model.graph.input[0].type.tensor_type.shape.dim, shape):
            size.dim_value = stated
        return model.SerializeToString()


def longs(*values):
    return np.int64(values)


def cases():
    """(what, the model, the shape of x)"""
    usual = (1, 4, 6, 5)
    found = []

    def add(what, move, operators=17, shapes=(usual,)):
        for shape in shapes:
            found.append((f"{what}, {'x'.join(map(str, shape))}", move.bytes(operators), shape))
        found.append((f"{what}, with stated sizes", move.bytes(operators, usual), usual))

    sizes = (usual, (0, 4, 6, 5), (1, 4, 0, 5), (1, 4, 1, 9))
    for pads, strides, kernel in (([0] * 4, [1, 1], [1, 1]), ([1] * 4, [2, 2], [2, 2]), ([0, 0, 1, 1], [3, 2], [2, 3]), ([2] * 4, [5, 5], [3, 3]), ([0] * 4, [FAR, FAR], [2, 2]),
                                  ([0] * 4, [1, 1], [FAR, FAR]), ([0] * 4, [1, 1], [2 ** 32, 1]), ([FAR] * 4, [1, 1], [2, 2]), ([FAR // 2, 0, FAR // 2, 0], [1, 1], [2, 2]), ([-1] * 4, [1, 1], [3, 3]),
                                  ([0] * 4, [0, 1], [2, 2]), ([0] * 4, [-1, 1], [2, 2]), ([0] * 4, [1, 1], [0, 2]), ([5] * 4, [1, 1], [3, 3]), ([0, 0, 5, 5], [1, 1], [3, 3])):
        for ceil in (0, 1):
            add(f"MaxPool pads {pads} strides {strides} kernel {kernel} ceil {ceil}", Move(after=(np.float32(0.05), np.uint8(3))).through("MaxPool", pads=pads, strides=strides, kernel_shape=kernel, ceil_mode=ceil), shapes=sizes)
    for dilations in ([2, 2], [0, 1], [FAR, 1], [-1, 1], [2 ** 32 + 1] * 2):
        for kind in ("MaxPool", "AveragePool"):
            add(f"{kind} dilations {dilations}", Move().through(kind, dilations=dilations, kernel_shape=[2, 2], **({"ceil_mode": 1} if kind == "MaxPool" else {})), 19 if kind == "AveragePool" else 17, sizes)
    for counts, ceil in itertools.product((0, 1), (0, 1)):
        add(f"AveragePool counts {counts} ceil {ceil}", Move().through("AveragePool", count_include_pad=counts, ceil_mode=ceil, kernel_shape=[3, 3], strides=[4, 4], pads=[2] * 4), shapes=sizes)
    for starts, ends, axes, steps in (([0], [0], [2], [1]), ([-FAR - 1], [FAR], [2], [1]), ([FAR], [-FAR - 1], [3], [1]), ([0], [2], [2], [0]), ([0], [FAR], [2], [FAR]), ([-1], [-FAR], [2], [-1]), ([-1], [-FAR - 1], [3], [-FAR - 1]),
                                      ([0, 1], [3, 4], [2, 2], [1, 1]), ([0, 1], [3, 4], [2, -2], [1, 1]), ([0], [2], [4], [1]), ([0], [2], [-5], [1]), ([0], [2], [FAR], [1]), ([0], [2], [-FAR - 1], [1]),
                                      ([5], [2], [2], [1]), ([0, 0], [1], [2, 3], [1, 1]), ([0] * 5, [1] * 5, None, None), ([1] * 4, [2] * 4, None, None)):
        for after in ((np.float32(0.05), np.uint8(3)), (np.float32(0.03), np.uint8(130))):
            more = [longs(*starts), longs(*ends), None if axes is None else longs(*axes), None if steps is None else longs(*steps)]
            add(f"Slice {starts} {ends} {axes} {steps} to {after[0]}", Move(after=after).through("Slice", *more), shapes=(usual, (1, 4, 0, 5)))
    for pads in ([0] * 8, [0, 0, 1, 2, 0, 0, 3, 4], [0, 0, FAR, 0, 0, 0, 0, 0], [0, 0, FAR, 0, 0, 0, FAR, 0], [0, 0, FAR // 2, FAR // 2, 0, 0, FAR // 2, FAR // 2], [0, 0, -1, 0, 0, 0, 1, 0], [0, 0, -FAR - 1, 0, 0, 0, 0, 0],
                 [0, 0, -9, 0, 0, 0, 0, 0], [1, 1, 0, 0, 1, 1, 0, 0], [0] * 6, [0, 0, 2 ** 31, 0, 0, 0, 2 ** 31, 0]):
        add(f"Pad {pads}", Move().through("Pad", longs(*pads)), shapes=(usual, (0, 4, 6, 5), (1, 4, 0, 5)))
    for permutation in ([0, 1, 2, 3], [3, 2, 1, 0], [0, 0, 1, 2], [0, 1, 2], [0, 1, 2, 4], [0, 1, 2, -1], [0, 1, 2, FAR], [1, 0, 3, 2]):
        add(f"Transpose {permutation}", Move().through("Transpose", perm=permutation), shapes=(usual, (0, 4, 6, 5), (3, 4, 1, 5)))
    for shape, zeros in (([-1], 0), ([0, -1], 0), ([0, -1], 1), ([-1, -1], 0), ([1, 4, 6, 5], 0), ([1, 4, 6, 6], 0), ([0] * 5, 0), ([FAR, 2], 0), ([2 ** 32, 2 ** 32, -1], 0), ([-2], 0), ([-FAR - 1, 4], 0), ([0], 1), ([], 0), ([2 ** 62, 4, -1], 0)):
        add(f"Reshape {shape} allowzero {zeros}", Move().through("Reshape", longs(*shape), allowzero=zeros), shapes=(usual, (0, 4, 6, 5), (1, 4, 0, 5)))
    for mode in ("nearest", "linear"):
        for scales in ([1, 1, 2, 2], [1, 1, 0, 1], [1, 1, -1, 1], [1, 1, np.nan, 1], [1, 1, np.inf, 1], [1, 1, 1e30, 1], [1, 1, 2.0 ** 31, 1], [1, 1, 2.0 ** 31, 2.0 ** 31], [1, 1, 0.5, 0.5], [1, 1, 1e-30, 1], [2, 2, 1, 1], [2], [2.0 ** 62] * 4):
            add(f"Resize {mode} by {scales}", Move().through("Resize", None, np.float32(scales), mode=mode, nearest_mode="floor", coordinate_transformation_mode="asymmetric"), shapes=(usual, (0, 4, 6, 5), (1, 4, 0, 5)))
        for to in ([1, 4, 0, 0], [1, 4, 1, 1], [1, 4, 2 ** 31, 1], [1, 4, FAR, FAR], [1, 4, -1, 5], [1, 4, 7, 9], [1, 4], [2, 4, 6, 5], [1, 4, 2 ** 32 + 6, 5]):
            add(f"Resize {mode} to {to}", Move().through("Resize", None, None, longs(*to), mode=mode, coordinate_transformation_mode="align_corners"), shapes=(usual, (1, 4, 0, 5)))
    for block in (0, -1, 2, 3, 2 ** 14, 2 ** 32, FAR):
        for kind in ("DepthToSpace", "SpaceToDepth"):
            add(f"{kind} {block}", Move().through(kind, blocksize=block), shapes=(usual, (1, 4, 0, 5), (1, 4, 6, 4)))
    for axis in (0, 1, 4, -4, -5, FAR, -FAR - 1, 2 ** 32 + 1):
        none = "" if axis in range(-4, 4) else ", which is none"
        add(f"Flatten {axis}" + none * (axis != 4), Move().through("Flatten", axis=axis), shapes=(usual, (1, 4, 0, 5)))
        add(f"Split {axis}{none}", split(axis), 18, shapes=(usual, (1, 4, 0, 5)))
        add(f"Concat {axis}{none}", joined(axis), shapes=(usual, (1, 4, 0, 5)))
        add(f"Squeeze {axis}", Move().through("Squeeze", longs(axis)), shapes=(usual, (0, 4, 1, 1)))
        add(f"Unsqueeze {axis}", Move().through("Unsqueeze", longs(axis, axis)), shapes=(usual,))
    for scale in (np.float32(np.nan), np.float32(0), np.float32(np.inf), np.float32(-1), np.float32(1e-45), np.float32(3e38), np.float32([0.05, 0.05]), np.float16(0.05)):
        for way in ("before", "after"):
            pair = (scale, np.uint8([3, 3]) if scale.shape else np.uint8(3))
            for kind, more, attributes in (("MaxPool", (), {"kernel_shape": [2, 2]}), ("Slice", (longs(1), longs(3), longs(2)), {}), ("Sub", (np.float32(1),), {}), ("Resize", (None, np.float32([1, 1, 2, 2])), {"mode": "linear"})):
                add(f"{kind} with the scale {scale} {way}", Move(**({"scale": pair[0], "zero": pair[1]} if way == "before" else {"after": pair})).through(kind, *more, **attributes))
    for zero in (np.int8(-7), np.int32(3), np.float32(3), np.uint16(3), np.int64(3), np.uint8([3, 4])):
        for kind, more, attributes in (("MaxPool", (), {"kernel_shape": [2, 2]}), ("Transpose", (), {"perm": [0, 2, 3, 1]}), ("Sub", (np.float32(1),), {})):
            add(f"{kind} with the zero point {zero!r}", Move(after=(np.float32(0.03), zero)).through(kind, *more, **attributes))
    for value in (np.float32(np.nan), np.float32(np.inf), np.float32([1, 2]), np.float32(np.ones((1, 4, 1, 1))), np.float32(np.ones((5, 1, 1, 1, 1))), np.float32(np.ones((1, 3, 1, 1))), np.zeros(0, np.float32)):
        for kind in ("Sub", "Add", "Mul", "Div"):
            add(f"{kind} {value.tolist()}", Move().through(kind, value))
    for k, n, lhs in ((4, 5, 0.05), (3, 5, 0.05), (0, 5, 0.05), (4, 0, 0.05), (4, 5, np.float32(np.nan)), (4, 5, np.float32(0))):
        found.append((f"a dynamic product {k} x {n} by {lhs}", dynamic(k, n, lhs), (1, 2, 3, 4)))
    return found


def split(axis):
    b = Move()
    x = b.conv(b.quantized(b.given, "before"))
    parts = [b.name(), b.name(), b.name()]
    b.op("Split", [x], outputs=parts, axis=axis, num_outputs=3)
    for part in parts:
        b.output(b.quantized(part, "after"), None)
    return b


def joined(axis):
    b = Move()
    x = b.conv(b.quantized(b.given, "before"))
    b.output(b.quantized(b.op("Concat", [x, b.conv(x)], axis=axis), "after"), None)
    return b


def dynamic(k, n, lhs):
    """A product of integers whose lhs is quantized in the run, whose result is scaled by the lhs's scale alone."""
    b = Builder(4)
    x = b.input("x", [None] * 4)
    values, scale, zero = b.op("DynamicQuantizeLinear", [x], outputs=["q", "s", "z"]), "s", "z"
    sums = b.op("MatMulInteger", [values, b.constant(b.rng.integers(-60, 60, (k, n), np.int8)), zero])
    sums = b.op("Cast", [sums], to=TensorProto.FLOAT)
    b.output(b.op("Mul", [sums, b.op("Mul", [scale, b.constant(np.float32(lhs))])]), None)
    b.output(b.op("Mul", [sums, scale]), None)
    return b.model().SerializeToString()


def complaints(session, nodes_of, differing):
    """Where not an error with a sentence or the bytes of ONNX Runtime comes, which may refuse what Octet runs."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, limits[1]))  # sizes of 2^31 are refused, not tried
    claimed = 0
    for what, model, shape in cases():
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        made = {}
        for way, options in (("mine", {}), ("theirs", None)):
            try:
                network = session(model, options)
                made[way] = network.run(None, {"x": x})
                claimed += options is not None and nodes_of(network)[0] > 0
            except Exception as error:
                made[way] = str(error)
        mine, theirs = made["mine"], made["theirs"]
        if isinstance(mine, str):
            if not mine or not isinstance(theirs, str):
                yield f"{what}: '{mine}'"
        elif ", which is none" in what:
            yield f"{what}: Octet runs it"
        elif not isinstance(theirs, str) and differing(mine, theirs):
            yield f"{what}: {differing(mine, theirs)} bytes differ"
    if claimed < 100:
        yield f"Octet ran {claimed} of the hostile models"
    resource.setrlimit(resource.RLIMIT_AS, limits)
