"""Octet's numeric contract in numpy: every float operation is one float32 operation, every integer is exact.

Shares nothing with the library. ../conformance/check.py holds it against ONNX, ONNX Runtime and LiteRT.
"""
import numpy as np

S8, U8, S32, F32, I64 = np.int8, np.uint8, np.int32, np.float32, np.int64
LHS_STATIC, LHS_PER_TENSOR, LHS_PER_ROW, LHS_SYMMETRIC, LHS_ASYMMETRIC = range(5)  # octet_lhs_quant
ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_RELU6, ACTIVATION_CLAMP = range(4)  # octet_activation
TINY = F32(2.0**-100)


def clamp(x, low, high):
    """As two comparisons, so that NaN stays NaN."""
    x = np.where(x < low, low, x)
    return np.where(x > high, high, x)


def quantize_rows(x, symmetric):
    """Quantizes each row of f32 for itself: integers, scales, zero points. Symmetric to [-127, 127], else to [0, 255]."""
    low, high = np.minimum(x.min(1), F32(0)), np.maximum(x.max(1), F32(0))
    span = np.maximum(-low, high) if symmetric else high - low
    invalid = ~np.isfinite(x).all(1) | ~np.isfinite(span)  # the row gives NaN
    zeros = invalid | (span < TINY)
    scale = np.where(zeros, F32(1), span / F32(127 if symmetric else 255))
    zero_point = np.where(zeros | symmetric, F32(0), np.rint(-low / scale))[:, None]
    q = np.where(zeros[:, None], F32(0), np.rint(x / scale[:, None]) + zero_point)
    q = clamp(q, F32(-127), F32(127)) if symmetric else clamp(q, F32(0), F32(255))
    return q.astype(I64), np.where(invalid, F32(np.nan), scale)[:, None], zero_point.astype(I64)


def high_mul(a, b):
    """SaturatingRoundingDoublingHighMul of gemmlowp: a * b / 2^31, the nudged product truncated. b >= 0, so nothing saturates."""
    product = a * b
    nudged = product + np.where(product >= 0, 2**30, 1 - 2**30)
    return np.sign(nudged) * (np.abs(nudged) >> 31)


def divide_by_pot(x, exponent):
    """RoundingDivideByPOT of gemmlowp: x / 2^exponent, halves away from zero."""
    return np.sign(x) * ((np.abs(x) + ((I64(1) << exponent) >> 1)) >> exponent)


def fixed_point(x, multiplier, shift):
    """MultiplyByQuantizedMultiplier of TFLite's default build, which rounds twice."""
    multiplier, shift = I64(multiplier), I64(shift)
    return divide_by_pot(high_mul(x << np.maximum(shift, 0), multiplier), np.maximum(-shift, 0))


def accumulate(t):
    """acc in int64, and the scale of each row of the lhs."""
    batch = t["batch"].item() if "batch" in t else 1
    lhs, row_scale = t["lhs"], t["lhs_scales"].T if "lhs_scales" in t else None
    rhs = t["rhs_kn"] if "rhs_kn" in t else t["rhs_nk"].reshape(batch, -1, lhs.shape[1]).swapaxes(1, 2)
    lhs_zero_point = t["lhs_zero_points"].T if "lhs_zero_points" in t else 0
    if lhs.dtype == F32:
        lhs, row_scale, lhs_zero_point = quantize_rows(lhs, "lhs_quant" in t and t["lhs_quant"].item() == LHS_SYMMETRIC)
    lhs = (lhs.astype(I64) - lhs_zero_point).reshape(batch, -1, lhs.shape[1])
    rhs = (rhs.astype(I64).reshape(batch, lhs.shape[2], -1) - t.get("rhs_zero_points", 0))
    acc = (lhs @ rhs).reshape(-1, rhs.shape[2]) + t.get("bias", I64(0))
    assert (acc == acc.astype(S32)).all()
    return acc, row_scale


def bounds(t, dtype, activation):
    """What the activation leaves of dst's range."""
    integer = dtype != F32
    low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max) if integer else (-np.inf, np.inf)
    zero = t["dst_zero_point"].item() if integer else 0
    if activation == ACTIVATION_CLAMP:
        return t["clamp"][0]
    if activation == ACTIVATION_RELU6:
        six = float(F32(6) / t["dst_scale"][0, 0]) if integer else 6
        # TFLite rounds half away from zero here.
        high = min(high, zero + (int(six + 0.5) if "multipliers" in t else round(six)))
    return (low if activation == ACTIVATION_NONE else zero), high


def requantize(t, acc, scale, low, high):
    """Float mode, to 8 bits."""
    zero_point = t["dst_zero_point"].item()
    value = acc.astype(F32) * scale
    if "residual" in t:
        value = value + (t["residual"].astype(I64) - t["residual_zero_points"][0, 0]).astype(F32) * t["residual_scale"][0, 0]
    return np.rint(clamp(value, F32(low - zero_point), F32(high - zero_point))).astype(I64) + zero_point


def requantize_tflite(t, acc, low, high, dtype):
    """TFLite mode: the product, then int8 ADD on it and the residual."""
    value = fixed_point(acc, t["multipliers"], t["shifts"])
    if "residual" in t:
        residual_zero_point, product_zero_point = t["residual_zero_points"][0].tolist()
        product, residual, total = t["residual_scales"].tolist()
        a = clamp(value + product_zero_point, np.iinfo(dtype).min, np.iinfo(dtype).max) - product_zero_point
        b = t["residual"].astype(I64) - residual_zero_point
        value = fixed_point(fixed_point(a << 20, *product) + fixed_point(b << 20, *residual), *total)
    return clamp(value + t["dst_zero_point"].item(), int(low), int(high))


@np.errstate(all="ignore")
def evaluate(t, dtype, activation=ACTIVATION_NONE):
    """dst of one case: tensors by name, each of two dimensions, as README.md describes them."""
    acc, row_scale = accumulate(t)
    if dtype == S32:
        return acc.astype(S32)
    low, high = bounds(t, dtype, activation)
    scale = t.get("scales")
    if row_scale is not None:
        scale = row_scale * scale
    if dtype == F32:
        value = acc.astype(F32) * scale
        if "bias_f32" in t:
            value = value + t["bias_f32"]
        return clamp(value, F32(low), F32(high))
    value = requantize_tflite(t, acc, low, high, dtype) if "multipliers" in t else requantize(t, acc, scale, low, high)
    value = value.astype(dtype)
    return t["lut"].view(dtype)[0, value.view(U8)] if "lut" in t else value
