#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the LiteRT delegate against an unmodified LiteRT: whole networks, byte by byte.

    check.py <liboctet_litert.so> <directory for a virtual environment> [tier ...]

as=reference must give the bytes of LiteRT's reference kernels, as=xnnpack those of its default delegate. The networks are those that this file
and networks.py make and those of the directory that the environment variable OCTET_MODELS_DIR names. All runs once on this machine's best tier, and the
comparisons again, of one configuration, in processes that OCTET_MAX_ISA limits to each of the tiers. Exits with 77, which ctest shows as skipped, where the Python packages are missing and cannot be installed.
"""
import concurrent.futures
import importlib.metadata
import itertools
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "tools" / "models"))
import packages  # noqa: E402

packages.need(pathlib.Path(sys.argv[2]), [HERE / "requirements.txt"], "ai_edge_litert.interpreter", "flatbuffers", "numpy")
sys.path[:0] = [str(HERE), str(HERE.parent / "conformance")]
import faults  # noqa: E402
import flatbuffers  # noqa: E402
import networks as shapes  # noqa: E402
import numpy as np  # noqa: E402
import tflite  # noqa: E402
from ai_edge_litert.interpreter import Interpreter, OpResolverType, load_delegate  # noqa: E402

LIBRARY = sys.argv[1]
LIMITED = "limited" in sys.argv
GOALS = ("time",) if LIMITED else ("time", "layers", "traffic", "memory")
VERSION = shapes.version_of(importlib.metadata.version("ai-edge-litert"))
PEERS = {"reference": OpResolverType.BUILTIN_REF, "xnnpack": OpResolverType.AUTO}
failures = 0


def complain(text):
    global failures
    failures += 1
    print("FAILED:", text)


def small_network():
    """Convolutions of three kinds, an ADD of a branch, and a product, with scales per channel."""
    rng = np.random.default_rng(27)
    model = tflite.Model()
    int8 = lambda *shape: rng.integers(-127, 127, shape, np.int8, endpoint=True)
    bias = lambda n: rng.integers(-3000, 3000, n, np.int32)

    def convolution(x, scale, channels, kernel, out, depthwise=False, stride=1, activation="NONE", zero_point=-3):
        h, w, depth = out
        weights = int8(1, kernel, kernel, depth) if depthwise else int8(depth, kernel, kernel, channels)
        scales = rng.uniform(0.5, 1, depth).astype(np.float32) / (60 * kernel * (1 if depthwise else channels**0.5))
        inputs = [x, model.constant(weights, scales, 0, 3 if depthwise else 0), model.constant(bias(depth), scale * scales)]
        y = model.tensor((1, h, w, depth), np.int8, [0.05], zero_point)
        settings = {"padding": tflite.PADDING["SAME"], "strideH": stride, "strideW": stride, "dilationHFactor": 1, "dilationWFactor": 1}
        if depthwise:
            settings["depthMultiplier"] = 1
        model.operator("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D", activation, inputs, y, **settings)
        return y

    x = model.input(int8(1, 17, 19, 8), [0.04], 5)
    a = convolution(x, 0.04, 8, 3, (9, 10, 24), stride=2, activation="RELU6", zero_point=-128)
    b = convolution(a, 0.05, 24, 3, (9, 10, 24), depthwise=True, activation="RELU", zero_point=-128)
    c = convolution(b, 0.05, 24, 1, (9, 10, 24))
    d = model.tensor((1, 9, 10, 24), np.int8, [0.07], 11)
    model.operator("ADD", "NONE", [c, a], d)
    e = convolution(d, 0.07, 24, 3, (5, 5, 40), stride=2)
    product = model.tensor((1, 5, 5, 13), np.int8, [0.06], 2)
    scale = np.float32(0.004)
    model.operator("FULLY_CONNECTED", "NONE", [e, model.constant(int8(13, 40), [scale]), model.constant(bias(13), [np.float32(0.05) * scale])], product,
                   keepNumDims=True)
    model.graph.outputs = [product]
    return packed(model)


def products(dtype):
    """FULLY_CONNECTED whose factors are powers of two, so that results fall on halves: one scale for all weights, then, of int8, one for each channel."""
    rng = np.random.default_rng(28)
    model = tflite.Model()
    ends, zero = np.iinfo(dtype), 131 if dtype == np.uint8 else 0
    some = lambda *shape: rng.integers(max(ends.min, -127), ends.max, shape, dtype, endpoint=True)
    x, scale = model.input(some(6, 16), [2.0**-3], zero + 5), 2.0**-3
    for depth, width, weights, out in ((16, 400, [2.0**-4], 2.0**1), (400, 301, [2.0**-8] if zero else 2.0 ** -rng.integers(7, 10, 301), 2.0**3)):
        y = model.tensor((6, width), dtype, [out], zero - 7)
        bias = model.constant(rng.integers(-3000, 3000, width, np.int32), scale * np.float32(weights))
        model.operator("FULLY_CONNECTED", "NONE", [x, model.constant(some(width, depth), weights, zero), bias], y)
        x, scale = y, out
    model.graph.outputs = [x]
    return packed(model)


def int4(model, weights, *quantization):
    """A constant of 4 bits, two in a byte. Of an odd number of weights, the last byte's high half is none."""
    index = model.constant(weights, *quantization)
    nibbles = np.append(weights.astype(np.uint8).ravel() & 15, [15] * (weights.size % 2)).astype(np.uint8)
    model.graph.tensors[index].type = tflite.schema.TensorType.INT4
    model.model.buffers[model.graph.tensors[index].buffer].data = nibbles[::2] | nibbles[1::2] << 4
    return index


