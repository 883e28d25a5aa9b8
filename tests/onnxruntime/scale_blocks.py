# SPDX-License-Identifier: Apache-2.0
"""Makes models of MatMulNBits, and the bytes that Octet's contract gives them."""
import dataclasses

import numpy as np
from onnx import TensorProto

import models

F32 = np.float32


@dataclasses.dataclass
class Product:
    n: int
    k: int
    block: int
    zeros: bool = False  # a zero point for each block, else 8; of 8 bits 128
    bias: bool = False
    bits: int = 4
    codes: np.ndarray = dataclasses.field(default=None, repr=False)  # [n, blocks, block]

    def draw(self, rng, codes=None):
        """codes: those of another product, whose B both share."""
        blocks = -(-self.k // self.block)
        self.codes = rng.integers(0, 2**self.bits, (self.n, blocks, self.block), np.uint8) if codes is None else codes
        self.scales = (rng.uniform(-1, 1, (self.n, blocks)) * 2.0 ** rng.integers(-12, 0, (self.n, blocks))).astype(F32)
        self.zero_points = rng.integers(0, 16, (self.n, blocks), np.uint8) if self.zeros and self.bits == 4 else np.full((self.n, blocks), 2 ** (self.bits - 1), np.uint8)
        self.biases = rng.standard_normal(self.n).astype(F32)

    def inputs(self, b):
        """B, scales, zero points, g_idx and bias as the operator takes them."""
        pairs = lambda codes: codes if self.bits == 8 else codes[..., ::2] | codes[..., 1::2] << 4
        odd = self.zero_points.shape[1] % 2 if self.bits == 4 else 0
        zeros = b.constant(pairs(np.pad(self.zero_points, ((0, 0), (0, odd))))) if self.zeros else ""
        return [b.constant(pairs(self.codes)), b.constant(self.scales), zeros, "", b.constant(self.biases) if self.bias else ""]

    def add(self, b, x, output, level=4):
        attributes = {} if level is None else {"accuracy_level": level}
        b.op("MatMulNBits", [x, *self.inputs(b)], "com.microsoft", outputs=[output], N=self.n, K=self.k, bits=self.bits, block_size=self.block, **attributes)

    def expected(self, given):
        """DESIGN.md, "Numbers": each block is exact, and blocks are added in order, with one rounding for each operation of f32."""
        x = given[f"x{self.k}"]
        rows = np.pad(x.reshape(-1, self.k), ((0, 0), (0, -self.k % self.block))).reshape(-1, self.codes.shape[1], self.block)
        largest = np.abs(rows).max(axis=2, keepdims=True)
        scales = np.where(largest < 2.0 ** -100, F32(1), largest / F32(127))
        quantized = np.rint(rows / scales).astype(np.int64) * (largest >= 2.0 ** -100)
        weights = self.codes.astype(np.int64) - self.zero_points[..., None]
        total = np.zeros((len(rows), self.n), F32)
        for block in range(rows.shape[1]):
            sums = (quantized[:, block] @ weights[:, block].T).astype(F32)
            total = total + sums * (scales[:, block] * self.scales[:, block])
        if self.bias:
            total = total + self.biases
        assert total.dtype == F32
        return total.reshape(*x.shape[:-1], self.n)


def network():
    """Products of all forms, some of which read one tensor, and two with the same B."""
    products = [Product(70, 256, block, zeros, bias)
                for block in (16, 32, 64, 128, 256) for zeros in (False, True) for bias in (False, True)]
    products.append(Product(600, 512, 32, True, True))  # enough for two tasks
    products += [Product(20, 84, 16), Product(20, 84, 32, True, True), Product(20, 84, 128, False, True)]  # the last block is short
    products += [Product(70, 256, block, zeros, True, 8) for block in (16, 32, 128) for zeros in (False, True)] + [Product(20, 84, 32, bits=8)]
    products += [Product(1, 96, 32, True), Product(33, 96, 32, True, True), Product(33, 96, 32, True, True), Product(33, 96, 32)]
    b = models.Builder(16)
    for k in sorted({product.k for product in products}):
        b.input(f"x{k}", ["images", "rows", k])
    for index, product in enumerate(products):
        product.draw(b.rng, products[index - 1].codes if index > len(products) - 3 else None)
        product.add(b, f"x{product.k}", f"y{index}")
        b.output(f"y{index}", ["images", "rows", product.n])
    return b.model(), products


def feeds(products, shape):
    """Rows at random, some blocks of which are zero, tiny or large."""
    rng = np.random.default_rng(sum(shape))
    values = {}
    for k in sorted({product.k for product in products}):
        factors = rng.choice([0, 1e-39, 1e-3, 1, 1, 1, 1e6], (*shape, -(-k // 16)))
        values[f"x{k}"] = (rng.standard_normal((*shape, k)) * np.repeat(factors, 16, axis=-1)[..., :k]).astype(F32)
    return values


def unset_network():
    """Products whose accuracy_level does not ask for int8."""
    b = models.Builder(17)
    x = b.input("x", ["rows", 64])
    for level in (None, 0, 1, 2):
        product = Product(8, 64, 32)
        product.draw(b.rng)
        product.add(b, x, f"y{level}", level)
        b.output(f"y{level}", ["rows", 8])
    return b.model()


def refused_network():
    """Products that Octet leaves; with a part of the sentence that each named node gets."""
    b = models.Builder(18)
    inputs = {k: b.input(f"x{k}", ["rows", k]) for k in (64, 512)}
    reasons = {}

    def add(name, reason, constants, **attributes):
        given = {"N": 8, "K": 64, "bits": 4, "block_size": 32, "accuracy_level": 4, **attributes}
        b.output(b.op("MatMulNBits", [inputs[given["K"]], *constants], "com.microsoft", **given), ["rows", 8])
        b.nodes[-1].name = name
        reasons[name] = reason

    product = Product(8, 64, 32)
    product.draw(b.rng)
    weights, scales, *_ = product.inputs(b)
    half = b.constant(np.full((8, 2), 7.5, F32))
    add("groups", "it has g_idx", [weights, scales, "", b.constant(np.arange(64, dtype=np.int32) // 32)])
    bytes_ = b.constant(b.rng.integers(0, 256, (8, 2, 32), np.uint8))
    add("bytes", "its weights have 8 bits and zero points other than 128", [bytes_, scales, b.constant(np.full((8, 2), 127, np.uint8))], bits=8)
    add("level", "its accuracy_level is 1, and Octet quantizes the input to int8, as 4 allows; with the option accuracy_level = 4",
        [weights, scales], accuracy_level=1)
    add("omitted", "its B has 0 elements instead of 256", [b.constant(np.zeros((0, 2, 16), np.uint8)), scales])
    add("halves", "its zero_points is not of uint8", [weights, scales, half])
    add("computed", "its scales is no constant", [weights, b.input("s", [8, 2])])
    add("blocks", "its block_size is 512; it takes multiples of 16 up to 256",
        [b.constant(np.zeros((8, 1, 256), np.uint8)), b.constant(np.ones((8, 1), F32))], K=512, block_size=512)
    return b.model(), reasons
