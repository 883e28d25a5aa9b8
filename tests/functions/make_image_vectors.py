# SPDX-License-Identifier: Apache-2.0
"""Writes image_vectors.txt: bytes that LiteRT's reference kernels, its XNNPACK delegate and ONNX Runtime give for models of
one operator. Needs ai-edge-litert, onnxruntime, onnx, flatbuffers and numpy:

    python3 make_image_vectors.py > image_vectors.txt

Each line is a function, its numbers in the order of images_test.cc, the input's bytes and the output's, in hex. Floats
are their bits. Images are NHWC, one image each. The first number is 0 for int8, 1 for uint8 and 2 for int16, which only the
reference kernels have."""
import numpy as np
from onnx import helper

from engines import F, ONNXRUNTIME, STANDARD, TFLITE, XNNPACK, between, bits, draw_scales, rng, zero_point
from engines import run_onnx, run_tflite, tflite_model


def draw(dtype, shape, kind):
    info = np.iinfo(dtype)
    if kind % 4 == 0:
        return rng.choice([info.min, info.max], shape).astype(dtype)
    if kind % 4 == 1:  # sums near 0 and ties
        return rng.integers(info.min, info.min + 3, shape).astype(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def nchw(x):
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2))


def nhwc(x):
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1))


def line(name, numbers, x, y):
    print(name, *[int(n) for n in numbers], x.tobytes().hex(), y.tobytes().hex())


def small_window():
    h, w, c = (int(v) for v in rng.integers(1, 7, 3))
    return (h, w, c), [int(rng.integers(1, h + 1)), int(rng.integers(1, w + 1))], [int(v) for v in rng.integers(1, 4, 2)]


