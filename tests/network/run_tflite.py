#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `octet run --network` of .tflite models that are made here against LiteRT's reference kernels, byte by byte: names and shapes that models
omit, operators around those that Octet computes, and the tensors that are read and written.

    run_tflite.py <directory for a virtual environment> <the octet command>

Exits with 77, which ctest shows as skipped, where the Python packages are missing and cannot be installed.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "models"
sys.path.append(str(TOOL))
import packages  # noqa: E402

packages.need(pathlib.Path(sys.argv[1]), [TOOL / "requirements.txt", ROOT / "tests" / "conformance" / "requirements.txt"], "ai_edge_litert.interpreter", "flatbuffers",
              "tflite")
import flatbuffers
import numpy as np
from describing import described
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

RANDOM = np.random.default_rng(5)
SAME, VALID = schema.Padding.SAME, schema.Padding.VALID
OPTIONS = {"CONV_2D": "Conv2DOptions", "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions", "FULLY_CONNECTED": "FullyConnectedOptions", "ADD": "AddOptions",
           "AVERAGE_POOL_2D": "Pool2DOptions", "MAX_POOL_2D": "Pool2DOptions", "RESHAPE": "ReshapeOptions", "SOFTMAX": "SoftmaxOptions",
           "QUANTIZE": "QuantizeOptions", "DEQUANTIZE": "DequantizeOptions", "PAD": "PadOptions", "MUL": "MulOptions", "SUB": "SubOptions",
           "CONCATENATION": "ConcatenationOptions", "MEAN": "ReducerOptions", "RESIZE_BILINEAR": "ResizeBilinearOptions", "SLICE": "SliceOptions",
           "RESIZE_NEAREST_NEIGHBOR": "ResizeNearestNeighborOptions", "STRIDED_SLICE": "StridedSliceOptions", "TRANSPOSE": "TransposeOptions",
           "DEPTH_TO_SPACE": "DepthToSpaceOptions", "SPACE_TO_DEPTH": "SpaceToDepthOptions", "MAXIMUM": "MaximumMinimumOptions", "MINIMUM": "MaximumMinimumOptions", "CAST": "CastOptions",
           "LEAKY_RELU": "LeakyReluOptions", "HARD_SWISH": "HardSwishOptions", "LOGISTIC": None, "TANH": None, "RELU6": None}


