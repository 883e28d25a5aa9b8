#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds Octet against LiteRT's reference kernels and its default delegate, XNNPACK, layer by layer, on whole int8 networks.

    check.py <directory of .tflite files> <directory for a virtual environment> <command that runs models_test...>

Every CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED, and every ADD behind a CONV_2D as its residual, becomes a case of a vector file: LiteRT's own
input of that layer, its weights and quantization, LiteRT's output. Products and convolutions become a second case, in float mode, with XNNPACK's
output for the same input and the layer alone. models_test runs them by every algorithm on every tier. Exits with 77, which ctest shows as skipped,
where the networks, the Python packages or the network to fetch them are missing.
"""
import collections
import importlib.metadata
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "tools" / "models"))
import packages  # noqa: E402

XNNPACK = "by XNNPACK"


def import_packages(environment):
    """For this whole file, once they are known to be there."""
    packages.need(environment, [HERE / "requirements.txt"], "ai_edge_litert.interpreter", "flatbuffers", "numpy")
    global np, schema, Interpreter, OpResolverType, contract, tflite, vectors
    import numpy as np
    from ai_edge_litert import schema_py_generated as schema
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
    sys.path[:0] = [str(HERE.parent / "conformance"), str(HERE.parent / "vectors")]
    import contract
    import tflite
    import vectors


class Network:
    """A model with the tensors of one inference."""

    def __init__(self, path, rng):
        model = schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)
        self.buffers, graph = model.buffers, model.subgraphs[0]
        names = {value: name for name, value in vars(schema.BuiltinOperator).items() if not name.startswith("_")}
        codes = [names[max(code.builtinCode, code.deprecatedBuiltinCode)] for code in model.operatorCodes]
        self.tensors, self.operators = graph.tensors, [(codes[op.opcodeIndex], op) for op in graph.operators]
        self.interpreter = Interpreter(model_path=str(path), experimental_op_resolver_type=OpResolverType.BUILTIN_REF, experimental_preserve_all_tensors=True)
        self.interpreter.allocate_tensors()
        for details in self.interpreter.get_input_details():
            limits = np.iinfo(details["dtype"])
            self.interpreter.set_tensor(details["index"], rng.integers(limits.min, limits.max, details["shape"], details["dtype"], endpoint=True))
        self.interpreter.invoke()

    def value(self, index):
        return self.interpreter.get_tensor(index)

    def scale(self, index):
        scales = np.float32(self.tensors[index].quantization.scale)
        return scales if len(scales) > 1 else scales[0]

    def zero_point(self, index):
        zero_points = self.tensors[index].quantization.zeroPoint
        assert len(set(zero_points)) == 1
        return int(zero_points[0])


def activation_of(op):
    names = {value: name for name, value in vars(schema.ActivationFunctionType).items() if not name.startswith("_")}
    return names[op.builtinOptions.fusedActivationFunction]


def pixels(array):
    return array.reshape(-1, array.shape[-1])


def quantized(network, op, per_channel):
    """The tensors that both kinds of product share. int8 convolutions are computed per channel even with one scale."""
    lhs, rhs, bias = op.inputs
    dst = op.outputs[0]
    rhs_scale = network.scale(rhs)
    return {"bias": network.value(bias), "lhs_zero_points": np.int32(network.zero_point(lhs)), "rhs_zero_points": np.int32(network.zero_point(rhs)),
            **tflite.rescaled("CONV_2D" if per_channel else "FULLY_CONNECTED", network.scale(lhs), np.atleast_1d(rhs_scale) if per_channel else rhs_scale, network.scale(dst))}


def fully_connected(network, op):
    lhs, rhs, _ = op.inputs
    return {"lhs": network.value(lhs).reshape(-1, network.value(rhs).shape[1]), "rhs_nk": network.value(rhs), **quantized(network, op, False)}


def convolution(network, op, depthwise):
    options, lhs, rhs = op.builtinOptions, network.value(op.inputs[0]), network.value(op.inputs[1])
    batch, in_h, in_w, in_channels = lhs.shape
    _, kernel_h, kernel_w, last = rhs.shape
    geometry = dict.fromkeys(contract.CONV_FIELDS, 0)
    geometry.update(batch=batch, in_h=in_h, in_w=in_w, in_channels=in_channels, out_channels=last if depthwise else len(rhs),
                    groups=in_channels if depthwise else in_channels // last, kernel_h=kernel_h, kernel_w=kernel_w, stride_h=options.strideH,
                    stride_w=options.strideW, dilation_h=options.dilationHFactor, dilation_w=options.dilationWFactor)
    padding = {value: name for name, value in tflite.PADDING.items()}[options.padding]
    geometry = tflite.padded(geometry, padding)
    return {"conv": np.int32(list(geometry.values())), "lhs": pixels(lhs), "filter_hwio" if depthwise else "filter_ohwi": pixels(rhs),
            **quantized(network, op, True)}


def finished(network, op, tensors):
    dst = op.outputs[0]
    return {**tensors, **tflite.activated(activation_of(op), network.scale(dst), network.zero_point(dst), np.int8), "dst": pixels(network.value(dst))}


def delegated(network, name, op, tensors):
    """The layer alone, in float mode, by XNNPACK; None if it declines."""
    model, (lhs, rhs, bias), dst = tflite.Model(), op.inputs, op.outputs[0]

    def quantization(index):
        return network.scale(index), network.zero_point(index)

    inputs = [model.input(network.value(lhs), *quantization(lhs)),
              model.constant(network.value(rhs), *quantization(rhs), 3 if name == "DEPTHWISE_CONV_2D" else 0),
              model.constant(network.value(bias), network.scale(bias))]
    out = network.value(dst)
    settings = {field: value for field, value in vars(op.builtinOptions).items() if field != "fusedActivationFunction"}
    model.operator(name, activation_of(op), inputs, model.tensor(out.shape, out.dtype, *quantization(dst)), **settings)
    made = model.run(delegate=True)
    return None if made is None else {**finished(network, op, tflite.float_mode(tensors)), "dst": pixels(made)}


def sums(network, op, makers):
    """ADD as the residual of each CONV_2D without activation that makes one of its inputs."""
    for product, addend in (op.inputs, op.inputs[::-1]):
        name, maker = makers.get(product, (None, None))
        if name != "CONV_2D" or activation_of(maker) != "NONE":
            continue
        yield {**convolution(network, maker, False), "residual": pixels(network.value(addend)),
               "residual_zero_points": np.int32([network.zero_point(addend), network.zero_point(product)]),
               **tflite.added(network.scale(product), network.scale(addend), network.scale(op.outputs[0]))}


def cases(path, network, run, left_out):
    makers = {op.outputs[0]: (name, op) for name, op in network.operators}
    for index, (name, op) in enumerate(network.operators):
        if name == "FULLY_CONNECTED":
            made = [fully_connected(network, op)]
        elif name in ("CONV_2D", "DEPTHWISE_CONV_2D"):
            made = [convolution(network, op, name == "DEPTHWISE_CONV_2D")]
        elif name == "ADD":
            made = list(sums(network, op, makers))
        else:
            made = []
        if not made:
            left_out[name] += 1
        once = name == "FULLY_CONNECTED" and importlib.metadata.version("ai-edge-litert") != "1.2.0"  # the later one of requirements.txt
        for tensors in made:
            title = f"{path.stem} layer {index} {name}, input {run}"
            yield title, finished(network, op, tflite.double_mode(tensors) if once else tensors)
            by_xnnpack = None if name == "ADD" else delegated(network, name, op, tensors)
            if by_xnnpack:
                yield title + " " + XNNPACK, by_xnnpack
            elif name != "ADD":
                left_out[f"{name} of XNNPACK's"] += 1


def main():
    models, environment, command = pathlib.Path(os.environ.get("OCTET_MODELS_DIR") or sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    paths = sorted(models.glob("*.tflite")) if models.name else []
    if not paths:
        packages.skip("OCTET_MODELS_DIR names no directory with .tflite files")
    import_packages(environment)
    rng, status = np.random.default_rng(2024), 0
    for path in paths:
        left_out, all_cases = collections.Counter(), []
        for run in range(2):
            left_out.clear()
            all_cases += cases(path, Network(path, rng), run, left_out)
        without = ", ".join(f"{count} {name}" for name, count in left_out.items()) or "nothing"
        for column in (False, True):
            sizes = [tensors["dst"].size for title, tensors in all_cases if title.endswith(XNNPACK) == column]
            print(f"{path.stem}{' ' + XNNPACK if column else ''}: {len(sizes)} cases, {sum(sizes)} results", flush=True)
        print(f"left out: {without}", flush=True)
        with tempfile.TemporaryDirectory() as scratch:
            file = pathlib.Path(scratch) / "layers.bin"
            vectors.write(file, all_cases)
            status |= subprocess.run([*command, "--gtest_brief=1"], env={**os.environ, "OCTET_MODEL_LAYERS": str(file)}, check=False).returncode
    sys.exit(1 if status else 0)


if __name__ == "__main__":
    main()
