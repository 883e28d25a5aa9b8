# SPDX-License-Identifier: Apache-2.0
"""The example of a decoder, where gguf is installed: the same tokens for every instruction set.

scripts/wheels compares decoder_output.txt with what aarch64 gives.
"""

import os
import pathlib
import subprocess
import sys

import pytest

import octet

HERE = pathlib.Path(__file__).resolve().parent
DECODER = HERE.parents[1] / "examples" / "decoder" / "decoder.py"


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, DECODER, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_same_tokens(tmp_path):
    pytest.importorskip("gguf")
    model = tmp_path / "random.gguf"
    run("--random", model)
    want = (HERE / "decoder_output.txt").read_text()
    assert run(model) == want
    assert run(model, "--threads", "2") == want
    assert run(model, "--prompt", "4,2") != want
    for tier in octet.cpu()["detected"]:
        assert run(model, OCTET_MAX_ISA=tier) == want
