#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the execution provider against an unmodified ONNX Runtime: whole networks, byte by byte.

    check.py <liboctet_onnxruntime.so> <directory for a virtual environment> [tier ...]

Models are made and quantized here, and outputs must be those of ONNX Runtime's CPU provider where that one computes the model as it is written: int8 stays int8,
and no sum saturates. All runs once on this machine's best tier, and the comparisons again in processes that OCTET_MAX_ISA limits to each of the tiers. Exits with 77, which ctest shows as skipped,
where the Python packages are missing and cannot be installed.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "tools" / "models"))
import packages  # noqa: E402

packages.need(pathlib.Path(sys.argv[2]), [HERE / "requirements.txt"], "onnxruntime.quantization", "onnx", "numpy")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime as ort  # noqa: E402
import attention  # noqa: E402
import faults  # noqa: E402
import floats  # noqa: E402
import hostile  # noqa: E402
import models  # noqa: E402
import networks  # noqa: E402
import scale_blocks  # noqa: E402
import shapes  # noqa: E402
from log import said_while  # noqa: E402

LIBRARY = str(pathlib.Path(sys.argv[1]).resolve())
QUANTIZED = ("qdq-s8s8", "qdq-u8s8-channel", "qdq-u8u8", "qoperator-u8u8", "qoperator-u8s8-channel")
failures = 0


def complain(text):
    global failures
    failures += 1
    print("FAILED:", text)


def device():
    return [found for found in ort.get_ep_devices() if found.ep_name == "OctetExecutionProvider"]


def session(model, options=None, threads=1, level=None, severity=4):
    """options: the provider's; None: ONNX Runtime alone."""
    settings = ort.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.log_severity_level = severity
    if level is not None:
        settings.graph_optimization_level = level
    settings.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if options is not None:
        settings.add_provider_for_devices(device(), options)
        return ort.InferenceSession(model, settings, enable_fallback=False)
    # Its kernels for AVX2 saturate sums of u8 x s8; s8 weights become u8 with the first entry, s8 activations stay s8 with the second one.
    exact = "x64quantprecision" if "s8s8" not in str(model) else "qdqisint8allowed"
    settings.add_session_config_entry(f"session.{exact}", "1")
    return ort.InferenceSession(model, settings, providers=["CPUExecutionProvider"])


def feeds(made, seed, sizes={}):
    rng = np.random.default_rng(seed)
    values = {}
    for end in made.get_inputs():
        shape = [sizes.get(size, size) for size in end.shape]
        kind = {"tensor(uint8)": np.uint8, "tensor(int8)": np.int8}.get(end.type)
        if kind:
            values[end.name] = rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape, kind, endpoint=True)
        else:
            values[end.name] = rng.standard_normal(shape).astype(np.float32)
    return values


def differing(mine, theirs):
    return sum(a.shape != b.shape or a.dtype != b.dtype or int((a.view(np.uint8) != b.view(np.uint8)).sum()) for a, b in zip(mine, theirs))


def nodes_of(made):
    """How many nodes of the model Octet has, and how many others there are."""
    octet = others = 0
    for part in made.get_provider_graph_assignment_info():
        if part.ep_name == "OctetExecutionProvider":
            octet += len(part.get_nodes())
        else:
            others += len(part.get_nodes())
    return octet, others


def compare(what, model, options, threads, sizes=({},), most_left=0):
    mine, theirs = session(model, options, threads), session(model, None, threads)
    octet, others = nodes_of(mine)
    if octet == 0 or others > most_left:
        complain(f"{what} {options}: Octet has {octet} nodes and leaves {others}")
    for seed, chosen in enumerate(sizes):
        given = feeds(mine, seed, chosen)
        wrong = differing(mine.run(None, given), theirs.run(None, given))
        if wrong:
            complain(f"{what} {options}, sizes {chosen}: {wrong} bytes differ")


def configurations(full):
    for threads in (1, 2):
        for goal in ("time", "layers", "traffic", "memory") if full else ("time",):
            yield {"threads": str(threads), "goal": goal}, threads


