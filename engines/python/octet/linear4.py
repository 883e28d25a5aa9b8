# SPDX-License-Identifier: Apache-2.0
"""Linear4: a layer with weights of 4 bits that are packed once."""

from __future__ import annotations

import typing

import numpy as np

from . import _octet, weights4
from .layers import Linear
from .weights4 import Weights4


class Linear4(Linear):
    """y = x @ w.T + bias in float32, with 4-bit weights that are packed once.

    weights: octet.Weights4 of (n, k): quantize_weights(w, bits=4, block=32), or see the
        constructors from_*
    bias: float32, (n,), or None
    activation: None, "relu" or "relu6"
    by_block: each block of a row of x gets max|x| / 127 of the block as its scale; False: each row
        has one. Without meaning where the weights have a scale per channel: rows have one

    x is float32, (..., k), and is quantized to int8 on the fly; else it runs as octet.Linear does.
    Many threads may call it at once. The same arguments give the same bytes on every CPU.
    """

    def __init__(
        self,
        weights: Weights4,
        bias: typing.Any = None,
        *,
        activation: typing.Optional[str] = None,
        by_block: bool = True,
    ) -> None:
        if not isinstance(weights, Weights4):
            raise TypeError(
                f"weights are {type(weights).__name__}: octet.Weights4 are needed "
                "(quantize_weights with bits=4)"
            )
        settings = {"input": "float32", "output": "float32", "activation": activation or "none"}
        if bias is not None:
            settings["float_bias"] = self._float_bias(bias)
        if weights.zero_points is not None:
            settings["weight_zero_points"] = np.ascontiguousarray(
                weights.zero_points, np.int32
            ).reshape(-1)
        self._block = weights.block
        if self._block is None:
            settings["scales"] = np.ascontiguousarray(weights.scales, np.float32).reshape(-1)
            blocks = (0, None, False)
        else:
            settings["scales"] = np.float32([1])
            blocks = (self._block, np.ascontiguousarray(weights.scales), by_block)
        self._product = _octet.Product(
            np.ascontiguousarray(weights.values),
            _octet.Arithmetic(**settings),
            weights.dtype,
            *blocks,
        )

    @staticmethod
    def _float_bias(bias):
        bias = np.ascontiguousarray(bias)
        if not np.issubdtype(bias.dtype, np.floating):
            raise TypeError(f"bias has the type {bias.dtype}: float32 is needed")
        return bias.astype(np.float32)

    @classmethod
    def from_q4_0(cls, tensor: typing.Any, bias: typing.Any = None, **settings) -> "Linear4":
        """A layer of a GGUF tensor of type Q4_0: uint8, (n, k / 32 * 18), ReaderTensor.data of the
        package gguf. bias and settings: as of Linear4."""
        return cls(weights4.from_q4_0(tensor), bias, **settings)

    @classmethod
    def from_gptq(
        cls,
        qweight: typing.Any,
        qzeros: typing.Any,
        scales: typing.Any,
        g_idx: typing.Any = None,
        bias: typing.Any = None,
        *,
        v2: bool = False,
        **settings,
    ) -> "Linear4":
        """A layer of GPTQ's arrays, of 4 bits. bias and settings: as of Linear4.

        qweight: int32, (k / 8, n)
        qzeros: int32, (groups, n / 8)
        scales: float16, (groups, n)
        g_idx: int32, (k,). NotImplementedError where it is not i // group for each i
        v2: checkpoint_format is "gptq_v2": zero points are stored as they are, not less 1
        """
        layout = "gptq_v2" if v2 else "gptq"
        weights = weights4.from_qweight(layout, qweight, qzeros, scales, g_idx)
        return cls(weights, bias, **settings)

    @classmethod
    def from_awq(
        cls,
        qweight: typing.Any,
        qzeros: typing.Any,
        scales: typing.Any,
        bias: typing.Any = None,
        **settings,
    ) -> "Linear4":
        """A layer of AWQ's arrays (version gemm). bias and settings: as of Linear4.

        qweight: int32, (k, n / 8)
        qzeros: int32, (groups, n / 8)
        scales: float16, (groups, n)
        """
        return cls(weights4.from_qweight("awq", qweight, qzeros, scales), bias, **settings)

    @classmethod
    def from_matmulnbits(
        cls,
        b: typing.Any,
        scales: typing.Any,
        zero_points: typing.Any = None,
        bias: typing.Any = None,
        **settings,
    ) -> "Linear4":
        """A layer of the inputs of ONNX Runtime's MatMulNBits, bits = 4. bias and settings: as of
        Linear4.

        b: uint8, (n, blocks, block / 2)
        scales: float32 or float16, n * blocks of them
        zero_points: uint8, n * ((blocks + 1) // 2) bytes, two in each. None: all are 8

        in_features is blocks * block: where the node's K is less, pad x with zeros.
        """
        return cls(weights4.from_matmulnbits(b, scales, zero_points), bias, **settings)

    @property
    def block(self) -> typing.Optional[int]:
        """The consecutive weights that share a scale; None: all of a channel."""
        return self._block

    def __repr__(self) -> str:
        scales = "per channel" if self._block is None else f"blocks of {self._block}"
        return (
            f"octet.Linear4({self.in_features} -> {self.out_features}, {scales}, "
            f"{self.kernel(64)}, {self.packed_bytes} bytes)"
        )
