# SPDX-License-Identifier: Apache-2.0
"""The plug-ins of engines that the wheel carries, where the engines are installed."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import octet
import octet.litert
from reference import random

LIBRARIES = pathlib.Path(octet.__file__).parent / "lib"


def test_delegate():
    interpreter = pytest.importorskip("ai_edge_litert.interpreter")
    if not (LIBRARIES / "liboctet_litert.so").exists():
        pytest.skip("this wheel has no delegate")
    delegate = octet.litert.delegate(as_="xnnpack", threads=2)
    assert isinstance(delegate, interpreter.Delegate)
    with pytest.raises(ValueError, match="threads"):
        octet.litert.delegate(threads=-1)


def test_one_pool(tmp_path):
    """The delegate runs on the threads that the package has started: none comes with it."""
    pytest.importorskip("ai_edge_litert.interpreter")
    if not (LIBRARIES / "liboctet_litert.so").exists():
        pytest.skip("this wheel has no delegate")
    script = tmp_path / "pool.py"
    script.write_text(POOL)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


POOL = """
import ctypes, os
import numpy as np
import octet, octet.litert

# A share of the package's pool: the first of the three functions that it offers to other modules
x = np.ones((512, 512), np.int8)
own = ctypes.CDLL(octet._octet.__file__).octet_engines_pool_1
own.restype = ctypes.c_void_p
take = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(ctypes.c_void_p.from_address(own()).value)
share = take(4)
before = set(os.listdir("/proc/self/task"))  # their numbers: joined threads may still be listed
delegate = octet.litert.delegate(threads=4)
octet.matmul(x, x, threads=4)
assert set(os.listdir("/proc/self/task")) <= before, (before, os.listdir("/proc/self/task"))
"""


def test_without_the_library(monkeypatch, tmp_path):
    monkeypatch.setattr(octet.litert.plugins, "__file__", str(tmp_path / "plugins.py"))
    with pytest.raises(RuntimeError, match="built without liboctet_litert.so, which needs LiteRT"):
        octet.litert.library()


def test_onnxruntime():
    """A session with the provider gives the bytes of one without it."""
    onnxruntime, onnx = pytest.importorskip("onnxruntime"), pytest.importorskip("onnx")
    if not (LIBRARIES / "liboctet_onnxruntime.so").exists():
        pytest.skip("this wheel has no execution provider")
    import octet.onnxruntime

    rng = np.random.default_rng(0)
    tensor = onnx.numpy_helper.from_array
    constants = [
        tensor(np.float32(0.02), "xs"),
        tensor(np.uint8(120), "xz"),
        tensor(random(rng, (40, 30), np.int8) // 2, "w"),  # the peer saturates larger ones
        tensor(np.float32(0.01), "ws"),
        tensor(np.int8(0), "wz"),
        tensor(np.float32(0.3), "ys"),
        tensor(np.uint8(9), "yz"),
    ]
    names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("QLinearMatMul", names, ["y"])],
        "g",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.UINT8, [7, 40])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.UINT8, [7, 30])],
        constants,
    )
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9
    ).SerializeToString()
    x = {"x": random(rng, (7, 40), np.uint8)}
    want = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, x)
    for threads in (0, 1, 2):
        session = octet.onnxruntime.session(model, threads=threads)
        assert octet.onnxruntime.NAME in session.get_providers()
        if hasattr(session, "get_provider_graph_assignment_info"):
            assert octet.onnxruntime.nodes(session) == (1, 1)
        assert np.array_equal(session.run(None, x)[0], want[0])
    session = octet.onnxruntime.session(model, onnxruntime.SessionOptions(), goal="memory")
    assert np.array_equal(session.run(None, x)[0], want[0])
    with pytest.raises(RuntimeError, match="needs session.record_ep_graph_assignment_info = 1"):
        octet.onnxruntime.nodes(session)
