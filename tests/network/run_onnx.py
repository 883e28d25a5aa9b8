#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `octet run --network` of ONNX models that are made here against ONNX Runtime and ONNX's reference evaluator, byte by byte.

    run_onnx.py <directory for a virtual environment> <the octet command>

ONNX Runtime computes integer operators, with any scales; the reference evaluator computes operators between DequantizeLinear and QuantizeLinear, with
scales that are powers of two: then both are exact up to the last rounding. docs/networks.md says so. Exits with 77, which ctest shows as skipped,
where the Python packages are missing and cannot be installed.
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "models"
sys.path.append(str(TOOL))
import packages  # noqa: E402

packages.need(pathlib.Path(sys.argv[1]), [TOOL / "requirements.txt", ROOT / "tests" / "conformance" / "requirements.txt"], "flatbuffers", "onnx", "onnxruntime", "tflite")
import describing
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

U8, S8, F32 = TensorProto.UINT8, TensorProto.INT8, TensorProto.FLOAT
onnxruntime.set_default_logger_severity(3)
RANDOM = np.random.default_rng(7)
# Two products of such weights and of bytes stay within 16 bits, where ONNX Runtime's sums saturate on x86 without VNNI
CPU = pathlib.Path("/proc/cpuinfo")
LARGEST = 63 if CPU.exists() and " avx2 " in CPU.read_text() and "vnni" not in CPU.read_text() else 127


class Model:
    """Operator by operator; names are numbered."""

    def __init__(self, shape, kind):
        self.shape, self.kind, self.nodes, self.constants = shape, kind, [], []

    def constant(self, array, dtype):
        self.constants.append(numpy_helper.from_array(np.array(array, dtype), f"constant{len(self.constants)}"))
        return self.constants[-1].name

    def add(self, kind, inputs, domain="", **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [f"out{len(self.nodes)}"], f"{kind}{len(self.nodes)}", domain=domain, **attributes))
        return self.nodes[-1].output[0]

    def quantization(self, scale, zero_point, dtype=np.uint8):
        return [self.constant(scale, np.float32), self.constant(zero_point, dtype)]

    def weights(self, *shape, most=LARGEST):
        return self.constant(RANDOM.integers(-most, most, shape, endpoint=True), np.int8)

    def bias(self, n, most=2000):
        return self.constant(RANDOM.integers(-most, most, n), np.int32)

    def save(self, path, output, kind):
        graph = helper.make_graph(self.nodes, "made", [helper.make_tensor_value_info("x", self.kind, self.shape)],
                                  [helper.make_tensor_value_info(output, kind, None)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19), helper.make_opsetid("com.microsoft", 1)], ir_version=9)
        onnx.save(model, path)
        return path

    # ---- between floats

    def bytes_of(self, x, scale, zero_point, dtype=np.uint8):
        return self.add("QuantizeLinear", [x, *self.quantization(scale, zero_point, dtype)])

    def floats_of(self, x, scale, zero_point, dtype=np.uint8, **axis):
        return self.add("DequantizeLinear", [x, *self.quantization(scale, zero_point, dtype)], **axis)

    def float_weights(self, scales, axis, *shape):
        return self.floats_of(self.weights(*shape, most=127), scales, np.zeros(np.shape(scales)), np.int8, axis=axis)

    def float_bias(self, n, scales):
        return self.floats_of(self.bias(n), scales, np.zeros(np.shape(scales)), np.int32, axis=0)


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)


def described(model, code=0):
    out = model.with_suffix(".json")
    done = describing.described(model, "-o", out, "--data")
    assert done.returncode == code and "Traceback" not in done.stderr, done.stderr
    return out, done.stderr


def nhwc(array):
    return np.ascontiguousarray(array.transpose(0, 2, 3, 1) if array.ndim == 4 else array)


def compare(octet, model, inputs, expected):
    """Inputs and expected are integers, as the model has them."""
    description, said = described(model)
    (model.parent / "in").write_bytes(b"".join(nhwc(x).tobytes() for x in inputs))
    wanted = nhwc(expected)
    assert len(np.unique(wanted)) > 20, f"{model.name} shows little: {np.unique(wanted)}"
    for goal in ("layers", "traffic", "memory"):
        done = run(octet, "run", description, "--goal", goal, "--input", model.parent / "in", "--output", model.parent / "out", "--repetitions", 1)
        assert done.returncode == 0 and "equal bytes" in done.stdout, (model.name, done.stdout + done.stderr, said)
        made = np.frombuffer((model.parent / "out").read_bytes(), wanted.dtype)
        wrong = np.count_nonzero(made != wanted.reshape(-1)) if made.size == wanted.size else -1
        assert wrong == 0, f"{model.name}, {goal}: {wrong} of {wanted.size} wrong"
    print(f"{model.name}: {wanted.size} values equal")


