#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes *.bin: small problems with the results of Octet's numeric contract. README.md describes them.

Nothing here depends on numpy's random numbers or on the order of its float sums: the same bytes come out everywhere.
"""
import itertools
import math
import pathlib

import numpy as np

import contract
import generate_forms
import vectors
from cases import CLAMP, CODES, EIGHT_BIT, RELU, RELU6, RELU_N1_TO_1, SHAPES, Case, next_to_ties, special_rows
from contract import F32, F64, S8, S32, U8

PAIRS = list(itertools.product((U8, S8), repeat=2))
PRODUCT_ACTIVATIONS = (("RELU", RELU), ("RELU6", RELU6), ("RELU_N1_TO_1", RELU_N1_TO_1), ("CLAMP", CLAMP))


def accumulators():
    """s32: the exact sums."""
    shapes = itertools.cycle(SHAPES)
    for (lhs, rhs), lhs_zero, rhs_zero in itertools.product(PAIRS, ("none", "tensor", "row"), ("none", "tensor", "channel")):
        yield Case(f"zero points {lhs_zero}, {rhs_zero}", lhs, rhs, S32, next(shapes), lhs_zero=lhs_zero, rhs_zero=rhs_zero)
    for lhs, rhs in PAIRS:
        for lhs_data, data in itertools.product(("min", "max"), repeat=2):
            yield Case(f"lhs {lhs_data}, rhs {data}", lhs, rhs, S32, (3, 33, 4), data, lhs_data, "none", "none")
        yield Case("both ends of the types", lhs, rhs, S32, (5, 37, 17), "ends", lhs_zero="row")
        yield Case("both ends of the types, long", lhs, rhs, S32, (2, 517, 2), "ends")
        yield Case("batch", lhs, rhs, S32, (3, 10, 5), batch=3)
    # Element (0, 0) is the largest product and 2^31 - 1, element (1, 1) the smallest and -2^31: sums inside may wrap, these do not.
    for lhs, rhs in PAIRS:
        case = Case("the ends of s32", lhs, rhs, S32, (3, 9, 2), "ends", lhs_zero="none", rhs_zero="none")
        t, limits = case.t, np.iinfo(S32)
        columns = t["rhs_kn"].T if "rhs_kn" in t else t["rhs_nk"]
        pairs = list(itertools.product(*((np.iinfo(dtype).min, np.iinfo(dtype).max) for dtype in (lhs, rhs))))
        for i, best in enumerate((max, min)):
            t["lhs"][i], columns[i] = best(pairs, key=math.prod)
        t["bias"][:] = 0
        acc = case.acc()
        t["bias"][:] = limits.max - acc[0, 0], limits.min - acc[1, 1]
        yield case


def float_mode():
    """s8 and u8: scale, round half to even, zero point, clamp, look-up table."""
    shapes = itertools.cycle(SHAPES)
    for dst, (lhs, rhs) in itertools.product(EIGHT_BIT, PAIRS):
        for per_channel in (False, True):
            case = Case("a scale per channel" if per_channel else "one scale", lhs, rhs, dst, next(shapes))
            case.spread(per_channel)
            yield case
        case = Case("next to ties", lhs, rhs, dst, next(shapes))
        case.ties()
        yield case
        for text, scale in (("1/2", 0.5), ("3/2", 1.5), ("2^-126", 2.0**-126), ("2^48", 2.0**48)):
            case = Case(f"scale {text}", lhs, rhs, dst, (5, 3, 11), "small")
            case.t["scales"] = F32([[scale]])
            yield case
        # acc = an odd multiple of 2^24 and a little: a tie once float(acc) is rounded to 24 bits, none before.
        case = Case("float(acc) is inexact", lhs, rhs, dst, (4, 1, 21), "small")
        case.t["bias"] = ((2 * case.draw.integers(-60, 60, case.n) + 1) * 2**24).astype(S32)
        case.t["scales"] = F32([[2.0**-25]])
        yield case
        case = Case("float(acc) is inexact, next to ties", lhs, rhs, dst, (4, 1, 21), "small")
        case.bias(2**31 - 2**18)
        case.ties()
        yield case
    for dst, kind in itertools.product(EIGHT_BIT, ("RELU", "RELU6", "CLAMP")):
        for per_channel, lut in ((True, False), (False, True)):
            case = Case(kind + (", look-up table" if lut else ""), U8, S8, dst, next(shapes))
            case.spread(per_channel)
            case.activation({"RELU": RELU, "RELU6": RELU6, "CLAMP": CLAMP}[kind])
            if lut:
                case.lut()
            yield case
    yield from relu6(Case.spread)
    types = itertools.cycle(EIGHT_BIT)
    for lhs, rhs in PAIRS:
        case = Case("look-up table", lhs, rhs, next(types), next(shapes))
        case.spread()
        case.lut()
        yield case
    for (lhs, rhs), (text, kind) in itertools.product(PAIRS, (("tensor", 1), ("row", 2))):
        case = Case(f"lhs quantized per {text} at run time", lhs, rhs, next(types), next(shapes), lhs_zero=text)
        case.spread()
        run_time_scales(case, kind)
        yield case


def relu6(spread):
    """Upper bounds that are a tie, and outside the type."""
    for dst, (text, scale) in itertools.product(EIGHT_BIT, (("is a tie", 2.4), ("is beyond the type", 0.02))):
        case = Case(f"RELU6, 6 / dst_scale {text}", S8, S8, dst, (5, 6, 9))
        spread(case)
        case.activation(RELU6)
        case.t["dst_scale"] = F32([[scale]])
        case.t["dst_zero_point"] = S32([[17]])
        yield case


def run_time_scales(case, kind):
    """lhs scales of 1/2 to 2, kind of octet_lhs_quant."""
    case.t["lhs_quant"] = S32([[kind]])
    count = len(case.t["lhs"]) if kind == contract.LHS_PER_ROW else 1
    case.t["lhs_scales"] = case.draw.integers(2**20, 2**22, count).astype(F32) / F32(2**21)


def residual_float():
    """Float mode: fl(fl(acc * scale) + fl(residual * scale)), rounded once to an integer."""
    shapes = itertools.cycle(SHAPES)
    for dst, residual, (lhs, rhs) in itertools.product(EIGHT_BIT, EIGHT_BIT, PAIRS):
        for text in ("spread", "next to ties"):
            case = Case(f"{CODES[residual]} residual, {text}", lhs, rhs, dst, next(shapes))
            t = case.t
            case.residual(residual, [residual])
            t["residual_scale"] = case.draw.integers(2**22, 2**24).astype(F32) / F32(2**23)
            case.spread()
            if text == "next to ties":
                acc, rows = case.picked()
                addend = np.take_along_axis(t["residual"].astype(F32), rows, 0) - t["residual_zero_points"][0, 0].astype(F32)
                addend = addend * t["residual_scale"]
                distance = case.draw.integers(1, 30, case.n).astype(F32) * np.sign(acc).astype(F32)
                t["scales"] = (np.floor(addend) + F32(0.5) + distance - addend) / acc.astype(F32)
            yield case
    for dst, kind in itertools.product(EIGHT_BIT, ("RELU", "RELU6", "CLAMP")):
        case = Case(f"residual, {kind}, look-up table", S8, S8, dst, next(shapes))
        case.residual(dst, [dst])
        case.t["residual_scale"] = F32([[0.625]])
        case.spread()
        case.activation({"RELU": RELU, "RELU6": RELU6, "CLAMP": CLAMP}[kind])
        case.lut()
        yield case
    for dst, (text, kind) in itertools.product(EIGHT_BIT, PRODUCT_ACTIVATIONS):
        case = Case(f"residual after {text}", U8, S8, dst, next(shapes))
        case.residual(dst, [dst])
        case.t["residual_scale"] = F32([[0.625]])
        case.spread()
        case.product_activation(kind, False)
        yield case


def tflite_mode():
    """s8 and u8 by multiplier and shift: two roundings."""
    shapes = itertools.cycle(SHAPES)
    for dst, (lhs, rhs) in itertools.product(EIGHT_BIT, PAIRS):
        for per_channel in (False, True):
            case = Case("a multiplier per channel" if per_channel else "one multiplier", lhs, rhs, dst, next(shapes))
            case.spread_tflite(per_channel)
            yield case
        for text, shifts in (("ties", (-3, 0)), ("left shifts", (1, 12))):
            case = Case(text, lhs, rhs, dst, (5, 3, 19), "small")
            case.t["multipliers"] = np.where(np.arange(19) % 3 == 0, case.draw.integers(2**30, 2**31 - 1, 19), 2**30).astype(S32)
            case.t["shifts"] = case.draw.integers(*shifts, 19).astype(S32)
            yield case
        case = Case("the ends of the multiplier and of the shift", lhs, rhs, dst, (3, 2, 24), "small")
        ends = itertools.product((0, 2**30, 2**30 + 1, 2**31 - 1), (-31, -30, -24))
        case.t["multipliers"], case.t["shifts"] = (np.repeat(row, 2)[None].astype(S32) for row in zip(*ends))
        case.t["bias"] = S32([[2**31 - 2**18, 2**18 - 2**31] * 12])
        yield case
    for dst, kind in itertools.product(EIGHT_BIT, ("RELU", "RELU6", "CLAMP")):
        case = Case(f"{kind}, look-up table", U8, S8, dst, next(shapes))
        case.spread_tflite()
        case.activation({"RELU": RELU, "RELU6": RELU6, "CLAMP": CLAMP}[kind])
        case.lut()
        yield case
    yield from relu6(Case.spread_tflite)


def double_mode():
    """s8 and u8 by a factor in double: one rounding."""
    shapes = itertools.cycle(SHAPES)
    for dst, (lhs, rhs) in itertools.product(EIGHT_BIT, PAIRS):
        for per_channel in (False, True):
            case = Case("a factor per channel" if per_channel else "one factor", lhs, rhs, dst, next(shapes))
            case.spread_double(per_channel)
            yield case
        # In exact halves, and as near to one as double can.
        case = Case("halves", lhs, rhs, dst, (5, 3, 19), "small")
        case.t["factors"] = 0.5 ** case.draw.integers(1, 4, 19).astype(F64)
        yield case
        case = Case("next to ties", lhs, rhs, dst, next(shapes))
        distance = case.draw.integers(-1, 1, case.n).astype(F64) * 2.0**-52
        case.t["factors"] = (case.draw.integers(0, 100, case.n).astype(F64) + 0.5) / np.abs(case.picked()[0]).astype(F64) * (1 + distance)
        yield case
        case = Case("the ends of the factor", lhs, rhs, dst, (3, 2, 12), "small")
        case.t["factors"] = np.repeat(np.array([[2.0**-1074, 2.0**-300, 0.75, 2.0**31, 2.0**47, 2.0**48]]), 2, 1)
        case.t["bias"] = S32([[2**31 - 2**18, 2**18 - 2**31] * 6])
        yield case
    for dst, kind in itertools.product(EIGHT_BIT, ("RELU", "RELU6", "CLAMP")):
        case = Case(f"{kind}, look-up table", U8, S8, dst, next(shapes))
        case.spread_double()
        case.activation({"RELU": RELU, "RELU6": RELU6, "CLAMP": CLAMP}[kind])
        case.lut()
        yield case
    yield from relu6(Case.spread_double)


def residual_tflite():
    """TFLite mode: int8 ADD after the product."""
    shapes = itertools.cycle(SHAPES)
    activations = itertools.cycle((None, RELU, None, RELU6, CLAMP))
    for dst, residual, (lhs, rhs) in itertools.product(EIGHT_BIT, EIGHT_BIT, PAIRS):
        for text in ("spread", "ties"):
            case = Case(f"{CODES[residual]} residual, {text}", lhs, rhs, dst, next(shapes))
            case.residual(residual, [residual, dst])
            case.spread_tflite()
            multipliers = [2**30] * 3 if text == "ties" else case.draw.integers(2**30, 2**31 - 1, 3)[0]
            shifts = np.hstack([case.draw.integers(-2, 0, 2), case.draw.integers(-19, -18)])[0]
            case.t["residual_scales"] = S32(list(zip(multipliers, shifts)))
            if kind := next(activations):
                case.activation(kind)
            yield case
    for dst, (text, kind) in itertools.product(EIGHT_BIT, PRODUCT_ACTIVATIONS):
        case = Case(f"residual after {text}", U8, S8, dst, next(shapes))
        case.residual(dst, [dst, dst])
        case.spread_tflite()
        multipliers, shifts = case.draw.integers(2**30, 2**31 - 1, 3)[0], (-1, -1, -18)
        case.t["residual_scales"] = S32(list(zip(multipliers, shifts)))
        case.product_activation(kind, True)
        yield case


def f32_output():
    """f32: one product, one sum, clamp."""
    shapes = itertools.cycle(SHAPES)
    for (lhs, rhs), bias, kind in itertools.product(PAIRS, (False, True), ("no activation", "RELU", "RELU6", "CLAMP")):
        case = Case(f"{kind}{', bias_f32' if bias else ''}", lhs, rhs, F32, next(shapes))
        case.t["scales"] = case.draw.integers(1, 2**24, case.channels(bias)).astype(F32) / F32(2**36)
        if bias:
            case.t["bias_f32"] = case.draw.integers(-2**22, 2**22, case.n).astype(F32) / F32(2**20)
        if kind != "no activation":
            case.activation({"RELU": RELU, "RELU6": RELU6, "CLAMP": CLAMP}[kind])
        yield case
    for (lhs, rhs), (text, kind) in itertools.product(PAIRS, (("tensor", 1), ("row", 2))):
        case = Case(f"lhs quantized per {text} at run time", lhs, rhs, F32, next(shapes), lhs_zero=text)
        case.t["scales"] = case.draw.integers(1, 2**24, case.n).astype(F32) / F32(2**36)
        run_time_scales(case, kind)
        yield case
    for (lhs, rhs), scale in zip(PAIRS, (1, 0.75, 0.001, 1.7)):
        case = Case("float(acc) is inexact", lhs, rhs, F32, (2, 2, 30), "small")
        case.bias(2**31 - 2**18)
        case.t["bias"][0, ::2] >>= 4
        case.t["scales"] = F32([[scale]])
        yield case


def dynamic_lhs():
    """f32 lhs, each row quantized on the fly, symmetric and asymmetric."""
    shapes = itertools.cycle(SHAPES)
    for (text, kind), rhs, extras in itertools.product((("symmetric", 3), ("asymmetric", 4)), (S8, U8), range(4)):
        rhs_zero = ("none", "tensor", "channel")[extras % 3]
        case = Case(f"{text}, {extras}", F32, rhs, F32, next(shapes), rhs_zero=rhs_zero)
        case.t["lhs_quant"] = S32([[kind]])
        case.t["scales"] = case.draw.integers(1, 2**24, case.channels(extras)).astype(F32) / F32(2**30)
        if extras:
            case.t["bias_f32"] = case.draw.integers(-2**22, 2**22, case.n).astype(F32) / F32(2**20)
            case.activation(extras)
        yield case
    for (text, kind), rhs in itertools.product((("symmetric", 3), ("asymmetric", 4)), (S8, U8)):
        case = Case(f"{text}, next to ties", F32, rhs, F32, (6, 19, 2))
        case.t["lhs"] = next_to_ties(case.draw, case.t["lhs"], kind == contract.LHS_SYMMETRIC)
        case.t["lhs_quant"] = S32([[kind]])
        case.t["scales"] = F32([[0.25]])
        yield case
    for (text, kind), rhs, activation in itertools.product((("symmetric", 3), ("asymmetric", 4)), (S8, U8), (None, RELU)):
        rows = special_rows(6)
        case = Case(f"{text}, special rows{', RELU' if activation else ''}", F32, rhs, F32, (*rows.shape, 3))
        case.t["lhs"] = rows
        case.t["lhs_quant"] = S32([[kind]])
        case.t["scales"] = case.draw.integers(2**23, 2**24, case.n).astype(F32) / F32(2**24)
        if activation:
            case.activation(activation)
        yield case


def main():
    for name, cases in (("s32", accumulators), ("float", float_mode), ("float_residual", residual_float), ("tflite", tflite_mode),
                        ("tflite_residual", residual_tflite), ("double", double_mode), ("f32", f32_output), ("dynamic", dynamic_lhs),
                        ("s16", generate_forms.words), ("int4", generate_forms.nibbles), ("scale_blocks", generate_forms.scale_blocks)):
        finished = [case.done() for case in cases()]
        assert len(dict(finished)) == len(finished), "two cases of one name"
        path = pathlib.Path(__file__).parent / f"{name}.bin"
        vectors.write(path, finished)
        print(f"{path.name}: {len(finished)} cases, {sum(t['dst'].size for _, t in finished)} results, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
