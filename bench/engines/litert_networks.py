#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times whole networks in LiteRT with Octet's delegate and with LiteRT's own, XNNPACK, in turn.

    litert_networks.py <liboctet_litert.so> <model.tflite or name> ... [--threads 1,2] [--rounds 40] [--uint8]

Needs the packages of tests/litert/requirements.txt. A name is one of the networks that tests/litert/networks.py makes, or full_networks.py beside this file. Each figure is the least time of an
invocation in milliseconds; a ratio is that of XNNPACK's time to the delegate's. "differ" counts the bytes of XNNPACK's outputs that are not those of
as=xnnpack. --uint8 makes models of uint8 of those of int8, with one scale for the weights of an operator. A peer's threads sleep while another one runs: LiteRT's pool waits without spinning once an invocation ends.
"""
import argparse
import pathlib
import sys
import time

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType, load_delegate

BIASED = [getattr(schema.BuiltinOperator, name) for name in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")]
TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests"
sys.path[:0] = [str(TESTS / "litert"), str(TESTS / "conformance")]


def content_of(name):
    if name.endswith(".tflite"):
        return pathlib.Path(name).read_bytes()
    import full_networks
    import networks
    return bytes(getattr(networks if hasattr(networks, name) else full_networks, name)(1))


def unsigned(content):
    """The same model with each int8 tensor as uint8, whose weights have no scales per channel: LiteRT has none of uint8."""
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    seen = set()
    for graph in model.subgraphs:
        for tensor in graph.tensors:
            about = tensor.quantization
            if about is not None and about.scale is not None and len(about.scale) > 1:
                about.scale, about.zeroPoint, about.quantizedDimension = [float(max(about.scale))], [0], 0
            if tensor.type != schema.TensorType.INT8:
                continue
            tensor.type = schema.TensorType.UINT8
            if about is not None and about.zeroPoint is not None:
                about.zeroPoint = [int(zero) + 128 for zero in about.zeroPoint]
            data = model.buffers[tensor.buffer].data
            if data is not None and len(data) and tensor.buffer not in seen:
                model.buffers[tensor.buffer].data = np.asarray(data, np.uint8) ^ 0x80
                seen.add(tensor.buffer)
        for operator in graph.operators:
            if model.operatorCodes[operator.opcodeIndex].builtinCode in BIASED and len(operator.inputs) > 2 and operator.inputs[2] >= 0:
                x, w, bias = (graph.tensors[operator.inputs[i]].quantization for i in range(3))
                bias.scale, bias.zeroPoint = [float(np.float32(x.scale[0]) * np.float32(w.scale[0]))], [0]
    builder = flatbuffers.Builder()
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def interpreter(content, threads, library=None, arithmetic=""):
    """library: the delegate's; None: LiteRT with XNNPACK."""
    delegates = [load_delegate(library, {"as": arithmetic, "threads": str(threads)})] if library else None
    resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if library else OpResolverType.AUTO
    made = Interpreter(model_content=content, num_threads=threads, experimental_delegates=delegates, experimental_op_resolver_type=resolver)
    made.allocate_tensors()
    rng = np.random.default_rng(4)
    for end in made.get_input_details():
        if end["dtype"] == np.float32:
            values = rng.standard_normal(end["shape"]).astype(np.float32)
        else:
            values = rng.integers(np.iinfo(end["dtype"]).min, np.iinfo(end["dtype"]).max, end["shape"], end["dtype"], endpoint=True)
        made.set_tensor(end["index"], values)
    made.invoke()
    return made


def least(run, seconds=0.05):
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def outputs(made):
    return b"".join(made.get_tensor(end["index"]).tobytes() for end in made.get_output_details())


def measured(name, library, threads, rounds, as_uint8):
    content = unsigned(content_of(name)) if as_uint8 else content_of(name)
    runs = [interpreter(content, threads, library, "reference"), interpreter(content, threads, library, "xnnpack"), interpreter(content, threads)]
    mine, theirs = outputs(runs[1]), outputs(runs[2])
    times = [[] for _ in runs]
    for _ in range(rounds):
        for kept, made in zip(times, runs):
            kept.append(least(made.invoke))
    reference, xnnpack, peer = map(min, times)
    wrong = int((np.frombuffer(mine, np.uint8) != np.frombuffer(theirs, np.uint8)).sum())
    print(f"| {pathlib.Path(name).stem} | {threads} | {reference:.3f} ({peer / reference:.2f}) | {xnnpack:.3f} ({peer / xnnpack:.2f}) | {peer:.3f} "
          f"| {wrong} of {len(mine)} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("network", nargs="+")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--uint8", action="store_true")
    given = parser.parse_intermixed_args()
    library = str(pathlib.Path(given.library).resolve())
    print("| network | threads | as=reference, ms (ratio) | as=xnnpack, ms (ratio) | XNNPACK, ms | differ |\n|---|---|---|---|---|---|")
    for name in given.network:
        for threads in map(int, given.threads.split(",")):
            measured(name, library, threads, given.rounds, given.uint8)


if __name__ == "__main__":
    main()
