# SPDX-License-Identifier: Apache-2.0
"""ONNX models of the shapes of well-known networks, small, with weights at random, as exporters write them; channels first."""
import numpy as np

from models import Builder

IMAGE = (1, 3, 32, 32)


def squeezed(b, x, channels):
    y = b.conv(b.op("GlobalAveragePool", [x]), channels, 8, 1, "Relu")
    return b.op("Mul", [b.op("HardSigmoid", [b.conv(y, 8, channels, 1)], alpha=1 / 6), x])


def mobilenet_v3():
    b = Builder(41)
    hard_swish = lambda x: b.op("HardSwish", [x])
    x = hard_swish(b.conv(b.input("x", ["N", *IMAGE[1:]]), 3, 16, 3, strides=[2, 2]))
    for channels, wide, out, kernel, stride in ((16, 24, 16, 3, 1), (16, 40, 24, 5, 2), (24, 48, 24, 5, 1)):
        y = hard_swish(b.conv(x, channels, wide, 1))
        y = squeezed(b, hard_swish(b.conv(y, wide, wide, kernel, group=wide, strides=[stride] * 2)), wide)
        y = b.conv(y, wide, out, 1)
        x = b.op("Add", [y, x]) if channels == out and stride == 1 else y
    x = b.op("Flatten", [b.op("GlobalAveragePool", [x])])
    x = hard_swish(b.op("Gemm", [x, b.constant(b.weights(40, 24)), b.constant(np.zeros(40, np.float32))], transB=1))
    b.op("Gemm", [x, b.constant(b.weights(10, 40)), b.constant(np.zeros(10, np.float32))], transB=1, outputs=["y"])
    b.output("y", ["N", 10])
    return b.model()


def unet():
    b = Builder(42)
    x, skips, channels = b.input("x", ["N", *IMAGE[1:]]), [], 3
    for depth in (8, 16):
        skips.append(b.conv(x, channels, depth, 3, "Relu"))
        x, channels = b.op("MaxPool", [skips[-1]], kernel_shape=[2, 2], strides=[2, 2]), depth
    x, channels = b.conv(x, channels, 24, 3, "Relu"), 24
    for depth, skip in zip((16, 8), reversed(skips)):
        up = b.op("ConvTranspose", [x, b.constant(b.weights(channels, depth, 2, 2))], kernel_shape=[2, 2], strides=[2, 2])
        x, channels = b.conv(b.op("Concat", [up, skip], axis=1), 2 * depth, depth, 3, "Relu"), depth
    b.op("Identity", [b.conv(x, channels, 2, 1)], outputs=["y"])
    b.output("y", ["N", 2, *IMAGE[2:]])
    return b.model()


def deeplab():
    b = Builder(43)
    x = b.conv(b.conv(b.input("x", ["N", *IMAGE[1:]]), 3, 16, 3, "Clip", strides=[2, 2]), 16, 24, 3, "Clip", strides=[2, 2])
    parts = [b.conv(x, 24, 8, 1, "Relu"), *(b.conv(x, 24, 8, 3, "Relu", dilations=[d, d], pads=[d] * 4) for d in (2, 3))]
    none = b.constant(np.zeros(0, np.float32))
    larger = lambda x, factor: b.op("Resize", [x, none, b.constant(np.float32([1, 1, factor, factor]))], mode="linear",
                                    coordinate_transformation_mode="pytorch_half_pixel")
    parts.append(larger(b.conv(b.op("GlobalAveragePool", [x]), 24, 8, 1, "Relu"), 8))
    b.op("Identity", [larger(b.conv(b.conv(b.op("Concat", parts, axis=1), 32, 16, 1, "Relu"), 16, 3, 1), 4)], outputs=["y"])
    b.output("y", ["N", 3, *IMAGE[2:]])
    return b.model()


def ssd():
    b = Builder(44)
    x = b.conv(b.input("x", ["N", *IMAGE[1:]]), 3, 16, 3, "Clip", strides=[2, 2])
    boxes, classes = [], []
    for channels, out in ((16, 24), (24, 32)):
        x = b.conv(b.conv(x, channels, channels, 3, "Clip", group=channels, strides=[2, 2]), channels, out, 1, "Clip")
        for heads, size in ((boxes, 4), (classes, 5)):
            y = b.op("Transpose", [b.conv(x, out, 3 * size, 3)], perm=[0, 2, 3, 1])
            heads.append(b.op("Reshape", [y, b.constant(np.int64([0, -1, size]))]))
    b.op("Concat", boxes, axis=1, outputs=["boxes"])
    b.op("Sigmoid", [b.op("Concat", classes, axis=1)], outputs=["classes"])
    b.output("boxes", ["N", 240, 4]), b.output("classes", ["N", 240, 5])
    return b.model()


ALL = {"MobileNetV3": mobilenet_v3, "U-Net": unet, "DeepLab": deeplab, "SSD": ssd}
