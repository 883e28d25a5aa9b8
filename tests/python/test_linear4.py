# SPDX-License-Identifier: Apache-2.0
"""Linear4, with weights of 4 bits, against the numeric contract in NumPy: all bytes."""

import copy

import numpy as np
import pytest

import octet
from reference import dequantized, quantize_rows

F = np.float32


def nibbles(weights):
    """The weights less their zero points, int64, (n, blocks, block)."""
    pairs = np.stack([weights.values & 15, weights.values >> 4], axis=-1).astype(np.int64)
    if weights.dtype == "int4":
        pairs = np.where(pairs > 7, pairs - 16, pairs)
    q = pairs.reshape(len(weights.values), weights.scales.shape[1], -1)
    if weights.zero_points is None:
        return q
    zeros = np.broadcast_to(weights.zero_points, weights.scales.shape)
    return q - zeros[:, :, None]


def packed(q):
    """uint8 of two nibbles in each, the even one in the low half, of q, (n, k)."""
    return (q[:, ::2] & 15 | (q[:, 1::2] & 15) << 4).astype(np.uint8)


def in_blocks(x, weights, by_block, bias=None):
    """The contract of scale blocks: exact sums, which are added as floats in order."""
    q, scales = nibbles(weights), weights.scales.astype(F)
    blocks, block = q.shape[1:]
    rows = x.reshape(len(x), blocks, block)
    if by_block:
        pairs = [quantize_rows(np.ascontiguousarray(rows[:, b]), True) for b in range(blocks)]
    else:
        whole, scale = quantize_rows(x, True)
        pairs = [(whole.reshape(rows.shape)[:, b], scale) for b in range(blocks)]
    total = np.zeros((len(x), len(q)), F)
    for b, (lhs, lhs_scale) in enumerate(pairs):
        factors = lhs_scale * scales[:, b] if by_block else scales[:, b]
        total = total + (lhs @ q[:, b].T).astype(F) * factors
    if not by_block:
        total = total * pairs[0][1]
    return total if bias is None else total + bias


def operands(rows=3, n=24, k=256):
    rng = np.random.default_rng(rows)
    w, x = rng.standard_normal((n, k)).astype(F), rng.standard_normal((rows, k)).astype(F)
    return w, x, rng.standard_normal(n).astype(F)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("block", [None, 16, 32, 64, 128])
def test_quantizer(block, symmetric):
    """Each weight comes back within half a step, and within a rounding of the scale to f16."""
    w, _, _ = operands()
    weights = octet.quantize_weights(w, bits=4, block=block, symmetric=symmetric)
    blocks = 1 if block is None else 256 // block
    assert weights.values.shape == (24, 128) and weights.scales.shape == (24, blocks)
    assert weights.scales.dtype == (np.float32 if block is None else np.float16)
    assert (weights.zero_points is None) == symmetric
    steps = weights.scales.astype(F)[:, :, None]
    off = np.abs((w - weights.dequantize()).reshape(24, blocks, -1)) / steps
    assert off.max() <= 0.51 + (0 if symmetric else 0.5)  # the ends may saturate by half a step
    assert np.array_equal(
        weights.dequantize(), (nibbles(weights).astype(F) * steps).reshape(24, 256)
    )


@pytest.mark.parametrize("rows", [1, 2, 33])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("block", [16, 32, 128])
def test_scale_blocks(block, symmetric, rows):
    w, x, bias = operands(rows)
    weights = octet.quantize_weights(w, bits=4, block=block, symmetric=symmetric)
    for by_block in (True, False):
        layer = octet.Linear4(weights, bias, by_block=by_block)
        want = in_blocks(x, weights, by_block, bias)
        assert np.array_equal(layer(x), want)
        out = np.zeros_like(want)
        assert layer(x, out, threads=2) is out and np.array_equal(out, want)
        relu = octet.Linear4(weights, bias, by_block=by_block, activation="relu")
        assert np.array_equal(relu(x), np.maximum(want, 0))
        assert copy.deepcopy(layer) is layer


@pytest.mark.parametrize("symmetric", [True, False])
def test_scales_per_channel(symmetric):
    w, x, bias = operands()
    weights = octet.quantize_weights(w, bits=4, symmetric=symmetric)
    q, scale = quantize_rows(x, True)
    want = dequantized(q @ nibbles(weights)[:, 0].T, scale, weights.scales[:, 0], bias)
    assert np.array_equal(octet.Linear4(weights, bias)(x, threads=2), want)


