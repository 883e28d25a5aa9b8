# SPDX-License-Identifier: Apache-2.0
"""A .tflite model as plain Python values. A file that cannot be read here is damaged; a later failure is no fault of the file."""
import dataclasses
import struct

import flatbuffers  # noqa: F401
import numpy as np
import tflite

import operators as ops

TYPES = {tflite.TensorType.INT8: "s8", tflite.TensorType.UINT8: "u8", tflite.TensorType.INT32: "s32", tflite.TensorType.FLOAT32: "f32",
         tflite.TensorType.INT16: "s16", tflite.TensorType.FLOAT16: "f16", tflite.TensorType.INT64: "s64", tflite.TensorType.BOOL: "bool"}
# The exceptions of reading a damaged file
DAMAGE = (AttributeError, IndexError, MemoryError, OverflowError, struct.error, TypeError, UnicodeDecodeError, ValueError)
NAMES = {value: name for name, value in vars(tflite.BuiltinOperator).items() if not name.startswith("_")}


@dataclasses.dataclass
class Tensor:
    name: str
    shape: list  # None: the file has none, and LiteRT infers it
    type: str
    quantization: dict
    data: np.ndarray  # the bytes of a constant
    variable: bool  # the state of a layer

    def integers(self):
        """The values of a constant with an operator's sizes; None for any other tensor."""
        kind = {"s32": np.int32, "s64": np.int64}.get(self.type)
        return None if self.data is None or kind is None else [int(x) for x in self.data.view(kind)]


class Options:
    """A field of an operator's options; only here is damage found after the file was read."""

    def __init__(self, table):
        self.table = table

    def __getattr__(self, name):
        def value():
            try:
                return getattr(self.table, name)()
            except DAMAGE as error:
                raise ops.Unreadable(f"its options are damaged: {error}") from error

        return value


@dataclasses.dataclass
class Operator:
    name: str
    inputs: list  # numbers of tensors; -1: none
    outputs: list
    table: object
    intermediates: list  # numbers of tensors that only this operator has

    def options(self, kind):
        made = kind()
        if self.table is None:
            raise ops.Unreadable("it has no options")
        made.Init(self.table.Bytes, self.table.Pos)
        return Options(made)


def integers(length, array):
    return [int(x) for x in array()] if length() else []


def int8_of_int4(nibbles, count):
    """Weights of 4 bits, two in a byte, as bytes: a description has no type of 4 bits, and the same products."""
    if nibbles.size < (count + 1) // 2:
        raise ValueError(f"{nibbles.size} bytes are too few for {count} weights of 4 bits")
    halves = np.stack([nibbles & 15, nibbles >> 4], axis=-1).ravel()[:count]
    return ((halves ^ 8).astype(np.int8) - np.int8(8)).view(np.uint8)


class Model:
    def __init__(self, data, batch):
        """Reads the file, or throws Unreadable. batch replaces an open first dimension."""
        if data[4:8] != b"TFL3":
            raise ops.Unreadable("it is no TFLite model")
        try:
            self.read(tflite.Model.GetRootAsModel(data, 0), batch)
        except DAMAGE as error:
            raise ops.Unreadable(f"it is damaged: {error}") from error

    def read(self, model, batch):
        if model.SubgraphsLength() < 1:
            raise ops.Unreadable("it has no graph")
        graph = model.Subgraphs(0)
        self.tensors = [self.tensor(model, graph.Tensors(i), i, batch) for i in range(graph.TensorsLength())]
        self.operators = [self.operator(model, graph.Operators(i), i) for i in range(graph.OperatorsLength())]
        self.inputs = self.checked(integers(graph.InputsLength, graph.InputsAsNumpy), "the graph", 0)
        self.outputs = self.checked(integers(graph.OutputsLength, graph.OutputsAsNumpy), "the graph", 0)

    def tensor(self, model, tensor, index, batch):
        if tensor.Buffer() >= model.BuffersLength():
            raise ValueError(f"tensor {index} has no buffer")
        buffer, name = model.Buffers(tensor.Buffer()), tensor.Name()
        data = buffer.DataAsNumpy() if buffer.DataLength() else None
        kind, shape = tensor.Type(), integers(tensor.ShapeLength, tensor.ShapeAsNumpy)
        if kind == tflite.TensorType.INT4 and data is not None:
            kind, data = tflite.TensorType.INT8, int8_of_int4(data, int(np.prod(shape)))
        signature = integers(tensor.ShapeSignatureLength, tensor.ShapeSignatureAsNumpy) or shape
        shape = [batch if i == 0 and open_ < 0 else n for i, (n, open_) in enumerate(zip(shape, signature))]
        if not shape and data is None and not tensor.HasRank():
            shape = None
        return Tensor(name.decode() if name else f"tensor {index}", shape, TYPES.get(kind, "other"), self.quantization(tensor.Quantization()), data,
                      bool(tensor.IsVariable()))

    @staticmethod
    def quantization(q):
        if q is None or not q.ScaleLength():
            return None
        scales = [float(np.float32(x)) for x in q.ScaleAsNumpy()]
        return {"scales": scales, "zero_points": integers(q.ZeroPointLength, q.ZeroPointAsNumpy) or [0] * len(scales)}

    def operator(self, model, op, index):
        if op.OpcodeIndex() >= model.OperatorCodesLength():
            raise ValueError(f"operator {index} has no code")
        code = model.OperatorCodes(op.OpcodeIndex())
        builtin, custom = max(code.BuiltinCode(), code.DeprecatedBuiltinCode()), code.CustomCode()
        where = f"operator {index}"
        return Operator(custom.decode() if custom else NAMES.get(builtin, str(builtin)), self.checked(integers(op.InputsLength, op.InputsAsNumpy), where, -1),
                        self.checked(integers(op.OutputsLength, op.OutputsAsNumpy), where, 0), op.BuiltinOptions(),
                        self.checked(integers(op.IntermediatesLength, op.IntermediatesAsNumpy), where, 0))

    def checked(self, indices, where, least):
        for index in indices:
            if not least <= index < len(self.tensors):
                raise ValueError(f"{where} has the tensor {index} of {len(self.tensors)}")
        return indices
