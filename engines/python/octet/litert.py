# SPDX-License-Identifier: Apache-2.0
"""Octet inside LiteRT: an external delegate for an unmodified ai-edge-litert or tflite-runtime.

>>> from ai_edge_litert.interpreter import Interpreter
>>> import octet.litert
>>> interpreter = Interpreter("model.tflite", experimental_delegates=[octet.litert.delegate()])
"""

import typing

from . import plugins


def library() -> str:
    """The path of liboctet_litert.so. RuntimeError: the wheel was built without it."""
    return plugins.library("liboctet_litert.so", "LiteRT's C headers")


def delegate(
    as_: str = "reference", threads: int = 1, goal: str = "time", report: bool = False
) -> typing.Any:
    """A delegate for `experimental_delegates` of one Interpreter.

    as_: "reference": the bytes of LiteRT's reference kernels; "xnnpack": those of its default
        delegate
    threads: most threads of a run; 0 means as many as the process may use
    goal: "time", "layers", "traffic" or "memory": the quantity that a network keeps small
    report: write to stderr what runs on Octet, and why the rest does not

    ValueError: an option has another value. ImportError: neither ai_edge_litert nor tflite_runtime
    is installed.
    """
    try:
        from ai_edge_litert.interpreter import load_delegate
    except ImportError:
        from tflite_runtime.interpreter import load_delegate
    options = {"as": as_, "threads": str(threads), "goal": goal, "report": str(int(report))}
    return load_delegate(library(), options)
