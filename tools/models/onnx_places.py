# SPDX-License-Identifier: Apache-2.0
"""The operators that move an .onnx model's bytes, resize images or end a network, on integers or between DequantizeLinear and QuantizeLinear.

Each reader returns a list of descriptions: one operator of a model may take several of engines/graph.
"""
import numpy as np

import onnx_functions
import operators as ops

# Where the axes of N, C, H, W are in N, H, W, C, and the other way round
PLACE, AXIS = (0, 3, 1, 2), (0, 2, 3, 1)
COORDINATES = {"asymmetric": "asymmetric", "half_pixel": "half pixel", "align_corners": "align corners", "pytorch_half_pixel": "pytorch half pixel"}
NEAREST = {"round_prefer_floor": "round prefer floor", "round_prefer_ceil": "round prefer ceil", "floor": "floor", "ceil": "ceil"}


class Reader:
    """One operator: its ends, and the descriptions that it becomes."""

    def __init__(self, graph, node, x, before, found):
        self.graph, self.node, self.found = graph, node, found
        self.attributes = onnx_functions.attributes(node)
        self.name, self.before = x, before
        if x in graph.flattened:
            raise ops.Unreadable("its input is an image that was flattened; it would need the channels in their old order")
        self.shape = graph.shape(x)
        self.moved = graph.data is not None  # images are in N, H, W, C

    def is_image(self, shape):
        return self.moved and len(shape) == 4

    def described_shape(self, shape):
        return [shape[axis] for axis in AXIS] if self.is_image(shape) else list(shape)

    def constant(self, k, attribute=None):
        """The integers of input k, or of the attribute that older models have; None where there are none."""
        if len(self.node.input) > k and self.node.input[k]:
            value = self.graph.value(self.node.input[k])
            if value is None:
                raise ops.Unreadable(f"its input {k} is computed; it would need a constant")
            return [x.item() for x in np.atleast_1d(value)]
        given = self.attributes.get(attribute)
        return None if given is None else list(given) if isinstance(given, (list, tuple)) else [given]

    def per_axis(self, values):
        """Values for each axis of the input, in the order of the description."""
        return [values[axis] for axis in AXIS] if self.is_image(self.shape) else list(values)

    def add(self, kind, x, y, **more):
        self.found.append({"kind": kind, "name": self.node.name or self.node.output[0], "operator": self.node.op_type, "inputs": [x], "outputs": [y], **more})
        return y

    def between(self, like, shape, what):
        """A tensor inside the operator, of the type and the scale of another one. shape: as the description has it."""
        tensors = self.graph.tensors
        tensors.append({**tensors[like], "name": f"{self.node.output[0]}/{what}", "shape": list(shape), "constant": False, "as_it_is": True})
        return len(tensors) - 1

    def in_model_order(self, x):
        """The image with its channels first, as other operators than those of images see it."""
        if not self.is_image(self.shape):
            return x
        return self.reorder(x, self.between(x, self.shape, "channels first"), PLACE, self.shape)

    def reorder(self, x, y, permutation, shape):
        if onnx_functions.in_one_order(shape):
            return self.add("reshape", x, y)
        return self.add("transpose", x, y, permutation=list(permutation))

    def from_model_order(self, like, shape, last):
        """(the tensor to be written in the model's order, what is to be done afterwards)."""
        if not self.is_image(shape):
            return last, lambda: last
        first = self.between(like, shape, "in the model's order")
        return first, lambda: self.reorder(first, last, AXIS, shape)


def transpose(r, x, y):
    rank = len(r.shape)
    permutation = r.attributes.get("perm") or list(range(rank))[::-1]
    if r.is_image(r.shape):
        permutation = [PLACE[permutation[axis]] for axis in AXIS]
    r.add("transpose", x, y, permutation=list(permutation))


def reshape(r, x, y):
    to = r.graph.shape(r.node.output[0])
    first, finish = r.from_model_order(x, to, y)
    r.add("reshape", r.in_model_order(x), first)
    finish()


