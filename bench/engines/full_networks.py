# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite models of the real shapes with weights at random; each function takes a seed and returns a .tflite file of int8."""
import networks
from networks import bottleneck


def pooled(m, x, classes):
    """A mean over pixels, a product and a softmax."""
    depth = x.shape[3]
    return m.unary("SOFTMAX", m.dense(m.reshape(m.mean(x), 1, depth), classes))


def stages(m, x, table, kernel=3):
    """table: expansion, channels, blocks, stride and dilation, and a kernel if it is another one."""
    for expansion, channels, blocks, stride, dilation, *other in table:
        for block in range(blocks):
            step, size = 1 if block else stride, other[0] if other else kernel
            if expansion == 1:
                x = m.conv(m.depthwise(x, size, step, 1, "RELU6"), channels)
            else:
                x = bottleneck(m, x, channels, expansion, step, size, dilation=dilation)
    return x


def separable(m, x, table):
    for channels, stride in table:
        x = m.conv(m.depthwise(x, stride=stride, activation="RELU6"), channels, activation="RELU6")
    return x


MOBILENET_V1 = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)) + 5 * ((512, 1),)
MOBILENET_V2 = ((1, 16, 1, 1, 1), (6, 24, 2, 2, 1), (6, 32, 3, 2, 1), (6, 64, 4, 2, 1), (6, 96, 3, 1, 1), (6, 160, 3, 2, 1), (6, 320, 1, 1, 1))
LITE0 = ((1, 16, 1, 1, 1), (6, 24, 2, 2, 1), (6, 40, 2, 2, 1, 5), (6, 80, 3, 2, 1), (6, 112, 3, 1, 1, 5), (6, 192, 4, 2, 1, 5), (6, 320, 1, 1, 1))
# Strides of 8 in all; what follows is dilated.
DEEPLAB = ((1, 16, 1, 1, 1), (6, 24, 2, 2, 1), (6, 32, 3, 2, 1), (6, 64, 4, 1, 2), (6, 96, 3, 1, 2), (6, 160, 3, 1, 4), (6, 320, 1, 1, 4))


def stem(seed, size, channels=32):
    m = networks.Network(seed)
    return m, m.conv(m.given(1, size, size, 3), channels, 3, 2, activation="RELU6")


def mobilenet_v1_224(seed):
    m, x = stem(seed, 224)
    return m.file(pooled(m, separable(m, x, MOBILENET_V1 + ((1024, 2), (1024, 1))), 1001))


def mobilenet_v2_224(seed):
    m, x = stem(seed, 224)
    return m.file(pooled(m, m.conv(stages(m, x, MOBILENET_V2), 1280, activation="RELU6"), 1001))


def efficientnet_lite0_224(seed):
    m, x = stem(seed, 224)
    return m.file(pooled(m, m.conv(stages(m, x, LITE0), 1280, activation="RELU6"), 1000))


def resnet50_224(seed):
    m = networks.Network(seed)
    x = m.pool("MAX_POOL_2D", m.conv(m.given(1, 224, 224, 3), 64, 7, 2, activation="RELU"), 3, 2)
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = m.conv(m.conv(m.conv(x, width, activation="RELU"), width, 3, stride, activation="RELU"), 4 * width)
            x = m.binary("ADD", y, x if block else m.conv(x, 4 * width, 1, stride), "RELU")
    return m.file(pooled(m, x, 1000))


def ssd_mobilenet_v1_300(seed):
    """Boxes and classes of six maps; their decoding is not part of it."""
    m, x = stem(seed, 300)
    maps = [separable(m, x, MOBILENET_V1)]
    maps.append(separable(m, maps[0], ((1024, 2), (1024, 1))))
    for inner, channels in ((256, 512), (128, 256), (128, 256), (64, 128)):
        maps.append(m.conv(m.conv(maps[-1], inner, activation="RELU6"), channels, 3, 2, activation="RELU6"))
    boxes, classes = [], []
    for x, anchors in zip(maps, (3, 6, 6, 6, 6, 6)):
        count = anchors * x.shape[1] * x.shape[2]
        boxes.append(m.reshape(m.conv(x, 4 * anchors), 1, count, 4))
        classes.append(m.reshape(m.conv(x, 91 * anchors), 1, count, 91))
    return m.file(m.concat(boxes, 1), m.unary("LOGISTIC", m.concat(classes, 1)))


