# SPDX-License-Identifier: Apache-2.0
"""What the makers of vectors share: models of one operator for LiteRT and ONNX Runtime, and numbers drawn at random. Needs
ai-edge-litert, onnxruntime, onnx, flatbuffers and numpy."""
import flatbuffers
import numpy as np
import onnx
import onnxruntime
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from onnx import TensorProto, helper

rng = np.random.default_rng(28)
STANDARD, TFLITE, XNNPACK, ONNXRUNTIME = range(4)
F = np.float32
ONNX_TYPE = {np.int8: TensorProto.INT8, np.uint8: TensorProto.UINT8}


def tflite_model(operator, options, tensors, constants, version=2, **fields):
    """A model of one operator from all tensors but the last one, and from constants, to the last one."""
    graph, model = schema.SubGraphT(), schema.ModelT()
    graph.tensors, model.version, model.subgraphs, model.buffers = [], 3, [graph], [schema.BufferT()]

    def add(shape, dtype, scale=None, zero_point=0, data=None):
        t, q = schema.TensorT(), schema.QuantizationParametersT()
        if scale is not None:
            q.scale, q.zeroPoint = [scale], [zero_point]
        t.shape, t.quantization, t.buffer, t.name = list(shape), q, 0, b"t%d" % len(graph.tensors)
        t.type = getattr(schema.TensorType, np.dtype(dtype).name.upper())
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(data.tobytes(), np.uint8)
            model.buffers.append(buffer)
            t.buffer = len(model.buffers) - 1
        graph.tensors.append(t)
        return len(graph.tensors) - 1

    graph.inputs = [add(*t) for t in tensors[:-1]]
    inputs = graph.inputs + [add(c.shape, c.dtype, data=c) for c in constants]
    graph.outputs = [add(*tensors[-1])]
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = getattr(schema.BuiltinOperator, operator)
    code.version, model.operatorCodes = version, [code]
    op = schema.OperatorT()
    op.opcodeIndex, op.inputs, op.outputs = 0, inputs, graph.outputs
    if options:
        opt = getattr(schema, options + "T")()
        for name, value in fields.items():
            setattr(opt, name, value)
        op.builtinOptions, op.builtinOptionsType = opt, getattr(schema.BuiltinOptions, options)
    graph.operators = [op]
    builder = flatbuffers.Builder()
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def run_tflite(model, xs, reference, delegated=False):
    """delegated: None where XNNPACK leaves the operator to TFLite."""
    kind = OpResolverType.BUILTIN_REF if reference else OpResolverType.AUTO
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=kind)
    interpreter.allocate_tensors()
    for tensor, x in zip(interpreter.get_input_details(), xs):
        interpreter.set_tensor(tensor["index"], x)
    interpreter.invoke()
    if delegated and "DELEGATE" not in [op["op_name"] for op in interpreter._get_ops_details()]:
        return None
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def run_onnx(nodes, xs, constants, as_written=False):
    """xs: arrays by their names. as_written: without the optimizer, which replaces operators between QDQ by its own."""
    inputs = [helper.make_tensor_value_info(n, ONNX_TYPE[x.dtype.type], x.shape) for n, x in xs.items()]
    constant = constants.get(nodes[-1].input[-1])
    out = ONNX_TYPE[(next(iter(xs.values())) if constant is None or constant.dtype.type not in ONNX_TYPE else constant).dtype.type]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info(nodes[-1].output[0], out, None)],
                              [onnx.numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19), helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = 9
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if as_written:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, xs)[0]


def between(name, inputs=("a",), **attributes):
    """An operator between DequantizeLinear and QuantizeLinear."""
    return [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["a"]),
            helper.make_node(name, inputs, ["b"], **attributes),
            helper.make_node("QuantizeLinear", ["b", "t", "u"], ["y"])]


def draw_scales(kind):
    a = F(2.0 ** rng.integers(-6, 0)) if kind % 2 else F(10 ** rng.uniform(-2, 0))
    return a, a if kind % 3 == 0 else F(a * F(rng.uniform(0.3, 1.5)))


def zero_point(dtype):
    return int(rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1))


def bits(x):
    return int(np.array(x, F).view(np.uint32))