class Model:
    """Operator by operator. Tensors between operators have neither names nor shapes if they are bare."""

    def __init__(self, bare=False):
        self.bare, self.graph, self.model = bare, schema.SubGraphT(), schema.ModelT()
        self.graph.tensors, self.graph.operators, self.graph.inputs = [], [], []
        self.model.version, self.model.subgraphs, self.model.operatorCodes, self.model.buffers = 3, [self.graph], [], [schema.BufferT()]

    def tensor(self, shape, dtype, scales=(), zero_point=0, axis=0, buffer=0):
        t, q = schema.TensorT(), schema.QuantizationParametersT()
        q.scale, q.zeroPoint, q.quantizedDimension = np.atleast_1d(scales).tolist(), [zero_point] * np.size(scales), axis
        t.name = None if self.bare else f"tensor{len(self.graph.tensors)}"
        t.shape, t.quantization, t.buffer, t.type = list(shape), q, buffer, getattr(schema.TensorType, np.dtype(dtype).name.upper())
        self.graph.tensors.append(t)
        return len(self.graph.tensors) - 1

    def input(self, shape, dtype=np.int8, scale=0.02, zero_point=3):
        self.graph.inputs.append(self.tensor(shape, dtype, *((scale, zero_point) if dtype != np.float32 else ())))
        return self.graph.inputs[-1]

    def constant(self, array, *quantization):
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(array.tobytes(), np.uint8)
        self.model.buffers.append(buffer)
        return self.tensor(array.shape, array.dtype, *quantization, buffer=len(self.model.buffers) - 1)

    def add(self, name, inputs, shape, scale=0.05, zero_point=-7, dtype=np.int8, **settings):
        """Its output."""
        output = self.tensor([] if self.bare else shape, dtype, *((scale, zero_point) if dtype != np.float32 else ()))
        code, operator, options = schema.OperatorCodeT(), schema.OperatorT(), getattr(schema, OPTIONS[name] + "T")() if OPTIONS[name] else None
        code.builtinCode = code.deprecatedBuiltinCode = getattr(schema.BuiltinOperator, name)
        code.version = 1
        for key, setting in settings.items():
            setattr(options, key, setting)
        operator.opcodeIndex, operator.inputs, operator.outputs = len(self.model.operatorCodes), inputs, [output]
        if options:
            operator.builtinOptionsType, operator.builtinOptions = getattr(schema.BuiltinOptions, OPTIONS[name]), options
        self.model.operatorCodes.append(code)
        self.graph.operators.append(operator)
        return output

    def weights(self, *shape, n, axis=0):
        scales = RANDOM.uniform(0.001, 0.01, n)
        return self.constant(RANDOM.integers(-127, 127, shape, np.int8, endpoint=True), scales, 0, axis)

    def conv(self, x, in_channels, out, kernel=1, stride=1, padding=SAME, **quantization):
        """out: its shape."""
        w = self.weights(out[3], kernel, kernel, in_channels, n=out[3])
        return self.add("CONV_2D", [x, w, self.bias(out[3])], out, padding=padding, strideH=stride, strideW=stride, dilationHFactor=1, dilationWFactor=1, **quantization)

    def depthwise(self, x, out, kernel=3, stride=1, **quantization):
        w = self.weights(1, kernel, kernel, out[3], n=out[3], axis=3)
        return self.add("DEPTHWISE_CONV_2D", [x, w, self.bias(out[3])], out, padding=SAME, strideH=stride, strideW=stride, dilationHFactor=1, dilationWFactor=1,
                        depthMultiplier=1, **quantization)

    def dense(self, x, k, n, **quantization):
        w = self.constant(RANDOM.integers(-127, 127, (n, k), np.int8, endpoint=True), 0.003, 0)
        return self.add("FULLY_CONNECTED", [x, w, self.bias(n)], [1, n], **quantization)

    def bias(self, n):
        return self.constant(RANDOM.integers(-900, 900, n, np.int32))

    def reshape(self, x, shape, scale=0.05, zero_point=-7):
        return self.add("RESHAPE", [x, self.constant(np.int32(shape))], shape, scale, zero_point)

    def pool(self, x, kind, shape, kernel):
        return self.add(kind, [x], shape, padding=VALID, strideH=kernel, strideW=kernel, filterHeight=kernel, filterWidth=kernel)

    def save(self, path, *outputs):
        self.graph.outputs = list(outputs)
        builder = flatbuffers.Builder()
        builder.Finish(self.model.Pack(builder), b"TFL3")
        path.write_bytes(bytes(builder.Output()))
        return path


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)


def compare(octet, model, inputs, outputs, *said):
    """inputs and outputs: the tensors that octet run is to be given and to write, in this order. said: by describe.py or by octet run."""
    description, data = model.with_suffix(".json"), b""
    done = described(model, "-o", description, "--data")
    assert done.returncode == 0 and "damaged" not in done.stderr and "Traceback" not in done.stderr, done.stderr
    interpreter = Interpreter(model_path=str(model), experimental_op_resolver_type=OpResolverType.BUILTIN_REF, experimental_preserve_all_tensors=True)
    interpreter.allocate_tensors()
    for d in interpreter.get_input_details():
        if d["dtype"] == np.float32:
            interpreter.set_tensor(d["index"], RANDOM.uniform(-3, 3, d["shape"]).astype(np.float32))
        else:
            limits = np.iinfo(d["dtype"])
            interpreter.set_tensor(d["index"], RANDOM.integers(limits.min, limits.max, d["shape"], d["dtype"], endpoint=True))
    interpreter.invoke()
    (model.parent / "in").write_bytes(b"".join(interpreter.get_tensor(i).tobytes() for i in inputs))
    expected = b"".join(interpreter.get_tensor(i).tobytes() for i in outputs)
    assert len(set(expected)) > 15, f"{model.name} shows little"
    for goal in ("layers", "traffic", "memory"):
        again = run(octet, "run", description, "--goal", goal, "--input", model.parent / "in", "--output", model.parent / "out", "--repetitions", 1)
        assert again.returncode == 0 and "equal bytes" in again.stdout, (model.name, again.stdout + again.stderr)
        made = (model.parent / "out").read_bytes()
        assert made == expected, f"{model.name}, {goal}: {len(made)} bytes, {len(expected)} wanted, {sum(a != b for a, b in zip(made, expected))} wrong"
    for text in said:
        assert text in done.stderr + again.stderr, (model.name, text, done.stderr, again.stderr)
    if not said:
        assert "left out" not in done.stderr + again.stderr, (model.name, done.stderr, again.stderr)
    print(f"{model.name}: {len(expected)} bytes equal")
    return json.loads(description.read_text())


