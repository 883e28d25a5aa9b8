# SPDX-License-Identifier: Apache-2.0
"""Linear and Conv2d: weights that are packed once, and run with many inputs."""

from __future__ import annotations

import operator
import typing

import numpy as np

from . import _octet
from .quantization import Quantization, Weights

# int32 sums, float32, or 8 bits with a scale and a zero point
Output = typing.Union[Quantization, str, None]


def _arithmetic(weights, bias, input, output, activation, symmetric):
    """_octet.Arithmetic of a layer, whose scales are those of the sums in steps of the output."""
    weight_scales = np.asarray(weights.scales, np.float64).reshape(-1)
    zero_points = weights.zero_points
    settings = {
        "symmetric": symmetric,
        "weight_zero_points": (
            None if zero_points is None else np.asarray(zero_points, np.int32).reshape(-1)
        ),
        "activation": activation or "none",
    }
    if isinstance(input, Quantization):
        settings.update(input=input.dtype, input_zero_point=int(input.zero_point))
        sum_scales = float(np.float32(input.scale)) * weight_scales
    elif input is None:
        settings.update(input="float32")
        sum_scales = weight_scales
    else:
        raise TypeError(f"input is {input!r}: an octet.Quantization or None is needed")

    if isinstance(output, Quantization):
        if input is None:
            raise ValueError(
                "input is None: an input that is quantized on the fly has a float32 output"
            )
        scale = float(np.float32(output.scale))
        settings.update(
            output=output.dtype,
            output_zero_point=int(output.zero_point),
            output_scale=scale,
            scales=(sum_scales / scale).astype(np.float32),
        )
    elif output is None or output == "float32":
        settings.update(output="float32", scales=sum_scales.astype(np.float32))
    elif output == "int32":
        if input is None:
            raise ValueError(
                "input is None: an input that is quantized on the fly has a float32 output"
            )
        settings.update(output="int32")
    else:
        raise ValueError(
            f'output is {output!r}: an octet.Quantization, "float32" or "int32" is needed'
        )
    settings.update(_bias(bias, settings, sum_scales))
    return _octet.Arithmetic(**settings)


def _bias(bias, settings, sum_scales):
    """The bias as the sums have it, int32, or as a float32 output has it."""
    if bias is None:
        return {}
    bias = np.ascontiguousarray(bias)
    if bias.ndim != 1:
        raise ValueError(f"bias has the shape {bias.shape}: one axis is needed")
    if bias.dtype == np.int32:
        if settings["input"] == "float32":
            raise TypeError(
                "bias is int32, but the scale of x is not known before a run: float32 is needed"
            )
        return {"bias": bias}
    if not np.issubdtype(bias.dtype, np.floating):
        raise TypeError(f"bias has the type {bias.dtype}: int32 or float32 is needed")
    if settings["output"] == "float32":
        return {"float_bias": bias.astype(np.float32)}
    steps = np.rint(bias.astype(np.float64) / sum_scales)
    if not (np.abs(steps) < 2**31).all():
        raise ValueError("bias leaves int32 in steps of the scales of input and weights")
    return {"bias": steps.astype(np.int32)}


def _weights(weights):
    if isinstance(weights, Weights):
        return weights
    raise TypeError(
        f"weights are {type(weights).__name__}: octet.Weights are needed (quantize_weights)"
    )


def _types(input, output):
    """ "uint8 -> float32", of repr."""
    return " -> ".join(
        q.dtype if isinstance(q, Quantization) else q or "float32" for q in (input, output)
    )


class Linear:
    """y = x @ w.T + bias, with 8-bit weights that are packed once.

    weights: octet.Weights, (n, k)
    bias: (n,): float32 in real numbers, or int32 at the scale input.scale * weights.scales
    input: the Quantization of x. None: x is float32, and each row is quantized on the fly
    output: the Quantization of y. None or "float32": real numbers. "int32": sums
    activation: None, "relu" or "relu6"
    symmetric: rows of a float32 x get max|x| / 127 as their scale; False: scale and zero point of
        ONNX's DynamicQuantizeLinear

    Many threads may call it at once. The same arguments give the same bytes on every CPU.
    """

    def __init__(
        self,
        weights: Weights,
        bias: typing.Any = None,
        *,
        input: typing.Optional[Quantization] = None,
        output: Output = None,
        activation: typing.Optional[str] = None,
        symmetric: bool = True,
    ) -> None:
        weights = _weights(weights)
        arithmetic = _arithmetic(weights, bias, input, output, activation, symmetric)
        self._product = _octet.Product(weights.values, arithmetic)
        self._types = _types(input, output)

    def __call__(self, x: typing.Any, out: typing.Any = None, *, threads: int = 1) -> typing.Any:
        """Runs the layer on x, (..., k), and returns out, (..., n).

        x: of the input's type; rows may lie apart
        out: of the output's type, contiguous; None: a new NumPy array
        threads: most threads that work on it; 0 means as many as the process may use

        ValueError: shapes or strides do not fit, out is read-only or overlaps x. TypeError: x or
        out has another type.
        """
        return self._product.run(x, out, threads)

    @property
    def in_features(self) -> int:
        """k."""
        return self._product.k

    @property
    def out_features(self) -> int:
        """n."""
        return self._product.n

    @property
    def packed_bytes(self) -> int:
        """The bytes of the packed weights."""
        return self._product.packed_bytes

    def kernel(self, rows: int) -> str:
        """The kernel that multiplies an x of so many rows."""
        return self._product.kernel(rows)

    def __deepcopy__(self, memo: typing.Any) -> "Linear":
        return self  # nothing of it ever changes

    def __repr__(self) -> str:
        return (
            f"octet.Linear({self.in_features} -> {self.out_features}, {self._types}, "
            f"{self.kernel(64)}, {self.packed_bytes} bytes)"
        )


