# SPDX-License-Identifier: Apache-2.0
"""Makes models of QAttention, and the bytes that Octet's contract gives them, with how far ONNX Runtime's may be off."""
import dataclasses

import numpy as np
from onnx import TensorProto

import models

F32, UNIT = np.float32, 2.0 ** -24
LOWEST = np.finfo(F32).min


def exponential(x):
    """Of x at most 0: docs/engines.md, "Attention"."""
    small = x < F32(-87)
    x = np.where(small, F32(-87), x)
    n = (x * F32(float.fromhex("0x1.715476p+0")) + F32(12582912)) - F32(12582912)
    r = (x - n * F32(0.693359375)) - n * F32(float.fromhex("-0x1.bd0106p-13"))
    total = r * (F32(1) / F32(5040)) + F32(1) / F32(720)
    for term in (F32(1) / F32(120), F32(1) / F32(24), F32(1) / F32(6), F32(0.5), F32(1), F32(1)):
        total = total * r + term
    return np.where(small, F32(0), np.ldexp(total, n.astype(np.int32)))


def attended(q, k, v, factor, added):
    """Of [image, head, token, element]; also what the bound needs."""
    shape = (*q.shape[:-1], k.shape[-2])
    scores, sizes = (np.zeros(shape, kind) for kind in (F32, np.float64))
    for d in range(q.shape[-1]):
        each = q[..., :, None, d] * k[..., None, :, d]
        scores, sizes = scores + each, sizes + np.abs(each)
    scores = factor * scores + added
    below = scores - scores.max(axis=-1, keepdims=True)
    e = exponential(below)
    lanes = np.zeros((*e.shape[:3], 16), F32)
    for t in range(shape[-1]):
        lanes[..., t % 16] += e[..., t]
    for half in (8, 4, 2, 1):
        lanes = lanes[..., :half] + lanes[..., half:2 * half]
    weighted = np.zeros(q.shape, F32)
    for t in range(shape[-1]):
        weighted = weighted + e[..., t, None] * v[..., None, t, :]
    result = weighted / lanes
    assert result.dtype == F32
    return result, e, lanes, below, scores, sizes


