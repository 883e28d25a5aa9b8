#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times whole networks in ONNX Runtime with and without Octet's execution provider, in turn.

    onnxruntime_networks.py <liboctet_onnxruntime.so> <folder for models> [--threads 1,2] [--rounds 9] [case ...]

Needs the packages of tests/onnxruntime/requirements.txt. A case is a network and how it is quantized, "resnet50:qdq-s8s8"; networks.py lists all, which are
the default. Three sessions take turns: Octet's, ONNX Runtime's, and ONNX Runtime's with the two settings that make it compute a model as it is written. The
figure of each is its least time of a run in milliseconds; "differ" counts the elements of ONNX Runtime's outputs that are not those of Octet. While
one session is measured, the threads of the others sleep, because they spin only inside a run (session.force_spinning_stop).
"""
import argparse
import pathlib
import time

import onnxruntime as ort

import networks


def as_written(case):
    """ONNX Runtime's setting for the bytes of the model as written: int8 activations stay int8, or no sum of uint8 and int8 saturates."""
    return "session.qdqisint8allowed" if "qdq-s8" in case else "session.x64quantprecision"


def session(path, threads, options=None, settings=()):
    """options: the provider's; None: ONNX Runtime alone. Also returns the milliseconds that creating it took."""
    made = ort.SessionOptions()
    made.intra_op_num_threads = threads
    made.log_severity_level = 4
    made.add_session_config_entry("session.force_spinning_stop", "1")
    for setting in settings:
        made.add_session_config_entry(setting, "1")
    start = time.perf_counter()
    if options is None:
        result = ort.InferenceSession(path, made, providers=["CPUExecutionProvider"])
    else:
        made.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == "OctetExecutionProvider"], options)
        result = ort.InferenceSession(path, made, enable_fallback=False)
    return result, 1e3 * (time.perf_counter() - start)


def least(run, feed, seconds=0.25):
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        run(None, feed)
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def measured(case, folder, threads, rounds):
    path, shapes = networks.made(case, folder)
    runs = [session(path, threads, {"threads": str(threads)}), session(path, threads), session(path, threads, settings=[as_written(case)])]
    feed = networks.feed(runs[0][0], shapes, 9)
    outputs = [made.run(None, feed)[0] for made, _ in runs]
    times = [[] for _ in runs]
    for _ in range(rounds):
        for kept, (made, _) in zip(times, runs):
            time.sleep(0.02)
            kept.append(least(made.run, feed))
    octet, theirs, exact = map(min, times)
    wrong, exact_wrong = (int((outputs[0] != other).sum()) for other in outputs[1:])
    print(f"| {case} | {threads} | {octet:.2f} | {theirs:.2f} ({theirs / octet:.2f}) | {exact:.2f} ({exact / octet:.2f}) "
          f"| {wrong}, {exact_wrong} of {outputs[0].size} | {runs[0][1]:.0f}, {runs[1][1]:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("case", nargs="*", default=networks.CASES)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_intermixed_args()
    ort.register_execution_provider_library("octet", str(pathlib.Path(given.library).resolve()))
    print("| network | threads | Octet, ms | ONNX Runtime (ratio) | as written (ratio) | differ | create: Octet, ONNX Runtime, ms |\n|---|---|---|---|---|---|---|")
    for case in given.case:
        for threads in map(int, given.threads.split(",")):
            measured(case, given.folder, threads, given.rounds)


if __name__ == "__main__":
    main()
