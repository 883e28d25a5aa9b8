# SPDX-License-Identifier: Apache-2.0
"""The wheel: version, command, stubs, plug-ins."""

import ast
import importlib.metadata
import importlib.util
import pathlib
import subprocess
import sys

import pytest

import octet

PACKAGE = pathlib.Path(octet.__file__).parent


def test_is_the_wheel():
    assert "site-packages" in PACKAGE.parts
    assert octet.__version__ == importlib.metadata.version("octet-int8")


def test_stubs():
    tree = ast.parse((PACKAGE / "_octet.pyi").read_text())
    names = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert {"matmul", "cpu", "version", "Product", "Convolution"} <= names
    assert (PACKAGE / "py.typed").exists()


def test_docstrings():
    for name in octet.__all__:
        assert getattr(octet, name).__doc__, name


@pytest.mark.parametrize("engine", ["litert", "onnxruntime", "torch"])
def test_engines_without_an_import(engine):
    """As README has them, after nothing but `import octet`."""
    program = f"import octet; print(octet.{engine}.__name__)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    # octet.litert is for two packages, and imports neither
    if engine == "litert" or importlib.util.find_spec(engine):
        assert ran.stdout == f"octet.{engine}\n", ran.stderr
    else:
        assert "No module named" in ran.stderr
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        octet.nothing


def test_command():
    command = pathlib.Path(sys.prefix) / "bin" / "octet"
    if not (PACKAGE / "bin" / "octet").exists():
        pytest.skip("this wheel has no command")
    said = subprocess.run([command, "info"], capture_output=True, text=True, check=True).stdout
    assert octet.cpu()["tier"] in said


def test_tiers():
    """The same bytes on every tier that this machine has, and on every other machine."""
    program = pathlib.Path(__file__).with_name("digest.py")
    tiers = octet.cpu()["detected"]
    said = [
        subprocess.run(
            [sys.executable, program],
            env={"OCTET_MAX_ISA": tier},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for tier in tiers
    ]
    assert {tier for tier, _ in said} == set(tiers)
    assert {digest for _, digest in said} == {
        "2abb1dd854920db33e104da84e93e5aaeb9237c0cd39f21f19844149f8a7d23f"
    }
