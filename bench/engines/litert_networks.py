#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Octet Authors
# SPDX-License-Identifier: Apache-2.0
"""Times whole networks in LiteRT with Octet's delegate and with LiteRT's own, XNNPACK, in turn.

    litert_networks.py <liboctet_litert.so> <model.tflite or name> ... [--threads 1,2] [--rounds 40]

Needs the packages of tests/litert/requirements.txt. A name is one of the networks that tests/litert/networks.py makes. Each figure is the least time of an
invocation in milliseconds; a ratio is that of XNNPACK's time to the delegate's. "differ" counts the bytes of XNNPACK's outputs that are not those of
as=xnnpack. A peer's threads sleep while another one runs: LiteRT's pool waits without spinning once an invocation ends.
"""
import argparse
import pathlib
import sys
import time

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType, load_delegate

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests"
sys.path[:0] = [str(TESTS / "litert"), str(TESTS / "conformance")]


def content_of(name):
    if name.endswith(".tflite"):
        return pathlib.Path(name).read_bytes()
    import networks
    return bytes(getattr(networks, name)(1))


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


def measured(name, library, threads, rounds):
    content = content_of(name)
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
    given = parser.parse_intermixed_args()
    library = str(pathlib.Path(given.library).resolve())
    print("| network | threads | as=reference, ms (ratio) | as=xnnpack, ms (ratio) | XNNPACK, ms | differ |\n|---|---|---|---|---|---|")
    for name in given.network:
        for threads in map(int, given.threads.split(",")):
            measured(name, library, threads, given.rounds)


if __name__ == "__main__":
    main()
