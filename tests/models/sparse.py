#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prunes a convolution network's weights to 2:4 without training it again, and says how far its outputs move.

    sparse.py <an int8 .tflite classifier> <directory for a virtual environment> <command that runs models_test...>

Of every four weights along the input channels the two of largest magnitude stay, as octet_sparse_prune has it. LiteRT's reference kernels run both
networks; models_test holds the pruned one's layers against them, by every algorithm on every tier, and Octet's pruning against the one here. The images
are those of OCTET_IMAGES_DIR: raw u8 files, and y_labels.csv beside them with a name, the number of classes and the class in each line, as MLPerf Tiny's
image classification has them (200 of CIFAR-10). Without it they are random, and no accuracy is printed. Exits with 77, which ctest shows as skipped,
where the network, the Python packages or the network to fetch them are missing.
"""
import collections
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

import check

SPARSE = ("CONV_2D", "FULLY_CONNECTED")  # their weights' last axis is the input channels


def pruned(weights):
    """Prunes as octet_sparse_prune does: of equal magnitudes the first stays. Zero points are 0."""
    weights = weights.copy()
    for first in range(0, weights.shape[-1], 4):
        group = weights[..., first:first + 4]
        order = np.argsort(-np.abs(group.astype(np.int32)), axis=-1, kind="stable")
        np.put_along_axis(group, order[..., 2:], 0, axis=-1)
    return weights


def rows(weights):
    """A row of input channels per output channel and kernel position."""
    return weights.reshape(-1, weights.shape[-1])


class Model:
    """A .tflite file whose weights can be replaced."""

    def __init__(self, data):
        self.model = schema.ModelT.InitFromPackedBuf(data, 0)
        graph = self.model.subgraphs[0]
        names = {value: name for name, value in vars(schema.BuiltinOperator).items() if not name.startswith("_")}
        codes = [names[max(code.builtinCode, code.deprecatedBuiltinCode)] for code in self.model.operatorCodes]
        self.tensors = graph.tensors
        self.products = [(codes[op.opcodeIndex], op) for op in graph.operators if codes[op.opcodeIndex] in SPARSE]

    def weights(self, op):
        tensor = self.tensors[op.inputs[1]]
        return np.frombuffer(bytes(self.model.buffers[tensor.buffer].data), np.int8).reshape(tensor.shape)

    def prune(self, ops):
        for op in ops:
            self.model.buffers[self.tensors[op.inputs[1]].buffer].data = pruned(self.weights(op)).view(np.uint8).ravel()

    def packed(self):
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


class Run:
    """A network's tensors, image by image."""

    def __init__(self, data):
        self.interpreter = Interpreter(model_content=data, experimental_op_resolver_type=OpResolverType.BUILTIN_REF, experimental_preserve_all_tensors=True)
        self.interpreter.allocate_tensors()
        self.input, self.output = self.interpreter.get_input_details()[0], self.interpreter.get_output_details()[0]

    def values(self, indices, image):
        """These tensors as real numbers."""
        self.interpreter.set_tensor(self.input["index"], image)
        self.interpreter.invoke()
        details = {d["index"]: d["quantization"] for d in self.interpreter.get_tensor_details()}
        return [(self.interpreter.get_tensor(i).astype(np.float64) - details[i][1]) * details[i][0] for i in indices]


def images_of(shape):
    """Images as the network's int8 input, and their classes or None."""
    directory = os.environ.get("OCTET_IMAGES_DIR")
    if not directory:
        return np.random.default_rng(13).integers(-128, 128, (50, *shape), np.int8), None
    with open(pathlib.Path(directory) / "y_labels.csv") as file:
        rows = [row for row in csv.reader(file) if row]
    images = [np.fromfile(pathlib.Path(directory) / row[0].strip(), np.uint8).reshape(shape) for row in rows]
    return (np.int16(images) - 128).astype(np.int8), np.int32([row[2] for row in rows])


