# SPDX-License-Identifier: Apache-2.0
"""Whole models: octet.load runs a .tflite or .onnx file, by the plug-in of its engine."""

from __future__ import annotations

import os
import threading
import typing

import numpy as np


class Model:
    """A model that runs on Octet; what Octet does not take runs on the model's engine.

    inputs, outputs: their names, in the order of a call's arguments and results
    """

    inputs: typing.List[str]
    outputs: typing.List[str]

    def __call__(self, *inputs: typing.Any) -> typing.Any:
        """Runs the model on arrays of its inputs' types and shapes, in the order of `inputs`.

        Returns an array, or a tuple of them in the order of `outputs`. ValueError: the number of inputs
        is another one, or one has a shape that the model does not take. TypeError: one has
        another type.
        """
        if len(inputs) != len(self.inputs):
            raise ValueError(f"{len(inputs)} inputs, the model has {', '.join(self.inputs)}")
        results = self._run([np.asarray(x) for x in inputs])
        return results[0] if len(results) == 1 else tuple(results)

    def _run(self, inputs):
        raise NotImplementedError


class _LiteRT(Model):
    """A .tflite model by LiteRT's interpreter and Octet's delegate; one run at a time."""

    def __init__(self, path, threads, as_, **options):
        try:
            from ai_edge_litert.interpreter import Interpreter, OpResolverType
        except ImportError as error:
            raise ImportError("a .tflite model needs the package ai-edge-litert") from error
        from . import litert

        resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        if as_ == "reference":
            resolver = OpResolverType.BUILTIN_REF

        def make():
            return Interpreter(
                path,
                experimental_delegates=[litert.delegate(as_, threads, **options)],
                experimental_op_resolver_type=resolver,
                num_threads=threads or os.cpu_count(),
            )

        self._path, self._make, self._lock = path, make, threading.Lock()
        self._interpreter = make()
        self._interpreter.allocate_tensors()
        self.inputs = [known["name"] for known in self._interpreter.get_input_details()]
        self.outputs = [known["name"] for known in self._interpreter.get_output_details()]

    def _run(self, inputs):
        with self._lock:
            details = self._interpreter.get_input_details()
            for x, known in zip(inputs, details):
                if x.dtype != known["dtype"]:
                    wanted = np.dtype(known["dtype"]).name
                    raise TypeError(
                        f"{known['name']} has the type {x.dtype.name}: {wanted} is needed"
                    )
            if any(x.shape != tuple(known["shape"]) for x, known in zip(inputs, details)):
                self._resize([x.shape for x in inputs])
                details = self._interpreter.get_input_details()
            for x, known in zip(inputs, details):
                self._interpreter.set_tensor(known["index"], x)
            self._interpreter.invoke()
            return [
                self._interpreter.get_tensor(known["index"])
                for known in self._interpreter.get_output_details()
            ]

    def _resize(self, shapes):
        # A new interpreter: one that failed to resize must not be used any more
        resized = self._make()
        try:
            for shape, known in zip(shapes, resized.get_input_details()):
                resized.resize_tensor_input(known["index"], shape)
            resized.allocate_tensors()
        except (RuntimeError, ValueError) as error:
            raise ValueError(
                f"the model takes no inputs of {', '.join(map(str, shapes))}: {error}"
            ) from error
        self._interpreter = resized

    def __repr__(self):
        names = [operator["op_name"] for operator in self._interpreter._get_ops_details()]
        return f"octet.load({self._path!r}): networks on octet: {names.count('DELEGATE')}"


class _Onnx(Model):
    """An .onnx model by ONNX Runtime and Octet's provider; many threads may run it at once."""

    def __init__(self, path, threads, **options):
        try:
            from . import onnxruntime
        except ImportError as error:
            raise ImportError("an .onnx model needs the package onnxruntime") from error
        self._path = path
        self._session = onnxruntime.session(path, threads=threads, **options)
        self._types = [known.type for known in self._session.get_inputs()]
        self.inputs = [known.name for known in self._session.get_inputs()]
        self.outputs = [known.name for known in self._session.get_outputs()]

    def _run(self, inputs):
        names = {"float32": "float", "float64": "double"}
        for name, wanted, x in zip(self.inputs, self._types, inputs):
            if f"tensor({names.get(x.dtype.name, x.dtype.name)})" != wanted:
                raise TypeError(f"{name} has the type {x.dtype.name}: {wanted} is needed")
        try:
            return self._session.run(None, dict(zip(self.inputs, inputs)))
        except Exception as error:  # ONNX Runtime has exceptions of its own
            if "INVALID_ARGUMENT" in str(error):
                raise ValueError(str(error)) from error
            raise

    def __repr__(self):
        from . import onnxruntime

        try:
            ours, all_nodes = onnxruntime.nodes(self._session)
        except RuntimeError:  # an older ONNX Runtime
            return f"octet.load({self._path!r}): providers {', '.join(self._session.get_providers())}"
        return f"octet.load({self._path!r}): nodes on octet: {ours} of {all_nodes}"


def load(path: typing.Union[str, "os.PathLike[str]"], threads: int = 1, **options: str) -> Model:
    """Loads a quantized model, to be called with its inputs: load("model.onnx")(x).

    path: a .tflite file, which needs the package ai-edge-litert, or an .onnx file, which needs
        onnxruntime 1.23 or later: groups of operators become networks of Octet, others run there
    threads: most threads of a run; 0 means as many as the process may use
    options: of octet.litert.delegate (as_="reference" or "xnnpack", goal), or of
        octet.onnxruntime.session

    ValueError: another name, or an option that is none. ImportError: the package is missing.
    RuntimeError: the wheel was built without the plug-in.
    """
    path = os.fspath(path)
    if path.endswith(".tflite"):
        return _LiteRT(path, threads, options.pop("as_", "reference"), **options)
    if path.endswith(".onnx"):
        return _Onnx(path, threads, **options)
    raise ValueError(f"path is {path!r}: a name that ends in .tflite or .onnx is needed")
