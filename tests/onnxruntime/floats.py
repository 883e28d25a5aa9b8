# SPDX-License-Identifier: Apache-2.0
"""Makes models of the operators of f32 between quantized products, and the bytes that docs/engines.md gives them ("Floats between products")."""
import dataclasses

import numpy as np
from onnx import TensorProto

import attention
import models

F32 = np.float32
NAN = np.uint32(0x7FC00000).view(F32)
P = [float.fromhex(term) for term in ("0x1.988452p-1", "0x1.18494ap-4", "0x1.339986p-7", "0x1.67ec64p-12", "0x1.a5fc8cp-17", "0x1.791c38p-25")]
Q = [float.fromhex(term) for term in ("1", "0x1.027ceap-2", "0x1.d87a26p-6", "0x1.f2511cp-10", "0x1.36cb8p-14", "0x1.39e69p-20")]


def one_nan(y):
    assert y.dtype == F32
    return np.where(np.isnan(y), NAN, y)


def row_sums(rows):
    """Of 16 sums, one for each index modulo 16."""
    lanes = np.zeros((*rows.shape[:-1], 16), F32)
    for i in range(rows.shape[-1]):
        lanes[..., i % 16] += rows[..., i]
    for half in (8, 4, 2, 1):
        lanes = lanes[..., :half] + lanes[..., half:2 * half]
    return lanes


def normalized(s, scale, shift, epsilon):
    n = F32(s.shape[-1])
    d = s - row_sums(s) / n
    r = F32(1) / np.sqrt(row_sums(d * d) / n + F32(epsilon))
    y = d * r * scale
    return one_nan(y if shift is None else y + shift)


def polynomial(terms, u):
    total = np.full_like(u, F32(terms[-1]))
    for term in terms[-2::-1]:
        total = total * u + F32(term)
    return total


def gelu(x):
    u = np.minimum(x * x, F32(32))
    erf = np.clip(x * polynomial(P, u) / polynomial(Q, u), F32(-1), F32(1))
    return one_nan(F32(0.5) * x * (F32(1) + erf))


@dataclasses.dataclass
class Normalization:
    n: int
    added: object = None  # None, the shape of a tensor that is added, or "bias": a constant vector
    shift: bool = True
    gives_sum: bool = False
    skip: bool = False  # com.microsoft's SkipLayerNormalization
    written: bool = False  # from single operators
    computed: bool = False  # scale and shift are the graph's inputs
    epsilon: float = 1e-5

    def add(self, b, index):
        rng, end = b.rng, lambda name, shape: b.input(f"{name}{index}", shape)
        self.scale, self.moved = ((mean + rng.standard_normal(self.n) * 0.3).astype(F32) for mean in (1, 0))
        self.bias = rng.standard_normal(self.n).astype(F32) if self.added == "bias" or self.skip else None
        x = end("x", ["images", "tokens", self.n])
        other = end("other", self.added) if isinstance(self.added, tuple) else None
        vectors = [end(name, [self.n]) if self.computed else b.constant(value) for name, value in (("scale", self.scale), ("moved", self.moved))]
        vectors = vectors if self.shift else vectors[:1]
        total, y = f"sum{index}", f"y{index}"
        if self.skip:
            b.op("SkipLayerNormalization", [x, other, *vectors, *[""] * (not self.shift), b.constant(self.bias)], "com.microsoft",
                 outputs=[y, *["", "", total] * self.gives_sum], epsilon=self.epsilon)
        else:
            if self.added:
                b.op("Add", [other or x, x if other else b.constant(self.bias)], outputs=[total])
            s = total if self.added else x
            if self.written:
                mean = lambda t: b.op("ReduceMean", [t], axes=[-1])
                d = b.op("Sub", [s, mean(s)])
                root = b.op("Sqrt", [b.op("Add", [mean(b.op("Pow", [d, b.constant(F32(2))])), b.constant(F32(self.epsilon))])])
                b.op("Add", [b.op("Mul", [vectors[0], b.op("Div", [d, root])]), vectors[1]], outputs=[y])
            else:
                b.op("LayerNormalization", [s, *vectors], outputs=[y], axis=-1, epsilon=self.epsilon)
        if self.gives_sum:
            b.output(total, ["images", "tokens", self.n])
        return self.n

    def feed(self, rng, images, tokens):
        sizes = {"images": images, "tokens": tokens}
        draw = lambda shape, factor: (rng.standard_normal([sizes.get(size, size) for size in shape]) * factor + factor).astype(F32)
        given = {"x": draw(("images", "tokens", self.n), 3)}
        if given["x"].size > 2 * self.n:
            given["x"][0, 0, :] = 5
            given["x"][0, -1, 0] = 1e9
        if isinstance(self.added, tuple):
            given["other"] = draw(self.added, 0.5)
        if self.computed:
            given["scale"] = self.scale
            if self.shift:
                given["moved"] = self.moved
        return given

    def expected(self, given):
        s = given["x"] + given["other"] if "other" in given else given["x"]
        s = s if self.bias is None else s + self.bias
        y = normalized(s, self.scale, self.moved if self.shift else None, self.epsilon)
        return [one_nan(s), y] if self.gives_sum else [y]


