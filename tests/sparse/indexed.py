#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds octet_sparse_import_indexed and octet_sparse_export_indexed against values and metadata made by a program that shares no code with the library.

    indexed.py <file to write> <command that runs sparse_indexed_test...>

The words of metadata go where CUTLASS's host_reorder.h and its column-major layout interleaved by two put them, step by step, as PyTorch's
torch/sparse/_semi_structured_conversions.py describes it. sparse_indexed_test finds the file by OCTET_SPARSE_INDEXED.
"""
import itertools
import os
import random
import struct
import subprocess
import sys

import stream


def kept(group):
    """Both places; a group with fewer than two weights takes its last zeros, as PyTorch's conversion did first."""
    places = [i for i in range(4) if group[i]]
    return {0: (2, 3), 1: {0: (0, 3), 1: (1, 3), 2: (2, 3), 3: (2, 3)}.get(places[0] if places else 3)}.get(len(places), tuple(places))


def words_of(rows, n, k):
    """Values, and a word of metadata per row and 32 weights; the last word of a row may have fewer."""
    values, words = bytearray(), []
    for row in range(n):
        line = []
        for word in range(0, k, 32):
            bits = 0
            for number, first in enumerate(range(word, min(word + 32, k), 4)):
                group = rows[row * k + first:row * k + first + 4]
                places = kept(group)
                values += bytes(group[i] for i in places)
                bits |= (places[0] | places[1] << 2) << 4 * number
            line.append(bits)
        words.append(line)
    return bytes(values), words


def in_rows(words, k):
    whole = [struct.pack(f"<{len(line)}I", *line)[:k // 8] for line in words]
    return b"".join(whole)


def reordered(words):
    rows, columns = len(words), len(words[0])
    flat = [None] * (rows * columns)
    for row, column in itertools.product(range(rows), range(columns)):
        to_row, to_column = row // 16 * 16 + row % 8 * 2 + row % 16 // 8, column
        if to_row % 2 == 0 and to_column % 2 == 1:  # the corners of a 2 x 2 block change places
            to_row, to_column = to_row + 1, to_column - 1
        elif to_row % 2 == 1 and to_column % 2 == 0:
            to_row, to_column = to_row - 1, to_column + 1
        flat[to_column // 2 * rows * 2 + to_row * 2 + to_column % 2] = words[row][column]
    return struct.pack(f"<{len(flat)}I", *flat)


def cases():
    rng = random.Random(24)
    for n, k in [(1, 8), (3, 16), (5, 40), (2, 96), (16, 64), (32, 128), (48, 192), (64, 64), (96, 384)]:
        rows = stream.draw(rng, n, k)
        values, words = words_of(rows, n, k)
        yield 0, n, k, rows, values, in_rows(words, k)
        if n % 16 == 0 and k % 64 == 0:
            yield 1, n, k, rows, values, reordered(words)


def main():
    path, command = sys.argv[1], sys.argv[2:]
    with open(path, "wb") as file:
        for order, n, k, rows, values, metadata in cases():
            file.write(struct.pack("<3I", order, n, k) + rows + values + metadata)
    sys.exit(subprocess.run(command, env={**os.environ, "OCTET_SPARSE_INDEXED": path}, check=False).returncode)


if __name__ == "__main__":
    main()