def lines_and_images(octet, path):
    """A line that becomes an image: the model's input, and a product's result."""
    m = Model()
    x = m.input([1, 120])
    y = m.conv(m.reshape(x, [1, 10, 12, 1], 0.02, 3), 1, [1, 5, 6, 8], 3, 2)
    y = m.dense(m.reshape(y, [1, 240]), 240, 96)
    z = m.depthwise(m.reshape(y, [1, 4, 6, 4]), [1, 4, 6, 4])
    compare(octet, m.save(path / "lines.tflite", z), [x], [z])
    # The image is read as a line, as it is, and as an image of other sizes
    m = Model()
    x = m.input([1, 4, 6, 4])
    a = m.dense(m.reshape(x, [1, 96], 0.02, 3), 96, 24)
    b = m.depthwise(x, [1, 4, 6, 4])
    c = m.conv(m.reshape(x, [1, 8, 3, 4], 0.02, 3), 4, [1, 8, 3, 5], 3)
    compare(octet, m.save(path / "views.tflite", c, a, b), [x], [c, a, b])


def bare(octet, path):
    """Tensors without names, and without shapes between operators: LiteRT infers them."""
    m = Model(bare=True)
    x = m.input([1, 12, 12, 3])
    y = m.conv(x, 3, [0, 0, 0, 8], 3, 2)
    y = m.add("ADD", [m.depthwise(y, [0, 0, 0, 8]), y], [])
    y = m.pool(y, "MAX_POOL_2D", [], 2)
    y = m.conv(y, 8, [0, 0, 0, 16], 2, 1, VALID)
    y = m.pool(y, "AVERAGE_POOL_2D", [], 2)
    y = m.reshape(y, [1, -1])
    y = m.dense(y, 16, 40)
    network = compare(octet, m.save(path / "bare.tflite", y), [x], [y])
    assert network["tensors"][x]["name"] and network["tensors"][y]["shape"] == [1, 40], network["tensors"][y]


def outputs(octet, path):
    """Outputs are in the model's order, also one that another operator reads, and one that is an input."""
    m = Model()
    x = m.input([1, 6, 6, 8])
    a = m.conv(x, 8, [1, 6, 6, 8])
    b = m.depthwise(a, [1, 6, 6, 8])
    r = m.reshape(b, [1, 288])
    compare(octet, m.save(path / "outputs.tflite", r, b, a, x), [x], [r, b, a, x])
    m.save(path / "outputs.tflite", a, b)
    m.input([1, 5])  # of an absent operator: its bytes are not needed
    compare(octet, m.save(path / "unread.tflite", b, a), [x], [b, a])


