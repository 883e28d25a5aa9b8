# SPDX-License-Identifier: Apache-2.0
"""Writes byte_vectors.txt: results of LiteRT's reference kernels, its XNNPACK delegate and ONNX Runtime for all bytes, or all
pairs of bytes. The versions and packages are engines.py's:

    python3 make_byte_vectors.py > byte_vectors.txt

Each line is a function, its numbers in the order of bytes_test.cc, and the outputs: those of all 256 bytes in hex, or, of all
pairs, their FNV-1a checksum of 64 bits, the first input changing slowest. Lines of words, int16, have the checksum for all of
them, or for pairs of each and another one. Floats are their bits."""
import numpy as np
from onnx import helper

from engines import F, ONNXRUNTIME, STANDARD, TFLITE, XNNPACK, bits, rng, run_onnx, run_tflite, tflite_model, zero_point

REQUANTIZE, LOGISTIC, TANH, HARD_SWISH, LEAKY_RELU = range(5)


def bytes_of(dtype):
    return np.arange(256, dtype=np.uint8).view(dtype)


def checksum(y):
    value = 0xCBF29CE484222325
    for byte in y.tobytes():
        value = (value ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return value


def line(name, numbers, result):
    print(name, *[int(n) for n in numbers], result)


# ---- functions of one byte


def unary(function, arithmetic, x, output, dtype, quantization, alpha):
    (a, z), (b, u) = quantization
    if arithmetic in (TFLITE, XNNPACK):
        operator, options = {REQUANTIZE: ("QUANTIZE", None), LOGISTIC: ("LOGISTIC", None), TANH: ("TANH", None),
                             HARD_SWISH: ("HARD_SWISH", "HardSwishOptions"), LEAKY_RELU: ("LEAKY_RELU", "LeakyReluOptions")}[function]
        fields = dict(alpha=float(alpha)) if function == LEAKY_RELU else {}
        tensors = [(x.shape, dtype, float(a), z), (x.shape, output, float(b), u)]
        model = tflite_model(operator, options, tensors, [], 1 if function == HARD_SWISH else 2, **fields)
        return run_tflite(model, [x], arithmetic == TFLITE, True if arithmetic == XNNPACK else False)
    constants = dict(s=a, z=np.array(z, dtype), t=b, u=np.array(u, output))
    fields = dict(alpha=float(alpha)) if function == LEAKY_RELU else {}
    if arithmetic == ONNXRUNTIME:
        name = {LOGISTIC: "QLinearSigmoid", LEAKY_RELU: "QLinearLeakyRelu"}[function]
        node = helper.make_node(name, ["x", "s", "z", "t", "u"], ["y"], domain="com.microsoft", **fields)
        return run_onnx([node], {"x": x}, constants)
    name = {REQUANTIZE: "Identity", LOGISTIC: "Sigmoid", TANH: "Tanh", HARD_SWISH: "HardSwish", LEAKY_RELU: "LeakyRelu"}[function]
    nodes = [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["a"]), helper.make_node(name, ["a"], ["b"], **fields),
             helper.make_node("QuantizeLinear", ["b", "t", "u"], ["y"])]
    return run_onnx(nodes, {"x": x}, constants, True)


def unaries():
    engines = {TFLITE: (REQUANTIZE, LOGISTIC, TANH, HARD_SWISH, LEAKY_RELU), XNNPACK: (REQUANTIZE, LOGISTIC, TANH, LEAKY_RELU),
               ONNXRUNTIME: (LOGISTIC, LEAKY_RELU), STANDARD: (REQUANTIZE, LOGISTIC, TANH, HARD_SWISH, LEAKY_RELU)}
    for arithmetic, functions in engines.items():
        for function in functions:
            for kind in range(8):
                dtype = (np.int8, np.uint8)[kind % 2]
                output = dtype
                if function == REQUANTIZE and arithmetic != XNNPACK and kind > 3:
                    output = (np.uint8, np.int8)[kind % 2]
                least = np.iinfo(dtype).min
                a, z = F(10 ** rng.uniform(-2.2, -0.5)), zero_point(dtype)
                b, u = F(a * F(rng.uniform(0.4, 1.5))), zero_point(output)
                if function == LOGISTIC:  # TFLite takes no other scale
                    b, u = F(1 / 256), least
                elif function == TANH and kind < 4:
                    b, u = F(1 / 128), least + 128
                elif function == TANH:
                    b = F(rng.uniform(0.004, 0.02))
                alpha = F(rng.uniform(0.02, 0.9)) if function == LEAKY_RELU else F(0)
                x = bytes_of(dtype).reshape(1, 256)
                y = unary(function, arithmetic, x, output, dtype, ((a, z), (b, u)), alpha)
                line("unary", [function, arithmetic, dtype == np.uint8, output == np.uint8, bits(a), z, bits(b), u, bits(alpha)],
                     y.tobytes().hex())


