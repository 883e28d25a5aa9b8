# SPDX-License-Identifier: Apache-2.0
"""Draws the problems of vector files: operands by a generator that any language has, scales that fill the outputs."""
import itertools
import math
import zlib

import numpy as np

import contract
from contract import F16, F32, F64, I64, S8, S16, S32, U8

CODES = {S8: "s8", U8: "u8", S16: "s16", S32: "s32", F16: "f16", F32: "f32"}
EIGHT_BIT = (S8, U8)
# M, K, N: single values, whole tiles, and a little more or less.
SHAPES = [(1, 1, 1), (4, 8, 8), (3, 5, 7), (5, 17, 9), (2, 3, 17), (6, 4, 16), (3, 2, 33), (1, 67, 5), (7, 5, 6), (9, 16, 3),
          (13, 7, 2), (1, 4, 65), (12, 9, 5), (8, 1, 13)]
CLAMP, RELU, RELU6 = contract.ACTIVATION_CLAMP, contract.ACTIVATION_RELU, contract.ACTIVATION_RELU6
RELU_N1_TO_1 = contract.ACTIVATION_RELU_N1_TO_1


class Draw:
    """x = 6364136223846793005 x + 1442695040888963407 mod 2^64, of which the upper 32 bits are used; x starts as CRC-32 of a name."""

    def __init__(self, name):
        self.x = zlib.crc32(name.encode("ascii"))

    def integers(self, low, high, count=1):
        """count integers in [low, high], as a row."""
        row = []
        for _ in range(count):
            self.x = (6364136223846793005 * self.x + 1442695040888963407) % 2**64
            row.append(low + ((self.x >> 32) * (high - low + 1) >> 32))
        return np.array([row], I64)

    def bytes(self, dtype, kind, count):
        """Integers of the whole type, near 0, only its ends, or only one of them."""
        limits = np.iinfo(dtype)
        low, high = {"any": (limits.min, limits.max), "small": (max(limits.min, -4), 4), "ends": (0, 1), "min": (0, 0), "max": (1, 1)}[kind]
        row = self.integers(low, high, count)
        return row if kind in ("any", "small") else np.where(row == 1, limits.max, limits.min)