def conversions(octet, path):
    """Floats at both ends; the model's order of inputs and outputs remains."""
    m = Model()
    late, first = m.input([1, 4, 4, 8], np.float32), m.input([1, 4, 4, 8], np.uint8, 0.02, 131)
    m.graph.inputs.reverse()
    q = m.add("QUANTIZE", [late], [1, 4, 4, 8])
    p = m.add("QUANTIZE", [first], [1, 4, 4, 8], 0.02, 3)
    a, b = m.conv(p, 8, [1, 4, 4, 16]), m.conv(q, 8, [1, 4, 4, 8], 3)
    floats = [m.add("DEQUANTIZE", [y], [1, 4, 4, n], dtype=np.float32) for y, n in ((a, 16), (b, 8))]
    compare(octet, m.save(path / "conversions.tflite", *reversed(floats)), [first, late], floats[::-1])
    # A CAST of an input is the caller's
    m = Model()
    x = m.input([1, 4, 4, 8], np.int32)
    c = m.add("CAST", [x], [1, 4, 4, 8], 0.02, 3, inDataType=schema.TensorType.INT32, outDataType=schema.TensorType.INT8)
    y = m.conv(c, 8, [1, 4, 4, 16])
    compare(octet, m.save(path / "cast.tflite", y), [c], [y], "runs 1 of 2 operators", "operators[0] (CAST): what it makes is an input of octet run")


def functions(octet, path):
    """Every operator between products, in one model of each type."""
    for dtype, zero in ((np.int8, 0), (np.uint8, 128)):
        m = Model()
        q = {"dtype": dtype}
        weights = lambda *shape: m.constant(RANDOM.integers(-127, 127, shape, endpoint=True).astype(np.int16).astype(dtype), 0.03, zero)
        ints = lambda *values: m.constant(np.int32(values))
        x = m.input([1, 6, 8, 4], dtype, 0.05, zero - 7)
        pad = m.add("PAD", [x, ints(*[[0, 0], [1, 2], [0, 1], [0, 0]])], [1, 9, 9, 4], 0.05, zero - 7, **q)
        y = m.add("MUL", [pad, weights(1, 1, 1, 4)], [1, 9, 9, 4], 0.04, zero + 3, **q)
        y = m.add("ADD", [m.constant(np.asarray([zero + 9], dtype), 0.07, zero), y], [1, 9, 9, 4], 0.06, zero, fusedActivationFunction=1, **q)
        y = m.add("SUB", [y, pad], [1, 9, 9, 4], 0.09, zero + 5, **q)
        y = m.add("ADD", [y, weights(9, 9, 4)], [1, 9, 9, 4], 0.11, zero + 5, **q)
        a = m.add("TRANSPOSE", [y, ints(0, 2, 1, 3)], [1, 9, 9, 4], 0.11, zero + 5, **q)
        b = m.add("SLICE", [y, ints(0, 1, 2, 0), ints(1, 8, -1, 4)], [1, 8, 7, 4], 0.11, zero + 5, **q)
        c = m.add("STRIDED_SLICE", [y, ints(0, -8, 0, 1), ints(1, 9, 7, 3), ints(1, 1, 1, 1)], [1, 8, 7, 2], 0.11, zero + 5, beginMask=4, endMask=3, **q)
        d = m.add("CONCATENATION", [b, c, b], [1, 8, 7, 10], 0.11, zero + 5, axis=-1, **q)
        e = m.add("CONCATENATION", [d, d], [1, 16, 7, 10], 0.11, zero + 5, axis=1, **q)
        f = m.add("MEAN", [e, ints(1, 2)], [1, 1, 1, 10], 0.02, zero + 1, keepDims=True, **q)
        g = m.add("MUL", [f, e], [1, 16, 7, 10], 0.01, zero - 2, **q)
        h = m.add("QUANTIZE", [g], [1, 16, 7, 10], 0.008, zero + 11, **q)
        i = m.add("RESIZE_BILINEAR", [a, ints(13, 5)], [1, 13, 5, 4], 0.11, zero + 5, halfPixelCenters=True, **q)
        j = m.add("RESIZE_NEAREST_NEIGHBOR", [i, ints(6, 9)], [1, 6, 9, 4], 0.11, zero + 5, alignCorners=True, **q)
        k = m.add("DEPTH_TO_SPACE", [j], [1, 12, 18, 1], 0.11, zero + 5, blockSize=2, **q)
        soft = m.add("SOFTMAX", [m.reshape(f, [1, 10], 0.02, zero + 1) if dtype == np.int8 else f], [1, 10] if dtype == np.int8 else [1, 1, 1, 10], 1 / 256,
                     zero - 128, beta=1.0, **q)
        floats = m.add("DEQUANTIZE", [soft], [1, 10] if dtype == np.int8 else [1, 1, 1, 10], dtype=np.float32)
        outputs = [h, k, soft, floats]
        for name, scale, zero_point, more in (("LOGISTIC", 1 / 256, -128, {}), ("TANH", 1 / 128, 0, {}), ("HARD_SWISH", 0.1, 3, {}), ("RELU6", 0.05, -90, {}),
                                              ("LEAKY_RELU", 0.2, 5, {"alpha": 0.125})):
            outputs.append(m.add(name, [pad], [1, 9, 9, 4], scale, zero + zero_point, **q, **more))
        if dtype == np.uint8:  # of other scales
            outputs.append(m.add("CONCATENATION", [h, g], [1, 16, 7, 20], 0.013, 100, axis=3, **q))
        compare(octet, m.save(path / f"functions_{np.dtype(dtype).name}.tflite", *outputs), [x], outputs)


