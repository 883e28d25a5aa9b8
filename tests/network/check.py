#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks tools/models on models that are made here, whose layers are known, and octet on the descriptions.

    check.py <directory of .tflite files, or /> <directory for a virtual environment> <the octet command>

Exits with 77, which ctest shows as skipped, where the Python packages are missing and cannot be installed.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "models"
sys.path.append(str(TOOL))
import packages  # noqa: E402


packages.need(pathlib.Path(sys.argv[2]), [TOOL / "requirements.txt", ROOT / "tests" / "conformance" / "requirements.txt"], "flatbuffers", "onnx", "tflite")
import numpy as np
import onnx
from describing import described
from onnx import TensorProto, helper, numpy_helper

U8, S8, S32, F32 = TensorProto.UINT8, TensorProto.INT8, TensorProto.INT32, TensorProto.FLOAT


class Model:
    """An ONNX model, operator by operator."""

    def __init__(self, **inputs):
        self.inputs = [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()]
        self.nodes, self.constants = [], []

    def constant(self, array, dtype):
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(array, dtype), name))
        return name

    def add(self, kind, inputs, **attributes):
        name = f"{kind}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name + ":0"], name, **attributes))
        return name + ":0"

    def scale(self, zero_point=0, dtype=np.uint8):
        return [self.constant(0.5, np.float32), self.constant(zero_point, dtype)]

    def bytes_of(self, x, zero_point=3):
        return self.add("QuantizeLinear", [x, *self.scale(zero_point)])

    def floats_of(self, x, zero_point=3, dtype=np.uint8):
        return self.add("DequantizeLinear", [x, *self.scale(zero_point, dtype)])

    def save(self, path, output, kind=U8):
        graph = helper.make_graph(self.nodes, "made", self.inputs, [helper.make_tensor_value_info(output, kind, None)], self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)
        return path


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)


def describe(model, *more):
    out = model.with_suffix(".json")
    done = run(sys.executable, TOOL / "describe.py", model, "-o", out, *more)
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text()), done.stderr


def fails(says, model, *more, code=1):
    done = described(model, *more)
    assert done.returncode == code and says in done.stderr and "Traceback" not in done.stderr, done.stderr


def kinds(network):
    return [(op["kind"], op["operator"]) for op in network["operators"]]


def integers(path):
    """Operators on integers: padding of each side its own, groups, dilation; a product."""
    m = Model(x=(U8, ["N", 8, 12, 10]))
    w = m.constant(np.ones((16, 4, 3, 2)), np.int8)
    y = m.add("QLinearConv", ["x", *m.scale(7), w, *m.scale(0, np.int8), *m.scale(9)], group=2, strides=[2, 1], pads=[0, 1, 1, 0])
    w = m.constant(np.ones((4, 16, 3, 3)), np.int8)
    y = m.add("QLinearConv", [y, *m.scale(9), w, *m.scale(0, np.int8), *m.scale(11)], dilations=[2, 2], auto_pad="SAME_UPPER")
    y = m.add("Flatten", [y])
    w = m.constant(np.ones((4 * 6 * 10, 5)), np.int8)
    y = m.add("MatMulInteger", [y, w])
    network, said = describe(m.save(path / "integers.onnx", y, S32), "--batch", "3")
    first, second, _, product = network["operators"]
    assert kinds(network) == [("convolution", "QLinearConv")] * 2 + [("reshape", "Flatten"), ("product", "MatMulInteger")]
    assert (first["types"], product["types"]) == ("u8s8u8", "u8s8s32")
    assert first["case"] == "g2mb3ic8oc16ih12iw10oh6ow10kh3kw2sh2sw1ph0pw1", first["case"]
    assert (first["geometry"]["pad_bottom"], first["geometry"]["pad_right"], first["layout"]) == (1, 0, "nchw")
    assert second["case"] == "mb3ic16oc4ih6iw10oh6ow10kh3kw3sh1sw1ph2pw2dh2dw2", second["case"]
    assert product["case"] == "3x5x240"
    tensors = network["tensors"]
    assert tensors[first["inputs"][0]]["quantization"] == {"scales": [0.5], "zero_points": [7]}
    assert tensors[first["outputs"][0]]["quantization"]["zero_points"] == [9] and tensors[first["outputs"][0]]["shape"] == [3, 16, 6, 10]
    assert tensors[first["inputs"][1]]["constant"] and first["outputs"][0] == second["inputs"][0]
    assert "left out" not in said
    return path / "integers.json"


def between_floats(path):
    """What exporters write: DequantizeLinear, the operator, its activation, QuantizeLinear; a residual; a convolution of floats."""
    m = Model(x=(F32, [1, 8, 6, 6]))
    filters = m.floats_of(m.constant(np.ones((8, 8, 3, 3)), np.int8), 0, np.int8)
    x = m.bytes_of("x")
    y = m.add("Conv", [m.floats_of(x), filters], pads=[1, 1, 1, 1])
    y = m.bytes_of(m.add("Relu", [y]))
    y = m.bytes_of(m.add("Add", [m.floats_of(y), m.floats_of(x)]))
    y = m.bytes_of(m.add("Conv", ["x", m.constant(np.ones((8, 8, 1, 1)), np.float32)]))
    network, said = describe(m.save(path / "floats.onnx", y))
    assert kinds(network) == [("other", "QuantizeLinear"), ("convolution", "Conv"), ("addition", "Add"), ("other", "Conv"), ("other", "QuantizeLinear")], kinds(network)
    convolution, addition = network["operators"][1:3]
    assert (convolution["case"], convolution["types"], convolution["activation"]) == ("mb1ic8oc8ih6iw6oh6ow6kh3kw3sh1sw1ph1pw1", "u8s8u8", "RELU")
    assert addition["inputs"] == [convolution["outputs"][0], convolution["inputs"][0]]
    assert "Conv: not quantized" in said