class Case:
    """One problem: operands, zero points and bias first, then the tensors that the caller adds to `t`, then dst."""

    def __init__(self, text, lhs, rhs, dst, shape, data="any", lhs_data=None, lhs_zero="tensor", rhs_zero="channel", batch=1):
        self.m, self.k, self.n = m, k, n = shape
        self.dst = dst
        self.reach = (15000, 100000) if dst == S16 else (60, 400)  # of the largest output, before it is clamped
        self.name = f"{CODES[lhs]} x {CODES[rhs]} to {CODES[dst]}, {m}x{k}x{n}, {text}"
        self.draw = draw = Draw(self.name)
        self.t = t = {"batch": S32([[batch]])} if batch > 1 else {}
        m *= batch
        if lhs == F32:
            t["lhs"] = draw.integers(-2**22, 2**22, m * k).astype(F32).reshape(m, k) / F32(2**20)
        else:
            t["lhs"] = draw.bytes(lhs, lhs_data or data, m * k).astype(lhs).reshape(m, k)
            if lhs_zero != "none":
                t["lhs_zero_points"] = draw.bytes(lhs, data, m if lhs_zero == "row" else 1).astype(S32)
        order, stored = ("rhs_kn", (batch * k, n)) if draw.integers(0, 1).item() else ("rhs_nk", (batch * n, k))
        t[order] = draw.bytes(rhs, data, batch * k * n).astype(rhs).reshape(stored)
        if rhs_zero != "none":
            t["rhs_zero_points"] = draw.bytes(rhs, data, n if rhs_zero == "channel" else 1).astype(S32)
        self.bias(20 if data == "small" else 10000)
        if dst in EIGHT_BIT:
            t["dst_zero_point"] = draw.bytes(dst, "small" if data == "small" else "any", 1).astype(S32)

    def bias(self, largest):
        self.t["bias"] = self.draw.integers(-largest, largest, self.n).astype(S32)

    def acc(self):
        return contract.accumulate(self.t)[0]

    def picked(self):
        """For every column the accumulator of a random row, 1 in place of 0, and that row."""
        rows = self.draw.integers(0, len(self.t["lhs"]) - 1, self.n)
        acc = np.take_along_axis(self.acc(), rows, 0)
        return np.where(acc == 0, 1, acc), rows

    def channels(self, per_channel):
        return self.n if per_channel else 1

    def spread(self, per_channel=True):
        """Scales that bring the largest accumulator to 60 .. 400, of 16 bits to as much of their range."""
        self.t["scales"] = self.draw.integers(*self.reach, self.channels(per_channel)).astype(F32) / F32(np.abs(self.acc()).max() + 1)

    def spread_tflite(self, per_channel=True):
        count, bits = self.channels(per_channel), int(np.abs(self.acc()).max()).bit_length()
        self.t["multipliers"] = self.draw.integers(2**30, 2**31 - 1, count).astype(S32)
        wider, most = (8, 7) if self.dst == S16 else (0, 30)
        self.t["shifts"] = np.minimum(self.draw.integers(7 - bits, 9 - bits, count) + wider, most).astype(S32)

    def spread_double(self, per_channel=True):
        self.t["factors"] = self.draw.integers(*self.reach, self.channels(per_channel)).astype(F64) / (np.abs(self.acc()).max() + 1)

    def ties(self):
        """Scales that bring one accumulator of each column as close to a tie as float32 can."""
        self.t["scales"] = (self.draw.integers(0, 100, self.n).astype(F32) + F32(0.5)) / np.abs(self.picked()[0]).astype(F32)

    def lut(self):
        self.t["lut"] = self.draw.integers(0, 255, 256).astype(U8)

    def residual(self, dtype, zero_points):
        self.t["residual"] = self.draw.bytes(dtype, "any", self.m * self.n).astype(dtype).reshape(self.m, self.n)
        self.t["residual_zero_points"] = np.hstack([self.draw.bytes(z, "any", 1) for z in zero_points]).astype(S32)

    def activation(self, kind):
        self.t["activations"] = S32([[kind]])
        if kind == CLAMP:
            limits = F32([[-0.75, 1.5]])
            if self.dst != F32:
                limits = np.sort(self.draw.bytes(self.dst, "any", 2)).astype(F32)
            self.t["clamp"] = limits
        elif kind == RELU6 and self.dst != F32:
            steps = (5000, 20000) if self.dst == S16 else (20, 200)
            self.t["dst_scale"] = F32([[6]]) / (self.draw.integers(*steps).astype(F32) + F32(0.25))
        elif kind == RELU_N1_TO_1:
            self.t["dst_scale"] = F32([[1]]) / (self.draw.integers(2000, 9000).astype(F32) + F32(0.25))

    def product_activation(self, kind, tflite):
        """The activation of the product alone, before a residual: its bounds are well inside the range that spread gives."""
        self.t["product_activations"] = S32([[kind]])
        if kind == CLAMP:
            ends = np.sort(self.draw.bytes(self.dst, "any", 2)).astype(F32)
            self.t["product_clamp"] = ends if tflite else F32([[-17.75, 40.375]])
        elif kind in (RELU6, RELU_N1_TO_1):
            bound = 6 if kind == RELU6 else 1
            self.t["product_real_scale" if tflite else "dst_scale"] = F32([[bound]]) / (self.draw.integers(20, 60).astype(F32) + F32(0.25))

    def done(self):
        t = self.t
        kinds = (t[name].item() if name in t else contract.ACTIVATION_NONE for name in ("activations", "product_activations"))
        t["dst"] = contract.evaluate(t, self.dst, *kinds)
        return self.name, t


def special_rows(k):
    """Rows that quantize in unusual ways. f32 of k >= 6 columns."""
    tiny, largest = 2.0**-100, float(np.finfo(F32).max)
    rows = [
        [0.0], [-0.0], [5.0], [-5.0], [1.0, -3.0], [0.0, 0.0, 7.0], [1e-40, 1.0, -1e-40], [1e-40, -1e-42],
        [tiny], [-tiny, tiny / 2], [tiny * (1 - 2.0**-24)], [-tiny / 2, tiny / 4], [tiny / 2, -tiny / 2],
        [math.inf, 1.0], [1.0, -math.inf], [math.nan, 2.0], [1.0, 2.0, 3.0, 4.0, 5.0, math.nan], [math.inf, -math.inf, math.nan],
        [largest], [-largest, 1.0], [largest, -largest], [largest / 2, -largest / 2],
        [127.0, 0.5, 1.5, 2.5, -0.5, -1.5], [-127.0, 126.5, -126.5, 63.5, -64.5, 0.5], [254.5, -0.5, 1.0, 1.5, 2.5, 254.0],
        [-1.5, 253.5, 0.5, 1.5, 2.0, 3.5], [-255.0, -0.5, -1.5, -2.5, -254.5, -127.5],
    ]
    return F32([list(itertools.islice(itertools.cycle(row), k)) for row in rows])


def next_to_ties(draw, rows, symmetric):
    """Moves values that do not decide a row's scale as close to ties between two integers as float32 can."""
    ties = draw.integers(-64, 63, rows.size).astype(F32).reshape(rows.shape) + F32(0.5)
    ties = ties * contract.quantize_rows(rows, symmetric)[1]
    low, high = rows.min(1, keepdims=True), rows.max(1, keepdims=True)
    return np.where((rows > low) & (rows < high) & (ties > low) & (ties < high), ties, rows)
