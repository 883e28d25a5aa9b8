#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the digits network in float, quantizes it and writes model.bin and images.bin beside this file; then prunes it to 2:4,
trains on and writes model_2_4.bin.

Evaluates the quantized networks with plain numpy integers, by the formulas of DESIGN.md's numeric contract, and prints the FNV-1a
hashes of all logits: the checksums that digits.c must reproduce. README.md describes the files.
"""
import pathlib
import struct

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

HERE = pathlib.Path(__file__).parent


def u8_scale(low, high):
    """The affine u8 quantization whose range covers [low, high] and 0."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = np.float32((high - low) / 255)
    return scale, int(np.rint(-low / scale))


def quantize(network, images):
    """Yields each layer as integers: per-channel symmetric s8 weights (N x K), calibrated affine u8 activations."""
    floats, in_scale, in_zero_point = images.astype(np.float64), np.float32(1), 0  # pixels 0..16 are exact
    last = network.n_layers_ - 2
    for i, (weights, bias) in enumerate(zip(network.coefs_, network.intercepts_)):
        floats = floats @ weights + bias
        if i < last:
            floats = np.maximum(floats, 0)
        out_scale, out_zero_point = u8_scale(floats.min(), floats.max())
        weight_scale = (np.abs(weights).max(axis=0) / 127).astype(np.float32)
        yield {
            "relu": i < last,
            "in_zero_point": in_zero_point,
            "out_zero_point": out_zero_point,
            "scales": in_scale * weight_scale / out_scale,
            "bias": np.rint(bias / (np.float64(in_scale) * weight_scale)).astype(np.int32),
            "weights": np.rint(weights / weight_scale).astype(np.int8).T,
        }
        in_scale, in_zero_point = out_scale, out_zero_point


def evaluate(layer, lhs):
    """One layer by the contract: exact sums, one float32 multiply, clamp, round half to even, add the zero point."""
    acc = (lhs.astype(np.int64) - layer["in_zero_point"]) @ layer["weights"].T.astype(np.int64) + layer["bias"]
    assert np.abs(acc).max() < 2**31
    low = layer["out_zero_point"] if layer["relu"] else 0
    scaled = acc.astype(np.float32) * layer["scales"]
    clamped = np.clip(scaled, np.float32(low - layer["out_zero_point"]), np.float32(255 - layer["out_zero_point"]))
    return (np.rint(clamped) + layer["out_zero_point"]).astype(np.uint8)


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def largest_two_of_four(weights):
    """The places of weights that a K x N layer keeps: the two of largest magnitude of each four along K."""
    groups = np.abs(weights).reshape(-1, 4, weights.shape[1])
    stays = np.zeros(groups.shape, bool)
    np.put_along_axis(stays, np.argsort(-groups, axis=1, kind="stable")[:, :2], True, axis=1)
    return stays.reshape(weights.shape)


def keep(network, masks):
    for weights, mask in zip(network.coefs_, masks):
        weights *= mask


def save(name, layers, float_accuracy):
    with open(HERE / name, "wb") as file:
        file.write(struct.pack("<8sIf", b"OCTETMLP", len(layers), float_accuracy))
        for layer in layers:
            zero_points = layer["in_zero_point"], layer["out_zero_point"]
            file.write(struct.pack("<2I2iI", *layer["weights"].shape, *zero_points, layer["relu"]))
            for field, dtype in (("scales", "<f4"), ("bias", "<i4"), ("weights", "i1")):
                file.write(np.ascontiguousarray(layer[field], dtype).tobytes())


def main():
    images, labels = load_digits(return_X_y=True)
    images = images.astype(np.uint8)
    train_images, test_images, train_labels, test_labels = train_test_split(
        images, labels, test_size=597, random_state=1, stratify=labels)
    network = MLPClassifier((128, 48), alpha=1e-4, max_iter=400, random_state=1).fit(train_images, train_labels)

    def quantized(title):
        """The network in int8, and its accuracy."""
        layers, logits = list(quantize(network, train_images)), test_images
        for layer in layers:
            logits = evaluate(layer, logits)
        float_accuracy = network.score(test_images, test_labels)
        print(f"{title + ':':<25}float accuracy {100 * float_accuracy:.2f} %, int8 accuracy "
              f"{100 * (logits.argmax(axis=1) == test_labels).mean():.2f} %, checksum {fnv1a(logits.tobytes()):016x}")
        return layers, float_accuracy

    save("model.bin", *quantized("dense"))
    with open(HERE / "images.bin", "wb") as file:
        file.write(struct.pack("<8s2I", b"OCTETIMG", *test_images.shape))
        file.write(test_images.tobytes() + test_labels.astype(np.uint8).tobytes())

    masks = [largest_two_of_four(weights) for weights in network.coefs_]
    keep(network, masks)
    quantized("2:4, pruned only")
    for _ in range(network.n_iter_):  # as many passes over the images as the training took
        network.partial_fit(train_images, train_labels)
        keep(network, masks)
    layers, float_accuracy = quantized("2:4, pruned and trained")
    for layer in layers:
        assert ((layer["weights"].reshape(-1, 4) != 0).sum(axis=1) <= 2).all()
    save("model_2_4.bin", layers, float_accuracy)


if __name__ == "__main__":
    main()