@dataclasses.dataclass
class Attention:
    heads: int
    depth: int  # of a head
    k: int  # of the input
    weights: type = np.int8
    per_column: bool = False
    zeros: str = ""  # of the weights: none, "one" or "columns"
    mask: tuple = ()  # its shape
    options: dict = dataclasses.field(default_factory=dict)
    computed: bool = False  # scale and zero point of the input are the graph's inputs
    quantizer: bool = False  # they are those of a DynamicQuantizeLinear
    signed: bool = False  # the input is int8
    spread: float = 1.0

    def draw(self, rng):
        n = 3 * self.heads * self.depth
        low, high = (-127, 127) if self.weights is np.int8 else (0, 255)
        self.w = rng.integers(low, high, (self.k, n), self.weights, endpoint=True)
        self.w_scale = (rng.uniform(0.5, 1, n if self.per_column else 1) * self.spread * 0.3 / np.sqrt(self.k) / 64).astype(F32)
        count = {"": 0, "one": 1, "columns": n}[self.zeros]
        self.w_zero = rng.integers(low // 8, high // 8, count, self.weights) if self.weights is np.int8 else rng.integers(118, 138, count, np.uint8)
        self.bias = (rng.standard_normal(n) * 0.3).astype(F32)
        self.x_scale, self.x_zero = F32(0.05), np.int8(-9) if self.signed else np.uint8(119)

    def add(self, b, index):
        x, end = f"x{index}", lambda name, shape, kind: b.input(f"{name}{index}", shape, kind)
        kind = TensorProto.INT8 if self.signed else TensorProto.UINT8
        b.input(x, ["images", "tokens", self.k], TensorProto.FLOAT if self.quantizer else kind)
        if self.quantizer:
            outputs = [f"{name}{index}" for name in ("bytes", "scale", "zero")]
            b.op("DynamicQuantizeLinear", [x], outputs=outputs)
            x, scale, zero = outputs
        elif self.computed:
            scale, zero = end("scale", [1], TensorProto.FLOAT), end("zero", [], kind)
        else:
            scale, zero = b.constant(self.x_scale), b.constant(self.x_zero)
        mask = end("mask", self.mask, TensorProto.INT32) if self.mask else ""
        w_zero = b.constant(self.w_zero if self.zeros == "columns" else self.w_zero[0]) if self.zeros else ""
        b.op("QAttention", [x, b.constant(self.w), b.constant(self.bias), scale, b.constant(self.w_scale if self.per_column else self.w_scale[0]), mask, zero, w_zero],
             "com.microsoft", outputs=[f"y{index}"], num_heads=self.heads, **self.options)
        b.output(f"y{index}", ["images", "tokens", self.heads * self.depth])

    def feed(self, rng, index, images, tokens):
        """Masks are at random; ends and starts may lie outside of the tokens."""
        shape, given = (images, tokens, self.k), {}
        if self.quantizer:
            given["x"] = rng.standard_normal(shape).astype(F32)
        else:
            given["x"] = rng.integers(-128, 127, shape, np.int8, endpoint=True) if self.signed else rng.integers(0, 255, shape, np.uint8, endpoint=True)
        if self.computed:
            given["scale"], given["zero"] = self.x_scale[None], np.array(self.x_zero)
        if self.mask:
            sizes = {"images": images, "tokens": tokens, "both": 2 * images}
            of = [sizes.get(size, size) for size in self.mask]
            given["mask"] = rng.integers(0, tokens + 3, of, np.int32) if len(of) == 1 else rng.integers(-1, 3, of, np.int32)
            if self.mask == ("both",):
                given["mask"][images:] = rng.integers(-2, tokens + 2, images, np.int32) // 2
        return {f"{name}{index}": value for name, value in given.items()}

    def added(self, mask, images, tokens):
        """The addends of the scores of each pair of tokens."""
        at, value = np.arange(tokens), F32(self.options.get("mask_filter_value", -10000))
        shown = np.ones((images, tokens, tokens), bool)
        if mask is not None and mask.ndim == 1:
            shown &= at < mask[:images, None, None]
            if len(mask) > images:
                shown &= at >= mask[images:, None, None]
        elif mask is not None and mask.shape == (images, tokens):
            shown &= mask[:, None, :] > 0
        elif mask is not None and mask.ndim == 3:
            shown &= mask > 0
        sums = np.where(shown, F32(0), value)
        if self.options.get("unidirectional"):
            sums = np.where(at[:, None] < at, LOWEST, sums)
        return sums[:, None]

    def bytes_of(self, x):
        if not self.quantizer:
            return x, self.x_scale, self.x_zero
        low, high = min(x.min(), F32(0)), max(x.max(), F32(0))
        scale = (high - low) / F32(255)
        zero = F32(np.rint(F32(0) - low / scale))
        return np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.uint8), scale, zero.astype(np.uint8)

    def expected(self, given, index):
        """(bytes of the contract, most that another order of the same additions is off)"""
        given = {name: given.get(f"{name}{index}") for name in ("x", "mask")}
        images, tokens, _ = given["x"].shape
        if given["x"].size == 0:
            return np.zeros((images, tokens, self.heads * self.depth), F32), 0
        x, scale, zero = self.bytes_of(given["x"])
        zeros = self.w_zero.astype(np.int64) if self.zeros else 0
        sums = (x.astype(np.int64) - int(zero)) @ (self.w.astype(np.int64) - zeros)
        products = sums.astype(F32) * (scale * self.w_scale) + self.bias
        q, k, v = products.reshape(images, tokens, 3, self.heads, self.depth).transpose(2, 0, 3, 1, 4)
        factor = F32(self.options.get("scale", 0)) or F32(1) / np.sqrt(F32(self.depth))
        result, e, lanes, below, scores, sizes = attended(q, k, v, factor, self.added(given["mask"], images, tokens))
        return result.transpose(0, 2, 1, 3).reshape(images, tokens, -1), self.bound(e, lanes, below, scores, sizes * abs(factor), v)

    def bound(self, e, total, below, scores, sizes, v):
        """docs/engines.md, "Attention": of two results that round differently."""
        tokens = e.shape[-1]
        shares = e.astype(np.float64) / total
        # Relative errors of an exponential: of its score, of its distance from the largest one, and its own; then of its share.
        of_one = (self.depth + 2) * sizes + np.abs(scores) * (shares > 0) + np.minimum(np.abs(below), 88) + 4
        of_share = of_one + (shares * of_one).sum(axis=-1, keepdims=True) + 2 * tokens + 8
        most = UNIT * (shares * of_share) @ np.abs(v).astype(np.float64)
        return (2 * most).transpose(0, 2, 1, 3).reshape(e.shape[0], tokens, -1)


def network(every):
    b = models.Builder(19)
    for index, attention in enumerate(every):
        attention.draw(b.rng)
        attention.add(b, index)
    return b.model().SerializeToString()