def pools(dtype, unsigned):
    for kind in range(8):
        (h, w, c), k, s = small_window()
        same, z, scale, act = kind % 2, zero_point(dtype), 0.03, [0, 1, 3][kind % 3]
        info = np.iinfo(dtype)
        least, most = (info.min if not act else max(info.min, z)), info.max
        if act == 3:
            most = min(most, z + 200)
        o = [-(-n // t) if same else (n - m) // t + 1 for n, m, t in zip((h, w), k, s)]
        pad = [max((a - 1) * t + m - n, 0) if same else 0 for a, n, m, t in zip(o, (h, w), k, s)]
        window = k + s + [pad[0] // 2, pad[1] // 2, pad[0] - pad[0] // 2, pad[1] - pad[1] // 2]
        x = draw(dtype, (1, h, w, c), kind)
        tensors = [((1, h, w, c), dtype, scale, z), ((1, *o, c), dtype, scale, z)]
        options = dict(padding=1 - same, strideH=s[0], strideW=s[1], filterHeight=k[0], filterWidth=k[1],
                       fusedActivationFunction=act)
        head = [unsigned, h, w, c] + window
        y = run_tflite(tflite_model("MAX_POOL_2D", "Pool2DOptions", tensors, [], **options), [x], kind % 4 < 2)
        line("max_pool", head + [least, most], x, y)
        y = run_tflite(tflite_model("AVERAGE_POOL_2D", "Pool2DOptions", tensors, [], **options), [x], kind % 4 < 2)
        line("average_pool", head + [TFLITE, 0, bits(scale), z, bits(scale), z, least, most], x, y)
    for kind in range(12):
        (h, w, c), k, s = small_window()
        pad = [int(rng.integers(0, m)) for m in k + k]
        include, (a, b), z, u = kind % 2, draw_scales(kind), zero_point(dtype), zero_point(dtype)
        x = draw(dtype, (1, h, w, c), kind + 1)
        constants = dict(s=a, z=np.array(z, dtype), t=b, u=np.array(u, dtype))
        attributes = dict(kernel_shape=k, strides=s, pads=pad, count_include_pad=include)
        head = [unsigned, h, w, c] + k + s + pad
        node = helper.make_node("QLinearAveragePool", ["x", "s", "z", "t", "u"], ["y"], domain="com.microsoft", **attributes)
        line("average_pool", head + [ONNXRUNTIME, include, bits(a), z, bits(b), u, 0, 0], x,
             nhwc(run_onnx([node], {"x": nchw(x)}, constants)))
        line("average_pool", head + [STANDARD, include, bits(a), z, bits(b), u, 0, 0], x,
             nhwc(run_onnx(between("AveragePool", **attributes), {"x": nchw(x)}, constants, True)))


def means(dtype, unsigned):
    for kind in range(12):
        h, w, c = (int(v) for v in rng.integers(1, 8, 3))
        (a, b), z = draw_scales(kind), zero_point(dtype)
        u = z if kind % 3 == 0 else zero_point(dtype)
        x = draw(dtype, (1, h, w, c), kind + 1)
        model = tflite_model("MEAN", "ReducerOptions", [((1, h, w, c), dtype, float(a), z), ((1, 1, 1, c), dtype, float(b), u)],
                             [np.array([1, 2], np.int32)], keepDims=True)
        head = lambda arithmetic: [unsigned, h, w, c, arithmetic, bits(a), z, bits(b), u]
        line("mean", head(TFLITE), x, run_tflite(model, [x], True))
        line("mean", head(XNNPACK), x, run_tflite(model, [x], False))
        node = helper.make_node("QLinearGlobalAveragePool", ["x", "s", "z", "t", "u"], ["y"], domain="com.microsoft", channels_last=1)
        constants = dict(s=a, z=np.array(z, dtype), t=b, u=np.array(u, dtype))
        line("mean", head(ONNXRUNTIME), x, run_onnx([node], {"x": x}, constants))


COORDINATES = ["asymmetric", "align_corners", "half_pixel", "pytorch_half_pixel"]
NEAREST = ["", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]


def resizes(dtype, unsigned):
    for kind in range(18):
        h, w, c = (int(v) for v in rng.integers(1, 6, 3))
        o = [int(v) for v in rng.integers(1, 12, 2)]
        coordinates = kind % 3
        x = draw(dtype, (1, h, w, c), kind)
        tensors = [((1, h, w, c), dtype, 0.5, 0), ((1, *o, c), dtype, 0.5, 0)]
        flags = dict(alignCorners=coordinates == 1, halfPixelCenters=coordinates == 2)
        head = lambda bilinear, nearest, arithmetic: [unsigned, h, w, c, *o, bilinear, coordinates, nearest, arithmetic, 0, 0, 0, 0]
        model = tflite_model("RESIZE_BILINEAR", "ResizeBilinearOptions", tensors, [np.array(o, np.int32)], 3, **flags)
        line("resize", head(1, 0, TFLITE), x, run_tflite(model, [x], True))
        line("resize", head(1, 0, XNNPACK), x, run_tflite(model, [x], False))
        model = tflite_model("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions", tensors, [np.array(o, np.int32)], 3, **flags)
        line("resize", head(0, 0, TFLITE), x, run_tflite(model, [x], True))
    for kind in range(32):
        h, w, c = (int(v) for v in rng.integers(1, 6, 3))
        o = [int(v) for v in rng.integers(1, 12, 2)]
        coordinates, nearest = kind % 4, kind // 4 % 4 + 1
        x = draw(dtype, (1, h, w, c), kind)
        sizes = np.array([1, c] + o, np.int64)
        node = helper.make_node("Resize", ["x", "", "", "o"], ["y"], mode="nearest", nearest_mode=NEAREST[nearest],
                                coordinate_transformation_mode=COORDINATES[coordinates])
        line("resize", [unsigned, h, w, c, *o, 0, coordinates, nearest, ONNXRUNTIME, 0, 0, 0, 0], x,
             nhwc(run_onnx([node], {"x": nchw(x)}, dict(o=sizes))))
        if nearest > 2:
            continue
        attributes = dict(mode="linear", coordinate_transformation_mode=COORDINATES[coordinates])
        node = helper.make_node("Resize", ["x", "", "", "o"], ["y"], **attributes)
        line("resize", [unsigned, h, w, c, *o, 1, coordinates, 0, ONNXRUNTIME, 0, 0, 0, 0], x,
             nhwc(run_onnx([node], {"x": nchw(x)}, dict(o=sizes))))
        (a, b), z, u = draw_scales(kind), zero_point(dtype), zero_point(dtype)
        constants = dict(o=sizes, s=a, z=np.array(z, dtype), t=b, u=np.array(u, dtype))
        line("resize", [unsigned, h, w, c, *o, 1, coordinates, 0, STANDARD, bits(a), z, bits(b), u], x,
             nhwc(run_onnx(between("Resize", ["a", "", "", "o"], **attributes), {"x": nchw(x)}, constants, True)))


def softmaxes(dtype, unsigned):
    for kind in range(12):
        n, scale, beta = int(rng.integers(1, 40)), F(10 ** rng.uniform(-3, 0.3)), F([1, 0.5, 2][kind % 3])
        if kind == 11:
            n = 300
        x, zero = draw(dtype, (3, n), kind + kind // 8), 0 if unsigned else -128
        model = tflite_model("SOFTMAX", "SoftmaxOptions", [((3, n), dtype, float(scale), 3), ((3, n), dtype, 1 / 256, zero)], [],
                             beta=float(beta))
        head = lambda beta, out, arithmetic: [unsigned, 1, 3, n, bits(scale), bits(beta), 1 + unsigned, bits(out), zero, arithmetic]
        line("softmax", head(beta, 1 / 256, TFLITE), x, run_tflite(model, [x], True))
        out = F([1 / 256, 1 / 255, 1 / 200][kind % 3])
        node = helper.make_node("QLinearSoftmax", ["x", "s", "z", "t", "u"], ["y"], domain="com.microsoft", opset=13)
        constants = dict(s=scale, z=np.array(zero + 3, dtype), t=out, u=np.array(zero, dtype))
        line("softmax", head(1, out, ONNXRUNTIME), x, run_onnx([node], {"x": x}, constants))
        line("softmax", head(1, out, STANDARD), x, run_onnx(between("Softmax"), {"x": x}, constants, True))


S16 = 2
S16 = 8  # OCTET_S16


def words():
    for kind in range(8):
        (h, w, c), k, s = small_window()
        same, x = kind % 2, draw(np.int16, (1, h, w, c), kind)
        o = [-(-n // t) if same else (n - m) // t + 1 for n, m, t in zip((h, w), k, s)]
        pad = [max((a - 1) * t + m - n, 0) if same else 0 for a, n, m, t in zip(o, (h, w), k, s)]
        window = k + s + [pad[0] // 2, pad[1] // 2, pad[0] - pad[0] // 2, pad[1] - pad[1] // 2]
        a, b = F(10 ** rng.uniform(-4, -3)), F(10 ** rng.uniform(-4, -3))
        tensors = [((1, h, w, c), np.int16, float(a), 0), ((1, *o, c), np.int16, float(a), 0)]
        act = [0, 1, 3][kind % 3]
        options = dict(padding=1 - same, strideH=s[0], strideW=s[1], filterHeight=k[0], filterWidth=k[1], fusedActivationFunction=act)
        least, most = -32768 if not act else 0, 32767 if act != 3 else min(32767, int(np.round(F(6) / a)))
        y = run_tflite(tflite_model("MAX_POOL_2D", "Pool2DOptions", tensors, [], **options), [x], True)
        line("max_pool", [S16, h, w, c] + window + [least, most], x, y)
        y = run_tflite(tflite_model("AVERAGE_POOL_2D", "Pool2DOptions", tensors, [], **options), [x], True)
        line("average_pool", [S16, h, w, c] + window + [TFLITE, 0, bits(a), 0, bits(a), 0, least, most], x, y)
        model = tflite_model("MEAN", "ReducerOptions", [((1, h, w, c), np.int16, float(a), 0), ((1, 1, 1, c), np.int16, float(b), 0)],
                             [np.array([1, 2], np.int32)], keepDims=True)
        line("mean", [S16, h, w, c, TFLITE, bits(a), 0, bits(b), 0], x, run_tflite(model, [x], True))
        o = [int(v) for v in rng.integers(1, 12, 2)]
        flags = dict(alignCorners=kind % 3 == 1, halfPixelCenters=kind % 3 == 2)
        tensors = [((1, h, w, c), np.int16, float(a), 0), ((1, *o, c), np.int16, float(a), 0)]
        model = tflite_model("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions", tensors, [np.array(o, np.int32)], 3, **flags)
        line("resize", [S16, h, w, c, *o, 0, kind % 3, 0, TFLITE, 0, 0, 0, 0], x, run_tflite(model, [x], True))


def linear_s16():
    """What mixes words: bilinear resizes and softmaxes."""
    for kind in range(16):
        h, w, c = (int(v) for v in rng.integers(1, 6, 3))
        o = [int(v) for v in rng.integers(1, 12, 2)]
        x, a = draw(np.int16, (1, h, w, c), kind), 10 ** rng.uniform(-4, -3)
        flags = dict(alignCorners=kind % 3 == 1, halfPixelCenters=kind % 3 == 2)
        tensors = [((1, h, w, c), np.int16, a, 0), ((1, *o, c), np.int16, a, 0)]
        model = tflite_model("RESIZE_BILINEAR", "ResizeBilinearOptions", tensors, [np.array(o, np.int32)], 3, **flags)
        line("resize", [S16, h, w, c, *o, 1, kind % 3, 0, TFLITE, 0, 0, 0, 0], x, run_tflite(model, [x], True))
    for kind in range(24):
        n, beta = int(rng.integers(1, 40)) if kind else 700, F([1, 0.5, 2][kind % 3])
        scale = F(10 ** rng.uniform(-6, 0.3)) if kind % 2 else F(2.0 ** -rng.integers(0, 18))
        x = draw(np.int16, (3, n), kind + kind // 8) // [1, 16, 256][kind // 8]
        model = tflite_model("SOFTMAX", "SoftmaxOptions", [((3, n), np.int16, float(scale), 0), ((3, n), np.int16, 2.0**-15, 0)], [],
                             beta=float(beta))
        line("softmax", [S16, 1, 3, n, bits(scale), bits(beta), S16, bits(2.0**-15), 0, TFLITE], x, run_tflite(model, [x], True))


for unsigned, dtype in enumerate((np.int8, np.uint8)):
    for make in (pools, means, resizes, softmaxes):
        make(dtype, unsigned)
rng = np.random.default_rng(16)  # of its own: further lines before change none of these
words()
rng = np.random.default_rng(31)
linear_s16()