def test_importers():
    """Arrays in the layouts of GGUF, MatMulNBits, GPTQ and AWQ that hold the same weights."""
    rng = np.random.default_rng(5)
    n, k, block = 16, 64, 32
    q, zeros = rng.integers(0, 16, (n, k)), rng.integers(1, 16, (n, k // block))
    scales = rng.uniform(0.01, 0.02, zeros.shape).astype(np.float16)
    x = rng.standard_normal((4, k)).astype(F)

    def want(zero_points):
        return octet.Linear4(octet.Weights4(packed(q), scales, block, np.int32(zero_points), "uint4"))(x)

    halves = q.reshape(n, 2, 2, 16)  # Q4_0: weight j + 16 in the high half of byte j
    tensor = np.concatenate(
        [scales.view(np.uint8).reshape(n, 2, 2), (halves[:, :, 0] | halves[:, :, 1] << 4)], axis=2
    ).astype(np.uint8)
    assert np.array_equal(octet.Linear4.from_q4_0(tensor.reshape(n, -1))(x), want([8]))

    b = packed(q).reshape(n, 2, 16)
    assert np.array_equal(octet.Linear4.from_matmulnbits(b, scales)(x), want([8]))
    layer = octet.Linear4.from_matmulnbits(b, scales.reshape(-1).astype(F), packed(zeros))
    assert np.array_equal(layer(x), want(zeros)) and layer.block == 32

    def words(values, order=range(8)):  # along the last axis
        eights = values.reshape(*values.shape[:-1], -1, 8).astype(np.uint32)
        return sum(eights[..., c] << np.uint32(4 * i) for i, c in enumerate(order)).view(np.int32)

    qweight = np.ascontiguousarray(words(q).T)  # (k / 8, n)
    g_idx = np.arange(k, dtype=np.int32) // block
    for v2 in (False, True):
        qzeros = words(np.ascontiguousarray((zeros - (not v2)).T))
        layer = octet.Linear4.from_gptq(qweight, qzeros, scales.T, g_idx, v2=v2)
        assert np.array_equal(layer(x), want(zeros))
    with pytest.raises(NotImplementedError, match="g_idx"):
        octet.Linear4.from_gptq(qweight, qzeros, scales.T, g_idx[::-1].copy())
    awq = (0, 2, 4, 6, 1, 3, 5, 7)
    layer = octet.Linear4.from_awq(
        words(np.ascontiguousarray(q.T), awq), words(np.ascontiguousarray(zeros.T), awq), scales.T
    )
    assert np.array_equal(layer(x), want(zeros))


def test_repr_and_explain():
    w, x, _ = operands()
    layer = octet.Linear4(octet.quantize_weights(w, bits=4, block=64))
    text = repr(layer)
    assert text.startswith("octet.Linear4(256 -> 24, blocks of 64, ")
    assert layer.kernel(64) in text and f"{layer.packed_bytes} bytes" in text
    assert "scale" in layer.kernel(64) or "block" in layer.kernel(64)
    facts = octet.explain(layer, rows=1)
    assert facts["kernel"] == layer.kernel(1) and facts["packed_bytes"] == layer.packed_bytes
    assert layer.packed_bytes < octet.Linear(octet.quantize_weights(w)).packed_bytes
    assert "per channel" in repr(octet.Linear4(octet.quantize_weights(w, bits=4)))


@pytest.mark.parametrize(
    "kind, message, call",
    [
        (ValueError, "block is 48: it is to divide k, 256", dict(block=48)),
        (ValueError, "block is 512", dict(block=512)),
        (ValueError, "block is 8: None or a multiple of 16", dict(block=8)),
        (ValueError, "block is 0", dict(block=0)),
        (ValueError, "bits is 5", dict(bits=5)),
        (ValueError, "those of 8 have no blocks", dict(bits=8, block=32)),
    ],
)
def test_quantizer_refuses(kind, message, call):
    with pytest.raises(kind, match=message):
        octet.quantize_weights(operands()[0], **{"bits": 4, **call})


def test_refuses():
    w, x, bias = operands()
    weights = octet.quantize_weights(w, bits=4, block=32)
    with pytest.raises(ValueError, match=r"\(n, k\) with an even k"):
        octet.quantize_weights(w[:, :3], bits=4)
    with pytest.raises(ValueError, match="NaN|infinit|finite"):
        octet.quantize_weights(w * F(np.inf), bits=4, block=32)
    with pytest.raises(TypeError, match="octet.Weights4 are needed"):
        octet.Linear4(octet.quantize_weights(w))
    with pytest.raises(TypeError, match="octet.Weights are needed"):
        octet.Linear(weights)
    with pytest.raises(TypeError, match="bias has the type int32"):
        octet.Linear4(weights, bias.astype(np.int32))
    with pytest.raises(ValueError, match="bias has 23 elements"):
        octet.Linear4(weights, bias[:-1])
    with pytest.raises(ValueError, match=r"scales have the shape \(24, 4\)"):
        octet.Linear4(octet.Weights4(weights.values, weights.scales[:, :4], 32))
    with pytest.raises(ValueError, match="zero_points has 5 elements"):
        octet.Linear4(octet.Weights4(weights.values, weights.scales, 32, np.int32([1] * 5)))
    with pytest.raises(ValueError, match="dtype is int8"):
        octet.Weights4(weights.values, weights.scales, 32, dtype="int8")
    with pytest.raises(TypeError, match="x has the type float64"):
        octet.Linear4(weights)(x.astype(np.float64))
    with pytest.raises(ValueError, match="its last axis is to have 256 elements"):
        octet.Linear4(weights)(x[:, :32])
    with pytest.raises(ValueError, match="whole blocks of 18 bytes"):
        octet.Linear4.from_q4_0(np.zeros((2, 19), np.uint8))
    with pytest.raises(ValueError, match=r"qzeros has the shape \(1, 1\): \(2, 1\) is needed"):
        octet.Linear4.from_awq(
            np.zeros((64, 1), np.int32), np.zeros((1, 1), np.int32), np.ones((2, 8), np.float16)
        )
    with pytest.raises(ValueError, match="layout|groups are to divide k"):
        octet.Linear4.from_gptq(
            np.zeros((8, 8), np.int32), np.zeros((5, 1), np.int32), np.ones((5, 8), np.float16)
        )
    with pytest.raises(ValueError, match="zero_points has 3 bytes"):
        octet.Linear4.from_matmulnbits(
            np.zeros((8, 2, 16), np.uint8), np.ones(16, F), np.zeros(3, np.uint8)
        )
