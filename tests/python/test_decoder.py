"""The example of a decoder, where gguf is installed: the same tokens for every instruction set."""

import os
import pathlib
import subprocess
import sys

import pytest

import octet

DECODER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "decoder" / "decoder.py"


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
    want = run(model, "--tokens", "12")
    tokens = want.splitlines()[0].split()
    assert len(tokens) == 12 and len(set(tokens)) > 2
    assert run(model, "--tokens", "12", "--threads", "2") == want
    assert run(model, "--tokens", "12", "--prompt", "4,2") != want
    for tier in octet.cpu()["detected"]:
        assert run(model, "--tokens", "12", OCTET_MAX_ISA=tier) == want
