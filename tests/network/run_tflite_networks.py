#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `octet run --network --as ...` of the networks that tests/litert/networks.py makes against LiteRT, byte by byte, softmax included.

    run_tflite_networks.py <directory for a virtual environment> <the octet command> [file of requirements]

Each option of --as is compared with LiteRT's reference kernels or its default delegate, XNNPACK; which of litert-1.2 and litert the reference kernels
are depends on the version that is installed, and so does whether XNNPACK has Octet's bytes of a network. Without a file of requirements the packages
are those of the conformance vectors. Exits with 77, which ctest shows as skipped, where the Python packages are missing and cannot be
installed.
"""
import importlib.metadata
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "models"
sys.path.append(str(TOOL))
import packages  # noqa: E402

packages.need(pathlib.Path(sys.argv[1]),
              [ROOT / sys.argv[3]] if len(sys.argv) > 3 else [TOOL / "requirements.txt", ROOT / "tests" / "conformance" / "requirements.txt"],
              "ai_edge_litert.interpreter", "flatbuffers", "tflite")
sys.path[:0] = [str(ROOT / "tests" / "litert"), str(ROOT / "tests" / "conformance")]
# tests/conformance has a module of the name of the package tflite, which only describe.py reads, in a process of its own
sys.modules.pop("tflite", None)
import networks  # noqa: E402
import numpy as np  # noqa: E402
from ai_edge_litert.interpreter import Interpreter, OpResolverType  # noqa: E402

VERSION = networks.version_of(importlib.metadata.version("ai-edge-litert"))
REFERENCE = "litert" if VERSION >= (1, 3) else "litert-1.2"
RUNS = 20  # of each network; a byte that one input in many gives is a defect, too


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)


def results(network, kernels, runs):
    """The bytes of LiteRT's outputs of all runs; each has the inputs of the model, in its order. States carry over."""
    interpreter = Interpreter(model_content=network, experimental_op_resolver_type=kernels, num_threads=1)
    interpreter.allocate_tensors()
    made = []
    for inputs in runs:
        for details, x in zip(interpreter.get_input_details(), inputs):
            interpreter.set_tensor(details["index"], x)
        interpreter.invoke()
        made += [interpreter.get_tensor(details["index"]).tobytes() for details in interpreter.get_output_details()]
    return b"".join(made)


def drawn(random, details):
    kind = details["dtype"]
    if kind == np.float32:
        return random.uniform(-1, 1, details["shape"]).astype(kind)
    limits = np.iinfo(kind)
    return random.integers(limits.min, limits.max, details["shape"], kind, endpoint=True)


def compare(octet, path, name, network):
    model = path / f"{name}.tflite"
    model.write_bytes(network)
    description = model.with_suffix(".json")
    done = run(sys.executable, TOOL / "describe.py", model, "-o", description, "--data")
    assert done.returncode == 0 and "left out" not in done.stderr, done.stderr
    interpreter, random = Interpreter(model_content=network), np.random.default_rng(3)
    runs = [[drawn(random, d) for d in interpreter.get_input_details()] for _ in range(RUNS)]
    (path / "in").write_bytes(b"".join(x.tobytes() for inputs in runs for x in inputs))
    made = {}
    engines = [(REFERENCE, OpResolverType.BUILTIN_REF), ("xnnpack", OpResolverType.AUTO)]
    for engine, kernels in engines if networks.has_bytes_of_xnnpack(name, VERSION, platform.machine()) else engines[:1]:
        expected = results(network, kernels, runs)
        assert len(set(expected)) > 5, f"{name} shows little"
        for goal in ("layers", "memory"):
            done = run(octet, "run", description, "--as", engine, "--goal", goal, "--input", path / "in", "--output", path / "out", "--repetitions", 1)
            assert done.returncode == 0 and "equal bytes" in done.stdout and "left out" not in done.stderr, (name, engine, done.stdout + done.stderr)
            made[engine] = (path / "out").read_bytes()
            wrong = sum(a != b for a, b in zip(made[engine], expected)) + abs(len(made[engine]) - len(expected))
            assert wrong == 0, f"{name} as {engine}, {goal}: {wrong} of {len(expected)} bytes wrong"
    print(f"{name}: {len(expected)} bytes equal, as {' and as '.join(made)}")


def options(octet, path):
    description = path / "LSTM.json"
    (path / "odd").write_bytes(bytes(5 * 16 + 24 + 24 + 1))
    done = run(octet, "run", description, "--input", path / "odd")
    assert done.returncode == 2 and "has 129 bytes, and the inputs of a run 128; it must be one or more times as long" in done.stderr, done.stderr
    for engine in ("onnxruntime", "standard", "tflite"):
        done = run(octet, "run", description, "--as", engine)
        assert done.returncode == 2 and f"--as '{engine}' is no engine of this model: litert-1.2, litert, xnnpack" in done.stderr, done.stderr
    done = run(octet, "run", "espcn:32x32", "--as", "xnnpack")
    assert done.returncode == 2 and "--as is for described models" in done.stderr, done.stderr
    done = run(octet, "tune", path / "SEANet of int16.json", "--seconds", "0.1")
    assert done.returncode == 0 and "layers of 16 bits are not measured" in done.stderr, done.stderr
    # Rounded once and twice: 640 sums of products are not all the same
    outputs = []
    for engine in ("litert", "litert-1.2"):
        done = run(octet, "run", path / "encoder.json", "--as", engine, "--output", path / engine, "--repetitions", 1)
        assert done.returncode == 0, done.stderr
        outputs.append((path / engine).read_bytes())
    assert outputs[0] != outputs[1]


def main():
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch)
        for seed, (name, make) in enumerate(networks.ALL.items()):
            compare(sys.argv[2], path, name, make(seed))
        options(sys.argv[2], path)


if __name__ == "__main__":
    main()
