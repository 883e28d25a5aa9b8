# SPDX-License-Identifier: Apache-2.0
"""The entries of a description for operators of any kind of model."""

BYTES = ("u8", "s8")
WORDS = ("s16",)
# The most bytes of a tensor that moves in one piece
DIMENSIONS = 4


class Unreadable(Exception):
    """The model, or one of its operators, cannot be read; the message is a sentence."""


class UnknownShape(Unreadable):
    """The sizes of an operator depend on open dimensions of the model."""


def convolution_case(g):
    """The name that `octet bench` takes, in benchdnn's manner. Padding below and right follows from the output's size."""
    fields = [("g", "groups", 1), ("mb", "batch", None), ("ic", "in_channels", None), ("oc", "out_channels", None), ("ih", "in_h", None),
              ("iw", "in_w", None), ("oh", "out_h", None), ("ow", "out_w", None), ("kh", "kernel_h", None), ("kw", "kernel_w", None),
              ("sh", "stride_h", 1), ("sw", "stride_w", 1), ("ph", "pad_top", 0), ("pw", "pad_left", 0),
              ("dh", "dilation_h", 1), ("dw", "dilation_w", 1)]
    text = "".join(f"{key}{g[name]}" for key, name, default in fields if g[name] != default or key in ("ph", "pw", "sh", "sw"))
    return ("t" if g["transposed"] else "") + text


def out_size(size, kernel, stride, dilation, before, after):
    return (size + before + after - (kernel - 1) * dilation - 1) // stride + 1


def same_padding(size, kernel, stride, dilation):
    """TensorFlow's SAME padding: an odd pixel goes to the end."""
    total = max((-(-size // stride) - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


def why_not(types):
    """The reason why Octet does not multiply these operands, or None."""
    lhs, rhs, dst = types
    if lhs in BYTES and rhs in BYTES and dst in (*BYTES, "s32", "f32"):
        return None
    if lhs in WORDS and rhs == "s8" and dst in (*WORDS, "f32"):
        return None
    return f"{lhs} x {rhs} -> {dst}; operands of 8 bits, or s16 x s8, are wanted"


def product(name, operator, types, inputs, output, m, n, k, **more):
    return _multiplied("product", name, operator, types, inputs, output, f"{m}x{n}x{k}", more)


def convolution(name, operator, types, inputs, output, geometry, layout, **more):
    return _multiplied("convolution", name, operator, types, inputs, output, convolution_case(geometry),
                       {"geometry": geometry, "layout": layout, **more})


def _multiplied(kind, name, operator, types, inputs, output, case, more):
    reason = why_not(types)
    if reason:
        return other(name, operator, inputs, [output], reason)
    return {"kind": kind, "name": name, "operator": operator, "inputs": inputs, "outputs": [output], "case": case, "types": "".join(types), **more}


def addition(name, operator, types, inputs, output, **more):
    if any(t not in BYTES for t in types):
        return other(name, operator, inputs, [output], "only additions of 8 bits")
    return {"kind": "addition", "name": name, "operator": operator, "inputs": inputs, "outputs": [output], **more}


def multiplication(name, operator, types, inputs, output, **more):
    return {**addition(name, operator, types, inputs, output, **more), "kind": "multiply"} if all(t in BYTES for t in types) else other(name, operator, inputs, [output])


def pooling(name, operator, inputs, output, geometry, **more):
    return {"kind": "pooling", "name": name, "operator": operator, "inputs": inputs, "outputs": [output], "geometry": geometry, **more}


def reshape(name, operator, inputs, output):
    """An operator that changes only the shape of a tensor."""
    return {"kind": "reshape", "name": name, "operator": operator, "inputs": inputs, "outputs": [output]}


def other(name, operator, inputs, outputs, left_out="not Octet's"):
    return {"kind": "other", "name": name, "operator": operator, "inputs": inputs, "outputs": outputs, "left_out": left_out}


def unforeseen(error):
    """The reason to leave out an operator at which a script fails: the model may be valid."""
    return f"tools/models cannot read it ({type(error).__name__}: {error})"


def convert_outside(found, inputs, conversions):
    """Marks operators that convert inputs of the model: `octet run` takes their results as inputs."""
    read = {i for op in found if op["kind"] != "other" for i in op["inputs"]}
    outside = set(inputs)
    for op in found:
        if op["operator"] in conversions and op["inputs"] and op["inputs"][0] in outside:
            outside.update(op["outputs"])
            if read.intersection(op["outputs"]):
                op.update(left_out="what it makes is an input of octet run", from_outside=True)
