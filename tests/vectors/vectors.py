# SPDX-License-Identifier: Apache-2.0
"""Reads and writes the vector files that README.md describes."""
import struct

import numpy as np

TYPES = {1: np.dtype("i1"), 2: np.dtype("u1"), 3: np.dtype("<i4"), 4: np.dtype("<f4"), 5: np.dtype("<f8"),
         7: np.dtype("<f2"), 8: np.dtype("<i2"), 9: np.dtype("<i8")}
CODES = {dtype: code for code, dtype in TYPES.items()}


def write(path, cases):
    """cases: (name, {tensor name: array of at most two dimensions}) pairs."""
    def string(text):
        return struct.pack("B", len(text)) + text.encode("ascii")

    with open(path, "wb") as file:
        file.write(b"OCTETVEC" + struct.pack("<I", len(cases)))
        for name, tensors in cases:
            file.write(string(name) + struct.pack("<I", len(tensors)))
            for key, array in tensors.items():
                array = np.atleast_2d(array)
                file.write(string(key) + struct.pack("<3I", CODES[array.dtype], *array.shape) + array.tobytes())


def read(path):
    with open(path, "rb") as file:
        def u32(count=1):
            return struct.unpack(f"<{count}I", file.read(4 * count))

        def string():
            return file.read(file.read(1)[0]).decode("ascii")

        assert file.read(8) == b"OCTETVEC", path
        for _ in range(*u32()):
            name, tensors = string(), {}
            for _ in range(*u32()):
                key = string()
                code, rows, columns = u32(3)
                dtype = TYPES[code]
                data = file.read(rows * columns * dtype.itemsize)
                tensors[key] = np.frombuffer(data, dtype).reshape(rows, columns)
            yield name, tensors
