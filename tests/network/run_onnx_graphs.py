#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `octet run --network` of .onnx models that are made here against ONNX Runtime, byte by byte: which tensors are outputs, shapes that the model
computes or that only ONNX Runtime's own operators have, and operators that are left out; and networks of floats that ONNX Runtime quantized.

    run_onnx_graphs.py <directory for a virtual environment> <the octet command>

Exits with 77, which ctest shows as skipped, where the Python packages are missing and cannot be installed.
"""
import json
import logging
import pathlib
import platform
import sys
import tempfile

from run_onnx import F32, LARGEST, RANDOM, U8, Model, described, nhwc, run  # goes on in the virtual environment
import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

# ONNX Runtime adds bytes otherwise on other processors
HAS_BYTES = platform.machine() in ("x86_64", "AMD64") and " avx2 " in pathlib.Path("/proc/cpuinfo").read_text()
# Scales and zero points of tensors: an input, and results
INPUT, RESULT = (0.03, 120), (0.06, 131)


def save(m, path, **outputs):
    """outputs: their types, by names."""
    m.save(path, next(iter(outputs)), U8)
    model = onnx.load(path)
    del model.graph.output[:]
    model.graph.output.extend(helper.make_tensor_value_info(name, kind, None) for name, kind in outputs.items())
    onnx.save(model, path)
    return path


def conv(m, x, channels, out, kernel=1, before=RESULT, **attributes):
    return m.add("QLinearConv", [x, *m.quantization(*before), m.weights(out, channels, kernel, kernel), *m.quantization(0.5 / LARGEST / kernel, 0, np.int8),
                                 *m.quantization(*RESULT)], pads=[kernel // 2] * 4, **attributes)


def compare(octet, model, tensors, *said, integers=np.uint8):
    """tensors: that are to be written, by name; floats of a model by the integers that they are made of. said: by describe.py or octet run."""
    description, first = described(model)
    network = json.loads(description.read_text())
    names = [t["name"] for t in network["tensors"]]
    whole = onnx.load(model)
    whole.graph.output.extend(helper.make_tensor_value_info(name, U8, None) for name in dict.fromkeys(tensors) if name not in {o.name for o in whole.graph.output})
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(whole.SerializeToString(), options, providers=["CPUExecutionProvider"])
    x = {i.name: RANDOM.integers(0, 255, i.shape, np.uint8, endpoint=True) for i in session.get_inputs()}
    (model.parent / "in").write_bytes(b"".join(nhwc(array).tobytes() for array in x.values()))
    expected = b"".join(nhwc(array).tobytes() for array in session.run(list(tensors), x))
    for goal in ("layers", "memory"):
        done = run(octet, "run", description, "--goal", goal, "--input", model.parent / "in", "--output", model.parent / "out", "--repetitions", 1,
                   "--json", model.parent / "run.json")
        assert done.returncode == 0 and "equal bytes" in done.stdout, (model.name, first, done.stdout + done.stderr)
        written = json.loads((model.parent / "run.json").read_text())["networks"][0]["outputs"]
        assert [names[i] for i in written] == list(tensors), (model.name, [names[i] for i in written], first, done.stderr)
        made = (model.parent / "out").read_bytes()
        assert made == expected, f"{model.name}, {goal}: {len(made)} bytes, {len(expected)} wanted, {sum(a != b for a, b in zip(made, expected))} wrong"
    for text in said:
        assert text in first + done.stderr, (model.name, text, first, done.stderr)
    if not said:
        assert "left out" not in first + done.stderr, (model.name, first, done.stderr)
    print(f"{model.name}: {len(expected)} bytes equal")
    return network


def outputs(octet, path):
    """Outputs are in the model's order, also those that operators read."""
    m = Model([1, 4, 6, 5], U8)
    a = conv(m, "x", 4, 8, before=INPUT)
    b = conv(m, a, 8, 3, 3)
    compare(octet, save(m, path / "outputs.onnx", **{b: U8, a: U8}), [b, a])
    compare(octet, save(m, path / "one.onnx", **{b: U8}), [b])
    # Floats that the model makes of integers
    floats = m.floats_of(a, *RESULT)
    compare(octet, save(m, path / "floats.onnx", **{floats: F32, b: U8}), [a, b])
    # An activation that is an output as floats, too, is not taken into the operator before it
    m = Model([1, 4, 6, 5], U8)
    a = conv(m, "x", 4, 8, before=INPUT)
    y = m.add("Conv", [m.floats_of(a, *RESULT), m.float_weights(0.01, 0, 3, 8, 1, 1)])
    z = m.bytes_of(y, *RESULT)
    description, _ = described(save(m, path / "taken.onnx", **{y: F32, z: U8}))
    done = run(octet, "run", description, "--repetitions", 1)
    assert done.returncode == 0 and "left out: operators[1] (Conv): not quantized" in done.stderr, done.stderr


