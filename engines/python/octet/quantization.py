# SPDX-License-Identifier: Apache-2.0
"""Quantized tensors: scale, zero point and type of one; weights with a scale per channel."""

from __future__ import annotations

import dataclasses
import typing

import numpy as np

from .weights4 import Weights4, quantize4


@dataclasses.dataclass(frozen=True)
class Quantization:
    """How a tensor of 8-bit integers stands for real numbers: real = (q - zero_point) * scale.

    scale: positive
    zero_point: in the range of dtype
    dtype: "int8" or "uint8"
    """

    scale: float
    zero_point: int = 0
    dtype: str = "uint8"

    def __post_init__(self) -> None:
        dtype = np.dtype(self.dtype).name
        if dtype not in ("int8", "uint8"):
            raise ValueError(f"dtype is {dtype}: int8 or uint8 is needed")
        object.__setattr__(self, "dtype", dtype)
        if not 0 < self.scale < float("inf"):
            raise ValueError(f"scale is {self.scale}: a positive number is needed")
        limits = np.iinfo(dtype)
        if not limits.min <= self.zero_point <= limits.max:
            raise ValueError(f"zero_point is {self.zero_point}, which {dtype} does not have")

    def quantize(self, x: typing.Any) -> np.ndarray:
        """round(x / scale) + zero_point, halves to even, saturated: ONNX QuantizeLinear.

        x: anything that numpy.asarray takes, of any shape. Returns an array of the same shape.
        """
        limits = np.iinfo(self.dtype)
        steps = np.rint(np.asarray(x, np.float32) / np.float32(self.scale)) + np.float32(
            self.zero_point
        )
        return np.clip(np.nan_to_num(steps, nan=self.zero_point), limits.min, limits.max).astype(
            self.dtype
        )

    def dequantize(self, q: typing.Any) -> np.ndarray:
        """(q - zero_point) * scale in float32, of the same shape: ONNX DequantizeLinear."""
        return (np.asarray(q).astype(np.int32) - self.zero_point).astype(np.float32) * np.float32(
            self.scale
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Weights:
    """8-bit weights; real = (values - zero_points) * scales, along the first axis.

    values: int8 or uint8, (n, ...): n output channels
    scales: float32, (n,) or (1,)
    zero_points: int32, (n,) or (1,); None: all are 0
    """

    values: np.ndarray
    scales: np.ndarray
    zero_points: typing.Optional[np.ndarray] = None

    def dequantize(self) -> np.ndarray:
        """The real numbers, in float32, of the shape of values."""
        along_first = (-1,) + (1,) * (self.values.ndim - 1)
        values = self.values.astype(np.int32)
        if self.zero_points is not None:
            values -= self.zero_points.reshape(along_first)
        return values.astype(np.float32) * self.scales.reshape(along_first)


@typing.overload
def quantize_weights(w: typing.Any) -> Weights: ...
@typing.overload
def quantize_weights(
    w: typing.Any, bits: int, block: typing.Optional[int] = None, symmetric: bool = True
) -> typing.Union[Weights, Weights4]: ...
def quantize_weights(w, bits=8, block=None, symmetric=True):
    """Weights as int8 with a scale for each output channel, max|w| / 127 of it, or in 4 bits.

    w: real numbers, (n, ...): (n, k) of Linear, (n, height, width, channels) of Conv2d. Halves are
        rounded to even; a channel of zeros gets the scale 1
    bits: 8: returns Weights. 4: returns Weights4, for Linear4; w is (n, k) with an even k
    block: of 4 bits: so many consecutive weights of a row share a scale, in float16; a multiple of
        16 from 16 to 256 that divides k. None: a scale per channel, in float32
    symmetric: of 4 bits: scales max|w| / 7; False: the range max - min / 15, and zero points

    ValueError: NaN or infinity in w, or no elements; block or bits is another number.
    """
    if bits == 4:
        return quantize4(w, block, symmetric)
    if bits != 8 or block is not None or not symmetric:
        raise ValueError(
            f"bits is {bits}, block {block}, symmetric {symmetric}: bits are 8 or 4, and those of 8 "
            "have no blocks and are symmetric"
        )
    w = np.asarray(w, np.float32)
    if w.ndim < 2 or not w.size:
        raise ValueError(f"w has the shape {w.shape}: two or more axes with elements are needed")
    if not np.isfinite(w).all():
        raise ValueError("w has NaN or infinity")
    scales = np.abs(w).reshape(len(w), -1).max(axis=1) / np.float32(127)
    scales[scales < np.finfo(np.float32).tiny] = 1
    values = np.rint(w / scales.reshape(-1, *[1] * (w.ndim - 1)))
    return Weights(values.astype(np.int8), scales)