def deeplab_v3_512(seed):
    m, x = stem(seed, 512)
    x = stages(m, x, DEEPLAB)
    images = m.resize(m.conv(m.mean(x), 256, activation="RELU6"), x.shape[1], x.shape[2], alignCorners=True)
    x = m.conv(m.concat([m.conv(x, 256, activation="RELU6"), images]), 256, activation="RELU6")
    return m.file(m.resize(m.conv(x, 32), 512, 512, alignCorners=True))


def pyramid(m, maps, channels, bilinear):
    """From the coarsest map up: each map by a 1x1 convolution, plus twice the size of the one above."""
    made = [m.conv(maps[-1], channels)]
    for x in reversed(maps[:-1]):
        above = m.resize(made[0], x.shape[1], x.shape[2], bilinear, halfPixelCenters=bilinear)
        y = m.binary("ADD", m.conv(x, channels), above)
        made.insert(0, m.conv(m.depthwise(y), channels, activation="RELU6"))
    return made


# By stride: the maps that a pyramid takes end at 4, 8, 16 and 32.
BY_STRIDE = (MOBILENET_V2[:2], MOBILENET_V2[2:3], MOBILENET_V2[3:5], MOBILENET_V2[5:])


def movenet_192(seed):
    """MobileNetV2 with a pyramid to strides of 4 and four heads for 17 joints; the choice of the best pixels is not part of it."""
    m, x = stem(seed, 192)
    maps = []
    for table in BY_STRIDE:
        x = stages(m, x, table)
        maps.append(x)
    x = pyramid(m, maps, 24, True)[0]
    heads = [m.conv(m.conv(m.depthwise(x), 96, activation="RELU"), channels) for channels in (17, 1, 34, 34)]
    return m.file(*(m.unary("LOGISTIC", y) for y in heads[:2]), *heads[2:])


def ssd_fpn_320(seed):
    """MobileNetV2 with a pyramid of strides from 8 to 128 and four separable layers before boxes and classes; their decoding is not part of it."""
    m, x = stem(seed, 320)
    maps = []
    for table in BY_STRIDE:
        x = stages(m, x, table)
        maps.append(x)
    maps = pyramid(m, maps[1:], 128, False)
    for _ in range(2):
        maps.append(m.conv(m.depthwise(maps[-1], stride=2), 128, activation="RELU6"))
    boxes, classes = [], []
    for x in maps:
        for found, depth in ((boxes, 4), (classes, 91)):
            y = separable(m, x, 4 * ((128, 1),))
            found.append(m.reshape(m.conv(m.depthwise(y), 6 * depth), 1, 6 * y.shape[1] * y.shape[2], depth))
    return m.file(m.concat(boxes, 1), m.unary("LOGISTIC", m.concat(classes, 1)))


def fused(m, x, channels, expansion, stride):
    """A bottleneck whose first convolution is 3x3, in place of a 1x1 and a depthwise one."""
    y = m.conv(m.conv(x, x.shape[3] * expansion, 3, stride, activation="RELU6"), channels)
    return y if stride > 1 else m.binary("ADD", y, x)


def mobilenet_edgetpu_224(seed):
    m, x = stem(seed, 224)
    x = m.conv(x, 16, activation="RELU6")
    for channels in (32, 48):
        x = fused(m, x, channels, 8, 2)
        for _ in range(3):
            x = fused(m, x, channels, 4, 1)
    table = ((8, 96, 1, 2, 1), (4, 96, 3, 1, 1), (8, 96, 1, 1, 1), (4, 96, 3, 1, 1), (8, 160, 1, 2, 1, 5), (4, 160, 3, 1, 1, 5), (8, 192, 1, 1, 1))
    return m.file(pooled(m, m.conv(stages(m, x, table), 1280, activation="RELU6"), 1001))