@dataclasses.dataclass
class Gelu:
    n: int
    form: str  # "own", "standard", "bias", or how the model writes it

    def add(self, b, index):
        number = lambda value: b.constant(F32(value))
        x, y = b.input(f"x{index}", ["images", "tokens", self.n]), f"y{index}"
        self.bias = b.rng.standard_normal(self.n).astype(F32) if self.form == "bias" else F32(0)
        if self.form == "own":
            b.op("Gelu", [x], "com.microsoft", outputs=[y])
        elif self.form == "standard":
            b.op("Gelu", [x], outputs=[y])
        elif self.form == "bias":
            b.op("BiasGelu", [x, b.constant(self.bias)], "com.microsoft", outputs=[y])
        else:
            inner = b.op("Div", [x, number(np.sqrt(2))]) if "div" in self.form else b.op("Mul", [number(np.sqrt(0.5)), x])
            total = b.op("Add", [b.op("Erf", [inner]), number(1)])
            if "half first" in self.form:
                b.op("Mul", [b.op("Mul", [x, number(0.5)]), total], outputs=[y])
            elif "half beside" in self.form:
                b.op("Mul", [x, b.op("Mul", [number(0.5), total])], outputs=[y])
            else:
                b.op("Mul", [b.op("Mul", [x, total]), number(0.5)], outputs=[y])
        return self.n

    def feed(self, rng, images, tokens):
        x = (rng.standard_normal((images, tokens, self.n)) * 3).astype(F32)
        x.reshape(-1)[:9] = [0, -0.0, 5.7, -5.7, 6, -6, 1e9, -1e9, 1e-30][:x.size]
        return {"x": x}

    def expected(self, given):
        return [gelu(given["x"] + self.bias if self.form == "bias" else given["x"])]


