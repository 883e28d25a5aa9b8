#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds octet_sparse_import_stream and octet_sparse_export_stream against a reader and a writer of AMD's stream that share no code with the library.

    stream.py <file to write> <command that runs sparse_stream_test...>

Written from the guides' descriptions (docs/sparse_weights.md), in plain Python. Makes streams of random 2:4 matrices; for some, also every truncation
and every single flipped bit. Each comes with this reader's result: the weights, or the offset of the error. sparse_stream_test finds the file by
OCTET_SPARSE_STREAMS.
"""
import itertools
import os
import random
import struct
import subprocess
import sys

FORMATS = [(32, 4), (64, 4), (64, 8)]  # weights under a mask, alignment of masks


class Damaged(Exception):
    """An error of a stream, with its offset."""


def chunks_of(stream, chunk, alignment):
    """Yields per chunk its weights as (value, offset) or None where the mask has no bit, and the offset behind it."""
    position = 0
    while True:
        if position + chunk // 8 > len(stream):
            raise Damaged(len(stream))
        bits = [stream[position + i // 8] >> (i % 8) & 1 for i in range(chunk)]
        for i in range(0, chunk, 4):
            if sum(bits[i:i + 4]) > 2:
                raise Damaged(position + i // 8)
        position += chunk // 8
        present = sum(bits)
        if position + present > len(stream):
            raise Damaged(len(stream))
        offsets = iter(range(position, position + present))
        weights = []
        for bit in bits:
            offset = next(offsets) if bit else None
            weights.append((stream[offset], offset) if bit else None)
        position += present
        while position % alignment:
            if position == len(stream):
                raise Damaged(position)
            if stream[position] != 0:
                raise Damaged(position)
            position += 1
        yield weights, position


def size_of(stream, chunk, alignment):
    """The number of weights in a whole stream."""
    for count, (_, end) in enumerate(chunks_of(stream, chunk, alignment), 1):
        if end == len(stream):
            return count * chunk


def read(stream, chunk, alignment, n, k):
    """The rows of an n x k matrix, one after the other."""
    padded = -(-k // 4) * 4
    rows, seen, end = bytearray(), 0, 0
    reader = chunks_of(stream, chunk, alignment)
    while seen < n * padded:
        weights, end = next(reader)
        for weight in weights:
            real = seen < n * padded and seen % padded < k
            if real:
                rows.append(weight[0] if weight else 0)
            elif weight and weight[0]:
                raise Damaged(weight[1])
            seen += 1
    if end < len(stream):
        raise Damaged(end)
    return bytes(rows)


def write(rows, chunk, alignment, n, k, keep_zeros):
    line = []
    for row in range(n):
        line += rows[row * k:row * k + k]
        line += [0] * (-k % 4)
    line += [0] * (-len(line) % chunk)
    stream = bytearray()
    for first in range(0, len(line), chunk):
        mask, weights = 0, []
        for group in range(first, first + chunk, 4):
            kept = {i for i in range(group, group + 4) if line[i]}
            zeros = [i for i in range(group, group + 4) if not line[i]]
            while keep_zeros and len(kept) < 2:
                kept.add(zeros.pop(0))
            for i in sorted(kept):
                mask |= 1 << (i - first)
                weights.append(line[i])
        stream += mask.to_bytes(chunk // 8, "little") + bytes(weights)
        stream += bytes(-len(stream) % alignment)
    return bytes(stream)


def draw(rng, n, k):
    """Rows of which every group has 0 to 2 weights, in any places."""
    rows = bytearray(n * k)
    full = rng.random() < 0.5
    for row in range(n):
        for group in range(0, k, 4):
            places = range(group, min(group + 4, k))
            for place in rng.sample(places, min(len(places), 2 if full else rng.randrange(3))):
                rows[row * k + place] = rng.choice([1, 127, 128, 255, rng.randrange(256)])
    return bytes(rows)


def outcome(function, *arguments):
    """(1, offset) or (0, result)."""
    try:
        return 0, function(*arguments)
    except Damaged as damaged:
        return 1, damaged.args[0]


def case(stream, chunk, alignment, n, k, exported=2):
    """One record; exported: the keep_zeros that writes this stream, 2 if none does."""
    bad_size, size = outcome(size_of, stream, chunk, alignment)
    bad, weights = outcome(read, stream, chunk, alignment, n, k)
    record = struct.pack("<10I", chunk, alignment, n, k, exported, bad_size, size, bad, weights if bad else 0, len(stream)) + stream
    return record if bad else record + weights


def cases():
    rng = random.Random(13)
    sizes = [(1, k) for k in range(1, 41)] + [(n, k) for n in (2, 3, 5) for k in (1, 3, 4, 7, 16, 33, 64)] + [(16, 128)]
    for (chunk, alignment), (n, k), keep in itertools.product(FORMATS, sizes, (0, 1)):
        yield case(write(draw(rng, n, k), chunk, alignment, n, k, keep), chunk, alignment, n, k, keep)
    for (chunk, alignment), (n, k), keep in itertools.product(FORMATS, [(1, 5), (3, 21), (2, 64)], (0, 1)):
        stream = write(draw(rng, n, k), chunk, alignment, n, k, keep)
        for length in range(1, len(stream)):
            yield case(stream[:length], chunk, alignment, n, k)
        for bit in range(8 * len(stream)):
            flipped = bytearray(stream)
            flipped[bit // 8] ^= 1 << bit % 8
            yield case(bytes(flipped), chunk, alignment, n, k)
        for more in (b"\0", b"\0" * alignment, b"\1", stream):
            yield case(stream + more, chunk, alignment, n, k)
        for other in FORMATS:  # read with other parameters
            yield case(stream, *other, n, k)
        for rows, depth in ((n + 1, k), (n, k + 4), (n, max(1, k - 1)), (1, n * k)):
            yield case(stream, chunk, alignment, rows, depth)
    for _ in range(300):
        chunk, alignment = rng.choice(FORMATS)
        yield case(rng.randbytes(rng.randrange(1, 64)), chunk, alignment, 1 + rng.randrange(3), 1 + rng.randrange(40))


def main():
    path, command = sys.argv[1], sys.argv[2:]
    with open(path, "wb") as file:
        for record in cases():
            file.write(record)
    sys.exit(subprocess.run(command, env={**os.environ, "OCTET_SPARSE_STREAMS": path}, check=False).returncode)


if __name__ == "__main__":
    main()
