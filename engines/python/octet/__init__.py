# SPDX-License-Identifier: Apache-2.0
"""Products and convolutions of 8-bit integers, exact, and so with the same bytes on every CPU.

>>> import numpy as np, octet
>>> octet.matmul(np.int8([[1, 2], [3, 4]]), np.int8([[5], [6]]))
array([[17],
       [39]], dtype=int32)
>>> fc = octet.Linear(octet.quantize_weights(w), bias)  # w: float32, (n, k); packed once
>>> y = fc(x)                                           # float32, (..., k) -> (..., n)
>>> y = octet.load("model.tflite")(x)                   # or .onnx

octet.litert and octet.onnxruntime make an unmodified LiteRT or ONNX Runtime run on Octet;
octet.torch has layers for PyTorch.
"""

import importlib
import typing

from ._octet import cpu, matmul, version
from .layers import Conv2d, Linear, explain
from .linear4 import Linear4
from .models import Model, load
from .quantization import Quantization, Weights, quantize_weights
from .weights4 import Weights4

__version__ = version()
__all__ = [
    "Conv2d",
    "Linear",
    "Linear4",
    "Model",
    "Quantization",
    "Weights",
    "Weights4",
    "cpu",
    "explain",
    "load",
    "matmul",
    "quantize_weights",
    "version",
]


def __getattr__(name: str) -> typing.Any:
    """octet.litert, octet.onnxruntime and octet.torch, imported where they are first named.

    Each imports its engine's package, which may be missing: then an ImportError.
    """
    if name in ("litert", "onnxruntime", "torch"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