def check_images(folder, full):
    for how in QUANTIZED:
        path = models.quantized(models.image_network(), folder, how, {"x": (1, 3, 30, 30)})
        for options, threads in configurations(full):
            compare(f"images, {how}", path, options, threads)
    path = models.quantized(models.divided_network(), folder, "qdq-u8u8", {"x": (1, 3, 12, 12)})
    compare("an operator in the middle", path, {}, 1, most_left=1)
    path = models.quantized(models.image_network("N", 30), folder, "qdq-u8u8", {"x": (1, 3, 30, 30)})
    # More sizes than are kept, and the first ones again
    compare("free batch", path, {"threads": "2"}, 2, [{"N": n} for n in (1, 5, 2, 0, 5, *range(1, 19), 1)])
    path = models.quantized(models.image_network("N", "S"), folder, "qdq-u8u8", {"x": (1, 3, 30, 30)})
    compare("free batch and sizes", path, {}, 1, [{"N": 1, "S": 30}, {"N": 2, "S": 45}, {"N": 1, "S": 17}])


def check_lookups(folder, full):
    path = str(folder / "lookups-s8s8.onnx")
    onnx.save(models.looked_up_network(), path)
    for options, threads in configurations(full):
        compare("functions of one tensor", path, options, threads)


def check_moves(folder, full):
    path = str(folder / "moves-s8s8.onnx")
    onnx.save(models.moved_network(), path)
    for options, threads in configurations(full):
        compare("operators that move values", path, options, threads, [{"N": n} for n in (1, 3, 0)])


def check_networks(folder, full):
    for name, make in networks.ALL.items():
        for how in QUANTIZED if full else QUANTIZED[:1]:
            path = models.quantized(make(), folder, how, {"x": (2, *networks.IMAGE[1:])})
            for options, threads in configurations(full and how == QUANTIZED[0]):
                # Of operators on bytes it makes neither HardSwish nor HardSigmoid
                left = 20 if name == "MobileNetV3" and "qoperator" in how else 0
                compare(f"{name}, {how}", path, options, threads, [{"N": n} for n in (1, 3)], left)


def check_splits(folder, full):
    for how, operators in (*((how, 17) for how in QUANTIZED), ("qdq-s8s8", 11), ("qdq-s8s8", 18)):
        path = models.quantized(models.split_network(operators), folder, how, {"x": (2, 3, 20, 20)})
        for options, threads in configurations(full):
            compare(f"splits of set {operators}, {how}", path, options, threads, [{"N": n} for n in (1, 3, 0)])


def check_means(folder, full):
    planes = ((1, 9, 7), (3, 9, 7), (2, 1, 1), (3, 1, 3), (1, 2, 2), (3, 5, 3), (2, 16, 16), (1, 3, 13), (5, 2, 3), (0, 4, 4))
    sizes = [dict(zip("NHW", size)) for size in planes]
    for operators, rank in ((17, 4), (18, 4), (17, 3)):
        path = str(folder / "means-s8s8.onnx")
        onnx.save(models.mean_network(operators, rank), path)
        for options, threads in configurations(full):
            compare(f"means of rank {rank}", path, options, threads, sizes)


def check_softmax(folder, full):
    sizes = [dict(N=n, rows=rows, W=w) for n, rows, w in ((2, 3, 7), (1, 900, 1), (3, 1, 300), (0, 2, 2))]
    for operators in (12, 17):
        path = str(folder / "softmax-s8s8.onnx")
        onnx.save(models.softmax_network(operators), path)
        for options, threads in configurations(full):
            compare(f"softmax of set {operators}", path, options, threads, sizes)


def check_blocks(folder, full):
    sizes = [dict(zip("NHW", size)) for size in ((1, 5, 4), (3, 1, 7), (0, 2, 2))]
    path = str(folder / "blocks-s8s8.onnx")
    onnx.save(models.block_network(), path)
    for options, threads in configurations(full):
        compare("blocks of pixels", path, options, threads, sizes)


def check_integers(folder, full):
    path = str(folder / "integers.onnx")
    onnx.save(models.integer_network(), path)
    for options, threads in configurations(full):
        compare("integers", path, options, threads)


def check_dynamic(folder, full):
    """Ranges are found in the run, also where ONNX Runtime has fused the operators beforehand."""
    tokens = [{"tokens": n} for n in (1, 700, 33, 0)]
    for how in ("dynamic-s8", "dynamic-u8", "dynamic-s8-channel") if full else ("dynamic-s8",):
        path = models.quantized(models.token_network(), folder, how, {})
        fused = ort.SessionOptions()
        fused.optimized_model_filepath = str(folder / "fused.onnx")
        fused.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        ort.InferenceSession(path, fused, providers=["CPUExecutionProvider"])
        for threads in (1, 2):
            options = {"threads": str(threads)}
            compare(f"tokens, {how}", path, options, threads, tokens, most_left=10)
            compare(f"tokens, {how}, fused", fused.optimized_model_filepath, options, threads, tokens, most_left=10)
    path = models.quantized(models.image_network("N"), folder, "dynamic-u8", {})
    for threads in (1, 2):
        compare("images, dynamic", path, {"threads": str(threads)}, threads, [{"N": n} for n in (1, 3, 0)], most_left=20)


