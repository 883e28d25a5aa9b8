# SPDX-License-Identifier: Apache-2.0
"""Cases of s16 activations and of weights of 4 bits, for generate.py."""
import itertools

import numpy as np

import contract
from cases import CLAMP, CODES, EIGHT_BIT, RELU, RELU6, RELU_N1_TO_1, SHAPES, Case, special_rows
from contract import F16, F32, F64, I64, S8, S16, S32, U8

ACTIVATIONS = (("RELU", RELU), ("RELU6", RELU6), ("RELU_N1_TO_1", RELU_N1_TO_1), ("CLAMP", CLAMP))
SPREADS = (("TFLite mode", Case.spread_tflite), ("float mode", Case.spread), ("double mode", Case.spread_double))


class S16Case(Case):
    """s16 by s8, without zero points; bias of s64 or of s32."""

    def __init__(self, text, dst, shape, data="any", lhs_data=None, bias=I64):
        super().__init__(text, S16, S8, dst, shape, data, lhs_data, "none", "none")
        self.t["bias"] = self.draw.integers(-(2**20), 2**20, self.n).astype(bias)


class S16ConvCase(S16Case):
    """A convolution of s16 by s8 of one image: a square kernel, pads of half of it."""

    def __init__(self, text, dst, size, channels, outputs, groups, kernel, stride=1, transposed=0):
        super().__init__(text, dst, (size * size, channels, outputs))
        inputs, pad = channels // groups, kernel // 2
        values = (1, size, size, channels, outputs, groups, kernel, kernel, stride, stride, 1, 1, pad, pad, pad, pad, transposed, 0, 0)
        for key in ("rhs_kn", "rhs_nk"):
            self.t.pop(key, None)
        self.t["conv"] = S32([values])
        self.t["filter_ohwi"] = self.draw.bytes(S8, "any", outputs * kernel * kernel * inputs).astype(S8).reshape(outputs, -1)


class NibbleCase(Case):
    """Weights of 4 bits, one in a byte here: S8 for s4, U8 for u4. Their zero points are of 4 bits, too."""

    def __init__(self, text, lhs, rhs, dst, shape, lhs_zero="tensor", rhs_zero="channel", batch=1):
        signs = {S8: "s4", U8: "u4"}
        super().__init__(f"{text}, {signs[rhs]}", lhs, rhs, dst, shape, lhs_zero=lhs_zero, rhs_zero="none", batch=batch)
        low = -8 if rhs == S8 else 0
        key = "rhs_kn" if "rhs_kn" in self.t else "rhs_nk"
        self.t[key] = self.draw.integers(low, low + 15, self.t[key].size).astype(rhs).reshape(self.t[key].shape)
        self.t["rhs_bits"] = S32([[4]])
        if rhs_zero != "none":
            self.t["rhs_zero_points"] = self.draw.integers(low, low + 15, self.n if rhs_zero == "channel" else 1).astype(S32)


class BlockCase(NibbleCase):
    """Weights of 4 or 8 bits with a scale for each block of a column. shape: M, blocks, weights of a block, N."""

    def __init__(self, text, lhs, rhs, dst, shape, scale_type, lhs_zero="tensor", rhs_zero="none", bits=4):
        m, blocks, depth, n = shape
        super().__init__(f"{blocks} blocks of {depth}, {CODES[scale_type]}, {text}", lhs, rhs, dst, (m, blocks * depth, n), lhs_zero,
                         "none" if rhs_zero == "block" else rhs_zero)
        del self.t["bias"]
        low = -8 if rhs == S8 else 0
        if bits == 8:
            del self.t["rhs_bits"]
            low = -128 if rhs == S8 else 0
            key = "rhs_kn" if "rhs_kn" in self.t else "rhs_nk"
            self.t[key] = self.draw.integers(low, low + 255, n * blocks * depth).astype(rhs).reshape(self.t[key].shape)
            if rhs == U8:
                self.t["rhs_zero_points"] = S32([[128]])
        if rhs_zero == "block":
            self.t["rhs_zero_points"] = self.draw.integers(low, low + 15, n * blocks).astype(S32).reshape(n, blocks)
        magnitudes = self.draw.integers(1, 2047, n * blocks) * 2**self.draw.integers(0, 8, n * blocks)
        signs = self.draw.integers(0, 3, n * blocks)  # one of four is negative
        self.t["block_scales"] = (np.where(signs == 0, -magnitudes, magnitudes) / 2**22).astype(scale_type).reshape(n, blocks)

    def special_scales(self):
        """Zeros, the largest, the smallest and those without an exponent, in f16 or f32."""
        largest, subnormal = (65504, 2.0**-24) if self.t["block_scales"].dtype == F16 else (2.0**48, 2.0**-140)
        row = [0.0, -0.0, largest, -largest, subnormal, -subnormal, 2.0**-14, 1.0]
        scales = self.t["block_scales"]
        scales.flat[:] = np.resize(np.array(row, scales.dtype), scales.size)

    def minimums(self):
        shape = self.t["block_scales"].shape
        self.t["block_minimums"] = (self.draw.integers(-2047, 2047, shape[0] * shape[1]) / 2**18).astype(self.t["block_scales"].dtype).reshape(shape)

    def f32_scales(self, per_channel):
        self.t["scales"] = self.draw.integers(2**20, 2**24, self.channels(per_channel)).astype(F32) / F32(2**22)

    def spread_blocks(self, per_channel):
        total = np.abs(contract.accumulate_blocks(self.t)[0]).max()
        self.t["scales"] = self.draw.integers(60, 400, self.channels(per_channel)).astype(F32) / total