def sliced(r, x, y):
    starts, axes, steps = r.constant(1, "starts"), r.constant(3, "axes"), r.constant(4)
    if starts is None or any(step != 1 for step in steps or []):
        raise ops.Unreadable("it has steps other than 1; it would need a slice with strides")
    begins = [0] * len(r.shape)
    for axis, start in zip(axes or range(len(starts)), starts):
        size = r.shape[axis]
        begins[axis] = min(max(start + size if start < 0 else start, 0), size)
    r.add("slice", x, y, begins=r.per_axis(begins))


def split(r, x, outputs):
    axis, at = r.attributes.get("axis", 0) % len(r.shape), 0
    for name, y in outputs:
        begins = [0] * len(r.shape)
        begins[axis] = at
        at += r.graph.shape(name)[axis]
        r.add("slice", x, y, begins=r.per_axis(begins))


def pad(r, x, y):
    pads, value, axes = r.constant(1, "pads"), r.constant(2, "value"), r.constant(3)
    mode = r.attributes.get("mode", b"constant").decode()
    if mode != "constant":
        raise ops.Unreadable(f"it pads by '{mode}'; it would need a pad of that kind")
    of_integers, quantization = r.node.input[0] == r.name, r.graph.tensors[x]["quantization"]
    if of_integers and not quantization or (value or [0])[0] != (quantization["zero_points"][0] if of_integers else 0):
        raise ops.Unreadable("it pads with another value than the zero point, or that one is not known")
    rank = len(r.shape)
    if axes is not None:
        both = [0] * (2 * rank)
        for k, axis in enumerate(axes):
            both[axis % rank], both[axis % rank + rank] = pads[k], pads[k + len(axes)]
        pads = both
    if rank != 4 or any(pads[:2] + pads[4:6]) or min(pads) < 0:
        raise ops.Unreadable("it pads other axes than lines and columns, or takes some of them away")
    r.add("pad", x, y, pads=[pads[2], pads[6], pads[3], pads[7]])


def check_resize(r, to):
    """Checks that the scales are those of the sizes: Octet resizes by the ratio of the sizes."""
    a, mode = r.attributes, r.attributes.get("mode", b"nearest").decode()
    if mode not in ("nearest", "linear") or a.get("antialias") or a.get("axes") or a.get("keep_aspect_ratio_policy", b"stretch") != b"stretch":
        raise ops.Unreadable(f"it resizes by '{mode}', smooths or names its axes; it would need nearest or linear of all axes")
    if len(r.shape) != 4 or r.shape[:2] != to[:2]:
        raise ops.Unreadable("it resizes other axes than lines and columns")
    scales = r.constant(1 if r.node.op_type == "Upsample" or len(r.node.input) == 2 else 2) or []
    if any(scale * size != out for scale, size, out in zip(scales, r.shape, to)):
        raise ops.Unreadable("one of its scales is not the ratio of the sizes; it would need a resize by a scale")
    return mode


def resize(r, x, y):
    to = r.graph.shape(r.node.output[0])
    mode, old = check_resize(r, to), r.node.op_type == "Upsample" or len(r.node.input) == 2
    coordinates = "asymmetric" if old else r.attributes.get("coordinate_transformation_mode", b"half_pixel").decode()
    if coordinates not in COORDINATES:
        raise ops.Unreadable(f"its coordinates are '{coordinates}'; it would need one of {', '.join(COORDINATES)}")
    more = {"coordinates": COORDINATES[coordinates]}
    if mode == "nearest":
        more["nearest"] = "floor" if old else NEAREST[r.attributes.get("nearest_mode", b"round_prefer_floor").decode()]
    elif r.node.input[0] != r.name:  # of dequantized values
        more["in_floats"] = True
    elif r.graph.is_retyped(r.graph.tensors[y]["name"]):
        more["as_unsigned"] = True
    r.add("resize nearest" if mode == "nearest" else "resize bilinear", x, y, **more)


