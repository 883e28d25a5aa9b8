# SPDX-License-Identifier: Apache-2.0
"""Octet inside PyTorch: an exact int_mm, and int8 layers in place of nn.Linear, for the CPU.

>>> import octet.torch
>>> octet.torch.replace_linear(model)  # in place; its weights are int8 from then on
>>> octet.torch.replace_linear(model, bits=4, block=32)  # or of 4 bits
>>> with torch.inference_mode(): y = model(x)
"""

import typing

import torch

from ._octet import matmul
from .layers import Linear as _Linear
from .linear4 import Linear4 as _Linear4
from .quantization import quantize_weights


def int_mm(
    a: torch.Tensor, b: torch.Tensor, *, out: typing.Optional[torch.Tensor] = None
) -> torch.Tensor:
    """a @ b in int32, as torch._int_mm, but exact on every CPU, and of all sizes.

    a: int8 or uint8, (..., m, k)
    b: int8 or uint8, (k, n), also transposed (w.t()), or (..., k, n) with the leading axes of a
    out: int32, (..., m, n), contiguous; None: a new tensor

    Runs on torch.get_num_threads() threads. Errors are those of octet.matmul.
    """
    if out is None and a.dim() > 1 and b.dim() > 1:
        out = torch.empty((*a.shape[:-1], b.shape[-1]), dtype=torch.int32)
    return matmul(a, b, out, threads=torch.get_num_threads())


class Linear(torch.nn.Module):
    """nn.Linear with weights of 8 or 4 bits, and each row of x quantized on the fly.

    linear: the layer to take weights and bias from: (out_features, in_features), (out_features,)
    symmetric: of 8 bits: rows of x, as of octet.Linear; of 4 bits: weights, as of quantize_weights,
        and rows of x are symmetric
    bits: 8: a scale per channel. 4: an octet.Linear4
    block: of 4 bits: so many consecutive weights share a scale, and so do elements of x; None: a
        scale per channel

    For inference: it has no gradients and no parameters, so that state_dict leaves it out.
    """

    def __init__(
        self,
        linear: torch.nn.Linear,
        symmetric: bool = True,
        bits: int = 8,
        block: typing.Optional[int] = None,
    ) -> None:
        super().__init__()
        bias = None if linear.bias is None else linear.bias.detach().float().numpy()
        w = linear.weight.detach().float().numpy()
        if bits == 4:
            self.layer = _Linear4(quantize_weights(w, 4, block, symmetric), bias)
        else:
            self.layer = _Linear(quantize_weights(w, bits, block), bias, symmetric=symmetric)

    @torch.compiler.disable
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: floating-point, (..., in_features). Returns (..., out_features) of x's type.

        Runs on torch.get_num_threads() threads. RuntimeError: x needs gradients.
        """
        if x.requires_grad and torch.is_grad_enabled():
            raise RuntimeError(
                "octet.torch.Linear has no gradients: run it in torch.inference_mode()"
            )
        rows = x.detach().float().contiguous()
        y = torch.empty((*x.shape[:-1], self.layer.out_features))
        if y.numel():
            self.layer(rows, y, threads=torch.get_num_threads())
        return y.to(x.dtype)

    def extra_repr(self) -> str:
        return repr(self.layer)


def replace_linear(
    module: torch.nn.Module,
    symmetric: bool = True,
    bits: int = 8,
    block: typing.Optional[int] = None,
) -> torch.nn.Module:
    """Replaces each nn.Linear in a module, whatever its depth, by octet.torch.Linear.

    In place; returns the module, or the new layer where the module is an nn.Linear itself.
    Subclasses of nn.Linear stay as they are. symmetric, bits, block: as of octet.torch.Linear.
    ValueError: block does not divide the in_features of a layer, or w has an odd number of them in
    4 bits; then the module is as it was.
    """
    replaced = {}
    for child in module.modules():
        if type(child) is torch.nn.Linear:
            replaced[child] = Linear(child, symmetric, bits, block)
    if module in replaced:
        return replaced[module]
    for parent in list(module.modules()):
        for name, child in list(parent._modules.items()):
            if child in replaced:
                setattr(parent, name, replaced[child])
    return module