def inside(case, spread):
    """Scales that clamp few outputs."""
    case.reach = (10000, 32000)
    spread(case)
    if "shifts" in case.t:
        case.t["shifts"] = np.maximum(case.t["shifts"] - S32(1), S32(-31))


def words():
    """s16: sums of 48 bits, three ways of requantizing, and f32."""
    shapes = itertools.cycle(SHAPES)
    for (text, spread), per_channel, bias in itertools.product(SPREADS, (False, True), (S32, I64)):
        case = S16Case(f"{text}, {'per channel' if per_channel else 'one scale'}, bias {bias().itemsize}", S16, next(shapes), bias=bias)
        spread(case, per_channel)
        yield case
    for (text, spread), (name, kind) in itertools.product(SPREADS, ACTIVATIONS):
        case = S16Case(f"{text}, {name}", S16, next(shapes))
        spread(case)
        case.activation(kind)
        yield case
    for (text, spread), (lhs, rhs) in itertools.product(SPREADS, (("min", "min"), ("min", "max"), ("max", "min"), ("ends", "ends"))):
        case = S16Case(f"{text}, lhs {lhs}, rhs {rhs}", S16, (2, 517, 3) if lhs == "ends" else (3, 33, 5), rhs, lhs)
        inside(case, spread)
        yield case
    yield from s16_ties()
    for text, spread in SPREADS:
        yield s16_ends(text, spread)
    for bias, kind in itertools.product((False, True), (None, RELU, RELU6, CLAMP)):
        case = S16Case(f"activation {kind}", F32, next(shapes))
        case.t["bias"] = case.draw.integers(-2**40, 2**40, case.n)
        case.t["scales"] = case.draw.integers(1, 2**24, case.channels(bias)).astype(F32) / F32(2**50)
        if bias:
            case.t["bias_f32"] = case.draw.integers(-2**22, 2**22, case.n).astype(F32) / F32(2**20)
        if kind:
            case.activation(kind)
        yield case
    for (text, spread), (name, sizes) in itertools.product(SPREADS, (
            ("1x1", (5, 12, 18, 1, 1)), ("3x3", (5, 6, 17, 1, 3)), ("3x3, stride 2", (6, 3, 20, 1, 3, 2)), ("depthwise 3x3", (6, 19, 19, 19, 3)),
            ("depthwise 5x5, stride 2", (7, 8, 8, 8, 5, 2)), ("groups of 4", (4, 8, 8, 2, 3)), ("transposed", (4, 5, 6, 1, 3, 2, 1)))):
        case = S16ConvCase(f"{text}, {name}", S16, *sizes)
        spread(case)
        yield case


def s16_ends(text, spread):
    """Element (0, 0) is the largest product and 2^47 - 1, element (1, 1) the smallest and -2^47."""
    case = S16Case(f"{text}, the ends of 48 bits", S16, (3, 9, 2), "ends")
    columns = case.t["rhs_kn"].T if "rhs_kn" in case.t else case.t["rhs_nk"]
    case.t["lhs"][:2], columns[0], columns[1] = -2**15, -128, 127
    case.t["bias"][:] = 0
    acc = case.acc()
    case.t["bias"][:] = 2**47 - 1 - acc[0, 0], -2**47 - acc[1, 1]
    inside(case, spread)
    return case


