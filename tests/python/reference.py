# SPDX-License-Identifier: Apache-2.0
"""The numeric contract in NumPy: every step as DESIGN.md has it, and no code of Octet's."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def random(rng, shape, dtype):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def convolve(x, w, stride=(1, 1), pads=(0, 0, 0, 0), dilation=(1, 1), groups=1):
    """Sums of an NHWC x (int64, zero point taken off) with OHWI weights (int64)."""
    top, bottom, left, right = pads
    x = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    height, width = ((size - 1) * step + 1 for size, step in zip(w.shape[1:3], dilation))
    windows = sliding_window_view(x, (height, width), axis=(1, 2))[
        :, :: stride[0], :: stride[1], :, :: dilation[0], :: dilation[1]
    ]
    parts = []
    for group_x, group_w in zip(np.split(windows, groups, axis=3), np.split(w, groups)):
        parts.append(np.einsum("byxchw,ohwc->byxo", group_x, group_w))
    return np.concatenate(parts, axis=3)


def requantize(sums, scales, quantization, low=None, high=None):
    """Float mode: round_half_even(float(sum) * scale), clamped, and the zero point."""
    limits = np.iinfo(quantization.dtype)
    low = limits.min if low is None else low
    high = limits.max if high is None else high
    steps = sums.astype(np.int32).astype(np.float32) * scales.astype(np.float32)
    steps = np.clip(
        steps, np.float32(low - quantization.zero_point), np.float32(high - quantization.zero_point)
    )
    return (np.rint(steps).astype(np.int32) + quantization.zero_point).astype(quantization.dtype)


def quantize_rows(x, symmetric):
    """(int64 rows, the zero point taken off; their scales) of a float32 matrix; no tiny ranges."""
    if symmetric:
        scale = np.abs(x).max(axis=1, keepdims=True) / np.float32(127)
        return np.rint(x / scale).astype(np.int64), scale
    low, high = np.minimum(x.min(axis=1, keepdims=True), 0), np.maximum(
        x.max(axis=1, keepdims=True), 0
    )
    scale = (high - low) / np.float32(255)
    zero = np.rint(0 - low / scale)
    return (np.clip(np.rint(x / scale) + zero, 0, 255) - zero).astype(np.int64), scale


def dequantized(sums, row_scales, scales, bias=None):
    y = sums.astype(np.int32).astype(np.float32) * (row_scales * scales.astype(np.float32))
    return y if bias is None else y + bias
