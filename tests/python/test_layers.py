# SPDX-License-Identifier: Apache-2.0
"""Linear and Conv2d against the numeric contract in NumPy: all bytes."""

import numpy as np
import pytest

import octet
from reference import convolve, dequantized, quantize_rows, random, requantize

U8, S8 = octet.Quantization(0.02, 117, "uint8"), octet.Quantization(0.03, -9, "int8")


def test_quantization():
    x = np.float32([-1e9, -1, 0, 0.01, 0.03, 1e9, np.nan])
    assert U8.quantize(x).tolist() == [
        0,
        67,
        117,
        117,
        119,
        255,
        117,
    ]  # 0.01 is half a step, to even
    assert np.array_equal(
        U8.dequantize(U8.quantize(x[1:5])),
        (np.float32([67, 117, 117, 119]) - 117) * np.float32(0.02),
    )
    w = octet.quantize_weights([[0, 0], [1, -2], [127, 3]])
    assert w.values.tolist() == [[0, 0], [64, -127], [127, 3]] and w.values.dtype == np.int8
    assert np.array_equal(w.scales, np.float32([1, np.float32(2) / 127, 1]))
    assert np.array_equal(
        octet.Weights(np.uint8([[3, 4]]), np.float32([2]), np.int32([5])).dequantize(), [[-4, -2]]
    )


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("rows", [1, 2, 33])
def test_dynamic_linear(symmetric, rows):
    rng = np.random.default_rng(rows)
    w = octet.quantize_weights(rng.standard_normal((50, 129)))
    x, bias = rng.standard_normal((rows, 129)).astype(np.float32), rng.standard_normal(50).astype(
        np.float32
    )
    q, scale = quantize_rows(x, symmetric)
    sums = q @ w.values.T.astype(np.int64)
    for b in (None, bias):
        layer = octet.Linear(w, b, symmetric=symmetric)
        assert np.array_equal(layer(x), dequantized(sums, scale, w.scales, b))
        assert np.array_equal(
            layer(x.reshape(1, rows, 1, 129), threads=2), layer(x).reshape(1, rows, 1, 50)
        )
    assert (
        np.array_equal(
            octet.Linear(w, activation="relu")(x, threads=2), np.maximum(octet.Linear(w)(x), 0)
        )
        or not symmetric
    )


@pytest.mark.parametrize("source", [U8, S8])
@pytest.mark.parametrize("w_type", [np.int8, np.uint8])
def test_static_linear(source, w_type):
    rng = np.random.default_rng(7)
    values, scales = random(rng, (40, 90), w_type), rng.uniform(0.001, 0.002, 40).astype(np.float32)
    zero_points = rng.integers(100, 110, 40, np.int32)
    x, bias = random(rng, (13, 90), source.dtype), rng.integers(-9999, 9999, 40, np.int32)
    w = octet.Weights(values, scales, zero_points)
    sums = (x.astype(np.int64) - source.zero_point) @ (
        values.astype(np.int64) - zero_points[:, None]
    ).T + bias
    sum_scales = float(np.float32(source.scale)) * scales.astype(np.float64)
    assert np.array_equal(octet.Linear(w, bias, input=source, output="int32")(x), sums)
    want = sums.astype(np.int32).astype(np.float32) * sum_scales.astype(np.float32)
    assert np.array_equal(octet.Linear(w, bias, input=source)(x), want)
    for target in (octet.Quantization(0.5, 30, "uint8"), octet.Quantization(0.5, -30, "int8")):
        output_scales = (sum_scales / float(np.float32(target.scale))).astype(np.float32)
        for activation, low, high in (
            (None, None, None),
            ("relu", target.zero_point, None),
            ("relu6", target.zero_point, target.zero_point + 12),
        ):
            layer = octet.Linear(w, bias, input=source, output=target, activation=activation)
            want = requantize(sums, output_scales, target, low, high)
            out = np.zeros_like(want)
            assert layer(x, out) is out and np.array_equal(out, want) and len(np.unique(want)) > 3
            assert np.array_equal(layer(x, threads=2), want)


def test_float_bias():
    """A float32 bias is rounded to the scale of the sums."""
    w = octet.Weights(np.int8([[1, 1], [2, 2]]), np.float32([0.5, 0.25]))
    layer = octet.Linear(
        w, np.float32([10, -3]), input=octet.Quantization(0.5, 0, "int8"), output="int32"
    )
    assert layer(np.int8([[1, 1]])).tolist() == [[2 + 40, 4 - 24]]