def s16_ties():
    """Sums that end in halves, and as near to them as the mode's numbers can."""
    for text, shifts in (("ties", (-3, 0)), ("left shifts", (1, 7))):
        case = S16Case(f"TFLite mode, {text}", S16, (5, 3, 19), "small")
        case.t["multipliers"] = np.where(np.arange(19) % 3 == 0, case.draw.integers(2**30, 2**31 - 1, 19), 2**30).astype(S32)
        case.t["shifts"] = case.draw.integers(*shifts, 19).astype(S32)
        case.t["bias"] = case.draw.integers(-300, 300, 19)
        yield case
    # 15 bits of the multiplier: 0x7fff from 0x7fff0000 on, else rounded.
    case = S16Case("TFLite mode, the ends of the multiplier and of the shift", S16, (3, 2, 36), "small")
    multipliers = (0, 2**30, 0x40007fff, 0x40008000, 0x7ffeffff, 0x7fff0000, 2**31 - 1)
    ends = np.resize(np.array(list(itertools.product(multipliers, (-31, -30, -17, 0, 7))), S32), (36, 2))
    case.t["multipliers"], case.t["shifts"] = ends[:, :1].T.copy(), ends[:, 1:].T.copy()
    case.t["bias"] = np.where(np.arange(36) % 2, 1, -1)[None] * (I64(1) << np.clip(14 - ends[:, 1], 0, 46)) + case.draw.integers(-9, 9, 36)
    yield case
    case = S16Case("float mode, next to ties", S16, (4, 30, 17))
    case.ties()
    yield case
    # An odd multiple of 2^40 and a little: a tie once fl(acc) has 24 bits, none before.
    case = S16Case("float mode, float(acc) is inexact", S16, (4, 1, 21), "small")
    case.t["bias"] = (2 * case.draw.integers(-60, 60, case.n) + 1) * 2**40
    case.t["scales"] = F32([[2.0**-41]])
    yield case
    case = S16Case("double mode, halves", S16, (5, 3, 19), "small")
    case.t["bias"] = case.draw.integers(-300, 300, 19)
    case.t["factors"] = 0.5 ** case.draw.integers(1, 4, 19).astype(F64)
    yield case
    case = S16Case("double mode, next to ties", S16, (5, 40, 19))
    distance = case.draw.integers(-1, 1, case.n).astype(F64) * 2.0**-52
    case.t["factors"] = (case.draw.integers(0, 100, case.n).astype(F64) + 0.5) / np.abs(case.picked()[0]).astype(F64) * (1 + distance)
    yield case


def nibbles():
    """Weights of 4 bits with a zero point per tensor or channel: every kind of output."""
    shapes = itertools.cycle(SHAPES + [(2, 131, 6), (5, 33, 34)])
    for (lhs, rhs), lhs_zero, rhs_zero in itertools.product(itertools.product(EIGHT_BIT, repeat=2), ("none", "row"), ("none", "tensor", "channel")):
        yield NibbleCase(f"zero points {lhs_zero}, {rhs_zero}", lhs, rhs, S32, next(shapes), lhs_zero, rhs_zero)
    for lhs, rhs in itertools.product(EIGHT_BIT, repeat=2):
        yield NibbleCase("batch", lhs, rhs, S32, (3, 11, 5), batch=3)
        for dst, (text, spread) in itertools.product(EIGHT_BIT, SPREADS):
            case = NibbleCase(text, lhs, rhs, dst, next(shapes))
            spread(case)
            yield case
    for lhs_quant, rhs in itertools.product((contract.LHS_SYMMETRIC, contract.LHS_ASYMMETRIC), EIGHT_BIT):
        case = NibbleCase(f"lhs_quant {lhs_quant}", F32, rhs, F32, next(shapes))
        case.t["lhs_quant"] = S32([[lhs_quant]])
        case.t["scales"] = case.draw.integers(1, 2**24, case.n).astype(F32) / F32(2**30)
        yield case