def _numbers(value):
    """(2,) of 2 and of NumPy's 2; (2, 3) of [2, 3]."""
    try:
        return (operator.index(value),)
    except TypeError:
        return tuple(value)


def _pair(value, name):
    pair = _numbers(value)
    if len(pair) > 2 or not pair:
        raise ValueError(f"{name} is {value!r}: a number or two of them (height, width) are needed")
    return (pair[0], pair[-1])


def _pads(padding):
    """(whether SAME, (top, bottom, left, right))."""
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f'padding is {padding!r}: numbers, "same" or "valid" are needed')
        return padding == "same", (0, 0, 0, 0)
    pads = _numbers(padding)
    if len(pads) not in (1, 2, 4):
        raise ValueError(
            f"padding is {padding!r}: one number, two (height, width) or four (top, bottom, "
            "left, right) are needed"
        )
    return False, pads if len(pads) == 4 else (pads[0], pads[0], pads[-1], pads[-1])


class Conv2d:
    """A convolution of images, with 8-bit weights that are packed once.

    weights: octet.Weights, in the order that `order` names: "OHWI" (TensorFlow Lite) or "OIHW"
        (ONNX, PyTorch); O: output channels, I: input channels of one group
    bias, input, output, activation, symmetric: as of Linear; a float32 x is quantized image by
        image
    stride, dilation: a number, or (height, width)
    padding: a number, (height, width), (top, bottom, left, right), "valid", or "same": the result
        has ceil(in / stride) pixels along an axis, an odd pad is at the end
    groups: the groups of channels; as many as input channels: depthwise
    layout: "NHWC" or "NCHW", of x and of the result
    size: (height, width) of the images that the algorithm is chosen for; others run, too

    Many threads may call it at once. The same arguments give the same bytes on every CPU.
    """

    def __init__(
        self,
        weights: Weights,
        bias: typing.Any = None,
        *,
        input: typing.Optional[Quantization] = None,
        output: Output = None,
        activation: typing.Optional[str] = None,
        symmetric: bool = True,
        stride: typing.Any = 1,
        padding: typing.Any = 0,
        dilation: typing.Any = 1,
        groups: int = 1,
        order: str = "OHWI",
        layout: str = "NHWC",
        size: typing.Tuple[int, int] = (56, 56),
    ) -> None:
        weights = _weights(weights)
        arithmetic = _arithmetic(weights, bias, input, output, activation, symmetric)
        same, pads = _pads(padding)
        self._convolution = _octet.Convolution(
            weights.values,
            arithmetic,
            order=order,
            layout=layout,
            stride=_pair(stride, "stride"),
            dilation=_pair(dilation, "dilation"),
            groups=groups,
            same=same,
            pads=pads,
            size=_pair(size, "size"),
        )
        self._types = _types(input, output)

    def __call__(self, x: typing.Any, out: typing.Any = None, *, threads: int = 1) -> typing.Any:
        """Runs the layer on x, (images, height, width, channels), or with NCHW (images, channels,
        height, width), and returns out, which has the output's size and channels there.

        x: of the input's type; pixels of NHWC may lie apart
        out: of the output's type, contiguous; None: a new NumPy array
        threads: most threads that work on it; 0 means as many as the process may use

        ValueError: shapes or strides do not fit, out is read-only or overlaps x. TypeError: x or
        out has another type.
        """
        return self._convolution.run(x, out, threads)

    @property
    def in_channels(self) -> int:
        """The channels of x."""
        return self._convolution.in_channels

    @property
    def out_channels(self) -> int:
        """The channels of the result."""
        return self._convolution.out_channels

    @property
    def packed_bytes(self) -> int:
        """The bytes of the packed weights."""
        return self._convolution.packed_bytes

    @property
    def algorithm(self) -> str:
        """The algorithm that the weights are packed for, such as "winograd4x4"."""
        return self._convolution.algorithm

    @property
    def kernel(self) -> str:
        """The kernel that multiplies."""
        return self._convolution.kernel

    def __deepcopy__(self, memo: typing.Any) -> "Conv2d":
        return self  # nothing of it ever changes

    def __repr__(self) -> str:
        height, width = self._convolution.kernel_size
        return (
            f"octet.Conv2d({self.in_channels} -> {self.out_channels}, {height}x{width}, "
            f"{self._types}, {self.algorithm}, {self.kernel}, {self.packed_bytes} bytes)"
        )


def explain(layer: typing.Union[Linear, Conv2d], rows: int = 64, threads: int = 1) -> typing.Any:
    """Says what a layer is computed by, and why.

    Of a Linear a dictionary: kernel, tier, reason, choice, origin ("predicted" or "measured, on
    this machine"), tasks, workspace_bytes and packed_bytes of a run of so many rows on so many
    threads. Of a Conv2d a list with a dictionary for each algorithm: algorithm, possible, chosen,
    kernel, microseconds (predicted, for one thread and an image of the layer's size), packed_bytes,
    reason, choice, origin.
    """
    if isinstance(layer, Linear):
        return layer._product.explain(rows, threads)
    if isinstance(layer, Conv2d):
        return layer._convolution.explain()
    raise TypeError(f"layer is {type(layer).__name__}: an octet.Linear or octet.Conv2d is needed")