def depth_to_space(r, x, y):
    """The mode CRD has the pixels of a block innermost: they are moved before the channels."""
    block = r.attributes["blocksize"]
    if len(r.shape) != 4 or not r.moved:
        raise ops.Unreadable("its input is no image, or is described without its data")
    n, c, h, w = r.shape
    if r.attributes.get("mode", b"DCR") == b"CRD":
        depth = c // (block * block)
        groups = r.add("reshape", x, r.between(x, [n, h, w, depth, block * block], "groups"))
        turned = r.add("transpose", groups, r.between(x, [n, h, w, block * block, depth], "turned"), permutation=[0, 1, 2, 4, 3])
        x = r.add("reshape", turned, r.between(x, [n, h, w, c], "blocks"))
    r.add("depth to space", x, y, block=block)


def softmax(r, x, y):
    rank = len(r.shape)
    version = next((o.version for o in r.graph.opsets if o.domain in ("", "ai.onnx")), 13)
    axis = r.attributes.get("axis", 1 if version < 13 else -1) % rank
    if r.is_image(r.shape) and (axis == 1 and (version >= 13 or r.shape[2] * r.shape[3] == 1)):
        r.add("softmax", x, y)
    elif axis == rank - 1:
        first, finish = r.from_model_order(y, r.shape, y)
        r.add("softmax", r.in_model_order(x), first)
        finish()
    else:
        raise ops.Unreadable(f"it is over axis {axis} of {rank}; it would need the last one, or an image's channels")


READERS = {"Transpose": transpose, "Slice": sliced, "Pad": pad, "Resize": resize, "Upsample": resize, "DepthToSpace": depth_to_space}


def moved(graph, node, taken):
    """An operator whose result has its input's scale; None if it is on floats."""
    outputs, claimed = [], set()
    for out in (name for name in node.output if name):
        if graph.type(node.input[0]) in ops.BYTES:
            before, after = (node.input[0], None), (out, None, "NONE", [])
        else:
            before, after = graph.integers(node.input[0]), graph.quantized(out)
        if not before or not after:
            return None
        if after[2] != "NONE":
            raise ops.Unreadable("an activation is behind it; it would need a QuantizeLinear between them")
        if before[1] != after[1]:
            raise ops.Unreadable("its input and its output are quantized differently")
        claimed.update(after[3])
        outputs.append(after[:2])
    found = []
    reader = Reader(graph, node, *before, found)
    x = graph.tensor(*before)
    made = [graph.tensor(*output) for output in outputs]
    if node.op_type == "Split":
        split(reader, x, list(zip((name for name in node.output if name), made)))
    elif len(made) != 1:
        raise ops.Unreadable(f"it has {len(made)} outputs, not 1")
    else:
        READERS.get(node.op_type, reshape)(reader, x, made[0])
    taken.update(claimed)
    return found


def ended(graph, node):
    """A softmax of integers, to floats; None if it is on floats."""
    before, found = graph.integers(node.input[0]), []
    if not before:
        return None
    softmax(Reader(graph, node, *before, found), graph.tensor(*before), graph.tensor(node.output[0]))
    graph.made_floats.add(node.output[0])
    return found


def quantized(graph, node):
    """A QuantizeLinear of floats that an operator of the description makes; None if something else makes them."""
    if node.input[0] not in graph.made_floats:
        return None
    quantization = graph.quantization(node.input[1], node.input[2] if len(node.input) > 2 else "")
    if quantization is None or len(quantization["scales"]) != 1:
        raise ops.Unreadable("its scale is computed, or there are several; it would need a constant one")
    return [{"kind": "quantize", "name": node.name or node.output[0], "operator": node.op_type, "inputs": [graph.tensor(node.input[0])],
             "outputs": [graph.tensor(node.output[0], quantization)]}]


def spread(found, tensors):
    """Gives tensors that operators on integers move the scales of the other end, where only one is stated."""
    kinds = {"transpose", "reshape", "slice", "pad", "resize nearest", "resize bilinear", "depth to space"}
    moves = [(op["inputs"][0], op["outputs"][0]) for op in found if op["kind"] in kinds]
    changed = True
    while changed:
        changed = False
        for a, b in (*moves, *((b, a) for a, b in moves)):
            if tensors[a]["quantization"] and not tensors[b]["quantization"]:
                tensors[b]["quantization"], changed = tensors[a]["quantization"], True
