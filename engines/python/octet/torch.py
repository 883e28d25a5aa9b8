"""Octet inside PyTorch: an exact int_mm, and int8 layers in place of nn.Linear, for the CPU.

>>> import octet.torch
>>> octet.torch.replace_linear(model)  # in place; its weights are int8 from then on
>>> with torch.inference_mode(): y = model(x)
"""

import typing

import torch

from ._octet import matmul
from .layers import Linear as _Linear
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
    """nn.Linear with int8 weights, a scale per channel, and each row of x quantized on the fly.

    linear: the layer to take weights and bias from: (out_features, in_features), (out_features,)
    symmetric: as of octet.Linear

    For inference: it has no gradients and no parameters, so that state_dict leaves it out.
    """

    def __init__(self, linear: torch.nn.Linear, symmetric: bool = True) -> None:
        super().__init__()
        bias = None if linear.bias is None else linear.bias.detach().float().numpy()
        weights = quantize_weights(linear.weight.detach().float().numpy())
        self.layer = _Linear(weights, bias, symmetric=symmetric)

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


def replace_linear(module: torch.nn.Module, symmetric: bool = True) -> torch.nn.Module:
    """Replaces each nn.Linear in a module, whatever its depth, by octet.torch.Linear.

    In place; returns the module, or the new layer where the module is an nn.Linear itself.
    Subclasses of nn.Linear stay as they are.
    """
    if type(module) is torch.nn.Linear:
        return Linear(module, symmetric)
    for name, child in module.named_children():
        setattr(module, name, replace_linear(child, symmetric))
    return module
