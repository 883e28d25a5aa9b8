# SPDX-License-Identifier: Apache-2.0
"""Bad arguments: an exception of the right type with a sentence, and an untouched output."""

import os
import re
import resource
import traceback

import numpy as np
import pytest

import octet

A, B = np.ones((4, 6), np.int8), np.ones((6, 5), np.int8)
WEIGHTS = octet.quantize_weights(np.ones((5, 6), np.float32))
FILTER = octet.quantize_weights(np.ones((5, 3, 3, 6), np.float32))
IN, OUT = octet.Quantization(0.5, 3, "uint8"), octet.Quantization(0.25, -4, "int8")


def read_only(array):
    array.flags.writeable = False
    return array


shared = np.zeros(
    4 * 5 * 4, np.int8
)  # the bytes of an output, of which the first 24 are an operand
BAD = [
    (
        ValueError,
        "a has the shape (4, 6) and b the shape (4, 6): the columns of a",
        lambda: octet.matmul(A, A),
    ),
    (
        ValueError,
        "b is to have two axes, or as many matrices as a",
        lambda: octet.matmul(np.ones((2, 4, 6), np.int8), np.ones((3, 6, 5), np.int8)),
    ),
    (
        TypeError,
        "a has the type float64: int8 or uint8 is needed",
        lambda: octet.matmul(A.astype(float), B),
    ),
    (
        TypeError,
        "b has the type int32: int8 or uint8 is needed",
        lambda: octet.matmul(A, B.astype(np.int32)),
    ),
    (TypeError, "b has the type bool", lambda: octet.matmul(A, B.astype(bool))),
    (TypeError, "a is of type list: an array of NumPy's", lambda: octet.matmul([[1]], B)),
    (TypeError, "b is of type NoneType", lambda: octet.matmul(A, None)),
    (ValueError, "a has the shape (6,): 2 or more axes are needed", lambda: octet.matmul(A[0], B)),
    (
        ValueError,
        "a has the shape (4, 0), and so no elements",
        lambda: octet.matmul(A[:, :0], B[:0]),
    ),
    (ValueError, "b has the shape (6, 0), and so no elements", lambda: octet.matmul(A, B[:, :0])),
    (
        ValueError,
        "a has the shape (4, 3) with the strides (6, 2) in elements, and is not contiguous",
        lambda: octet.matmul(A[:, ::2], B[:3]),
    ),
    (ValueError, "strides (-6, 1)", lambda: octet.matmul(A[::-1], B)),
    (ValueError, "strides (0, 1)", lambda: octet.matmul(np.broadcast_to(A[:1], (4, 6)), B)),
    (
        ValueError,
        "b has the shape (3, 3) with the strides (10, 2)",
        lambda: octet.matmul(A[:, :3], B[::2, ::2]),
    ),
    (
        TypeError,
        "out has the type float32: the result is of int32",
        lambda: octet.matmul(A, B, np.zeros((4, 5), np.float32)),
    ),
    (
        ValueError,
        "out has the shape (5, 4): the result has the shape (4, 5)",
        lambda: octet.matmul(A, B, np.zeros((5, 4), np.int32)),
    ),
    (
        ValueError,
        "out is read-only",
        lambda: octet.matmul(A, B, read_only(np.zeros((4, 5), np.int32))),
    ),
    (
        ValueError,
        "out has the shape (4, 5) with the strides (10, 2)",
        lambda: octet.matmul(A, B, np.zeros((4, 10), np.int32)[:, ::2]),
    ),
    (
        ValueError,
        "overlap",
        lambda: octet.matmul(shared[:24].reshape(4, 6), B, shared.view(np.int32).reshape(4, 5)),
    ),
    (ValueError, "zero_point is 128", lambda: octet.matmul(A, B, a_zero_point=128)),
    (ValueError, "-129", lambda: octet.matmul(A, B, b_zero_point=-129)),
    (
        ValueError,
        "k = 70000 is too deep",
        lambda: octet.matmul(np.ones((1, 70000), np.uint8), np.ones((70000, 1), np.int8)),
    ),
    (
        ValueError,
        "threads is 5000: 0 to 4096 are possible",
        lambda: octet.matmul(A, B, threads=5000),
    ),
    (TypeError, "incompatible function arguments", lambda: octet.matmul(A, B, threads=-1)),
    (TypeError, "incompatible function arguments", lambda: octet.matmul(A, B, threads="2")),
    (
        TypeError,
        "weights are ndarray: octet.Weights are needed",
        lambda: octet.Linear(np.ones((5, 6), np.int8)),
    ),
    (
        ValueError,
        "bias has 4 elements, the weights have 5 output channels",
        lambda: octet.Linear(WEIGHTS, np.zeros(4, np.float32)),
    ),
    (
        ValueError,
        "scales has 3 elements",
        lambda: octet.Linear(octet.Weights(WEIGHTS.values, WEIGHTS.scales[:3])),
    ),
    (
        TypeError,
        "bias is int32, but the scale of x is not known",
        lambda: octet.Linear(WEIGHTS, np.zeros(5, np.int32)),
    ),
    (TypeError, "bias has the type int64", lambda: octet.Linear(WEIGHTS, np.zeros(5, np.int64))),
    (
        ValueError,
        "bias leaves int32",
        lambda: octet.Linear(WEIGHTS, np.full(5, 1e12, np.float32), input=IN, output=OUT),
    ),
    (ValueError, "has a float32 output", lambda: octet.Linear(WEIGHTS, output=OUT)),
    (ValueError, "has a float32 output", lambda: octet.Linear(WEIGHTS, output="int32")),
    (ValueError, "output is 'int16'", lambda: octet.Linear(WEIGHTS, input=IN, output="int16")),
    (TypeError, "input is 'uint8'", lambda: octet.Linear(WEIGHTS, input="uint8")),
    (ValueError, "activation is gelu", lambda: octet.Linear(WEIGHTS, activation="gelu")),
    (
        ValueError,
        "scales",
        lambda: octet.Linear(octet.Weights(WEIGHTS.values, WEIGHTS.scales * np.float32(np.nan))),
    ),
    (
        ValueError,
        "weights has the shape (5, 3, 3, 6): 2 axes are needed",
        lambda: octet.Linear(FILTER),
    ),
    (
        ValueError,
        "x has the shape (2, 5): its last axis is to have 6 elements",
        lambda: octet.Linear(WEIGHTS)(np.zeros((2, 5), np.float32)),
    ),
    (
        TypeError,
        "x has the type float64: float32 is needed",
        lambda: octet.Linear(WEIGHTS)(np.zeros((2, 6))),
    ),
    (TypeError, "x has the type int8: uint8 is needed", lambda: octet.Linear(WEIGHTS, input=IN)(A)),
    (ValueError, "not contiguous", lambda: octet.Linear(WEIGHTS)(np.zeros((6, 4), np.float32).T)),
    (ValueError, "weights has the shape (5, 6): 4 axes are needed", lambda: octet.Conv2d(WEIGHTS)),
    (
        ValueError,
        "6 channels are needed, as the last axis",
        lambda: octet.Conv2d(FILTER, input=IN)(np.zeros((1, 9, 9, 5), np.uint8)),
    ),
    (
        ValueError,
        "6 channels are needed, as the second axis",
        lambda: octet.Conv2d(FILTER, input=IN, layout="NCHW")(np.zeros((1, 9, 9, 6), np.uint8)),
    ),
    (
        ValueError,
        "in_h = 2 with kernel_h = 3",
        lambda: octet.Conv2d(FILTER, input=IN)(np.zeros((1, 2, 2, 6), np.uint8)),
    ),
    (ValueError, "order is HWIO", lambda: octet.Conv2d(FILTER, order="HWIO")),
    (ValueError, "layout is CHWN", lambda: octet.Conv2d(FILTER, layout="CHWN")),
    (ValueError, "padding is 'full'", lambda: octet.Conv2d(FILTER, padding="full")),
    (ValueError, "padding is (1, 2, 3)", lambda: octet.Conv2d(FILTER, padding=(1, 2, 3))),
    (ValueError, "stride", lambda: octet.Conv2d(FILTER, stride=0)),
    (ValueError, "groups", lambda: octet.Conv2d(FILTER, groups=2)),
    (ValueError, "size", lambda: octet.Conv2d(FILTER, size=(1, 2, 3))),
    (ValueError, "w has NaN or infinity", lambda: octet.quantize_weights([[1, np.inf]])),
    (ValueError, "w has the shape (3,)", lambda: octet.quantize_weights([1, 2, 3])),
    (ValueError, "dtype is int16", lambda: octet.Quantization(1, 0, "int16")),
    (ValueError, "scale is 0", lambda: octet.Quantization(0)),
    (ValueError, "zero_point is -1, which uint8 does not have", lambda: octet.Quantization(1, -1)),
    (TypeError, "layer is int", lambda: octet.explain(3)),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_argument(number):
    kind, sentence, call = BAD[number]
    with pytest.raises(kind, match=re.escape(sentence)) as caught:
        call()
    assert caught.type is kind and str(caught.value)


def test_nothing_is_written():
    out = np.full((4, 5), 77, np.int32)
    for call in (
        lambda: octet.matmul(A, B, out, a_zero_point=999),
        lambda: octet.matmul(A.astype(float), B, out),
        lambda: octet.matmul(A, B, out, threads=5000),
    ):
        with pytest.raises((ValueError, TypeError)):
            call()
        assert (out == 77).all()


def test_environment(monkeypatch):
    monkeypatch.setenv("OCTET_MAX_ISA", "NONE_SUCH")
    with pytest.raises(RuntimeError, match="OCTET_MAX_ISA"):
        octet.cpu()


def lack_memory():
    values, out = np.ones((8000, 8000), np.int8), np.empty((100, 8000), np.int32)
    weights = octet.Weights(values, np.float32([1]))
    with open("/proc/self/statm") as file:
        limit = int(file.read().split()[0]) * resource.getpagesize() + (20 << 20)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    calls = [lambda: octet.Linear(weights), lambda: octet.matmul(values[:100], values, out)]
    resource.setrlimit(resource.RLIMIT_AS, (limit, limits[1]))
    said = ""
    for call in calls:
        with pytest.raises(MemoryError) as raised:
            call()
        said += str(raised.value)
    assert "could not be allocated" in said
    resource.setrlimit(resource.RLIMIT_AS, limits)
    for call in calls:
        call()
    assert (out == 8000).all()


def test_no_memory():
    """Where the system refuses memory, that is a MemoryError, and the same call works afterwards.

    In a fork, since the limit is a process's, and sys.executable of a Python that was only unpacked
    may not start another one.
    """
    child = os.fork()
    if child == 0:
        code = 1
        try:
            lack_memory()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