@dataclasses.dataclass
class Heads:
    heads: int
    depth: int
    factor: tuple = ()  # ("Mul", 0.25), ("Div", 4.0), ("Sqrt",) or none
    mask: tuple = ()  # its shape
    twice: bool = False  # K is transposed twice
    shape: tuple = (0, 0)  # of the Reshapes, the first two axes; (): computed of sizes of Q

    def add(self, b, index):
        n = self.heads * self.depth
        ends = [b.input(f"{name}{index}", ["images", "tokens", n]) for name in "qkv"]
        size = lambda x, axis: b.op("Unsqueeze", [b.op("Gather", [b.op("Shape", [x]), b.constant(np.int64(axis))]), b.constant(np.int64([0]))])
        sizes = [size(ends[0], axis) for axis in (0, 1)] if not self.shape else []
        shape = lambda *last: b.op("Concat", [*sizes, b.constant(np.int64(last))], axis=0) if sizes else b.constant(np.int64([*self.shape, *last]))
        q, k, v = (b.op("Reshape", [x, shape(self.heads, self.depth)]) for x in ends)
        k = b.op("Transpose", [b.op("Transpose", [k], perm=[0, 2, 1, 3])], perm=[0, 1, 3, 2]) if self.twice else b.op("Transpose", [k], perm=[0, 2, 3, 1])
        q, v = (b.op("Transpose", [x], perm=[0, 2, 1, 3]) for x in (q, v))
        if self.factor == ("Sqrt",):  # of a size, and of both operands
            root = b.op("Cast", [size(q, 3)], to=1)
            root = b.op("Sqrt", [b.op("Div", [b.constant(F32(1)), b.op("Sqrt", [root])])])
            q, k = (b.op("Mul", [x, root]) for x in (q, k))
        scores = b.op("MatMul", [q, k])
        if self.factor and self.factor != ("Sqrt",):
            scores = b.op(self.factor[0], [scores, b.constant(F32(self.factor[1]))])
        if self.mask:
            scores = b.op("Add", [b.input(f"mask{index}", self.mask), scores] if self.twice else [scores, b.input(f"mask{index}", self.mask)])
        y = b.op("Transpose", [b.op("MatMul", [b.op("Softmax", [scores], axis=-1), v])], perm=[0, 2, 1, 3])
        b.op("Reshape", [y, shape(n)], outputs=[f"y{index}"])
        return n

    def feed(self, rng, images, tokens):
        sizes = {"images": images, "tokens": tokens, "alike": tokens, "one": 1}
        given = {name: rng.standard_normal((images, tokens, self.heads * self.depth)).astype(F32) for name in "qkv"}
        if self.mask:
            given["mask"] = np.where(rng.integers(0, 3, [sizes.get(size, size) for size in self.mask]) == 0, F32(-10000), F32(0))
        return given

    def expected(self, given):
        shape = given["q"].shape
        if not given["q"].size:
            return [given["q"]]
        q, k, v = (given[name].reshape(*shape[:2], self.heads, self.depth).transpose(0, 2, 1, 3) for name in "qkv")
        if self.factor == ("Sqrt",):
            root = np.sqrt(F32(1) / np.sqrt(F32(self.depth)))
            kind, value = "Mul", root * root
        else:
            kind, value = self.factor or ("Mul", 1)
        factor = F32(value) if kind == "Mul" else F32(1) / F32(value)
        result = attention.attended(q, k, v, factor, given.get("mask", np.zeros((1, 1, 1, shape[1]), F32)))[0]
        return [result.transpose(0, 2, 1, 3).reshape(shape)]


def forms():
    whole, row = ("images", "tokens", 37), ("tokens", 37)
    return [Normalization(1), Normalization(16), Normalization(384, ("images", "tokens", 384)), Normalization(37, shift=False), Normalization(37, whole, gives_sum=True),
            Normalization(37, row), Normalization(37, ("images", 1, 37), gives_sum=True), Normalization(5, "bias", epsilon=0.0), Normalization(48, computed=True, epsilon=1e-12),
            Normalization(37, whole, skip=True), Normalization(37, whole, shift=False, gives_sum=True, skip=True),
            Gelu(37, "own"), Gelu(64, "standard"), Gelu(37, "bias"), Gelu(16, "div"), Gelu(16, "mul, half first"), Gelu(16, "div, half beside"), Gelu(16, "mul"),
            Heads(3, 16), Heads(2, 5, ("Mul", 0.25), ("images", 1, 1, "tokens")), Heads(4, 32, ("Div", np.sqrt(32)), ("images", 1, "tokens", "tokens"), True),
            Heads(1, 8, ("Div", 2.0), ("tokens", "tokens"), shape=(0, -1)), Heads(2, 16, (), (1, 1, 1, "tokens"), shape=(-1, 0)),
            Heads(3, 12, ("Sqrt",), ("images", 1, 1, "alike"), shape=()), Heads(2, 7, ("Div", 3.0), ("images", 1, 1, "one"), shape=())]


def written_forms():
    """As exporters write them for operator sets before the 17th."""
    whole = ("images", "tokens", 37)
    return [Normalization(16, written=True), Normalization(37, whole, written=True), Normalization(37, whole, gives_sum=True, written=True),
            Normalization(5, "bias", epsilon=1e-12, written=True), Gelu(16, "div"), Heads(3, 16, ("Div", 4.0), ("images", 1, 1, "tokens"))]


