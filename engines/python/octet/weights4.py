# SPDX-License-Identifier: Apache-2.0
"""Weights of 4 bits: two in a byte, with a scale per channel or per block of a channel."""

from __future__ import annotations

import dataclasses
import typing

import numpy as np

from . import _octet


@dataclasses.dataclass(frozen=True, eq=False)
class Weights4:
    """4-bit weights of n output channels and k inputs; real = (q - zero_point) * scale.

    values: uint8, (n, k / 2): weight 2 i of a row is the low half of byte i
    scales: (n, k / block), float16 or float32; of a block None: (n, 1), float32
    block: 16 to 256, a multiple of 16 that divides k: so many consecutive weights of a row share a
        scale. None: a scale per channel
    zero_points: int32, of the shape of scales, or one for all: (1,). None: all are 0
    dtype: "int4" (-8 to 7) or "uint4" (0 to 15)
    """

    values: np.ndarray
    scales: np.ndarray
    block: typing.Optional[int] = None
    zero_points: typing.Optional[np.ndarray] = None
    dtype: str = "int4"

    def __post_init__(self) -> None:
        if self.dtype not in ("int4", "uint4"):
            raise ValueError(f"dtype is {self.dtype}: int4 or uint4 is needed")
        if self.block is not None and not (16 <= self.block <= 256 and self.block % 16 == 0):
            raise ValueError(
                f"block is {self.block}: None or a multiple of 16 from 16 to 256 is needed"
            )

    def dequantize(self) -> np.ndarray:
        """The real numbers, in float32, (n, k)."""
        halves = np.stack([self.values & 15, self.values >> 4], axis=-1).astype(np.int32)
        if self.dtype == "int4":
            halves = (halves ^ 8) - 8
        q = halves.reshape(len(self.values), self.scales.shape[1], -1)
        if self.zero_points is not None:
            zeros = self.zero_points
            q = q - (zeros[:, :, None] if zeros.size > 1 else zeros.reshape(()))
        real = q.astype(np.float32) * self.scales.astype(np.float32)[:, :, None]
        return real.reshape(len(self.values), -1)


def quantize4(
    w: typing.Any, block: typing.Optional[int] = None, symmetric: bool = True
) -> Weights4:
    """octet.quantize_weights of 4 bits."""
    w = np.ascontiguousarray(w, np.float32)
    if w.ndim != 2 or not w.size or w.shape[1] % 2:
        raise ValueError(f"w has the shape {w.shape}: (n, k) with an even k is needed")
    n, k = w.shape
    size = k if block is None else block
    scale_type = "float32" if block is None else "float16"
    if size < 1 or k % size:
        raise ValueError(f"block is {block}: it is to divide k, {k}")
    values, scales = np.empty((n, k // 2), np.uint8), np.empty((n, k // size), scale_type)
    zeros = None if symmetric else np.empty(scales.shape, np.int32)
    _octet.quantize4(w, size, values, scales, zeros, scale_type)
    return Weights4(values, scales, block, zeros, "int4" if symmetric else "uint4")


def _blocks(values, scales, zeros):
    """Weights4 of uint4, in blocks as many as scales has columns; a larger one is a channel."""
    k = 2 * values.shape[1]
    block = k // scales.shape[1]
    if block == k and k > 256:
        return Weights4(values, scales.astype(np.float32), None, zeros, "uint4")
    return Weights4(values, scales, block, zeros, "uint4")


def from_q4_0(tensor: typing.Any) -> Weights4:
    """Weights of a GGUF tensor of type Q4_0.

    tensor: uint8, (n, k / 32 * 18), as the package gguf has ReaderTensor.data
    """
    tensor = np.ascontiguousarray(tensor)
    n, blocks = (*tensor.shape, 0, 0)[0], (*tensor.shape, 0, 0)[1] // 18
    values, scales = np.empty((n, blocks * 16), np.uint8), np.empty((n, blocks), np.float16)
    _octet.import_q4_0(tensor, values, scales)
    return _blocks(values, scales, np.int32([8]))


def from_qweight(
    layout: str,
    qweight: typing.Any,
    qzeros: typing.Any,
    scales: typing.Any,
    g_idx: typing.Any = None,
) -> Weights4:
    """Weights of a layer of GPTQ or AWQ, in the arrays of its file.

    layout: "gptq", "gptq_v2" (zero points not less 1) or "awq" (version gemm)
    qweight: int32, (k / 8, n), of AWQ (k, n / 8)
    qzeros: int32, (groups, n / 8)
    scales: float16, (groups, n)
    g_idx: int32, (k,), the group of each input, in order; None: the same
    """
    if layout not in ("gptq", "gptq_v2", "awq"):
        raise ValueError(f"layout is {layout}: gptq, gptq_v2 or awq is needed")
    qweight, qzeros, scales = (np.ascontiguousarray(a) for a in (qweight, qzeros, scales))
    if qweight.ndim != 2 or scales.ndim != 2:
        raise ValueError(
            f"qweight has the shape {qweight.shape} and scales the shape {scales.shape}: "
            "two axes are needed"
        )
    k = qweight.shape[0] * (1 if layout == "awq" else 8)
    groups, n = scales.shape
    values, zeros = np.empty((n, k // 2), np.uint8), np.empty((n, groups), np.int32)
    by = np.empty((n, groups), np.float16)
    _octet.import_qweight(layout, qweight, qzeros, scales, g_idx, values, by, zeros)
    return _blocks(values, by, zeros)


def from_matmulnbits(
    b: typing.Any, scales: typing.Any, zero_points: typing.Any = None
) -> Weights4:
    """Weights of ONNX Runtime's MatMulNBits with bits = 4.

    b: uint8, (n, blocks, block / 2)
    scales: float32 or float16, n * blocks of them
    zero_points: uint8, n * ((blocks + 1) // 2) bytes of two; None: all are 8

    k is blocks * block: where the node's K is less, pad x with zeros.
    """
    b = np.ascontiguousarray(b)
    if b.ndim != 3:
        raise ValueError(f"b has the shape {b.shape}: (n, blocks, block / 2) is needed")
    n, blocks = b.shape[:2]
    scales = np.ascontiguousarray(scales)
    if scales.size != n * blocks:
        raise ValueError(f"scales has {scales.size} elements: {n} * {blocks} are needed")
    zeros = np.int32([8])
    if zero_points is not None:
        packed = np.ascontiguousarray(zero_points)
        if packed.size != n * ((blocks + 1) // 2):
            raise ValueError(
                f"zero_points has {packed.size} bytes: {n} * {(blocks + 1) // 2} are needed"
            )
        zeros = np.empty((n, blocks), np.int32)
        _octet.unpack_zero_points(packed.reshape(n, -1), zeros, n, blocks)
    return _blocks(b.reshape(n, -1), scales.reshape(n, blocks), zeros)
