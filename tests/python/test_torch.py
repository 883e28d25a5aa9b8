# SPDX-License-Identifier: Apache-2.0
"""octet.torch, where PyTorch is installed."""

import copy

import numpy as np
import pytest

import octet

torch = pytest.importorskip("torch", exc_type=ImportError)
import octet.torch  # noqa: E402


@pytest.mark.parametrize("types", [(torch.int8, torch.int8), (torch.uint8, torch.int8)])
def test_int_mm(types):
    torch.manual_seed(0)
    for m, k, n in ((1, 3, 1), (33, 200, 64), (7, 4096, 5)):
        a, b = (
            torch.randint(torch.iinfo(t).min, torch.iinfo(t).max + 1, shape, dtype=t)
            for t, shape in zip(types, ((m, k), (k, n)))
        )
        want = (a.long() @ b.long()).int()
        assert torch.equal(octet.torch.int_mm(a, b), want)
        assert torch.equal(octet.torch.int_mm(a, b.t().contiguous().t()), want)
        out = torch.zeros((m, n), dtype=torch.int32)
        assert octet.torch.int_mm(a, b, out=out) is out and torch.equal(out, want)
    with pytest.raises(TypeError, match="a has the type torch.float32"):
        octet.torch.int_mm(a.float(), b)


def test_layers_take_tensors():
    rng = np.random.default_rng(0)
    x, layer = rng.standard_normal((5, 40)).astype("f"), octet.Linear(
        octet.quantize_weights(rng.standard_normal((20, 40)))
    )
    out = torch.zeros(5, 20)
    assert layer(torch.from_numpy(x), out) is out
    assert np.array_equal(out.numpy(), layer(x))


def network():
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Linear(96, 200),
        torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(200, 48, bias=False)),
    ).eval()


def test_replace_linear():
    model, x = network(), torch.randn(3, 7, 96)
    with torch.inference_mode():
        want = model(x)
        first = octet.Linear(octet.quantize_weights(model[0].weight.numpy()), model[0].bias.numpy())
        replaced = octet.torch.replace_linear(copy.deepcopy(model))
        got = replaced(x)
        assert np.array_equal(replaced[0](x).numpy(), first(x.numpy()))
        assert float((got - want).norm() / want.norm()) < 0.03  # 8 bits of each operand
        assert replaced(x.transpose(0, 1)).equal(got.transpose(0, 1))
        assert replaced(x.bfloat16()).dtype == torch.bfloat16
        assert replaced(x[:0]).shape == (0, 7, 48)
        assert copy.deepcopy(replaced)(x).equal(got)
    assert not [m for m in replaced.modules() if type(m) is torch.nn.Linear]
    assert "96 -> 200" in repr(replaced) and "bytes" in repr(replaced)
    assert isinstance(octet.torch.replace_linear(torch.nn.Linear(3, 4)), octet.torch.Linear)


@pytest.mark.parametrize("block, symmetric", [(16, True), (16, False), (None, True)])
def test_replace_linear_by_4_bits(block, symmetric):
    model = torch.nn.Sequential(torch.nn.Linear(96, 208), torch.nn.Linear(208, 48)).eval()
    x = torch.randn(3, 7, 96, generator=torch.Generator().manual_seed(2))
    with torch.inference_mode():
        want = model(x)
        weights = octet.quantize_weights(model[0].weight.numpy(), 4, block, symmetric)
        first = octet.Linear4(weights, model[0].bias.numpy())
        replaced = octet.torch.replace_linear(copy.deepcopy(model), symmetric, 4, block)
        assert np.array_equal(replaced[0](x).numpy(), first(x.numpy()))
        assert float((replaced(x) - want).norm() / want.norm()) < 0.3  # 4 bits of each weight
    assert "octet.Linear4(96 -> 208" in repr(replaced)
    before = list(model)
    with pytest.raises(ValueError, match="block is 32: it is to divide k, 208"):
        octet.torch.replace_linear(model, bits=4, block=32)
    assert list(model) == before


def test_needs_no_gradients():
    model = octet.torch.replace_linear(network())
    with pytest.raises(RuntimeError, match="has no gradients"):
        model(torch.randn(2, 96, requires_grad=True))