def check_static_encoder(folder, full):
    """All between the LayerNormalizations of an encoder is Octet's, two products of activations among it."""
    sizes = [{"images": n, "tokens": t} for n, t in ((1, 20), (3, 7), (2, 1), (0, 5))]
    for how in QUANTIZED if full else QUANTIZED[:1]:
        path = models.quantized(models.written_encoder_network(), folder, how, {"x": (2, 20, 48), "mask": (2, 1, 1, 20)})
        for options, threads in configurations(full and how == QUANTIZED[0]):
            compare(f"static encoder, {how}", path, {**options, "floats": "0"}, threads, sizes, most_left=8)
        octet, others = nodes_of(session(path, {}))
        if others > 6:
            complain(f"static encoder, {how}: with floats Octet leaves {others} nodes")


def check_shapes(folder, full):
    """Shapes that nodes compute of sizes of a run keep no network apart, and nodes that need more than sizes do not spoil it."""
    sizes = [{"images": n, "tokens": t} for n, t in ((1, 20), (3, 7), (2, 1))]  # without images ONNX Runtime refuses the second way itself
    for way in ("view", "sdpa"):
        for how in QUANTIZED[:3] if full else QUANTIZED[:1]:
            path = models.quantized(shapes.attention_network(way), folder, how, {"x": (2, 20, 48), "mask": (2, 1, 1, 20)})
            for options, threads in configurations(False):
                compare(f"attention, {way}, {how}", path, options, threads, sizes)
    planes = [dict(N=n, H=h, W=w) for n, h, w in ((1, 5, 4), (3, 1, 7), (2, 1, 1), (0, 2, 2))]
    for name, made, most_left, sizes in (("places", shapes.places_network(), 0, planes), ("detour", shapes.detour_network(), 14, [{"N": n} for n in (1, 5, 2)])):
        path = str(folder / f"{name}-s8s8.onnx")
        onnx.save(made, path)
        compare(name, path, {}, 1, sizes, most_left)
    _, lines = said_while(lambda: session(path, {"report": "1"}, severity=2))
    if not any("'detour': its shape is computed; it needs a constant, or sizes" in line for line in lines):
        complain("nothing said why the Reshape of the detour stays")


def check_scale_blocks(full):
    """MatMulNBits has the bytes of Octet's contract: ONNX Runtime adds f32 in another order."""
    made, products = scale_blocks.network()
    for options, _ in configurations(False):
        mine = session(made.SerializeToString(), options, int(options["threads"]))
        if nodes_of(mine) != (len(products), 0):
            complain(f"of {len(products)} products in scale blocks Octet has {nodes_of(mine)[0]}")
        for shape in ((1, 1), (2, 3), (5, 20), (0, 3), (1, 1)) if full else ((1, 1), (3, 5)):
            given = scale_blocks.feeds(products, shape)
            for product, got in zip(products, mine.run(None, given)):
                wrong = differing([got], [product.expected(given)])
                if wrong:
                    complain(f"{product}, {options}, rows {shape}: {wrong} bytes differ")
    if not full:
        return
    made = scale_blocks.unset_network().SerializeToString()
    if nodes_of(session(made, {}))[0] or nodes_of(session(made, {"accuracy_level": "4"})) != (4, 0):
        complain("the option accuracy_level = 4 does not choose products of another level")


def check_attention(full):
    """QAttention has the bytes of Octet's contract; ONNX Runtime, which rounds floats in another order, is as near as the contract says."""
    sizes = ((1, 1), (2, 7), (3, 33), (1, 70), (2, 0), (0, 3), (2, 7)) if full else ((2, 37),)
    for every in (attention.forms(), attention.signed_forms()):
        made = attention.network(every)
        theirs = session(made, None) if full and not every[0].signed else None
        for options, threads in configurations(False):
            mine = session(made, options, threads)
            if nodes_of(mine) != (len(every) + sum(one.quantizer for one in every), 0):
                complain(f"of {len(every)} attentions Octet has {nodes_of(mine)[0]} nodes and leaves {nodes_of(mine)[1]}")
            for images, tokens in sizes:
                given = attention.feeds(every, images, tokens)
                results = mine.run(None, given)
                near = theirs.run(None, given) if theirs and images else [None] * len(every)  # of no images ONNX Runtime divides by zero
                for index, (one, got, other) in enumerate(zip(every, results, near)):
                    want, bound = one.expected(given, index)
                    wrong = differing([got], [want])
                    if wrong:
                        complain(f"{one}, {options}, {images} x {tokens} tokens: {wrong} bytes differ from the contract")
                    if other is not None and not (np.abs(got.astype(np.float64) - other) <= bound).all():
                        complain(f"{one}, {options}, {images} x {tokens} tokens: ONNX Runtime's result is farther than the contract says")