def of_weights(model):
    """The weights, magnitude and energy that pruning removes, layer by layer."""
    print(f"{'layer':<34}{'weights':>9}{'removed':>9}{'magnitude':>11}{'energy':>9}")
    for number, (name, op) in enumerate(model.products, 1):
        before = model.weights(op).astype(np.int64)
        gone = before - pruned(model.weights(op))
        title = f"{number} {name} {'x'.join(map(str, before.shape))}"
        share = [100 * (gone != 0).sum() / (before != 0).sum(), 100 * np.abs(gone).sum() / np.abs(before).sum(), 100 * (gone**2).sum() / (before**2).sum()]
        print(f"{title:<34}{before.size:>9}{share[0]:>8.1f}%{share[1]:>10.1f}%{share[2]:>8.1f}%")


def compare(dense, sparse, outputs, images, classes, title):
    """How far the tensors `outputs`, the last two of which are logits and probabilities, have moved."""
    difference, signal = np.zeros(len(outputs)), np.zeros(len(outputs))
    same, right, moved = 0, [0, 0], []
    for i, image in enumerate(images):
        before, after = dense.values(outputs, image), sparse.values(outputs, image)
        for j, (a, b) in enumerate(zip(before, after)):
            difference[j] += ((a - b)**2).sum()
            signal[j] += (a**2).sum()
        tops = [np.argmax(values[-1]) for values in (before, after)]
        same += tops[0] == tops[1]
        moved.append(np.abs(before[-1] - after[-1]).max())
        if classes is not None:
            right = [count + (top == classes[i]) for count, top in zip(right, tops)]
    errors = np.sqrt(difference / signal)
    print(f"\n{title}: {len(images)} {'random inputs' if classes is None else 'images'}")
    print("  error of each layer's output, rms over rms: " + " ".join(f"{error:.2f}" for error in errors[:-1]))
    print(f"  probabilities: largest move {max(moved):.2f}, on average {np.mean(moved):.2f}")
    print(f"  the same class: {100 * same / len(images):.1f} %")
    if classes is not None:
        print(f"  right: dense {100 * right[0] / len(images):.1f} %, 2:4 {100 * right[1] / len(images):.1f} %")


def main():
    path, environment, command = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    if os.environ.get("OCTET_MODELS_DIR"):
        path = pathlib.Path(os.environ["OCTET_MODELS_DIR"]) / path.name
    if not path.is_file():
        check.packages.skip(f"there is no {path}: OCTET_MODELS_DIR names no directory with it")
    check.import_packages(environment)
    global np, flatbuffers, schema, Interpreter, OpResolverType
    import flatbuffers
    import numpy as np
    from ai_edge_litert import schema_py_generated as schema
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    data = path.read_bytes()
    model, dense = Model(data), Run(data)
    originals = [model.weights(op).copy() for _, op in model.products]
    of_weights(model)
    images, classes = images_of(tuple(dense.input["shape"]))
    outputs = [op.outputs[0] for _, op in model.products] + [dense.output["index"]]
    products = [op for _, op in model.products]
    for title, ops in ((f"all {len(products)} layers pruned", products), ("all but the first and the last", products[1:-1])):
        sparse = Model(data)
        sparse.prune([op for op in (o for _, o in sparse.products) if any(op.inputs[1] == other.inputs[1] for other in ops)])
        compare(dense, Run(sparse.packed()), outputs, images, classes, title)

    model.prune(products)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        network, layers, weights = folder / f"{path.stem}_2_4.tflite", folder / "layers.bin", folder / "weights.bin"
        network.write_bytes(model.packed())
        cases = list(check.cases(network, check.Network(network, np.random.default_rng(2024)), 0, collections.Counter()))
        check.vectors.write(layers, cases)
        check.vectors.write(weights, [(f"weights of layer {number}", {"weights": rows(original), "pruned": rows(pruned(original))})
                                      for number, original in enumerate(originals, 1)])
        print(f"\nBy Octet, {len(cases)} cases of the pruned network's layers, and pruning those of {len(originals)}:", flush=True)
        sys.exit(subprocess.run([*command, "--gtest_brief=1"], check=False,
                                env={**os.environ, "OCTET_MODEL_LAYERS": str(layers), "OCTET_MODEL_WEIGHTS": str(weights)}).returncode)


if __name__ == "__main__":
    main()
