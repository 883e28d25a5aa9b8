# SPDX-License-Identifier: Apache-2.0
"""Octet's numeric contract in numpy: every float operation is one float32 operation, every integer is exact.

It shares nothing with the library. ../conformance/check.py holds it against ONNX, ONNX Runtime and LiteRT.
"""
import numpy as np

S8, U8, S16, S32, F32, I64, F64 = np.int8, np.uint8, np.int16, np.int32, np.float32, np.int64, np.float64
F16 = np.float16
LHS_STATIC, LHS_PER_TENSOR, LHS_PER_ROW, LHS_SYMMETRIC, LHS_ASYMMETRIC, LHS_SYMMETRIC_BLOCKS, LHS_SYMMETRIC_BLOCKS_F16, LHS_PER_BLOCK = range(8)  # octet_lhs_quant
ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_RELU6, ACTIVATION_CLAMP, ACTIVATION_RELU_N1_TO_1 = range(5)  # octet_activation
TINY = F32(2.0**-100)
CONV_FIELDS = ("batch", "in_h", "in_w", "in_channels", "out_channels", "groups", "kernel_h", "kernel_w", "stride_h", "stride_w", "dilation_h",
               "dilation_w", "pad_top", "pad_bottom", "pad_left", "pad_right", "transposed", "output_padding_h", "output_padding_w")


def clamp(x, low, high):
    """Clamps by two comparisons, so that NaN stays NaN."""
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


def fixed_point_s64(x, multiplier, shift):
    """MultiplyByQuantizedMultiplier of a sum in 64 bits: 15 bits of the multiplier, one rounding, halves up."""
    shift, short = I64(shift), np.where(multiplier >= 0x7fff0000, 0x7fff, (I64(multiplier) + 2**15) >> 16)
    return (x * short + (I64(1) << (14 - shift))) >> (15 - shift)


def check_sum(acc, lhs_type):
    """Sums of s16 have 48 bits, others 32."""
    low, high = (-2**47, 2**47) if lhs_type == S16 else (-2**31, 2**31)
    assert ((acc >= low) & (acc < high)).all()


def conv_out(g):
    """Height and width of the output."""
    def size(axis, before, after):
        reach, pads = g["dilation_" + axis] * (g["kernel_" + axis] - 1) + 1, g[before] + g[after]
        if g["transposed"]:
            return (g["in_" + axis] - 1) * g["stride_" + axis] + reach - pads + g["output_padding_" + axis]
        return (g["in_" + axis] + pads - reach) // g["stride_" + axis] + 1

    return size("h", "pad_top", "pad_bottom"), size("w", "pad_left", "pad_right")


def conv_filter(t, g):
    """Weights as groups x outputs of a group x height x width x inputs of a group."""
    groups, height, width = g["groups"], g["kernel_h"], g["kernel_w"]
    outputs, inputs = g["out_channels"] // groups, g["in_channels"] // groups
    if "filter_ohwi" in t:
        w = t["filter_ohwi"].reshape(groups, outputs, height, width, inputs)
    elif "filter_oihw" in t:
        w = t["filter_oihw"].reshape(groups, outputs, inputs, height, width).transpose(0, 1, 3, 4, 2)
    elif "filter_hwio" in t:
        w = t["filter_hwio"].reshape(height, width, inputs, groups, outputs).transpose(3, 4, 0, 1, 2)
    else:
        w = t["filter_iohw"].reshape(groups, inputs, outputs, height, width).transpose(0, 2, 3, 4, 1)
    zero_points = np.broadcast_to(t["rhs_zero_points"][0] if "rhs_zero_points" in t else 0, g["out_channels"])
    return w.astype(I64) - zero_points.reshape(groups, outputs, 1, 1, 1)


