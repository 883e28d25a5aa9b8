#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the first digits of a digest of each network's outputs: in ONNX Runtime with Octet's execution provider on each tier, and without it.

    onnxruntime_bytes.py <liboctet_onnxruntime.so> <folder for models> --tiers <tier>,... [case ...]
    onnxruntime_bytes.py <liboctet_onnxruntime.so> <folder for models> --tier <name of the row> [case ...]
    onnxruntime_bytes.py <liboctet_onnxruntime.so> <folder for models> --alone [case ...]

Cases are those of networks.py; `octet info` lists the tiers. Each row is a process of its own, limited by OCTET_MAX_ISA. --tier prints only Octet's row and
--alone only ONNX Runtime's own, in this process: under `qemu-x86_64 -cpu max python ...` that is the row of another CPU.
"""
import argparse
import hashlib
import os
import pathlib
import subprocess
import sys

import onnxruntime as ort

import networks


def digest(path, shapes, library):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if library:
        options.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == "OctetExecutionProvider"], {})
        session = ort.InferenceSession(path, options, enable_fallback=False)
    else:
        session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    outputs = session.run(None, networks.feed(session, shapes, 9))
    return hashlib.sha256(b"".join(output.tobytes() for output in outputs)).hexdigest()[:8]


def row(name, given, library):
    if library:
        ort.register_execution_provider_library("octet", library)
    cells = [digest(*networks.made(case, given.folder), library) for case in given.case]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("case", nargs="*", default=networks.CASES)
    parser.add_argument("--tiers", default="")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--tier", help="the name of the one row")
    given = parser.parse_intermixed_args()
    if given.alone or given.tier:
        return row("ONNX Runtime alone" if given.alone else f"Octet, {given.tier}", given, None if given.alone else str(pathlib.Path(given.library).resolve()))
    print(f"| | {' | '.join(given.case)} |\n|---|{'---|' * len(given.case)}", flush=True)
    again = [sys.executable, __file__, given.library, str(given.folder), *given.case]
    for tier in filter(None, given.tiers.split(",")):
        subprocess.run([*again, "--tier", tier], env={**os.environ, "OCTET_MAX_ISA": tier}, check=True)
    subprocess.run([*again, "--alone"], check=True)


if __name__ == "__main__":
    main()
