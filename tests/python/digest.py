# SPDX-License-Identifier: Apache-2.0
"""Prints this machine's tier and a digest of the bytes of a product, a layer and a convolution.

The digest is the same on all CPUs.
"""

import hashlib

import numpy as np

import octet


def numbers(*shape):
    """Values that no version of a library and no CPU changes: int64, from 0 to 255."""
    count = np.arange(np.prod(shape), dtype=np.uint64)
    return (count * np.uint64(2654435761) % np.uint64(4294967296) >> np.uint64(13)).astype(
        np.int64
    ).reshape(shape) % 256


def real(*shape):
    """float32, from -2 to 2."""
    return ((numbers(*shape) - 128) / 64).astype(np.float32)


def digest():
    results = hashlib.sha256()
    results.update(
        octet.matmul(
            numbers(20, 99).astype(np.uint8), (numbers(99, 30) - 128).astype(np.int8)
        ).tobytes()
    )
    layer = octet.Linear(octet.quantize_weights(real(60, 150)), real(60))
    results.update(layer(real(37, 150)).tobytes())
    conv = octet.Conv2d(
        octet.quantize_weights(real(24, 3, 3, 16)),
        padding="same",
        input=octet.Quantization(0.02, 128),
        output=octet.Quantization(1.5, 7),
        activation="relu",
    )
    results.update(conv(numbers(2, 20, 20, 16).astype(np.uint8)).tobytes())
    return results.hexdigest()


if __name__ == "__main__":
    print(octet.cpu()["tier"], digest())
