#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `octet run` of whole .tflite models of integers against LiteRT's reference kernels, byte by byte, on random inputs.

    compare.py <the octet command> <directory for a virtual environment> <model.tflite>... [--inputs 3]

The tensors that `octet run` reads and writes are taken from LiteRT's run of the whole model, so operators that Octet leaves out, such as a softmax at the
end, do not matter. Each model runs layer by layer and in chains. Exits with 77, which ctest shows as skipped, where models, Python packages or the network to fetch them are missing.
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import packages

HERE = pathlib.Path(__file__).resolve().parent
REQUIREMENTS = [HERE / "requirements.txt", HERE.parents[1] / "tests" / "models" / "requirements.txt"]


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("octet")
    parser.add_argument("environment", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path, nargs="*")
    parser.add_argument("--inputs", type=int, default=3)
    return parser.parse_args(arguments)


def run(octet, description, scratch, *more):
    """The tensors that it reads, and those that it writes."""
    engine = "litert-1.2" if importlib.metadata.version("ai-edge-litert") == "1.2.0" else "litert"  # requirements.txt has no other before 1.3
    command = [octet, "run", description, "--as", engine, "--repetitions", "1", "--json", scratch / "run.json", *more]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{description}: {done.stdout}{done.stderr}")
    ends = json.loads((scratch / "run.json").read_text())["networks"][0]
    return ends["inputs"], ends["outputs"]


def set_inputs(interpreter, rng):
    import numpy as np

    for d in interpreter.get_input_details():
        if d["dtype"] == np.float32:
            interpreter.set_tensor(d["index"], rng.uniform(-1, 1, d["shape"]).astype(np.float32))
        else:
            limits = np.iinfo(d["dtype"])
            interpreter.set_tensor(d["index"], rng.integers(limits.min, limits.max, d["shape"], d["dtype"], endpoint=True))


def compare(octet, model, inputs, scratch):
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    description = scratch / "model.json"
    subprocess.run([sys.executable, HERE / "describe.py", model, "-o", description, "--data"], check=True, stderr=subprocess.DEVNULL)
    sources, results = run(octet, description, scratch)
    interpreter = Interpreter(model_path=str(model), experimental_op_resolver_type=OpResolverType.BUILTIN_REF, experimental_preserve_all_tensors=True)
    interpreter.allocate_tensors()
    rng, wrong, total = np.random.default_rng(1), 0, 0
    given, expected = b"", b""
    for _ in range(inputs):  # in a row: the states of a layer go on
        set_inputs(interpreter, rng)
        interpreter.invoke()
        given += b"".join(interpreter.get_tensor(index).tobytes() for index in sources)
        expected += b"".join(interpreter.get_tensor(index).tobytes() for index in results)
    (scratch / "in").write_bytes(given)
    for goal in ("layers", "traffic", "memory"):
        run(octet, description, scratch, "--goal", goal, "--input", scratch / "in", "--output", scratch / "out")
        made = (scratch / "out").read_bytes()
        total += len(expected)
        wrong += abs(len(made) - len(expected)) + sum(a != b for a, b in zip(made, expected))
    print(f"{model.name}: {total} bytes, {wrong} wrong", flush=True)
    return wrong


def main():
    args = parse(None)
    args.models = [m for m in args.models if m != pathlib.Path("/")]  # the build's OCTET_MODELS_DIR, not set
    if not args.models and os.environ.get("OCTET_MODELS_DIR"):
        args.models = [pathlib.Path(os.environ["OCTET_MODELS_DIR"])]
    models = [file for model in args.models for file in (sorted(model.glob("*.tflite")) if model.is_dir() else [model] if model.exists() else [])]
    if not models:
        packages.skip("there are no models")
    packages.need(args.environment, REQUIREMENTS, "ai_edge_litert.interpreter", "flatbuffers", "numpy", "tflite")
    with tempfile.TemporaryDirectory() as scratch:
        wrong = sum(compare(args.octet, model, args.inputs, pathlib.Path(scratch)) for model in models)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
