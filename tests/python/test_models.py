# SPDX-License-Identifier: Apache-2.0
"""octet.load: whole models give the bytes of their engine without Octet, where it is installed."""

import os
import pathlib

import numpy as np
import pytest

import octet
from reference import random

LIBRARIES = pathlib.Path(octet.__file__).parent / "lib"


def test_bad_names():
    for name in ("model.pt", "model"):
        with pytest.raises(ValueError, match="a name that ends in .tflite or .onnx is needed"):
            octet.load(name)


def dynamic_product(onnx, rng, directory):
    """A model of float32 rows, quantized at run time; any number of rows."""
    nodes = [
        onnx.helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        onnx.helper.make_node("MatMulInteger", ["q", "w", "z"], ["sums"]),
        onnx.helper.make_node("Cast", ["sums"], ["real"], to=onnx.TensorProto.FLOAT),
        onnx.helper.make_node("Mul", ["s", "ws"], ["both"]),
        onnx.helper.make_node("Mul", ["real", "both"], ["y"]),
    ]
    weights = random(rng, (40, 30), np.int8) // 2  # the peer saturates larger ones
    graph = onnx.helper.make_graph(
        nodes,
        "g",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["rows", 40])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["rows", 30])],
        [
            onnx.numpy_helper.from_array(weights, "w"),
            onnx.numpy_helper.from_array(np.float32(0.01), "ws"),
        ],
    )
    path = directory / "model.onnx"
    opset = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=9), path)
    return path


def test_onnx(tmp_path):
    onnxruntime, onnx = pytest.importorskip("onnxruntime"), pytest.importorskip("onnx")
    if not (LIBRARIES / "liboctet_onnxruntime.so").exists():
        pytest.skip("this wheel has no execution provider")
    rng = np.random.default_rng(0)
    path = dynamic_product(onnx, rng, tmp_path)
    peer = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    model = octet.load(path, threads=2)
    assert model.inputs == ["x"] and model.outputs == ["y"]
    if hasattr(onnxruntime.InferenceSession, "get_provider_graph_assignment_info"):
        assert repr(model) == f"octet.load({str(path)!r}): nodes on octet: 5 of 5"
    for rows in (1, 7, 3):
        x = rng.standard_normal((rows, 40)).astype(np.float32)
        assert np.array_equal(model(x), peer.run(None, {"x": x})[0])
    with pytest.raises(ValueError, match="2 inputs, the model has x"):
        model(x, x)
    with pytest.raises(TypeError, match="x has the type float64"):
        model(x.astype(float))
    with pytest.raises(ValueError, match="INVALID_ARGUMENT"):
        model(x[:, :39])


def test_tflite():
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    if not (LIBRARIES / "liboctet_litert.so").exists():
        pytest.skip("this wheel has no delegate")
    directory = os.environ.get("OCTET_MODELS_DIR")
    paths = sorted(pathlib.Path(directory).glob("*.tflite")) if directory else []
    if not paths:
        pytest.skip("OCTET_MODELS_DIR names no folder with .tflite models")
    rng, ran = np.random.default_rng(0), 0
    for path in paths:
        peer = litert.Interpreter(
            str(path), experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF
        )
        peer.allocate_tensors()
        known, made = peer.get_input_details()[0], peer.get_output_details()[0]
        if not np.issubdtype(known["dtype"], np.integer):
            continue
        model = octet.load(path, threads=2)
        ran += not repr(model).endswith("networks on octet: 0")
        x = random(rng, known["shape"], known["dtype"])
        peer.set_tensor(known["index"], x)
        peer.invoke()
        assert np.array_equal(model(x), peer.get_tensor(made["index"])), path
        several = random(rng, (3, *known["shape"][1:]), known["dtype"])
        results = model(several)
        assert np.array_equal(results[:1], model(several[:1])), path
        with pytest.raises(TypeError, match="has the type float64"):
            model(x.astype(float))
    assert ran
