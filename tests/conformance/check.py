#!/usr/bin/env python3
"""Evaluates DESIGN.md's numeric contract on vectors/*.bin in numpy, without the library, and counts the results that differ."""
import pathlib
import sys

import numpy as np

import vectors

F32 = np.float32


def quantize_rows(lhs):
    """DynamicQuantizeLinear, each row for itself."""
    low, high = np.minimum(lhs.min(1), F32(0)), np.maximum(lhs.max(1), F32(0))
    scale = np.where(low == high, F32(1), (high - low) / F32(255))
    zero_point = np.rint(-low / scale).astype(np.int64)[:, None]
    scale = scale[:, None]
    return np.clip(np.rint(lhs / scale) + zero_point, 0, 255), scale, zero_point


def fixed_point(x, multiplier, shift):
    """TFLite's two roundings: the product to 31 bits less, half towards plus infinity; then the shift, half away from zero."""
    high = ((x << np.maximum(shift, 0)) * multiplier + 2**30) >> 31
    power = np.int64(1) << np.maximum(-shift, 0)
    return np.sign(high) * ((np.abs(high) + power // 2) // power)


def evaluate(t):
    dst_type, lhs, row_scale = t["dst"].dtype, t["lhs"], F32(1)
    rhs = t["rhs_kn"] if "rhs_kn" in t else t["rhs_nk"].T
    lhs_zero_point = t["lhs_zero_points"].T if "lhs_zero_points" in t else 0
    if lhs.dtype == F32:
        lhs, row_scale, lhs_zero_point = quantize_rows(lhs)
    batch = t["batch"].item() if "batch" in t else 1
    lhs = (lhs.astype(np.int64) - lhs_zero_point).reshape(batch, -1, lhs.shape[1])
    rhs = (rhs.astype(np.int64) - t.get("rhs_zero_points", 0)).reshape(batch, lhs.shape[2], -1)
    acc = (lhs @ rhs).reshape(t["dst"].shape) + t.get("bias", 0)
    if dst_type == np.int32:
        return acc.astype(dst_type)

    relu = "activations" in t and t["activations"][0, 0] == 1
    if dst_type == F32:
        dst = acc.astype(F32) * (row_scale * t["scales"]) + t.get("bias_f32", F32(0))
        return np.maximum(dst, F32(0)) if relu else dst

    zero_point = t["dst_zero_point"].item()
    low, high = t["clamp"][0].astype(int) if "clamp" in t else (np.iinfo(dst_type).min, np.iinfo(dst_type).max)
    if "multipliers" not in t:
        scaled = np.clip(acc.astype(F32) * t["scales"], F32(low - zero_point), F32(high - zero_point))
        return (np.rint(scaled) + zero_point).astype(dst_type)

    result = fixed_point(acc, t["multipliers"].astype(np.int64), t["shifts"].astype(np.int64))
    if "residual" in t:
        residual_zero_point, intermediate_zero_point = t["residual_zero_points"][0]
        product, residual, total = t["residual_scales"].astype(np.int64)
        intermediate = np.clip(result + intermediate_zero_point, -128, 127) - intermediate_zero_point
        addend = t["residual"].astype(np.int64) - residual_zero_point
        result = fixed_point(fixed_point(intermediate << 20, *product) + fixed_point(addend << 20, *residual), *total)
    return np.clip(result + zero_point, low, high).astype(dst_type)


def main():
    cases = results = differences = 0
    for path in sorted((pathlib.Path(__file__).parent / "vectors").glob("*.bin")):
        for name, tensors in vectors.read(path):
            expected = tensors["dst"]
            bits = f"u{expected.itemsize}"  # also tells 0.0 from -0.0
            wrong = np.count_nonzero(evaluate(tensors).view(bits) != expected.view(bits))
            if wrong:
                print(f"{path.name}: {name}: {wrong} of {expected.size} results differ")
            cases, results, differences = cases + 1, results + expected.size, differences + wrong
    print(f"{cases} cases, {results} results, {differences} differences")
    sys.exit(differences != 0)


if __name__ == "__main__":
    main()