def products_of_int4(kind):
    """Two layers of one kind with weights of 4 bits: of an odd number, then of an even one."""
    rng = np.random.default_rng(31)
    model = tflite.Model()
    x, scale, size, channels = model.input(rng.integers(-128, 127, (3, 9, 9, 5) if kind != "FULLY_CONNECTED" else (3, 15), np.int8, endpoint=True), [0.04], 5), 0.04, 9, 5
    if kind == "FULLY_CONNECTED":
        channels = 15
    for out, kernel in ((15, 3), (33, 1), (8, 3)):
        depthwise = kind == "DEPTHWISE_CONV_2D"
        out = channels * (2 if depthwise and kernel == 1 else 1) if depthwise else out
        shape = (out, channels) if kind == "FULLY_CONNECTED" else (1, kernel, kernel, out) if depthwise else (out, kernel, kernel, channels)
        depth = np.prod(shape[1:-1] if depthwise else shape[1:])
        scales = rng.uniform(0.5, 1, out).astype(np.float32) / (100 * scale * depth**0.5)
        inputs = [x, int4(model, rng.integers(-7, 7, shape, np.int8, endpoint=True), scales, 0, 3 if depthwise else 0),
                  model.constant(rng.integers(-300, 300, out, np.int32), np.float32(scale) * scales)]
        settings = {} if kind == "FULLY_CONNECTED" else {"padding": tflite.PADDING["SAME"], "strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1}
        if depthwise:
            settings["depthMultiplier"] = out // channels
        y = model.tensor((3, out) if kind == "FULLY_CONNECTED" else (3, size, size, out), np.int8, [0.05], -3)
        model.operator(kind, "RELU" if kernel == 1 else "NONE", inputs, y, **settings)
        x, scale, channels = y, 0.05, out
    model.graph.outputs = [x]
    return packed(model)


def products_of_int16(kind, wide):
    """Three layers of one kind of 16x8: without an activation, with two; biases of int64 (wide) or int32, and none where LiteRT's kernel does without."""
    rng = np.random.default_rng(32)
    model = tflite.Model()
    product, depthwise, transposed = (kind == name for name in ("FULLY_CONNECTED", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"))
    size, channels, scale = 9, 15 if product else 5, 2.0**-11
    x = model.input(rng.integers(-32768, 32767, (3, 15) if product else (3, size, size, channels), np.int16, endpoint=True), [scale], 0)
    for layer, (out, kernel, activation) in enumerate(((15, 3, "NONE"), (33, 1, "RELU6"), (8, 3, "RELU"))):
        out = channels * (2 if kernel == 1 else 1) if depthwise else out
        shape = (out, channels) if product else (1, kernel, kernel, out) if depthwise else (out, kernel, kernel, channels)
        depth = np.prod(shape[1:-1] if depthwise else shape[1:])
        scales = rng.uniform(0.5, 1, 1 if product and layer else out).astype(np.float32) / np.float32(100 * depth**0.5)
        weights = model.constant(rng.integers(-127, 127, shape, np.int8, endpoint=True), scales, 0, 3 if depthwise else 0)
        bias = model.constant(rng.integers(-300000, 300000, out, np.int64 if wide else np.int32), np.float32(scale) * scales) if layer != 1 or not (product or transposed) else -1
        strides = {"padding": tflite.PADDING["SAME"], "strideH": 2 if transposed and kernel == 3 else 1, "strideW": 1}
        size_h = y_h = 9
        settings = {} if product else strides if transposed else {**strides, "dilationHFactor": 1, "dilationWFactor": 1}
        if transposed:
            size_h *= 2 ** ((layer + 1) // 2)
            y_h = size_h * strides["strideH"]
        if depthwise:
            settings["depthMultiplier"] = out // channels
        elif not wide and bias >= 0:
            settings["quantizedBiasType"] = tflite.schema.TensorType.INT32
        y_shape = (3, out) if product else (3, y_h, size, out)
        inputs = [model.constant(np.int32(y_shape)), weights, x, bias] if transposed else [x, weights, bias]
        y = model.tensor(y_shape, np.int16, [2.0**-11], 0)
        # Of a transposed convolution LiteRT's kernel of int16 has no activation
        model.operator(kind, "NONE" if transposed else activation, inputs, y, **settings)
        x, channels = y, out
    model.graph.outputs = [x]
    return packed(model)


def packed(model):
    builder = flatbuffers.Builder()
    builder.Finish(model.model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def interpreter(network, options=None, peer=None, batch=1, library=LIBRARY):
    delegates = [load_delegate(library, options)] if options else None
    if options:  # Operators that Octet leaves are computed by the same kernels as the peer's
        peer = OpResolverType.BUILTIN_REF if options["as"] == "reference" else OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    made = Interpreter(model_content=network, experimental_delegates=delegates, experimental_op_resolver_type=peer, num_threads=1)
    if batch != 1:
        for details in made.get_input_details():
            made.resize_tensor_input(details["index"], [batch, *details["shape"][1:]])
    made.allocate_tensors()
    return made


def outputs(made, seed):
    rng = np.random.default_rng(seed)
    for details in made.get_input_details():
        shape, kind = details["shape"], details["dtype"]
        floats = np.issubdtype(kind, np.floating)
        limits = None if floats else np.iinfo(kind)
        made.set_tensor(details["index"], rng.standard_normal(shape).astype(kind) if floats
                        else rng.integers(limits.min, limits.max, shape, kind, endpoint=True))
    made.invoke()
    return [made.get_tensor(details["index"]).copy() for details in made.get_output_details()]


def compare(what, network, options, batch=1):
    """Twenty inputs of a network (on a limited tier three), six in a row of one with states, which are reset before the last: all bytes equal, and Octet ran them."""
    mine = interpreter(network, options, batch=batch)
    theirs = interpreter(network, None, PEERS[options["as"]], batch)
    parts = [details["op_name"] for details in mine._get_ops_details()].count("DELEGATE")
    if not parts:
        return False
    if what in shapes.ALL and parts != 1:
        complain(f"{what} {options}: not one network, but {parts}")
    seeds = range(1, 4 if LIMITED else 7 if what in shapes.STATEFUL else 21)
    for seed in seeds:
        if seed == 6:
            mine.reset_all_variables(), theirs.reset_all_variables()
        wrong = sum(int((a != b).sum()) for a, b in zip(outputs(mine, seed), outputs(theirs, seed)))
        if wrong:
            complain(f"{what} {options}, batch {batch}, input {seed}: {wrong} values differ")
    return True


def check_networks(networks):
    for name, network in networks.items():
        # XNNPACK takes no weights of 4 bits and no int16, and LiteRT's other kernels round in a way of their own
        refused = "int4" in name or "int16" in name
        peers = [who for who in PEERS if who == "reference" or not refused and shapes.has_bytes_of_xnnpack(name, VERSION, platform.machine())]
        ran = [compare(name, network, {"as": who, "threads": threads, "goal": goal})
               for who, threads, goal in itertools.product(peers, "1" if LIMITED else "12", GOALS)]
        if refused and compare(name, network, {"as": "xnnpack"}):
            complain(f"the delegate took the network {name} as=xnnpack")
        print(f"{name}: Octet ran it {sum(ran)} times of {len(ran)}")
        if name in MADE and not all(ran):
            complain(f"the delegate took nothing of the network {name}")


def check_interrupted(network):
    """An operator of LiteRT's own between two networks of Octet's."""
    for options in ({"as": "reference"}, {"as": "xnnpack", "threads": "2"}):
        names = [details["op_name"] for details in interpreter(network, options)._get_ops_details()]
        if names.count("DELEGATE") != 2 or not compare("interrupted", network, options):
            complain(f"with an operator in the middle and {options} LiteRT runs {names}")


def check_resized(network):
    """One interpreter whose batch changes, also to no image, beside LiteRT's."""
    made = [interpreter(network, {"as": "reference"}), interpreter(network, None, PEERS["reference"])]
    for seed, batch in enumerate((1, 0, 3, 0, 2, 1)):
        for one in made:
            for details in one.get_input_details():
                one.resize_tensor_input(details["index"], [batch, *details["shape"][1:]])
            one.allocate_tensors()
        if any(a.shape != b.shape or (a != b).any() for a, b in zip(*(outputs(one, seed) for one in made))):
            complain(f"after a resize to {batch} images outputs differ")
        if ("DELEGATE" in str(made[0]._get_ops_details())) != (batch > 0):
            complain(f"after a resize to {batch} images Octet has {'none' if batch else 'some'} of the operators")


def check_options():
    for options, sentence in (({"threads": "many"}, "threads = many: it takes 0 to 4096"), ({"as": "float"}, "it takes reference or xnnpack"),
                              ({"thread": "2"}, "is none; there are as, threads, goal and report")):
        try:
            load_delegate(LIBRARY, options)
            complain(f"the options {options} were taken")
        except ValueError as error:
            if sentence not in str(error):
                complain(f"the options {options} were refused by '{error}'")


def check_threads(network):
    """Sixteen interpreters at once, each made, run and destroyed again and again, on one pool."""
    want = outputs(interpreter(network, None, PEERS["xnnpack"]), 3)

    def work(_):
        for _ in range(5):
            got = outputs(interpreter(network, {"as": "xnnpack", "threads": "2"}), 3)
            if any((a != b).any() for a, b in zip(got, want)):
                return False
        return True

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        if not all(pool.map(work, range(16))):
            complain("interpreters on many threads gave other bytes")


def check_pool(network):
    """Two modules of one process, as the delegate and Python's module are, have one pool: the second one starts no thread."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copy(LIBRARY, pathlib.Path(scratch) / "liboctet_of_another.so")
        kept, threads = [], []  # their numbers: a thread that was joined may be listed for a moment
        for library in (LIBRARY, copy):
            kept.append(interpreter(network, {"as": "xnnpack", "threads": "4"}, library=library))
            outputs(kept[-1], 3)
            threads.append(set(os.listdir("/proc/self/task")))
        if len(threads[0]) < 4 or threads[1] - threads[0]:
            complain(f"of {len(threads[0])} threads with one delegate, another one starts {len(threads[1] - threads[0])}")


small = small_network()
MADE = {"small": small, "products": products(np.int8), "products of uint8": products(np.uint8),
        **{kind + " of int4": products_of_int4(kind) for kind in ("FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D")},
        **{f"{kind} of int16, bias of int{64 if wide else 32}": products_of_int16(kind, wide) for wide in (True, False)
           for kind in ("FULLY_CONNECTED", *(("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV") if wide else ()))},
        "apart": shapes.apart(9), **{name: make(seed) for seed, (name, make) in enumerate(shapes.ALL.items())}}
directory = os.environ.get("OCTET_MODELS_DIR")
found = {path.name: path.read_bytes() for path in sorted(pathlib.Path(directory).glob("*.tflite"))} if directory else {}


def check_rest():
    for batch in (3, 0):
        compare("small", small, {"as": "reference", "threads": "2"}, batch)
    if compare("peepholes", shapes.peepholes(10), {"as": "reference"}):
        complain("the delegate took an LSTM with peepholes")
    check_interrupted(shapes.interrupted(12))
    check_resized(small)
    check_options()
    check_threads(small)
    check_pool(small)
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("small", "products"):
            path = pathlib.Path(scratch) / "model.tflite"
            path.write_bytes(MADE[name])
            for complaint in faults.corrupt(path, LIBRARY):
                complain(f"{name}: {complaint}")
    for tier in sys.argv[3:]:
        environment = {**os.environ, "OCTET_MAX_ISA": tier}
        if subprocess.run([sys.executable, *sys.argv[:3], "limited"], env=environment, check=False).returncode:
            complain(f"with OCTET_MAX_ISA={tier}")


check_networks({**MADE, **found})
if not LIMITED:
    check_rest()
print(f"{failures} failures")
sys.exit(failures != 0)
