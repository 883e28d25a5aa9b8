# SPDX-License-Identifier: Apache-2.0
"""Many threads, the GIL, child processes, memory."""

import concurrent.futures
import gc
import os
import sys
import threading
import time

import numpy as np

import octet
from reference import random

RNG = np.random.default_rng(0)
A, B = random(RNG, (300, 400), np.int8), random(RNG, (400, 500), np.int8)
WANT = A.astype(np.int32) @ B.astype(np.int32)
WEIGHTS = octet.Weights(np.ascontiguousarray(B.T), np.float32([1]))
INT8 = octet.Quantization(1, 0, "int8")


def test_one_layer_on_many_threads():
    linear = octet.Linear(WEIGHTS, input=INT8, output="int32")
    conv = octet.Conv2d(
        octet.Weights(WEIGHTS.values.reshape(500, 1, 1, 400), np.float32([1])),
        input=INT8,
        output="int32",
        size=(2, 2),
    )

    def work(number):
        rows = 1 + number * 7 % 300  # convolutions of other sizes are planned meanwhile
        threads = number % 3
        return (
            np.array_equal(linear(A, threads=threads), WANT)
            and np.array_equal(octet.matmul(A, B, threads=threads), WANT)
            and np.array_equal(
                conv(A[:rows].reshape(1, rows, 1, 400), threads=threads)[0, :, 0], WANT[:rows]
            )
        )

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(160)))


def test_gil_is_released():
    """While a thread is inside of a product, this one runs.

    The interpreter alone would not switch to it for an hour.
    """
    inside = finished = False
    a, b = random(RNG, (2000, 2000), np.int8), random(RNG, (2000, 2000), np.int8)
    seen = []

    def work():
        nonlocal inside, finished
        for _ in range(200):
            inside = True
            octet.matmul(a, b)
            inside = False
            if seen:
                break
        finished = True

    interval = sys.getswitchinterval()
    sys.setswitchinterval(3600)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        while not finished:
            if inside:
                seen.append(1)
            time.sleep(0)
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert seen


def test_child_process():
    """A child has no threads of the parent's pool, and starts its own."""
    assert np.array_equal(octet.matmul(A, B, threads=2), WANT)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(octet.matmul(A, B, threads=2), WANT) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(octet.matmul(A, B, threads=2), WANT)


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_no_leaks():
    """300 layers of a megabyte, their outputs, and failures leave nothing behind."""
    weights = octet.Weights(random(RNG, (1000, 1000), np.int8), np.float32([1]))
    x = random(RNG, (250, 1000), np.int8)

    def once():
        layer = octet.Linear(weights, input=INT8, output="int32")
        layer(x)
        octet.Conv2d(
            octet.Weights(weights.values.reshape(1000, 1, 1, 1000), weights.scales),
            input=INT8,
            output="int32",
        )
        octet.matmul(x, weights.values.T)
        for bad in (x[:, 1:], x.astype(float), x[:, ::-1]):
            try:
                layer(bad)
            except (ValueError, TypeError):
                continue
            raise AssertionError("a bad array was taken")

    for _ in range(20):
        once()
    gc.collect()
    references, before = sys.getrefcount(x), resident_bytes()
    for _ in range(300):
        once()
    gc.collect()
    assert sys.getrefcount(x) == references
    assert resident_bytes() - before < 64 << 20