def accumulate_conv(t):
    """acc of a convolution in int64, one row per output pixel, and the scale of each row."""
    g = dict(zip(CONV_FIELDS, t["conv"][0].tolist()))
    batch, groups, rows_h, rows_w = g["batch"], g["groups"], g["in_h"], g["in_w"]
    values, zero_points = t["lhs"], t["lhs_zero_points"].reshape(-1, 1, 1, 1) if "lhs_zero_points" in t else 0
    row_scale = t["lhs_scales"].T if "lhs_scales" in t else None
    if values.dtype == F32 and "lhs_quantized_type" in t:
        low = 0 if t["lhs_quantized_type"].item() == 2 else -128
        values = clamp(np.rint(values / t["lhs_real_scale"].item()) + F32(t["lhs_zero_points"].item()), low, low + 255).astype(I64)
    elif values.dtype == F32:
        values, row_scale, zero_points = quantize_rows(values.reshape(batch, -1), "lhs_quant" in t and t["lhs_quant"].item() == LHS_SYMMETRIC)
        zero_points = zero_points.reshape(-1, 1, 1, 1)
    lhs = values.reshape(batch, -1, rows_h, rows_w).transpose(0, 2, 3, 1) if "nchw" in t else values.reshape(batch, rows_h, rows_w, -1)
    lhs = lhs.astype(I64) - zero_points
    w = conv_filter(t, g)
    out_h, out_w = conv_out(g)
    (stride_h, stride_w), (step_h, step_w) = (g["stride_h"], g["stride_w"]), (g["dilation_h"], g["dilation_w"])
    # Each tap sees, or adds to, one rectangle of the tensor with its margins.
    if g["transposed"]:
        tall, wide = out_h + g["pad_top"] + g["pad_bottom"], out_w + g["pad_left"] + g["pad_right"]
        walk_h, walk_w, framed = rows_h, rows_w, np.zeros((batch, tall, wide, g["out_channels"]), I64)
    else:
        margins = ((0, 0), (g["pad_top"], g["pad_bottom"]), (g["pad_left"], g["pad_right"]), (0, 0))
        walk_h, walk_w, framed = out_h, out_w, np.pad(lhs, margins)
    acc = np.zeros((batch, out_h, out_w, g["out_channels"]), I64)
    for y, x in np.ndindex(g["kernel_h"], g["kernel_w"]):
        seen = framed[:, y * step_h:y * step_h + (walk_h - 1) * stride_h + 1:stride_h, x * step_w:x * step_w + (walk_w - 1) * stride_w + 1:stride_w]
        taken = lhs if g["transposed"] else seen
        products = np.einsum("bhwgi,goi->bhwgo", taken.reshape(*taken.shape[:3], groups, -1), w[:, :, y, x]).reshape(*taken.shape[:3], -1)
        if g["transposed"]:
            seen += products
        else:
            acc += products
    if g["transposed"]:
        acc = framed[:, g["pad_top"]:g["pad_top"] + out_h, g["pad_left"]:g["pad_left"] + out_w]
    acc = acc.reshape(-1, g["out_channels"]) + t.get("bias", I64(0))
    check_sum(acc, t["lhs"].dtype)
    return acc, None if row_scale is None else np.repeat(row_scale, out_h * out_w, 0)


def accumulate(t):
    """acc in int64, and the scale of each row of the lhs."""
    if "conv" in t:
        return accumulate_conv(t)
    batch = t["batch"].item() if "batch" in t else 1
    lhs, row_scale = t["lhs"], t["lhs_scales"].T if "lhs_scales" in t else None
    rhs = t["rhs_kn"] if "rhs_kn" in t else t["rhs_nk"].reshape(batch, -1, lhs.shape[1]).swapaxes(1, 2)
    lhs_zero_point = t["lhs_zero_points"].T if "lhs_zero_points" in t else 0
    if lhs.dtype == F32:
        lhs, row_scale, lhs_zero_point = quantize_rows(lhs, "lhs_quant" in t and t["lhs_quant"].item() == LHS_SYMMETRIC)
    lhs = (lhs.astype(I64) - lhs_zero_point).reshape(batch, -1, lhs.shape[1])
    rhs = (rhs.astype(I64).reshape(batch, lhs.shape[2], -1) - t.get("rhs_zero_points", 0))
    acc = (lhs @ rhs).reshape(-1, rhs.shape[2]) + t.get("bias", I64(0))
    check_sum(acc, t["lhs"].dtype)
    return acc, row_scale


