#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds octet/quantized_weights.h against the gguf package (Q4_0, Q4_1, Q8_0) and against its own comments, stated in NumPy: GPTQ, AWQ, MatMulNBits' zero points,
the quantizers.

    quantized_weights.py <file to write> <command that runs quantize_weights_test...>

quantize_weights_test finds the file, of the form that tests/vectors/README.md describes, by OCTET_QUANTIZED_WEIGHTS; f16 is there as bytes. Exits
with 77, which ctest shows as skipped, where the Python packages are missing and cannot be installed.
"""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "tools" / "models"), str(HERE.parent / "vectors")]
import packages  # noqa: E402

S4, U4, F16, F32 = 5, 6, 7, 4  # octet_type
GPTQ, GPTQ_V2, AWQ = 0, 1, 2  # octet_qweight_layout


def dense(nibbles):
    """Two in a byte, the first in the low half."""
    flat = np.append(nibbles.reshape(-1), [0] * (nibbles.size % 2)).astype(np.uint8) & 15
    return flat[0::2] | flat[1::2] << 4


def words(nibbles, order):
    """The last axis in groups of eight, of which nibble i of a word is number order[i]."""
    groups = nibbles.reshape(*nibbles.shape[:-1], -1, 8).astype(np.uint32)
    made = sum(groups[..., number] << np.uint32(4 * place) for place, number in enumerate(order))
    return made.astype(np.uint32).view(np.int32)


def raw(array):
    return np.ascontiguousarray(array).view(np.uint8).reshape(1, -1)


def sizes(*numbers):
    return np.array(numbers, np.int32)


def q4_0(rng, n, k):
    values = rng.normal(0, 1, (n, k)).astype(np.float32)
    if n > 1:
        values[1, :32] = 0
        values[0] *= 1e-6  # scales without an exponent
    blocks = gguf.quants.quantize(values, gguf.GGMLQuantizationType.Q4_0)
    return "q4_0", {"sizes": sizes(n, k), "blocks": blocks,
                    "values": gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType.Q4_0)}


def dequantized(rng, name, n, k):
    """Of a tensor that gguf quantized, and of any blocks with finite numbers of f16."""
    kind = getattr(gguf.GGMLQuantizationType, name)
    blocks = gguf.quants.quantize((rng.normal(0.3, 1, (n, k)) * 10.0 ** rng.integers(-7, 4, (n, 1))).astype(np.float32), kind)
    size = gguf.GGML_QUANT_SIZES[kind][1]
    anything = rng.integers(0, 256, (n, k // 32, size), np.uint8)
    header = 4 if name == "Q4_1" else 2
    anything[:, :, 1:header:2] = anything[:, :, 1:header:2] % 124 + 128 * rng.integers(0, 2, (n, k // 32, header // 2), np.uint8)
    blocks = np.concatenate([blocks, anything.reshape(n, -1)])
    return "dequantize", {"sizes": sizes(int(kind), 2 * n, k), "blocks": blocks, "values": gguf.quants.dequantize(blocks, kind)}


def qweight(rng, layout, n, k, group):
    groups = k // group
    weights, zeros = rng.integers(0, 16, (n, k)), rng.integers(layout == GPTQ, 16, (n, groups))
    scales = rng.normal(0, 0.1, (n, groups)).astype(np.float16)
    order = (0, 2, 4, 6, 1, 3, 5, 7) if layout == AWQ else range(8)
    along_k = words(weights, order).T  # [k / 8][n]
    return "qweight", {"sizes": sizes(layout, n, k, group), "qweight": words(weights.T, order) if layout == AWQ else np.ascontiguousarray(along_k),
                       "qzeros": words((zeros - (layout == GPTQ)).T, order), "from_scales": raw(scales.T),
                       "g_idx": np.arange(k, dtype=np.int32) // group, "weights": dense(weights), "scales": raw(scales),
                       "scales_f32": scales.astype(np.float32), "zero_points": zeros.astype(np.int32)}


def quantized(rng, kind, scale_type, n, k, block):
    size = 10.0 ** rng.integers(-9, 4, (n * k // block, 1))  # some scales leave the numbers that f16 has with an exponent, or all
    values = (rng.normal(0, 1, (n * k // block, block)) * size + rng.choice([-1, 0, 0, 1]) * size).astype(np.float32)
    values[rng.random(len(values)) < 0.1] *= rng.choice([0, 1e-31])
    lo, hi = np.minimum(values.min(1), 0), np.maximum(values.max(1), 0)
    scales = (hi - lo) / np.float32(15) if kind == U4 else np.maximum(hi, -lo) / np.float32(7)
    if scale_type == F16:
        scales = scales.astype(np.float16).astype(np.float32)
    scales[scales < 2.0**-100] = 1
    zeros = np.clip(np.rint(-lo / scales), 0, 15) if kind == U4 else 0 * scales
    made = np.rint(values / scales[:, None]) + zeros[:, None]
    made = np.clip(made, *((0, 15) if kind == U4 else (-8, 7))).astype(np.int8)
    assert scales.dtype == np.float32
    return "quantize", {"sizes": sizes(n, k, block, kind, scale_type), "values": values, "weights": dense(made),
                        "scales": raw(scales.astype(np.float16) if scale_type == F16 else scales), "zero_points": zeros.astype(np.int32)}


def zero_points(rng, n, blocks):
    zeros = rng.integers(0, 16, (n, blocks))
    return "zero_points", {"sizes": sizes(n, blocks), "packed": np.concatenate([dense(row) for row in zeros]), "zero_points": zeros.astype(np.int32)}


def cases():
    rng = np.random.default_rng(31)
    for n, k in (1, 32), (3, 64), (20, 256):
        yield q4_0(rng, n, k)
    for name in "Q4_0", "Q4_1", "Q8_0":
        for n, k in (1, 32), (3, 64), (20, 256):
            yield dequantized(rng, name, n, k)
    for layout in GPTQ, GPTQ_V2, AWQ:
        for n, k, group in (8, 32, 32), (16, 256, 64), (40, 128, 128), (24, 72, 24):
            yield qweight(rng, layout, n, k, group)
    for kind in S4, U4:
        for scale_type in F16, F32:
            for n, k, block in (1, 1, 1), (3, 5, 5), (7, 96, 32), (40, 512, 16), (9, 300, 300):
                yield quantized(rng, kind, scale_type, n, k, block)
    for n, blocks in (1, 1), (3, 5), (4, 16):
        yield zero_points(rng, n, blocks)


def main():
    path, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    packages.need(path.parent / "quantized_weights-venv", [HERE / "requirements.txt"], "gguf", "numpy")
    global gguf, np, vectors
    import gguf
    import numpy as np
    import vectors
    vectors.write(path, list(cases()))
    sys.exit(subprocess.run(command, env={**os.environ, "OCTET_QUANTIZED_WEIGHTS": str(path)}, check=False).returncode)


if __name__ == "__main__":
    main()
