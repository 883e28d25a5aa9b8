# SPDX-License-Identifier: Apache-2.0
"""ONNX models of the real shapes with weights at random, quantized as ONNX Runtime's users do."""
import pathlib
import sys

import numpy as np
import onnx

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "onnxruntime"))
import models  # noqa: E402

IMAGE = {"x": (1, 3, 224, 224)}


def head(b, x, channels):
    x = b.op("Flatten", [b.op("GlobalAveragePool", [x])])
    b.op("Gemm", [x, b.constant(b.weights(1000, channels)), b.constant(np.zeros(1000, np.float32))], transB=1, outputs=["y"])
    b.output("y", [1, 1000])
    return b.model()


def resnet50():
    b = models.Builder(3)
    x = b.conv(b.input("x", IMAGE["x"]), 3, 64, 7, "Relu", strides=[2, 2])
    x = b.op("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            strides = [2, 2] if block == 0 and stage else [1, 1]
            y = b.conv(b.conv(x, channels, width, 1, "Relu"), width, width, 3, "Relu", strides=strides)
            y = b.conv(y, width, 4 * width, 1)
            if block == 0:
                x = b.conv(x, channels, 4 * width, 1, strides=strides)
            x = b.op("Relu", [b.op("Add", [y, x])])
            channels = 4 * width
    return head(b, x, channels)


def mobilenet_v2():
    b = models.Builder(3)
    x = b.conv(b.input("x", IMAGE["x"]), 3, 32, 3, "Clip", strides=[2, 2])
    channels = 32
    stages = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for factor, out, blocks, stride in stages:
        for block in range(blocks):
            wide = channels * factor
            y = b.conv(x, channels, wide, 1, "Clip") if factor > 1 else x
            y = b.conv(y, wide, wide, 3, "Clip", group=wide, strides=[1, 1] if block else [stride, stride])
            y = b.conv(y, wide, out, 1)
            x = b.op("Add", [y, x]) if block else y
            channels = out
    return head(b, b.conv(x, channels, 1280, 1, "Clip"), 1280)


def encoder(layers=6, depth=384, heads=12):
    """Of MiniLM's shape, from hidden states to hidden states."""
    b = models.Builder(3)
    linear = lambda x, n, k: b.op("Add", [b.op("MatMul", [x, b.constant(b.weights(n, k))]), b.constant(b.weights(k))])
    ones, zeros = b.constant(np.ones(depth, np.float32)), b.constant(np.zeros(depth, np.float32))
    normalized = lambda x: b.op("LayerNormalization", [x, ones, zeros], axis=-1, epsilon=1e-12)
    split, joined = b.constant(np.int64([0, 0, heads, depth // heads])), b.constant(np.int64([0, 0, depth]))
    scalar = lambda value: b.constant(np.float32(value))
    x = b.input("x", [1, "tokens", depth])
    for _ in range(layers):
        q, k, v = (b.op("Transpose", [b.op("Reshape", [linear(x, depth, depth), split])], perm=order)
                   for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        s = b.op("Softmax", [b.op("Mul", [b.op("MatMul", [q, k]), scalar((depth // heads) ** -0.5)])], axis=-1)
        s = b.op("Reshape", [b.op("Transpose", [b.op("MatMul", [s, v])], perm=[0, 2, 1, 3]), joined])
        x = normalized(b.op("Add", [linear(s, depth, depth), x]))
        y = linear(x, depth, 4 * depth)
        erf = b.op("Add", [b.op("Erf", [b.op("Mul", [y, scalar(0.5 ** 0.5)])]), scalar(1)])
        y = b.op("Mul", [b.op("Mul", [y, erf]), scalar(0.5)])
        x = normalized(b.op("Add", [linear(y, 4 * depth, depth), x]))
    b.op("Identity", [x], outputs=["y"])
    b.output("y", [1, "tokens", depth])
    return b.model()


# The name of a network and how it is quantized: as models.quantized takes it.
NETWORKS = {
    "resnet50": (resnet50, IMAGE),
    "mobilenet_v2": (mobilenet_v2, IMAGE),
    "encoder": (encoder, {"x": (1, 128, 384)}),
    "attention": (lambda: models.encoder_network(4, 384, 12), {"x": (1, 128, 384), "mask": (1, 128)}),
    "written_encoder": (lambda: models.written_encoder_network(4, 384, 12), {"x": (1, 128, 384), "mask": (1, 1, 1, 128)}),
}
CASES = ("resnet50:qdq-s8s8", "resnet50:qdq-u8s8-channel", "mobilenet_v2:qdq-s8s8", "mobilenet_v2:qdq-u8s8-channel",
         "mobilenet_v2:dynamic-u8", "encoder:dynamic-s8", "attention:dynamic-s8", "written_encoder:qdq-s8s8")


def made(case, folder):
    """The path of the case's model and the shapes of its inputs; made once and kept in the folder."""
    name, how = case.split(":")
    network, shapes = NETWORKS[name]
    place = folder / name
    path = place / f"{how}.onnx"
    if not path.exists():
        place.mkdir(parents=True, exist_ok=True)
        models.quantized(network(), place, how, shapes)
    return str(path), shapes


def feed(session, shapes, seed):
    """Inputs of a run: normal floats, and a mask of integers, which masks nothing."""
    rng = np.random.default_rng(seed)
    masks = {x.name for x in session.get_inputs() if x.type == "tensor(int32)"}
    return {name: np.ones(shape, np.int32) if name in masks else rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