def accumulate_blocks(t):
    """The float sum of scale blocks in place of acc, and the scale of each row of the lhs."""
    lhs, row_scale, scales = t["lhs"], t["lhs_scales"].T if "lhs_scales" in t else None, t["block_scales"].astype(F32)
    (m, k), (n, blocks) = lhs.shape, scales.shape
    lhs_zero_point, lhs_block_scale = t["lhs_zero_points"].T if "lhs_zero_points" in t else 0, None
    quant = t["lhs_quant"].item() if "lhs_quant" in t else LHS_STATIC
    if quant in (LHS_SYMMETRIC_BLOCKS, LHS_SYMMETRIC_BLOCKS_F16):
        lhs, lhs_block_scale, _ = quantize_rows(lhs.reshape(m * blocks, -1), True)
        if quant == LHS_SYMMETRIC_BLOCKS_F16:
            lhs_block_scale = lhs_block_scale.astype(F16).astype(F32)
        lhs_block_scale = lhs_block_scale.reshape(m, blocks)
    elif quant == LHS_PER_BLOCK:
        lhs_block_scale, row_scale = t["lhs_scales"].reshape(m, blocks), None
    elif lhs.dtype == F32:
        lhs, row_scale, lhs_zero_point = quantize_rows(lhs, t["lhs_quant"].item() == LHS_SYMMETRIC)
    lhs = (lhs.astype(I64).reshape(m, k) - lhs_zero_point).reshape(m, blocks, -1)
    rhs = (t["rhs_nk"] if "rhs_nk" in t else t["rhs_kn"].T).astype(I64).reshape(n, blocks, -1)
    zero_points = t.get("rhs_zero_points", np.zeros((1, 1), I64)).astype(I64)
    # One of all, one of each column, or one of each block.
    rhs = rhs - (zero_points if zero_points.shape == (n, blocks) else zero_points.T)[:, :, None]
    minimums = t["block_minimums"].astype(F32) if "block_minimums" in t else None
    total, rest = np.zeros((m, n), F32), np.zeros((m, n), F32)

    def scaled(by):
        return by if lhs_block_scale is None else lhs_block_scale[:, b:b + 1] * by

    for b in range(blocks):
        acc = lhs[:, b] @ rhs[:, b].T
        check_sum(acc, S8)
        total = total + acc.astype(F32) * scaled(scales[:, b])
        if minimums is not None:
            rest = rest + lhs[:, b].sum(1, keepdims=True).astype(F32) * scaled(minimums[:, b])
    return total if minimums is None else total + rest, row_scale


def bounds(t, dtype, activation, of=("dst_zero_point", "dst_scale", "clamp")):
    """The range of dst after the activation, or of another tensor of its type, which has these names."""
    integer = dtype != F32
    low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max) if integer else (-np.inf, np.inf)
    zero_point, scale, limits = of
    zero = t[zero_point].item() if integer and zero_point in t else 0
    if activation == ACTIVATION_CLAMP:
        return t[limits][0]

    def steps(bound):
        ratio = float(F32(bound) / t[scale][0, 0]) if integer else bound
        # TFLite rounds half away from zero here, and so does double mode.
        return round(ratio) if "scales" in t else int(ratio + 0.5)

    if activation == ACTIVATION_RELU_N1_TO_1:
        return max(low, zero - steps(1)), min(high, zero + steps(1))
    if activation == ACTIVATION_RELU6:
        high = min(high, zero + steps(6))
    return (low if activation == ACTIVATION_NONE else zero), high