# ---- functions of two bytes

ADD, SUB, MUL = range(3)
NAMES = ["Add", "Sub", "Mul"]


def pairs():
    for operator in (ADD, SUB, MUL):
        for arithmetic in (TFLITE, XNNPACK, ONNXRUNTIME, STANDARD):
            if operator == SUB and arithmetic == ONNXRUNTIME:
                continue
            for kind in range(12):
                pair(operator, arithmetic, (np.int8, np.uint8)[kind % 2], kind)


def pair(operator, arithmetic, dtype, kind):
    scales = [F(10 ** rng.uniform(-2.5, 0)) for _ in range(2)]
    if kind == 4:
        scales[1] = scales[0]
    whole = scales[0] * scales[1] * 60 if operator == MUL else max(scales)
    scales.append(F(whole * F(rng.uniform(0.5, 2))))
    if kind == 6:  # exact halves
        scales = [F(0.5), F(0.25), F(1)]
    zeros = [zero_point(dtype) for _ in range(3)]
    if kind > 7:
        zeros = [np.iinfo(dtype).min + 128] * 3
    a = np.repeat(bytes_of(dtype), 256).reshape(1, 256, 256, 1)
    b = np.tile(bytes_of(dtype), 256).reshape(1, 256, 256, 1)
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    if arithmetic in (TFLITE, XNNPACK):
        relu = kind % 5 == 3
        least = max(least, zeros[2]) if relu else least
        tensors = [(a.shape, dtype, float(s), z) for s, z in zip(scales, zeros)]
        model = tflite_model(NAMES[operator].upper(), NAMES[operator] + "Options", tensors, [], 2, fusedActivationFunction=relu)
        y = run_tflite(model, [a, b], arithmetic == TFLITE, arithmetic == XNNPACK)
        if y is None:
            return
    else:
        constants = {"s%d" % i: s for i, s in enumerate(scales)} | {"z%d" % i: np.array(z, dtype) for i, z in enumerate(zeros)}
        if arithmetic == ONNXRUNTIME:
            nodes = [helper.make_node("QLinear" + NAMES[operator], ["a", "s0", "z0", "b", "s1", "z1", "s2", "z2"], ["y"],
                                      domain="com.microsoft")]
        else:
            nodes = [helper.make_node("DequantizeLinear", ["a", "s0", "z0"], ["c"]),
                     helper.make_node("DequantizeLinear", ["b", "s1", "z1"], ["d"]), helper.make_node(NAMES[operator], ["c", "d"], ["e"]),
                     helper.make_node("QuantizeLinear", ["e", "s2", "z2"], ["y"])]
        y = run_onnx(nodes, {"a": a, "b": b}, constants, arithmetic == STANDARD)
    numbers = [operator, arithmetic, dtype == np.uint8] + [n for s, z in zip(scales, zeros) for n in (bits(s), z)]
    line("pair", numbers + [least, most], checksum(y))


# ---- concatenations


