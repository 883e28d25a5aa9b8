# SPDX-License-Identifier: Apache-2.0
"""The language of bench/peers/peer_program.cc, and memory, for the peers beside this file."""

import gc
import json
import os
import sys
import time

import numpy as np

TYPES = {"u8": np.uint8, "s8": np.int8, "s32": np.int32, "f32": np.float32}


def aligned(shape, dtype):
    """Zeroed memory at a cache line's start, as Octet's own operands."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(shape)


def types_of(problem):
    return problem["lhs"] + problem["rhs"] + problem["dst"]


def serve(make_peer):
    """make_peer(threads) has a name, an empty_call() or None, perhaps a true lhs_zero_point, and gemm and conv, which take (problem, tensors) and return
    (call, dst) or None. Problems are as in bench/peers/peer_program.cc; tensors are the dense arrays that came with one."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the output of libraries is no answer
    gc.disable()
    call = dst = None

    def say(answer, data=b""):
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.write(data)
        answers.flush()

    def seconds(call, calls):
        start = clock()
        for _ in range(calls):
            call()
        return (clock() - start) / 1e9

    def tensors_of(problem):
        tensors = {}
        for name, size in problem["tensors"].items():
            dtype = {"bias": np.int32, "scales": np.float32}.get(name) or TYPES[problem["lhs" if name == "lhs" else "rhs"]]
            tensors[name] = aligned(size // np.dtype(dtype).itemsize, dtype)
            requests.readinto(memoryview(tensors[name]).cast("B"))
        return tensors

    for line in requests:
        (verb, argument), = json.loads(line).items()
        if verb == "hello":
            threads = argument["threads"]
            clock = time.process_time_ns if threads == 1 else time.perf_counter_ns
            peer = make_peer(threads)
            answer = {"name": peer.name, "lhs_zero_point": getattr(peer, "lhs_zero_point", False)}
            if peer.empty_call:
                seconds(peer.empty_call, 1000)
                answer["call_us"] = min(seconds(peer.empty_call, 1000) for _ in range(9)) * 1e3
            say(answer)
        elif verb == "run":
            say({"seconds": seconds(call, argument)})
        elif verb == "get":
            say({}, dst.tobytes())
        else:
            call = dst = None
            made = getattr(peer, verb)(argument, tensors_of(argument))
            if made:
                call, dst = made
            say({"dst": dst.nbytes} if made else {})