def check_floats(full):
    """Operators of f32 have the bytes of Octet's definition."""
    sizes = ((1, 1), (2, 7), (3, 33), (1, 70), (2, 0), (0, 3), (2, 7)) if full else ((2, 37),)
    for every, operators in ((floats.forms(), 20), (floats.written_forms(), 14)):
        made = floats.network(every, operators)
        for options, threads in configurations(False):
            mine, lines = said_while(lambda: session(made, {**options, "report": "1"}, threads, severity=2))
            if nodes_of(mine)[1] or any("octet: left" in line for line in lines):
                complain(f"Octet leaves {nodes_of(mine)[1]} nodes of the operators of floats, or says so")
            names = [end.name for end in mine.get_outputs()]
            for images, tokens in sizes:
                given = floats.feeds(every, images, tokens)
                results = dict(zip(names, mine.run(None, given)))
                for name, want in floats.expected(every, given).items():
                    wrong = differing([results[name]], [want])
                    if wrong:
                        complain(f"{name}, {every[int(name.lstrip('ysum'))]}, {options}, {images} x {tokens} tokens: {wrong} bytes differ from the definition")
    mine = session(floats.detour_network(), {})
    x = np.random.default_rng(1).standard_normal((5, 16)).astype(np.float32)
    wrong = differing(mine.run(["y", "w"], {"x": x}), floats.detour_expected(x))
    if wrong or nodes_of(mine) != (7, 3):
        complain(f"around a node of ONNX Runtime's {wrong} bytes differ, Octet has {nodes_of(mine)[0]} nodes and leaves {nodes_of(mine)[1]}")
    if full and nodes_of(session(made, {"floats": "0"}))[0] != len(every):
        complain("with floats = 0 Octet takes other nodes than the products")


def check_wrong_attention():
    """A mistake that only a run shows is refused with a sentence, and the next run is right."""
    every = attention.forms()
    mine = session(attention.network(every), {})
    given = attention.feeds(every, 2, 7)
    right = mine.run(None, given)
    wrong = (("mask1", np.zeros(3, np.int32), "has no shape of a mask of 2 x 7 tokens"), ("mask3", np.zeros((2, 6), np.int32), "has no shape of a mask"),
             ("scale9", np.zeros(1, np.float32), "scale"), ("scale9", np.full(1, np.nan, np.float32), "scale"), ("scale9", np.full(1, np.inf, np.float32), "scale"),
             ("x0", np.zeros((2, 7, 95), np.uint8), ""))
    for name, value, sentence in wrong:
        try:
            mine.run(None, {**given, name: value})
            complain(f"attention took a wrong {name}")
        except Exception as error:
            if sentence not in str(error):
                complain(f"a wrong {name} of an attention was refused by '{error}'")
    if differing(mine.run(None, given), right):
        complain("after a run that was refused attention has other bytes")


def check_encoder(folder):
    """quantize_dynamic's encoder: Octet has all that is quantized, and no byte depends on the threads."""
    path = models.quantized(models.encoder_network(), folder, "dynamic-s8", {})
    made = onnx.load(path)
    results = []
    for options, threads in configurations(False):
        mine, lines = said_while(lambda: session(path, {**options, "report": "1"}, threads, severity=2))
        left = {node.op_type for part in mine.get_provider_graph_assignment_info() if part.ep_name != "OctetExecutionProvider" for node in part.get_nodes()}
        if not any(node.op_type == "QAttention" for node in made.graph.node) or any("Integer" in kind or "Quant" in kind or kind == "QAttention" for kind in left):
            complain(f"of the encoder Octet leaves {left}")
        if any("left" in line and ("Quant" in line or "QAttention" in line) for line in lines) or not any("attention in f32" in line for line in lines):
            complain("the report of the encoder names what is taken among what is left, or no attention")
        given = {"x": feeds(mine, 3, {"images": 2, "tokens": 40})["x"], "mask": np.int32([[1] * 40, [1] * 29 + [0] * 11])}
        results.append(mine.run(None, given))
    if differing(*results):
        complain("the encoder's bytes depend on the number of threads")