def forms():
    """All masks and zero points, heads of any depth, scores of any size."""
    pairs = ("images", "tokens", "tokens")
    return [Attention(4, 32, 96), Attention(3, 20, 60, np.uint8, True, "columns", ("images",)), Attention(2, 16, 48, np.int8, True, "", ("both",)),
            Attention(12, 8, 40, np.int8, False, "one", ("images", "tokens")), Attention(1, 5, 33, np.uint8, False, "one", pairs, {"scale": 0.7, "mask_filter_value": -3.0}),
            Attention(2, 64, 128, options={"unidirectional": 1}), Attention(2, 33, 32, np.int8, True, "columns", ("images", "tokens"), {"unidirectional": 1}, True),
            Attention(4, 16, 64, mask=("images", 1), quantizer=True), Attention(4, 32, 96, mask=("images", "tokens"), quantizer=True, spread=20.0),
            Attention(2, 8, 16, mask=pairs, options={"unidirectional": 1}, computed=True)]


def signed_forms():
    """Inputs of int8, for which ONNX Runtime has no kernel."""
    return [Attention(3, 20, 60, np.uint8, True, "columns", ("images",), signed=True), Attention(2, 16, 48, mask=("images", "tokens"), computed=True, signed=True)]


def feeds(every, images, tokens):
    rng, given = np.random.default_rng(images + 8 * tokens), {}
    for index, attention in enumerate(every):
        given.update(attention.feed(rng, index, images, tokens))
    return given


def refused_network():
    """Attention that Octet leaves; with a part of the sentence that each named node gets."""
    b = models.Builder(21)
    reasons = {}
    x = b.input("x", [1, 5, 8], TensorProto.UINT8)
    weights, bias = b.constant(b.rng.integers(-60, 60, (8, 24), np.int8)), b.constant(np.zeros(24, F32))
    one, zero, no_zero = b.constant(F32(0.02)), b.constant(np.uint8(120)), b.constant(np.int8(0))
    past = b.input("past", [2, 1, 2, 3, 4])

    def add(name, reason, changed={}, outputs=1, **attributes):
        """changed: inputs by their number."""
        inputs = [x, weights, bias, one, one, "", zero, no_zero, ""]
        for index, value in changed.items():
            inputs[index] = value
        ends = [f"{name}{end}" for end in range(outputs)]
        b.op("QAttention", inputs, "com.microsoft", outputs=ends, **{"num_heads": 2, **attributes})
        b.nodes[-1].name = name
        b.output(ends[0], [1, 5, 8])
        if outputs > 1:
            b.output(ends[1], None)
        reasons[name] = reason

    add("past", "it has keys and values of the past", {8: past}, 2)
    add("present", "it gives out its keys and values (present)", outputs=2)
    add("rotated", "it rotates queries and keys (do_rotary)", do_rotary=1)
    add("shared", "its past and present share a buffer", past_present_share_buffer=1)
    add("heads", "its 8 columns are not divided by num_heads = 3", num_heads=3)
    add("computed", "its weights are no constant of 8 bits", {1: b.input("w", [8, 24], TensorProto.INT8)})
    add("bias", "its bias is no constant", {2: b.input("b", [24])})
    add("scales", "its weight_scale has 5 elements instead of 24", {4: b.constant(np.ones(5, F32))})
    add("negative", "desc.epilogue.scales[0] is -1; it must be finite, positive", {4: b.constant(F32(-1))})
    add("zeros", "its weight_zero_point is no constant", {7: b.input("z", [1], TensorProto.INT8)})
    add("megatron", "its mask_index is not of int32 with 1 to 3 axes", {5: b.input("mask", [1, 1, 5, 5], TensorProto.INT32)})
    scale, zero_point = "the scale of its input is not one finite number above 0", "the zero point of its input is not one number"
    for number, value in enumerate((0, -1, np.nan, np.inf)):
        add(f"scale{number}", scale, {3: b.constant(F32(value))})
    add("two scales", scale, {3: b.constant(np.ones(2, F32))})
    add("two zeros", zero_point, {6: b.constant(np.uint8([120, 120]))})
    for number, shape in enumerate(((3,), (1, 4), (2, 5), (1, 5, 4), ())):
        add(f"shape{number}", "its mask_index has no shape of a mask of its input", {5: b.constant(np.ones(shape, np.int32))})
    add("given shape", "its mask_index has no shape of a mask of its input", {5: b.input("three", [3], TensorProto.INT32)})
    add("infinite", "its mask_filter_value is not finite", mask_filter_value=-np.inf)
    return b.model(), reasons