def left_out(octet, path):
    """Operators that Octet does not compute, and all that need them, are named; the rest runs."""
    m = Model()
    x = m.input([1, 4, 6, 8])
    y = m.conv(x, 8, [1, 4, 6, 8])
    five = m.reshape(y, [1, 4, 6, 2, 4])
    m.tensor([0], np.float32)
    larger = m.add("MAXIMUM", [y, m.constant(RANDOM.integers(-9, 9, (1, 4, 6, 8), np.int8), 0.05, -7)], [1, 4, 6, 8])
    after = m.depthwise(larger, [1, 4, 6, 8])
    smaller = m.add("MINIMUM", [y, m.constant(RANDOM.integers(-9, 9, (1, 4, 6, 8), np.int8), 0.05, -7)], [1, 4, 6, 8])
    z = m.conv(smaller, 8, [1, 4, 6, 8])
    last = m.depthwise(y, [1, 4, 6, 8])
    model = m.save(path / "left_out.tflite", last, five, after, z)
    compare(octet, model, [x], [last, five, y], "left_out.json: runs 3 of 7 operators", "operators[2] (MAXIMUM), operators[4] (MINIMUM): not Octet's",
            "operators[3] (DEPTHWISE_CONV_2D): needs what operators[2] (MAXIMUM) makes", "operators[5] (CONV_2D): needs what operators[4] (MINIMUM) makes")
    # By hand: MINIMUM's result comes from outside, and its input is written
    description = model.with_suffix(".json")
    network = json.loads(description.read_text())
    network["operators"][4]["from_outside"] = True
    description.write_text(json.dumps(network))
    done = run(octet, "run", description, "--repetitions", 1, "--json", path / "said.json")
    ends = json.loads((path / "said.json").read_text())["networks"][0]
    assert (ends["inputs"], ends["outputs"]) == ([x, smaller], [last, five, y, z]), (ends, done.stderr)


def damaged(_, path):
    """An unreadable file is refused with a message; a readable one may lose operators."""
    whole = (path / "bare.tflite").read_bytes()
    for at in range(0, len(whole), len(whole) // 24):
        (path / "damaged.tflite").write_bytes(whole[:at] + bytes([whole[at] ^ 0x85]) + whole[at + 1:])
        done = described(path / "damaged.tflite")
        assert "Traceback" not in done.stderr and done.returncode in (0, 1), done.stderr
    (path / "damaged.tflite").write_bytes(whole[: len(whole) // 2])
    done = described(path / "damaged.tflite")
    assert done.returncode == 1 and "damaged.tflite: it is damaged: " in done.stderr, done.stderr


def main():
    octet = sys.argv[2]
    with tempfile.TemporaryDirectory() as scratch:
        for test in (lines_and_images, bare, outputs, conversions, functions, left_out, damaged):
            test(octet, pathlib.Path(scratch))


if __name__ == "__main__":
    main()