def bad_models(path):
    (path / "no.onnx").write_text("no model")
    (path / "no.tflite").write_text("no model")
    (path / "no.txt").write_text("no model")
    fails("no ONNX model", path / "no.onnx")
    fails("no TFLite model", path / "no.tflite")
    fails("neither in .tflite nor in .onnx", path / "no.txt")
    for name in ("missing.tflite", "missing.onnx"):
        fails(f"{name}: No such file", path / name)
    m = Model(x=(U8, [1, 8, "H", "W"]))
    y = m.add("ConvInteger", ["x", m.constant(np.ones((4, 8, 1, 1)), np.int8)])
    m.save(path / "open.onnx", y, S32)
    fails("the shape of 'x' is not known", path / "open.onnx")
    for shape in ("foo", "x=a,b", "x=1,,3", "x=1,0,3,3", "=1,2"):
        fails("--shape", path / "open.onnx", "--shape", shape, code=2)
    for batch in ("0", "-3", "two"):
        fails("is no number from 1 on", path / "open.onnx", f"--batch={batch}", code=2)
    fails("No such file", path / "open.onnx", "--shape", "x=1,8,5,4", "-o", path / "missing" / "out.json")
    (path / "empty.onnx").write_bytes(b"")
    fails("it has no operators", path / "empty.onnx")
    whole = (path / "integers.onnx").read_bytes()
    for at in range(0, len(whole), len(whole) // 12):  # a damaged file may lose an operator, but gives no traceback
        (path / "damaged.onnx").write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1:])
        done = described(path / "damaged.onnx", "-o", path / "damaged.json")
        assert "Traceback" not in done.stderr, done.stderr
    fails("the input has 4 dimensions, not 2", path / "open.onnx", "--shape", "x=3,3")
    fails("there is no such input", path / "open.onnx", "--shape", "z=1,8,5,4")
    network, _ = describe(path / "open.onnx", "--shape", "x=1,8,5,4")
    assert network["operators"][0]["case"] == "mb1ic8oc4ih5iw4oh5ow4kh1kw1sh1sw1ph0pw0"


def one_by_one(path):
    """An operator that cannot be read is left out by itself; one dimension is a line of two."""
    m = Model(x=(U8, [2, 8, 20]), z=(U8, [1, 4, 5, 6, 7]))
    w, v = m.constant(np.ones((6, 8, 3)), np.int8), m.constant(np.ones((2, 4, 3, 3, 3)), np.int8)
    zero = [*m.scale(0, np.int8)]
    y = m.add("QLinearConv", ["x", *m.scale(7), w, *zero, *m.scale(9)], strides=[2], pads=[1, 0], dilations=[3])
    m.add("QLinearConv", ["z", *m.scale(7), v, *zero, *m.scale(9)])
    m.nodes[1].name = ""
    network, said = describe(m.save(path / "one_by_one.onnx", y))
    assert [op["kind"] for op in network["operators"]] == ["convolution", "other"], network["operators"]
    line, cube = network["operators"]
    assert line["case"] == "mb2ic8oc6ih1iw20oh1ow8kh1kw3sh1sw2ph0pw1dw3", line["case"]
    assert "3 spatial dimensions" in cube["left_out"] and cube["name"] == "QLinearConv1:0", cube
    assert cube["left_out"] in said
    m.add("QLinearConv", ["x", *m.scale(7)])
    fails("QLinearConv", m.save(path / "few.onnx", y))


def models(directory, path, octet):
    """Real ones, if there are any: every layer's output must have the size that its case has, which octet checks."""
    for model in sorted(pathlib.Path(directory).glob("*.tflite")) if directory else []:
        (path / model.name).write_bytes(model.read_bytes())
        network, _ = describe(path / model.name)
        (path / "cut.tflite").write_bytes(model.read_bytes()[:200])
        fails("it is damaged", path / "cut.tflite")
        for op in network["operators"]:
            if op["kind"] == "convolution":
                g, out = op["geometry"], network["tensors"][op["outputs"][0]]["shape"]
                assert [g["batch"], g["out_h"], g["out_w"], g["out_channels"]] == out
        benched(octet, path / (model.stem + ".json"), network)


def benched(octet, file, network):
    done = run(octet, "bench", file, "--repetitions", 1)
    assert done.returncode == 0 and "wrong" in done.stdout, done.stdout + done.stderr
    for op in network["operators"]:
        assert op["kind"] not in ("convolution", "product") or f" {op['types']} " in done.stdout


def main():
    directory, _, octet = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch)
        made = integers(path)
        benched(octet, made, json.loads(made.read_text()))
        between_floats(path)
        one_by_one(path)
        bad_models(path)
        models(os.environ.get("OCTET_MODELS_DIR", directory), path, octet)


if __name__ == "__main__":
    main()