def float_bounds(t, activation):
    """The bounds of float mode's product after its activation, in steps of dst."""
    if activation == ACTIVATION_CLAMP:
        return t["product_clamp"][0]
    ends = {ACTIVATION_RELU: (0, np.inf), ACTIVATION_RELU6: (0, 6), ACTIVATION_RELU_N1_TO_1: (-1, 1)}
    return F32(ends.get(activation, (-np.inf, np.inf))) / (t["dst_scale"][0, 0] if "dst_scale" in t else F32(1))


def requantize(t, acc, scale, low, high, product_activation):
    """Float mode, to integers."""
    zero_point = t["dst_zero_point"].item() if "dst_zero_point" in t else 0
    value = acc.astype(F32) * scale
    if "residual" in t:
        value = clamp(value, *float_bounds(t, product_activation)) + (t["residual"].astype(I64) - t["residual_zero_points"][0, 0]).astype(F32) * t["residual_scale"][0, 0]
    return np.rint(clamp(value, F32(low - zero_point), F32(high - zero_point))).astype(I64) + zero_point


def requantize_tflite(t, acc, low, high, dtype, product_activation):
    """TFLite mode: the product, then int8 ADD on it and the residual."""
    if t["lhs"].dtype == S16:
        return clamp(fixed_point_s64(acc, t["multipliers"], t["shifts"]), int(low), int(high))
    value = fixed_point(acc, t["multipliers"], t["shifts"])
    if "residual" in t:
        residual_zero_point, product_zero_point = t["residual_zero_points"][0].tolist()
        of_product = {**t, "product_zero_point": S32([[product_zero_point]])}
        ends = bounds(of_product, dtype, product_activation, ("product_zero_point", "product_real_scale", "product_clamp"))
        product, residual, total = t["residual_scales"].tolist()
        a = clamp(value + product_zero_point, int(ends[0]), int(ends[1])) - product_zero_point
        b = t["residual"].astype(I64) - residual_zero_point
        value = fixed_point(fixed_point(a << 20, *product) + fixed_point(b << 20, *residual), *total)
    return clamp(value + t["dst_zero_point"].item(), int(low), int(high))


def requantize_double(t, acc, low, high):
    """Double mode: one product in float64, rounded once, halves away from zero."""
    value = acc.astype(F64) * t["factors"]
    whole = np.trunc(value)
    value = whole + np.where(np.abs(value - whole) >= 0.5, np.sign(value), 0)
    return clamp(value + (t["dst_zero_point"].item() if "dst_zero_point" in t else 0), int(low), int(high))


def evaluate(t, dtype, activation=ACTIVATION_NONE, product_activation=ACTIVATION_NONE):
    """dst of one case: tensors by name, each of two dimensions, as README.md describes them."""
    dst = evaluate_rows(t, dtype, activation, product_activation)
    if "nchw" not in t:
        return dst
    batch = t["conv"][0, 0]
    return dst.reshape(batch, -1, dst.shape[1]).swapaxes(1, 2).reshape(batch * dst.shape[1], -1)


@np.errstate(all="ignore")
def evaluate_rows(t, dtype, activation, product_activation):
    """One row per row of the lhs, or per pixel of the output."""
    acc, row_scale = accumulate_blocks(t) if "block_scales" in t else accumulate(t)
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
        # CPUs disagree on the sign of a computed NaN.
        return np.where(np.isnan(value), F32(np.nan), clamp(value, F32(low), F32(high)))
    if "multipliers" in t:
        value = requantize_tflite(t, acc, low, high, dtype, product_activation)
    elif "factors" in t:
        value = requantize_double(t, acc, low, high)
    else:
        value = requantize(t, acc, scale, low, high, product_activation)
    value = value.astype(dtype)
    return t["lut"].view(dtype)[0, value.view(U8)] if "lut" in t else value