def computed_shapes(octet, path):
    """x.view(x.size(0), -1) as PyTorch writes it; a line that becomes an image of one channel."""
    m = Model([2, 4, 6, 5], U8)
    y = conv(m, "x", 4, 8, 3, before=INPUT)
    size = m.add("Gather", [m.add("Shape", [y]), m.add("Constant", [], value=numpy_helper.from_array(np.int64(0)))], axis=0)
    axes = m.add("Constant", [], value_ints=[0])
    shape = m.add("Concat", [m.add("Unsqueeze", [size, axes]), m.constant([-1], np.int64)], axis=0)
    y = m.add("Reshape", [y, shape])
    z = m.add("QLinearMatMul", [y, *m.quantization(*RESULT), m.weights(240, 35), *m.quantization(0.001, 0, np.int8), *m.quantization(*RESULT)])
    image = m.add("Reshape", [z, m.constant([2, 1, 5, 7], np.int64)])
    last = conv(m, image, 1, 4, 3)
    network = compare(octet, save(m, path / "view.onnx", **{last: U8}), [last])
    assert [op["operator"] for op in network["operators"]] == ["QLinearConv", "Reshape", "QLinearMatMul", "Reshape", "QLinearConv"], network["operators"]


def own_operators(octet, path):
    """Operators that only ONNX Runtime has; those that Octet has not are left out."""
    m = Model([1, 4, 12, 10], U8)
    q = m.quantization(*RESULT)
    own = {"domain": "com.microsoft"}
    a = conv(m, "x", 4, 8, 3, before=INPUT)
    pooled = m.add("QLinearAveragePool", [a, *q, *q], kernel_shape=[2, 2], strides=[2, 2], **own)
    joined = m.add("QLinearConcat", [*q, pooled, *q, pooled, *q], axis=1, **own)
    activated = m.add("QLinearLeakyRelu", [joined, *q, *q], alpha=0.1, **own)
    scaled = m.add("QLinearMul", [activated, *q, activated, *q, *q], **own)
    b = conv(m, scaled, 16, 8)
    total = m.add("QLinearGlobalAveragePool", [b, *q, *q], **own)
    flat = m.add("Flatten", [total])
    dense = m.add("QGemm", [flat, *q, m.weights(20, 8), *m.quantization(0.01, 0, np.int8), m.bias(20)], transB=1, **own)
    m.add("Softmax", [dense])
    model = save(m, path / "own.onnx", **{m.nodes[-1].output[0]: F32})
    description, said = described(model)
    shapes = {t["name"]: t["shape"] for t in json.loads(description.read_text())["tensors"]}
    assert [shapes[name] for name in (pooled, joined, activated, scaled, b, total)] == [[1, 6, 5, n] for n in (8, 16, 16, 16, 8)] + [[1, 1, 1, 8]], shapes
    assert shapes[dense] == [1, 20] and "the shape of" not in said, (shapes, said)
    compare(octet, save(m, model, **{dense: F32, scaled: U8, total: U8}), [dense, scaled, total], "operators[9] (Softmax): not Octet's")


def no_elements(octet, path):
    """The roi of a Resize, which no computed operator reads."""
    m = Model([1, 4, 6, 5], U8)
    y = conv(m, "x", 4, 8, before=INPUT)
    y = m.add("Resize", [m.floats_of(y, *RESULT), m.constant(np.zeros(0), np.float32), m.constant([1, 1, 2, 2], np.float32)], mode="nearest")
    network = compare(octet, save(m, path / "roi.onnx", **{y: F32}), [m.nodes[0].output[0]], "runs 1 of 2 operators", "operators[1] (Resize): not Octet's")
    assert [0] in [t["shape"] for t in network["tensors"]]