def compare_integers(octet, model, dtype=np.uint8):
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    limits = np.iinfo(dtype)
    x = RANDOM.integers(limits.min, limits.max, session.get_inputs()[0].shape, dtype, endpoint=True)
    compare(octet, model, [x], session.run(None, {"x": x})[0])


def compare_floats(octet, model, scale, zero_point):
    x = RANDOM.integers(0, 255, [d.dim_value for d in onnx.load(model).graph.input[0].type.tensor_type.shape.dim], np.uint8, endpoint=True)
    floats = (x.astype(np.float32) - zero_point) * np.float32(scale)
    compare(octet, model, [x], ReferenceEvaluator(str(model)).run(None, {"x": floats})[0])


def integers(path, name, kind, dtype, zero):
    m = Model([2, 6, 13, 11], kind)
    at = [m.quantization(s, z + zero, dtype) for s, z in ((0.031, 120), (0.0457, 3), (0.04, 131), (0.5, 128), (0.25, 98), (0.5, 110), (2.9, 100), (11.3, 128))]
    w = m.weights(8, 3, 3, 2)
    wide = 127 / LARGEST  # so that outputs are as large with small weights
    scales = RANDOM.uniform(0.001, 0.004, 8) * wide
    y = m.add("QLinearConv", ["x", *at[0], w, *m.quantization(scales, np.zeros(8), np.int8), *at[1], m.bias(8)],
              group=2, strides=[1, 2], pads=[1, 0, 2, 1])
    y = m.add("QLinearConv", [y, *at[1], m.weights(8, 1, 3, 3), *m.quantization(0.0031 * wide, 0, np.int8), *at[2]], group=8, pads=[1, 1, 1, 1])
    y = m.add("MaxPool", [y], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    a = m.add("QLinearConv", [y, *at[2], m.weights(12, 8, 1, 1), *m.quantization(0.117 * wide, 0, np.int8), *at[3], m.bias(12)])
    b = m.add("QLinearConv", [y, *at[2], m.weights(12, 8, 3, 3), *m.quantization(0.017 * wide, 0, np.int8), *at[4]], auto_pad="SAME_UPPER")
    y = m.add("QLinearAdd", [a, *at[3], b, *at[4], *at[5]], domain="com.microsoft")
    y = m.add("Flatten", [y])
    shape = onnxruntime_shape(m, y, path, kind)
    y = m.add("QLinearMatMul", [y, *at[5], m.weights(shape[1], 20), *m.quantization(0.004 * wide, 0, np.int8), *at[6]])
    y = m.add("QGemm", [y, *at[6], m.weights(30, 20), *m.quantization(RANDOM.uniform(0.004, 0.009, 30) * wide, np.zeros(30), np.int8), m.bias(30), *at[7]],
              domain="com.microsoft", transB=1)
    return m.save(path / name, y, kind)


def onnxruntime_shape(m, name, path, kind):
    """The value info of a tensor that is being built."""
    session = onnxruntime.InferenceSession(str(m.save(path / "part.onnx", name, kind)), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": np.zeros(m.shape, np.uint8 if kind == U8 else np.int8)})[0].shape


def to_int32(path):
    """Products that stay accumulators, with a zero point of the input."""
    m = Model([1, 5, 9, 8], U8)
    y = m.add("ConvInteger", ["x", m.weights(7, 5, 3, 3), m.constant(113, np.uint8)], strides=[2, 2], pads=[1, 1, 1, 1])
    conv = m.save(path / "conv_integer.onnx", y, TensorProto.INT32)
    m = Model([6, 40], U8)
    y = m.add("MatMulInteger", ["x", m.weights(40, 17), m.constant(9, np.uint8)])
    return conv, m.save(path / "matmul_integer.onnx", y, TensorProto.INT32)


def between_floats(path):
    m = Model([1, 4, 12, 12], F32)
    q = m.bytes_of("x", 2**-5, 128)
    y = m.add("Conv", [m.floats_of(q, 2**-5, 128), m.float_weights([2**-9] * 4 + [2**-10] * 4, 0, 8, 4, 3, 3),
                       m.float_bias(8, [2**-14] * 4 + [2**-15] * 4)], pads=[1, 1, 1, 1])
    q = m.bytes_of(m.add("Relu", [y]), 2**-6, 11)
    y = m.add("Conv", [m.floats_of(q, 2**-6, 11), m.float_weights(2**-9, 0, 8, 1, 3, 3)], group=8, pads=[1, 1, 1, 1])
    y = m.add("Clip", [y, m.constant(-0.75, np.float32), m.constant(1.5, np.float32)])
    r = m.bytes_of(y, 2**-6, 77)
    y = m.add("Add", [m.floats_of(q, 2**-6, 11), m.floats_of(r, 2**-6, 77)])
    q = m.bytes_of(y, 2**-5, 92)
    q = m.bytes_of(m.add("Relu", [m.floats_of(q, 2**-5, 92)]), 2**-5, 92)
    y = m.add("ConvTranspose", [m.floats_of(q, 2**-5, 92), m.float_weights([2**-8] * 5 + [2**-9], 1, 8, 6, 2, 2)], strides=[2, 2])
    q = m.bytes_of(y, 2**-3, 120, np.uint8)
    q = m.bytes_of(m.add("MaxPool", [m.floats_of(q, 2**-3, 120)], kernel_shape=[2, 2], strides=[2, 2]), 2**-3, 120)
    y = m.add("AveragePool", [m.floats_of(q, 2**-3, 120)], kernel_shape=[3, 2], strides=[1, 1], pads=[1, 0, 1, 0])
    s = m.bytes_of(y, 2**-4, 60)
    q = m.bytes_of(m.add("Flatten", [m.floats_of(s, 2**-4, 60)]), 2**-4, 60)
    y = m.add("Gemm", [m.floats_of(q, 2**-4, 60), m.float_weights([2**-9] * 40, 0, 40, 6 * 12 * 11), m.float_bias(40, [2**-13] * 40)], transB=1)
    q = m.bytes_of(y, 2**-1, 128)
    y = m.add("MatMul", [m.floats_of(q, 2**-1, 128), m.float_weights(2**-8, 1, 40, 50)])
    m.save(path / "floats.onnx", m.bytes_of(y, 2**-1, 3, np.int8), S8)
    m = Model([3, 40, 4, 8], F32)
    q = m.bytes_of("x", 2**-5, 128)
    y = m.add("GlobalAveragePool", [m.floats_of(q, 2**-5, 128)])
    m.save(path / "global.onnx", m.bytes_of(y, 2**-8, 100), U8)
    return path / "floats.onnx", path / "global.onnx"


def refused(octet, path):
    """Each operator is named and left out, with all that need its result; octet run refuses if nothing remains. Nothing is guessed."""

    def says(text, make, kind=U8, shape=(1, 4, 8, 8), source=U8, code=0):
        m = Model(shape, source)
        description, said = described(m.save(path / "refused.onnx", make(m), kind))
        done = run(octet, "run", description, "--repetitions", 1)
        assert done.returncode == code and text in said + done.stdout + done.stderr, (text, said, done.stdout, done.stderr)

    def conv(m, x, weights=None, zero_point=3, **attributes):
        return m.add("QLinearConv", [x, *m.quantization(0.5, zero_point), weights or m.weights(4, 4, 1, 1), *m.quantization(0.01, 0, np.int8),
                                     *m.quantization(0.5, zero_point)], **attributes)

    def floats(m, bias_scale=None, axis=0, **attributes):
        x = m.floats_of("x", 0.5, 3)
        weights = m.float_weights([0.25] * 4, axis, 4, 4, 1, 1)
        return m.bytes_of(m.add("Conv", [x, weights, *([m.float_bias(4, [bias_scale] * 4)] if bias_scale else [])], **attributes), 0.5, 3)

    says("operators[3] (QLinearConv): needs what operators[2] (QuantizeLinear) makes",
         lambda m: conv(m, m.bytes_of(m.add("Softplus", [m.floats_of(conv(m, "x"), 0.5, 3)]), 0.5, 3)))
    says("its weights are no constants", lambda m: m.add("ConvInteger", ["x", "x"]), TensorProto.INT32, (4, 4, 1, 1), code=2)
    says("is quantized in two ways", lambda m: conv(m, conv(m, "x"), zero_point=9))
    says("not the product of those of its operands", lambda m: floats(m, 0.5), code=2)
    says("not those of output channels", lambda m: floats(m, axis=1), code=2)
    says("quantized differently", lambda m: m.bytes_of(m.add("MaxPool", [m.floats_of(conv(m, "x"), 0.5, 3)], kernel_shape=[2, 2]), 0.25, 3))
    says("counts padding", lambda m: m.bytes_of(m.add("AveragePool", [m.floats_of(conv(m, "x"), 0.5, 3)], kernel_shape=[3, 3], pads=[1] * 4,
                                                      count_include_pad=1), 0.5, 3))
    says("an activation is behind it", lambda m: m.bytes_of(m.add("Relu", [m.add("Transpose", [m.floats_of(conv(m, "x"), 0.5, 3)])]), 0.5, 3))
    says("one dimension is described, and not run", lambda m: conv(m, "x", m.weights(4, 4, 3)), shape=(1, 4, 8), code=2)


def main():
    octet = sys.argv[2]
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch)
        compare_integers(octet, integers(path, "u8.onnx", U8, np.uint8, 0))
        compare_integers(octet, integers(path, "s8.onnx", S8, np.int8, -128), np.int8)
        for model in to_int32(path):
            compare_integers(octet, model)
        for model in between_floats(path):
            compare_floats(octet, model, 2**-5, 128)
        refused(octet, path)


if __name__ == "__main__":
    main()
