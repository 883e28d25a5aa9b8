#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the first digits of a digest of each network's outputs: in LiteRT with Octet's delegate on each tier, and without it.

    litert_bytes.py <liboctet_litert.so> <model.tflite or name> ... --tiers <tier>,...
    litert_bytes.py <liboctet_litert.so> <model.tflite or name> ... --tier <name of the rows>
    litert_bytes.py <liboctet_litert.so> <model.tflite or name> ... --alone

A name is one of the networks that tests/litert/networks.py makes; --uint8 makes each model one of uint8. `octet info` lists the tiers. Rows of a tier are made by a process
that OCTET_MAX_ISA limits. --tier prints only Octet's rows and --alone only LiteRT's own, in this process: under qemu-user those are the rows of another CPU. Each network
runs on four inputs in a row.
"""
import argparse
import hashlib
import os
import subprocess
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType, load_delegate

import litert_networks as networks

KERNELS = {"reference": OpResolverType.BUILTIN_REF, "xnnpack": OpResolverType.AUTO}


def digest(content, as_, library):
    made = Interpreter(model_content=content, num_threads=1, experimental_op_resolver_type=KERNELS[as_])
    if library:
        resolver = OpResolverType.BUILTIN_REF if as_ == "reference" else OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        made = Interpreter(model_content=content, num_threads=1, experimental_op_resolver_type=resolver,
                           experimental_delegates=[load_delegate(library, {"as": as_, "threads": "1"})])
    made.allocate_tensors()
    ops = [operator["op_name"] for operator in made._get_ops_details()]
    if library and "DELEGATE" not in ops:
        return "-"
    random, all_outputs = np.random.default_rng(9), hashlib.sha256()
    for _ in range(4):
        for known in made.get_input_details():
            kind, shape = known["dtype"], known["shape"]
            floats = np.issubdtype(kind, np.floating)
            made.set_tensor(known["index"], random.standard_normal(shape).astype(kind) if floats
                            else random.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape, kind, endpoint=True))
        made.invoke()
        for known in made.get_output_details():
            all_outputs.update(made.get_tensor(known["index"]).tobytes())
    return all_outputs.hexdigest()[:8]


def rows(name, given, library):
    contents = [networks.content_of(model) for model in given.model]
    if given.uint8:
        contents = [networks.unsigned(content) for content in contents]
    for as_ in KERNELS:
        print(f"| {name}, {as_} | {' | '.join(digest(content, as_, library) for content in contents)} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("model", nargs="+")
    parser.add_argument("--tiers", default="")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--tier", help="the name of the rows")
    parser.add_argument("--uint8", action="store_true")
    given = parser.parse_args()
    if given.alone or given.tier:
        return rows("LiteRT alone" if given.alone else f"Octet, {given.tier}", given, None if given.alone else given.library)
    print(f"| | {' | '.join(os.path.basename(model) for model in given.model)} |\n|---|{'---|' * len(given.model)}", flush=True)
    again = [sys.executable, __file__, given.library, *given.model, *(["--uint8"] if given.uint8 else [])]
    for tier in filter(None, given.tiers.split(",")):
        subprocess.run([*again, "--tier", tier], env={**os.environ, "OCTET_MAX_ISA": tier}, check=True)
    subprocess.run([*again, "--alone"], check=True)


if __name__ == "__main__":
    main()
