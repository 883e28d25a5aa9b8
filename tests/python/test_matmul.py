# SPDX-License-Identifier: Apache-2.0
"""octet.matmul against NumPy's int32 product: all bytes."""

import itertools

import numpy as np
import pytest

import octet
from reference import random

TYPES = (np.int8, np.uint8)
PAIRS = list(itertools.product(TYPES, TYPES))


def product(a, b, a_zero_point=0, b_zero_point=0):
    return (a.astype(np.int32) - a_zero_point) @ (b.astype(np.int32) - b_zero_point)


def check(got, want):
    assert got.dtype == np.int32 and got.shape == want.shape
    assert np.array_equal(got, want)


@pytest.mark.parametrize("a_type,b_type", PAIRS)
@pytest.mark.parametrize(
    "m,k,n", [(1, 1, 1), (3, 17, 5), (64, 257, 100), (5, 4096, 33), (1, 300, 1000), (200, 64, 1)]
)
def test_shapes(a_type, b_type, m, k, n):
    rng = np.random.default_rng(m * k * n)
    a, b = random(rng, (m, k), a_type), random(rng, (k, n), b_type)
    for threads in (0, 1, 2, 3):
        check(octet.matmul(a, b, threads=threads), product(a, b))


@pytest.mark.parametrize("a_type,b_type", PAIRS)
def test_extremes(a_type, b_type):
    for x, y in itertools.product((0, 1), (0, 1)):
        a = np.full((7, 300), [np.iinfo(a_type).min, np.iinfo(a_type).max][x], a_type)
        b = np.full((300, 18), [np.iinfo(b_type).min, np.iinfo(b_type).max][y], b_type)
        check(octet.matmul(a, b), product(a, b))


@pytest.mark.parametrize("a_type,b_type", PAIRS)
def test_zero_points(a_type, b_type):
    rng = np.random.default_rng(1)
    a, b = random(rng, (9, 70), a_type), random(rng, (70, 21), b_type)
    for zero_points in itertools.product(
        (np.iinfo(a_type).min, 3, np.iinfo(a_type).max),
        (np.iinfo(b_type).min, 5, np.iinfo(b_type).max),
    ):
        check(
            octet.matmul(a, b, a_zero_point=zero_points[0], b_zero_point=zero_points[1]),
            product(a, b, *zero_points),
        )


def test_leading_axes():
    rng = np.random.default_rng(2)
    a = random(rng, (2, 3, 4, 50), np.uint8)
    check(octet.matmul(a, random_b := random(rng, (50, 7), np.int8)), product(a, random_b))
    b = random(rng, (2, 3, 50, 7), np.int8)
    check(octet.matmul(a, b, threads=2), product(a, b))


def test_strides():
    """Views that need no copy: rows apart, transposes, matrices apart."""
    rng = np.random.default_rng(3)
    wide, tall = random(rng, (20, 90), np.int8), random(rng, (40, 90), np.int8)
    check(octet.matmul(wide[:, 10:60], tall[:, 20:70].T), product(wide[:, 10:60], tall[:, 20:70].T))
    check(octet.matmul(wide[::2, :40], tall[:, :33]), product(wide[::2, :40], tall[:, :33]))
    heads = random(rng, (15, 4, 32), np.int8)  # tokens, heads, channels
    q, k = heads.transpose(1, 0, 2), heads.transpose(1, 2, 0)
    check(octet.matmul(q, k), product(q, k))
    row, column = wide[:1, :30], tall[:30, :1]
    check(octet.matmul(row, column), product(row, column))
    check(octet.matmul(wide[:, :1], tall[:1, :]), product(wide[:, :1], tall[:1, :]))


def test_out():
    rng = np.random.default_rng(4)
    a, b = random(rng, (6, 30), np.int8), random(rng, (30, 8), np.int8)
    out = np.full((6, 8), 77, np.int32)
    assert octet.matmul(a, b, out) is out
    check(out, product(a, b))
    rows = np.full((10, 8), 77, np.int32)
    octet.matmul(a, b, out=rows[2:8])
    check(rows[2:8], product(a, b))
    assert (rows[:2] == 77).all() and (rows[8:] == 77).all()


class Dlpack:
    """An array that has __dlpack__ only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **settings):
        return self.array.__dlpack__(**settings)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_and_buffers():
    rng = np.random.default_rng(5)
    a, b, out = (
        random(rng, (6, 30), np.int8),
        random(rng, (30, 8), np.uint8),
        np.zeros((6, 8), np.int32),
    )
    wrapped = Dlpack(out)
    assert octet.matmul(Dlpack(a), Dlpack(b), wrapped) is wrapped
    check(out, product(a, b))
    check(octet.matmul(memoryview(a), memoryview(b)), product(a, b))
    a.flags.writeable = b.flags.writeable = False
    check(octet.matmul(a, b), product(a, b))
    check(octet.matmul(Dlpack(a), Dlpack(b)), product(a, b))