CASES = [  # input h, w, channels; output channels, kernel; then what differs
    ((9, 11, 8), 16, (3, 3), {}),
    ((14, 14, 32), 24, (1, 1), {}),
    ((12, 13, 16), 16, (3, 3), {"padding": 1, "pads": (1, 1, 1, 1)}),
    ((12, 13, 16), 16, (3, 3), {"stride": 2, "padding": (0, 1, 2, 1), "pads": (0, 1, 2, 1)}),
    ((12, 13, 6), 10, (5, 3), {"dilation": (1, 2), "padding": (2, 1), "pads": (2, 2, 1, 1)}),
    ((10, 10, 24), 24, (3, 3), {"groups": 24, "padding": 1, "pads": (1, 1, 1, 1)}),
    ((10, 10, 16), 32, (3, 3), {"groups": 4, "padding": "valid"}),
    ((11, 12, 8), 8, (3, 3), {"stride": 2, "padding": "same", "pads": (1, 1, 0, 1)}),
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("source", [U8, S8])
def test_conv2d(case, source):
    size, channels, kernel, settings = case
    settings = dict(settings)
    pads = settings.pop("pads", (0, 0, 0, 0))
    groups, stride = settings.get("groups", 1), settings.get("stride", 1)
    dilation = settings.get("dilation", (1, 1))
    rng = np.random.default_rng(11)
    values = random(rng, (channels, *kernel, size[2] // groups), np.int8)
    w = octet.Weights(values, rng.uniform(0.001, 0.002, channels).astype(np.float32))
    x, bias = random(rng, (2, *size), source.dtype), rng.integers(-9999, 9999, channels, np.int32)
    sums = (
        convolve(
            x.astype(np.int64) - source.zero_point,
            values.astype(np.int64),
            (stride, stride),
            pads,
            dilation,
            groups,
        )
        + bias
    )
    exact = octet.Conv2d(w, bias, input=source, output="int32", **settings)
    assert np.array_equal(exact(x), sums)
    target = octet.Quantization(0.3, 100, "uint8")
    scales = (
        float(np.float32(source.scale)) * w.scales.astype(np.float64) / float(np.float32(0.3))
    ).astype(np.float32)
    want = requantize(sums, scales, target, 100)
    for hint in ((56, 56), size[:2], (3, 3)):  # the algorithm may differ, the bytes do not
        layer = octet.Conv2d(
            w, bias, input=source, output=target, activation="relu", size=hint, **settings
        )
        assert np.array_equal(layer(x), want) and np.array_equal(layer(x, threads=2), want)
        assert np.array_equal(layer(x[1:]), want[1:])
    planar = octet.Conv2d(
        octet.Weights(np.ascontiguousarray(values.transpose(0, 3, 1, 2)), w.scales),
        bias,
        input=source,
        output=target,
        activation="relu",
        order="OIHW",
        layout="NCHW",
        **settings,
    )
    assert np.array_equal(
        planar(np.ascontiguousarray(x.transpose(0, 3, 1, 2))), want.transpose(0, 3, 1, 2)
    )


def test_conv2d_sizes():
    """One layer, images of many sizes, SAME padding for each; channels of a wider tensor."""
    rng = np.random.default_rng(12)
    values = random(rng, (8, 3, 3, 8), np.int8)
    layer = octet.Conv2d(
        octet.Weights(values, np.float32([0.01])),
        input=U8,
        output="int32",
        stride=2,
        padding="same",
        size=(9, 9),
    )
    for images, height, width in ((1, 9, 9), (3, 30, 4), (1, 7, 40), (5, 1, 1), (2, 64, 33)):
        x = random(rng, (images, height, width, 8), np.uint8)
        along_h, along_w = (max((-(-n // 2) - 1) * 2 + 3 - n, 0) for n in (height, width))
        pads = (along_h // 2, along_h - along_h // 2, along_w // 2, along_w - along_w // 2)
        want = convolve(x.astype(np.int64) - 117, values.astype(np.int64), (2, 2), pads)
        assert np.array_equal(layer(x), want)
        wide = random(rng, (images, height, width, 20), np.uint8)
        wide[..., 5:13] = x
        assert np.array_equal(layer(wide[..., 5:13], threads=2), want)


def test_dynamic_conv2d():
    rng = np.random.default_rng(13)
    w = octet.quantize_weights(rng.standard_normal((12, 3, 3, 5)))
    x, bias = rng.standard_normal((2, 9, 8, 5)).astype(np.float32), rng.standard_normal(12).astype(
        np.float32
    )
    q, scale = quantize_rows(x.reshape(2, -1), True)
    sums = convolve(q.reshape(x.shape), w.values.astype(np.int64))
    assert np.array_equal(
        octet.Conv2d(w, bias)(x), dequantized(sums, scale.reshape(2, 1, 1, 1), w.scales, bias)
    )


def test_reports():
    linear = octet.Linear(octet.quantize_weights(np.ones((50, 129))))
    assert (linear.in_features, linear.out_features) == (129, 50)
    assert (
        linear.kernel(64) in repr(linear)
        and f"{linear.packed_bytes} bytes" in repr(linear)
        and "129 -> 50" in repr(linear)
    )
    why = octet.explain(linear, rows=3)
    assert (
        why["kernel"] == linear.kernel(3)
        and why["packed_bytes"] == linear.packed_bytes
        and why["tier"] in octet.cpu()["detected"]
    )
    conv = octet.Conv2d(octet.quantize_weights(np.ones((50, 3, 3, 16))))
    assert (
        conv.kernel in repr(conv)
        and conv.algorithm in repr(conv)
        and f"{conv.packed_bytes} bytes" in repr(conv)
    )
    (chosen,) = [candidate for candidate in octet.explain(conv) if candidate["chosen"]]
    assert chosen["algorithm"] == conv.algorithm and chosen["possible"]


def test_numbers_of_numpy():
    """Strides, pads and counts may be NumPy's numbers."""
    w, x = octet.quantize_weights(np.ones((4, 3, 3, 2))), np.ones((1, 5, 6, 4), np.float32)
    two, one = np.int64(2), np.int64(1)
    got = octet.Conv2d(w, stride=two, padding=(one, one), groups=two)(x, threads=two)
    assert np.array_equal(got, octet.Conv2d(w, stride=(2, 2), padding=1, groups=2)(x))