def check_without_optimizations(folder):
    """Then several operators share a DequantizeLinear, as the model has it."""
    path = models.quantized(models.image_network(), folder, "qdq-u8u8", {"x": (1, 3, 30, 30)})
    mine, theirs = session(path, {}, level=ort.GraphOptimizationLevel.ORT_DISABLE_ALL), session(path)
    given = feeds(mine, 1)
    wrong = differing(mine.run(None, given), theirs.run(None, given))
    if wrong or nodes_of(mine)[0] == 0:
        complain(f"without optimizations: {wrong} bytes differ, Octet has {nodes_of(mine)[0]} nodes")


def check_reasons():
    """Each node that Octet leaves is told with the reason."""
    for made, reasons in (models.refused_dynamic_network(), models.refused_mean_network(), models.refused_softmax_network(),
                          models.refused_block_network(), scale_blocks.refused_network(), attention.refused_network(), floats.refused_network()):
        mine, lines = said_while(lambda: session(made.SerializeToString(), {"report": "1"}, severity=2))
        octet, others = nodes_of(mine)
        if octet or others < len(reasons):
            complain(f"of the nodes that are refused Octet has {octet} and leaves {others}")
        for name, reason in reasons.items():
            if not any(f" '{name}': {reason}" in line for line in lines):
                complain(f"nothing said that '{name}' stays because {reason}")


def check_options(path):
    for options, sentence in (({"threads": "many"}, "threads = many: it takes 1 to 4096"), ({"as": "float"}, "it takes one of onnxruntime, standard"),
                              ({"accuracy_level": "1"}, "it takes one of 4, model"), ({"thread": "2"}, "is none; there are as, threads, goal, accuracy_level, floats, cache and report"), ({"cache": "no/such/folder"}, "cache = no/such/folder: it takes a folder that exists")):
        try:
            session(path, options)
            complain(f"the options {options} were taken")
        except Exception as error:
            if sentence not in str(error):
                complain(f"the options {options} were refused by '{error}'")
    if nodes_of(session(path, {"as": "standard"}))[0] == 0:
        complain("as=standard took nothing")


def check_threads(path):
    """Sixteen threads run one session; others make, run and destroy their own again and again."""
    shared = session(path, {"threads": "2"}, 2)
    given = feeds(shared, 3)
    want = session(path).run(None, given)

    def work(index):
        for _ in range(6):
            made = shared if index % 2 else session(path, {"threads": "2"}, 2)
            if differing(made.run(None, given), want):
                return False
        return True

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        if not all(pool.map(work, range(16))):
            complain("sessions on many threads gave other bytes")


def main(full):
    ort.register_execution_provider_library("octet", LIBRARY)
    if len(device()) != 1:
        complain(f"the library gave {len(device())} devices")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_images(folder, full)
        check_lookups(folder, full)
        check_moves(folder, full)
        check_networks(folder, full)
        check_splits(folder, full)
        check_means(folder, full)
        check_softmax(folder, full)
        check_blocks(folder, full)
        check_integers(folder, full)
        check_dynamic(folder, full)
        check_static_encoder(folder, full)
        check_shapes(folder, full)
        check_scale_blocks(full)
        check_attention(full)
        check_floats(full)
        if full:
            path = models.quantized(models.image_network(), folder, "qdq-u8u8", {"x": (1, 3, 30, 30)})
            check_wrong_attention()
            for complaint in hostile.complaints(session, nodes_of, differing):
                complain(complaint)
            check_encoder(folder)
            check_without_optimizations(folder)
            check_options(path)
            check_reasons()
            check_threads(path)
            for whole in (pathlib.Path(path).read_bytes(), scale_blocks.network()[0].SerializeToString(), attention.network(attention.forms()), floats.network(floats.forms())):
                for complaint in faults.corrupt(whole, session, feeds):
                    complain(complaint)
            for complaint in faults.cached(path, folder / "cache", session, feeds):
                complain(complaint)


limited = "limited" in sys.argv
main(not limited)
if not limited:
    for tier in sys.argv[3:]:
        environment = {**os.environ, "OCTET_MAX_ISA": tier}
        if subprocess.run([sys.executable, *sys.argv[:3], "limited"], env=environment, check=False).returncode:
            complain(f"with OCTET_MAX_ISA={tier}")
    print(f"{failures} failures")
sys.exit(failures != 0)
