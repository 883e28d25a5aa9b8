#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `octet run --network` of .onnx models with operators that move bytes, resize images or end a network against ONNX Runtime.

    run_onnx_places.py <directory for a virtual environment> <the octet command>

All bytes are equal, on integers and between DequantizeLinear and QuantizeLinear. A softmax to floats is compared within 2^-20 of
each value, because each runtime has its own exponential. Exits with 77, which ctest shows as skipped, where the Python packages are missing and cannot
be installed.
"""
import pathlib
import sys
import tempfile

from run_onnx import F32, RANDOM, S8, U8, Model, described, nhwc, run  # goes on in the virtual environment
import numpy as np
import onnx
import onnxruntime

SCALE, ZERO = 2.0**-4, 77


def session(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def values(octet, model, kind):
    """What octet writes for random bytes, and what ONNX Runtime does; as kind, channels last."""
    description, said = described(model)
    peer = session(model)
    x = RANDOM.integers(0, 255, peer.get_inputs()[0].shape, np.uint8, endpoint=True)
    (model.parent / "in").write_bytes(nhwc(x).tobytes())
    wanted = peer.run(None, {"x": x})[0]
    made = []
    for goal in ("layers", "memory"):
        done = run(octet, "run", description, "--goal", goal, "--input", model.parent / "in", "--output", model.parent / "out", "--repetitions", 1)
        assert done.returncode == 0 and "equal bytes" in done.stdout and "left out" not in said + done.stderr, (model.name, said, done.stdout + done.stderr)
        made.append(np.frombuffer((model.parent / "out").read_bytes(), kind))
    assert (made[0] == made[1]).all(), model.name
    return made[0], nhwc(wanted).reshape(-1)


class Chain:
    """Operators on bytes, each of them on integers or between floats."""

    def __init__(self, shape, floats):
        self.model, self.floats, self.last = Model(shape, U8), floats, "x"
        self.product(shape[1])

    def product(self, channels):
        """A 1 x 1 convolution, so that the operators are between products."""
        m = self.model
        weights = [m.weights(channels, channels, 1, 1), *m.quantization(2.0**-7, 0, np.int8)]
        self.last = m.add("QLinearConv", [self.last, *m.quantization(SCALE, ZERO), *weights, *m.quantization(SCALE, ZERO)])

    def add(self, kind, *inputs, integers=True, **attributes):
        m = self.model
        if self.floats or not integers:
            y = m.add(kind, [m.floats_of(self.last, SCALE, ZERO), *inputs], **attributes)
            self.last = m.bytes_of(y, SCALE, ZERO)
        else:
            self.last = m.add(kind, [self.last, *inputs], **attributes)

    def ints(self, *numbers):
        return self.model.constant(numbers, np.int64)


def places(octet, path, floats):
    """One network of all of them; its output has four axes in other places than they were."""
    c = Chain([2, 8, 7, 9], floats)
    c.add("Slice", c.ints(1, -8), c.ints(2**31, 2**31), c.ints(2, 3))
    c.product(8)
    c.add("Pad", c.ints(0, 0, 1, 2, 0, 0, 0, 3), *([] if floats else [c.model.constant(ZERO, np.uint8)]))
    c.add("DepthToSpace", blocksize=2)
    c.add("Resize", "", "", c.ints(2, 2, 7, 30), mode="nearest", coordinate_transformation_mode="half_pixel", nearest_mode="round_prefer_ceil")
    c.add("Resize", "", c.model.constant([1, 1, 2, 1], np.float32), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    c.product(2)
    c.add("Transpose", perm=[0, 3, 1, 2])
    c.add("Reshape", c.ints(2, 5, 6, 28))
    c.add("HardSwish", integers=False)
    c.product(5)
    made, wanted = values(octet, c.model.save(path / f"places_{floats}.onnx", c.last, U8), np.uint8)
    assert made.size == wanted.size and (made == wanted).all(), np.count_nonzero(made != wanted)
    assert len(np.unique(made)) > 60, np.unique(made)


def shuffles(octet, path):
    """ShuffleNet's channel shuffle, PyTorch's PixelShuffle, and two branches of a Split, one of which is enlarged bilinearly as bytes."""
    c = Chain([1, 12, 5, 6], False)
    c.add("Reshape", c.ints(1, 3, 4, 5, 6))
    c.add("Transpose", perm=[0, 2, 1, 3, 4])
    c.add("Reshape", c.ints(1, 12, 5, 6))
    c.product(12)
    c.add("DepthToSpace", blocksize=2, mode="CRD")
    c.product(3)
    m = c.model
    m.nodes.append(onnx.helper.make_node("Split", [c.last, c.ints(1, 2)], ["one", "two"], "Split", axis=1))
    c.last = "two"
    c.product(2)
    c.add("Resize", "", c.model.constant([1, 1, 2, 3], np.float32), mode="linear", coordinate_transformation_mode="half_pixel")
    c.product(2)
    two, c.last = c.last, "one"
    c.product(1)
    c.add("Resize", "", c.model.constant([1, 1, 2, 3], np.float32), mode="linear", coordinate_transformation_mode="align_corners")
    q = m.quantization(SCALE, ZERO)
    y = m.add("QLinearConcat", [*q, c.last, *q, two, *q], domain="com.microsoft", axis=1)
    made, wanted = values(octet, m.save(path / "shuffles.onnx", y, U8), np.uint8)
    assert made.size == wanted.size and (made == wanted).all(), np.count_nonzero(made != wanted)


def enlarged(octet, path):
    """Bilinear resizes between DequantizeLinear and QuantizeLinear, which are rounded, where those of bytes are truncated."""
    for coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"):
        c = Chain([1, 3, 5, 6], True)
        c.product(3)
        c.add("Resize", "", c.model.constant([1, 1, 2, 3], np.float32), mode="linear", coordinate_transformation_mode=coordinates)
        made, wanted = values(octet, c.model.save(path / "enlarged.onnx", c.last, U8), np.uint8)
        assert made.size == wanted.size and (made == wanted).all(), (coordinates, np.count_nonzero(made != wanted))


def softmaxes(octet, path):
    """Over a line, over the channels of an image, and over the last axis of four; to floats, and to bytes by a QuantizeLinear."""
    for shape, axis in (([3, 20, 1, 1], 1), ([2, 6, 4, 5], 1), ([2, 3, 4, 10], -1)):
        for to_bytes in (False, True):
            c = Chain(shape, True)
            if shape[2:] == [1, 1]:
                c.add("Flatten")
            y = c.model.add("Softmax", [c.model.floats_of(c.last, SCALE, ZERO)], axis=axis)
            if to_bytes:
                y = c.model.bytes_of(y, 2.0**-8, 0)
            made, wanted = values(octet, c.model.save(path / "softmax.onnx", y, U8 if to_bytes else F32), np.uint8 if to_bytes else np.float32)
            assert made.size == wanted.size and made.max() > 0 and np.isfinite(made).all()
            if to_bytes:
                assert (made == wanted).all(), (shape, axis)
            else:
                np.testing.assert_allclose(made, wanted, rtol=2.0**-20)


def refused(octet, path):
    """Each is named with what it would need."""
    cases = {"it would need a slice with strides": lambda c: c.add("Slice", c.ints(0), c.ints(4), c.ints(2), c.ints(2)),
             "it would need a pad of that kind": lambda c: c.add("Pad", c.ints(0, 0, 1, 1, 0, 0, 1, 1), mode="reflect"),
             "it pads with another value than the zero point": lambda c: c.add("Pad", c.ints(0, 0, 1, 1, 0, 0, 1, 1), c.model.constant(3, np.uint8)),
             "it would need nearest or linear": lambda c: c.add("Resize", "", "", c.ints(1, 4, 16, 16), mode="cubic", integers=False),
             "is not the ratio of the sizes": lambda c: c.add("Resize", "", c.model.constant([1, 1, 1.3, 1.3], np.float32), mode="nearest"),
             "it would need one of asymmetric": lambda c: c.add("Resize", "", "", c.ints(1, 4, 16, 16), coordinate_transformation_mode="half_pixel_symmetric"),
             "it would need a DequantizeLinear before": lambda c: c.model.add("Softmax", [c.model.add("Cast", [c.last], to=F32)]),
             "its input 1 is computed": lambda c: c.add("Slice", c.model.add("Cast", ["x"], to=7), c.ints(4), c.ints(2))}
    for sentence, make in cases.items():
        c = Chain([1, 4, 8, 8], False)
        made = make(c)
        model = c.model.save(path / "refused.onnx", made or c.last, F32 if made else U8)
        description, said = described(model)
        done = run(octet, "run", description, "--repetitions", 1)
        assert done.returncode == 0 and sentence in done.stderr, (sentence, said, done.stdout, done.stderr)


def main():
    octet = sys.argv[2]
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch)
        for floats in (False, True):
            places(octet, path, floats)
        for test in (shuffles, enlarged, softmaxes, refused):
            test(octet, path)
            print(f"{test.__name__}: right")


if __name__ == "__main__":
    main()
