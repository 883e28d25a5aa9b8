# SPDX-License-Identifier: Apache-2.0
"""The example of Ray, where ray, onnx and onnxruntime are installed."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_unlike_machines(tmp_path, monkeypatch):
    """Workers of any instruction set give the same outputs, and of both."""
    for package in ("ray", "onnx", "onnxruntime"):
        pytest.importorskip(package)
    import octet.onnxruntime

    try:
        octet.onnxruntime.library()
    except RuntimeError as why:
        pytest.skip(str(why))
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "onnxruntime"))
    import models

    shape = (1, 3, 30, 30)
    model = models.quantized(models.image_network(), tmp_path, "qdq-s8s8", {"x": shape})
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "ray" / "unlike.py", model, "40", "SCALAR"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "second: 40 images on SCALAR" in done.stdout
    assert done.stdout.count("outputs") == 5