def concats():
    for arithmetic in (TFLITE, ONNXRUNTIME):
        for kind in range(8):
            dtype = np.uint8 if arithmetic == TFLITE else (np.int8, np.uint8)[kind % 2]
            scales, zeros = [F(10 ** rng.uniform(-2, 0)) for _ in range(3)], [zero_point(dtype) for _ in range(3)]
            if kind < 4:
                scales[2] = max(scales[:2])
            x = bytes_of(dtype).reshape(1, 1, 1, 256)
            if arithmetic == TFLITE:
                tensors = [(x.shape, dtype, float(scales[i]), zeros[i]) for i in range(2)] + [((1, 1, 1, 512), dtype, float(scales[2]), zeros[2])]
                y = run_tflite(tflite_model("CONCATENATION", "ConcatenationOptions", tensors, [], axis=3), [x, x], True)
            else:
                names = ["s2", "z2", "a", "s0", "z0", "b", "s1", "z1"]
                constants = {"s%d" % i: s for i, s in enumerate(scales)} | {"z%d" % i: np.array(z, dtype) for i, z in enumerate(zeros)}
                y = run_onnx([helper.make_node("QLinearConcat", names, ["y"], domain="com.microsoft", axis=3)], {"a": x, "b": x}, constants)
            numbers = [arithmetic, dtype == np.uint8] + [n for s, z in zip(scales, zeros) for n in (bits(s), z)]
            line("concat", numbers, y.tobytes().hex())


# ---- functions of words: all of them, of two each one beside another


def word(function, operator, options, a, b, slope=0, output=np.int16, zero=0, least=0, most=0, **fields):
    x = np.arange(65536, dtype=np.uint16).view(np.int16).reshape(1, -1)
    model = tflite_model(operator, options, [(x.shape, np.int16, float(a), 0), (x.shape, output, float(b), zero)], [], **fields)
    numbers = [function, output == np.int8, bits(a), 0, bits(b), zero, bits(slope), least, most]
    line("word", numbers, checksum(run_tflite(model, [x], True)))


def words():
    for kind in range(8):
        a = F(10 ** rng.uniform(-5, -2)) if kind else F(2**-12)
        b = F(a * F(rng.uniform(0.4, 1.5))) if kind else a
        alpha = F(rng.uniform(0.02, 0.9))
        word(REQUANTIZE, "QUANTIZE", None, a, F(b * F(2.0 ** rng.integers(-14, 14))) if kind > 3 else b)
        word(REQUANTIZE, "QUANTIZE", None, a, F(b * 256), output=np.int8, zero=int(rng.integers(-128, 128)))
        word(LEAKY_RELU, "LEAKY_RELU", "LeakyReluOptions", a, b, alpha, alpha=float(alpha))
        # RELU has LEAKY_RELU's arithmetic
        word(LEAKY_RELU, "RELU", None, a, b, 1, least=0, most=32767)
        word(LEAKY_RELU, "RELU6", None, a, b, 1, least=0, most=min(32767, int(np.round(F(6) / b))))
    for function, operator in ((LOGISTIC, "LOGISTIC"), (TANH, "TANH")):
        for a in [2.0**-12, 2.0**-11, 2.0**-13, 2.0**-12 * 1.0005, 2.0**-11 * 0.9994, 4, 1.4, 2.0**-44, 1e-9] + [10 ** rng.uniform(-5, -2) for _ in range(6)]:
            word(function, operator, None, F(a), F(2**-15))
    for operator in (ADD, SUB, MUL):
        for kind in range(6):
            pair_of_s16(operator, kind)


def pair_of_s16(operator, kind):
    a = np.arange(65536, dtype=np.uint64)
    a, b = (v.astype(np.uint16).view(np.int16).reshape(1, -1) for v in (a, 40503 * a + 77))
    scales = [F(10 ** rng.uniform(-5, -3)) for _ in range(2)]
    scales = [scales[0]] * 2 if kind == 4 else [F(2**-12), F(2**-12)] if kind == 5 else scales
    whole = scales[0] * scales[1] * 16000 if operator == MUL else max(scales)
    scales.append(F(2**-12) if kind == 5 else F(whole * F(rng.uniform(0.5, 2))))
    relu = kind % 3 == 1
    model = tflite_model(NAMES[operator].upper(), NAMES[operator] + "Options", [(a.shape, np.int16, float(s), 0) for s in scales], [], 2,
                         fusedActivationFunction=relu)
    y = run_tflite(model, [a, b], True)
    line("words", [operator] + [n for s in scales for n in (bits(s), 0)] + [0 if relu else -32768, 32767], checksum(y))


unaries()
pairs()
concats()
rng = np.random.default_rng(16)  # of its own: further lines before change none of these
words()