class Images(CalibrationDataReader):
    def __init__(self, shape):
        self.left = iter([{"x": RANDOM.uniform(-1, 1, shape).astype(np.float32)} for _ in range(4)])

    def get_next(self):
        return next(self.left, None)


def float_network(path):
    """Inverted residuals, poolings and a classifier behind x.view(x.size(0), -1)."""
    m = Model([1, 3, 24, 24], F32)
    weights = lambda *shape: m.constant(RANDOM.normal(0, 1 / np.sqrt(np.prod(shape[1:])), shape), np.float32)

    def layer(x, channels, out, kernel=1, stride=1, group=1, relu=True):
        y = m.add("Conv", [x, weights(out, channels // group, kernel, kernel), m.constant(RANDOM.normal(0, 0.2, out), np.float32)], group=group,
                  strides=[stride] * 2, pads=[kernel // 2] * 4, kernel_shape=[kernel] * 2)
        return m.add("Relu", [y]) if relu else y

    x = layer("x", 3, 16, 3, 2)
    for _ in range(2):
        y = layer(layer(x, 16, 32), 32, 32, 3, group=32)
        x = m.add("Add", [layer(y, 32, 16, relu=False), x])
    x = m.add("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = m.add("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = layer(x, 16, 40)
    y = m.add("GlobalAveragePool", [x])
    size = m.add("Gather", [m.add("Shape", [y]), m.constant(0, np.int64)], axis=0)
    y = m.add("Reshape", [y, m.add("Concat", [m.add("Unsqueeze", [size, m.constant([0], np.int64)]), m.constant([-1], np.int64)], axis=0)])
    y = m.add("Gemm", [y, weights(10, 40), m.constant(RANDOM.normal(0, 0.1, 10), np.float32)], transB=1)
    return m.save(path / "float.onnx", y, F32)


def gated_network(path):
    """A sigmoid beside a product, a squeeze and excitation, a concatenation, and operands that are constants."""
    m = Model([1, 3, 24, 24], F32)
    weights = lambda *shape: m.constant(RANDOM.normal(0, 1 / np.sqrt(np.prod(shape[1:])), shape), np.float32)
    x = m.add("Conv", ["x", weights(16, 3, 3, 3)], strides=[2, 2], pads=[1, 1, 1, 1])
    x = m.add("Mul", [x, m.add("Sigmoid", [x])])
    y = m.add("Conv", [m.add("GlobalAveragePool", [x]), weights(16, 16, 1, 1)])
    y = m.add("Mul", [x, m.add("Sigmoid", [y])])
    y = m.add("Add", [y, m.constant(RANDOM.normal(0, 1, (16, 1, 1)), np.float32)])
    y = m.add("Mul", [m.constant(RANDOM.normal(0, 1, (1, 16, 1, 1)), np.float32), m.add("LeakyRelu", [y], alpha=0.1)])
    y = m.add("Concat", [y, x], axis=1)
    y = m.add("Conv", [y, weights(8, 32, 1, 1)])
    return m.save(path / "gated.onnx", y, F32)


def integers_of(model, names, kind):
    """The values of tensors by name, for a random image of floats."""
    whole = onnx.load(model)
    whole.graph.output.extend(helper.make_tensor_value_info(name, kind, None) for name in names)
    session = onnxruntime.InferenceSession(whole.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(names, {"x": RANDOM.uniform(-1, 1, [1, 3, 24, 24]).astype(np.float32)})


def quantized(octet, path):
    """The whole network is described and runs with ONNX Runtime's bytes, but for operators that convert floats; no shape is unknown."""
    logging.disable(logging.WARNING)
    for network in (float_network, gated_network):
        quantized_network(octet, path, network(path))


def quantized_network(octet, path, made):
    for form in (QuantFormat.QDQ, QuantFormat.QOperator):
        for kind, per_channel in ((QuantType.QUInt8, False), (QuantType.QInt8, True)):
            model = path / f"{made.stem}_{form.name}_{kind.name}.onnx"
            quantize_static(made, model, Images([1, 3, 24, 24]), quant_format=form, per_channel=per_channel, reduce_range=LARGEST < 127,
                            activation_type=kind, weight_type=QuantType.QInt8)
            description, said = described(model)
            network = json.loads(description.read_text())
            ends = [network["tensors"][op["outputs"][0]]["name"] for op in (network["operators"][0], network["operators"][-1])]
            x, expected = integers_of(model, ends, kind.tensor_type)
            (path / "in").write_bytes(nhwc(x).tobytes())
            done = run(octet, "run", description, "--repetitions", 1, "--input", path / "in", "--output", path / "out")
            others = [op["operator"] for op in network["operators"] if op["kind"] == "other"]
            assert done.returncode == 0 and others == ["QuantizeLinear"], (model.name, said, done.stderr)
            assert f"runs {len(network['operators']) - 1} of {len(network['operators'])} operators" in done.stderr, done.stderr
            same = (path / "out").read_bytes() == nhwc(expected).tobytes()
            assert same or not HAS_BYTES, (model.name, (path / "out").read_bytes(), expected)
            assert len(np.unique(expected)) > 5, f"{model.name} shows little: {expected}"
            print(f"{model.name}: {len(network['operators'])} operators")


class BlockProduct:
    """A MatMulNBits with the bytes of Octet's contract: ONNX Runtime adds f32 in another order."""

    def __init__(self, m, x, n, k, block, bits, zeros, missing=0):
        blocks, draw = k // block, RANDOM.integers
        self.codes, self.scales = draw(0, 2**bits, (n, blocks, block), np.uint8), RANDOM.uniform(-0.05, 0.05, (n, blocks)).astype(np.float32)
        self.zeros = draw(0, 16, (n, blocks), np.uint8) if zeros else np.full((n, blocks), 2 ** (bits - 1), np.uint8)
        self.bias = RANDOM.standard_normal(n).astype(np.float32)
        halves = lambda a: a[..., ::2] | a[..., 1::2] << 4  # noqa: E731
        packed = m.constant(halves(np.pad(self.zeros, ((0, 0), (0, blocks % 2)))), np.uint8) if zeros else ""
        inputs = [x, m.constant((halves(self.codes) if bits == 4 else self.codes)[missing:], np.uint8), m.constant(self.scales, np.float32), packed, "",
                  m.constant(self.bias, np.float32)]
        self.output = m.add("MatMulNBits", inputs, "com.microsoft", N=n, K=k, bits=bits, block_size=block, accuracy_level=4)

    def __call__(self, x):
        n, blocks, block = self.codes.shape
        rows = x.reshape(-1, blocks, block)
        scales = np.abs(rows).max(2, keepdims=True) / np.float32(127)
        q, weights = np.rint(rows / scales).astype(np.int64), self.codes.astype(np.int64) - self.zeros[..., None]
        total = np.zeros((len(rows), n), np.float32)
        for b in range(blocks):
            total = total + (q[:, b] @ weights[:, b].T).astype(np.float32) * (scales[:, b] * self.scales[:, b])
        return (total + self.bias).reshape(*x.shape[:-1], n)


def block_products(octet, path):
    """Weights of 4 and 8 bits in scale blocks, one product behind the other."""
    m = Model([2, 5, 64], F32)
    first = BlockProduct(m, "x", 96, 64, 32, 4, True)
    second = BlockProduct(m, first.output, 40, 96, 32, 8, False)
    description, said = described(m.save(path / "blocks.onnx", second.output, F32))
    x = RANDOM.standard_normal((2, 5, 64)).astype(np.float32)
    (path / "in").write_bytes(x.tobytes())
    done = run(octet, "run", description, "--repetitions", 1, "--input", path / "in", "--output", path / "out")
    assert done.returncode == 0 and "left out" not in said + done.stderr, said + done.stderr
    assert (path / "out").read_bytes() == second(first(x)).tobytes(), "products in scale blocks have other bytes"
    print("blocks.onnx: equal bytes")
    m = Model([2, 64], F32)
    _, said = described(m.save(path / "short.onnx", BlockProduct(m, "x", 96, 64, 32, 4, True, missing=1).output, F32))
    assert "not as many as its N and K say" in said, said


def main():
    octet = sys.argv[2]
    with tempfile.TemporaryDirectory() as scratch:
        for test in (outputs, computed_shapes, own_operators, no_elements, quantized, block_products):
            test(octet, pathlib.Path(scratch))


if __name__ == "__main__":
    main()