def network(every, operators=20):
    """Each operator makes an output of the graph and what a product reads, without which Octet leaves it."""
    b = models.Builder(31)
    for index, one in enumerate(every):
        n = one.add(b, index)
        b.output(f"y{index}", ["images", "tokens", n])
        b.op("DynamicQuantizeMatMul", [f"y{index}", b.constant(b.rng.integers(-60, 60, (n, 3), np.int8)), b.constant(F32([0.01]))], "com.microsoft", outputs=[f"z{index}"])
        b.output(f"z{index}", ["images", "tokens", 3])
    return b.model(operators).SerializeToString()


def detour_network():
    """Nodes of the host between two of Octet's that also follow each other at once, so that they cannot be one node; and a scale that the host makes of
    the sum that is normalized."""
    b = models.Builder(33)
    x, n = b.input("x", ["rows", 16]), 16
    y = b.op("Gelu", [x], "com.microsoft")
    total = b.op("Add", [b.op("Abs", [y]), y])
    b.op("LayerNormalization", [total, b.constant(np.ones(n, F32))], outputs=["y"])
    total = b.op("Add", [x, x])
    b.op("LayerNormalization", [total, b.op("ReduceMax", [total, b.constant(np.int64([0]))], keepdims=0)], outputs=["w"])
    for index, of in enumerate((y, "y", "w")):
        b.op("DynamicQuantizeMatMul", [of, b.constant(b.rng.integers(-60, 60, (n, 3), np.int8)), b.constant(F32([0.01]))], "com.microsoft", outputs=[f"z{index}"])
        b.output(f"z{index}", ["rows", 3])
    b.output("y", ["rows", n])
    b.output("w", ["rows", n])
    return b.model(20).SerializeToString()


def detour_expected(x):
    y, total = gelu(x), x + x
    return [normalized(np.abs(y) + y, np.ones(x.shape[-1], F32), None, 1e-5), normalized(total, total.max(axis=0), None, 1e-5)]


def feeds(every, images, tokens):
    rng = np.random.default_rng(images + 8 * tokens)
    return {f"{name}{index}": value for index, one in enumerate(every) for name, value in one.feed(rng, images, tokens).items()}


def expected(every, given):
    """Of each output but those of the products: its name and its values."""
    results = {}
    for index, one in enumerate(every):
        mine = {name[:-len(str(index))]: value for name, value in given.items() if name.rstrip("0123456789") + str(index) == name}
        with np.errstate(all="ignore"):
            values = one.expected(mine)
        results[f"y{index}"] = values[-1]
        if len(values) == 2:
            results[f"sum{index}"] = values[0]
    return results


def refused_network():
    """Operators of f32 that Octet leaves; with a part of the sentence that each named node gets."""
    b = models.Builder(32)
    reasons = {}
    x, vector, matrix = b.input("x", [2, 5, 8]), b.constant(np.ones(8, F32)), b.constant(np.ones((1, 8), F32))

    def add(kind, name, reason, inputs, domain="", outputs=1, **attributes):
        ends = [f"{name}{end}" for end in range(outputs)]
        b.op(kind, inputs, domain, outputs=ends, **attributes)
        b.nodes[-1].name = name
        for end in ends:
            b.output(end, None)
        reasons[name] = reason

    add("LayerNormalization", "lines", "it is not over the last axis", [x, b.constant(np.ones((5, 8), F32))], axis=1)
    add("LayerNormalization", "means", "it gives out its means", [x, vector], outputs=2)
    add("LayerNormalization", "matrix", "its scale is not known to be a vector", [x, matrix])
    add("LayerNormalization", "double", "its input is not of f32", [b.input("d", [5, 8], TensorProto.DOUBLE), b.constant(np.ones(8))])
    add("LayerNormalization", "below", "its epsilon is not finite, or below 0", [x, vector], epsilon=-1.0)
    add("Gelu", "tanh", "it approximates by tanh", [x], approximate="tanh")
    add("FastGelu", "fast", "it approximates by tanh", [x, vector], "com.microsoft")
    add("LayerNormalization", "alone", "it is next to nothing that Octet takes", [x, vector])
    add("Gelu", "lonely", "it is next to nothing that Octet takes", [x])
    for output in b.outputs:
        if output.name == "double0":
            output.type.tensor_type.elem_type = TensorProto.DOUBLE
    return b.model(20), reasons