def scale_blocks():
    """Scales for blocks of weights: f32 sums in the order of the blocks."""
    sizes = itertools.cycle([(1, 1, 16, 1), (3, 2, 32, 5), (1, 5, 32, 17), (5, 3, 64, 3), (2, 2, 128, 5), (7, 4, 16, 18), (1, 1, 256, 2), (3, 2, 48, 33)])
    zeros = itertools.cycle(("none", "tensor", "channel", "block"))
    types = itertools.cycle((F16, F32))
    small = itertools.cycle([(2, 32, 5), (1, 32, 17), (3, 64, 3), (2, 128, 18)])
    for lhs, rhs, lhs_zero, kind in itertools.product(EIGHT_BIT, EIGHT_BIT, ("none", "tensor", "row"), (None, RELU)):
        rhs_zero = next(zeros)
        case = BlockCase(f"zero points {lhs_zero}, {rhs_zero}, {kind}", lhs, rhs, F32, next(sizes), next(types), lhs_zero, rhs_zero)
        case.f32_scales(kind is None)
        if lhs_zero == "row":
            case.t["lhs_quant"] = S32([[contract.LHS_PER_ROW]])
            case.t["lhs_scales"] = case.draw.integers(2**20, 2**22, case.m).astype(F32) / F32(2**21)
        if kind:
            case.activation(kind)
            case.t["bias_f32"] = case.draw.integers(-2**22, 2**22, case.n).astype(F32) / F32(2**20)
        yield case
    for dst, rhs, per_channel in itertools.product(EIGHT_BIT, EIGHT_BIT, (False, True)):
        case = BlockCase(f"scales per channel: {per_channel}", S8, rhs, dst, next(sizes), next(types), rhs_zero=next(zeros))
        case.spread_blocks(per_channel)
        yield case
    for quant, rhs, special in itertools.product((3, 4, contract.LHS_SYMMETRIC_BLOCKS), EIGHT_BIT, (False, True)):
        rhs_zero = next(zeros)
        case = BlockCase(f"lhs_quant {quant}, zero points {rhs_zero}{', special rows' if special else ''}", F32, rhs, F32,
                         (27, 2, 16, 3) if special else next(sizes), next(types), rhs_zero=rhs_zero)
        if special:
            case.t["lhs"][:, :6] = special_rows(6)
            case.t["lhs"][:, 6:] *= F32(2.0**-10)
        case.t["lhs_quant"] = S32([[quant]])
        case.f32_scales(True)
        yield case
    for lhs, scale_type, rhs in itertools.product((S8, F32), (F16, F32), EIGHT_BIT):
        case = BlockCase("special scales", lhs, rhs, F32, (3, 4, 16, 18), scale_type, rhs_zero=next(zeros))
        case.special_scales()
        if lhs == F32:
            case.t["lhs_quant"] = S32([[contract.LHS_SYMMETRIC_BLOCKS]])
        case.f32_scales(True)
        yield case
    # Scales of lhs blocks that are given, or in f16; weights of 8 bits; minimums.
    for quant, rhs, bits, minimums in itertools.product((contract.LHS_SYMMETRIC_BLOCKS_F16, contract.LHS_PER_BLOCK, contract.LHS_SYMMETRIC, contract.LHS_STATIC),
                                                        EIGHT_BIT, (4, 8), (False, True)):
        floats, m = quant in (contract.LHS_SYMMETRIC_BLOCKS_F16, contract.LHS_SYMMETRIC), 5
        shape = (27, 2, 16, 3) if quant == contract.LHS_SYMMETRIC_BLOCKS_F16 else (m, *next(small))
        lhs = F32 if floats else S8
        case = BlockCase(f"lhs_quant {quant}, weights of {bits} bits{', minimums' if minimums else ''}", lhs, rhs, F32, shape, next(types),
                         "none" if floats or quant == contract.LHS_PER_BLOCK else "tensor", next(zeros) if bits == 4 else "none", bits)
        if quant == contract.LHS_SYMMETRIC_BLOCKS_F16:
            case.t["lhs"][:, :6] = special_rows(6)
            case.t["lhs"][:, 6:] *= F32(2.0**-10)
        if quant != contract.LHS_STATIC:
            case.t["lhs_quant"] = S32([[quant]])
        if quant == contract.LHS_PER_BLOCK:
            case.t["lhs_scales"] = (case.draw.integers(2**20, 2**22, m * shape[1]).astype(F32) / F32(2**21)).reshape(m, -1)
        if minimums:
            case.minimums()
        case.f32_scales(True)
        yield case
