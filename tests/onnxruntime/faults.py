# SPDX-License-Identifier: Apache-2.0
"""Damaged models and damaged files of packed weights; each function yields complaints."""
import concurrent.futures

import numpy as np
import onnxruntime as ort

from log import said_while


def refused_without_us(model):
    """Whether ONNX Runtime alone refuses a model. It has no sentence where a name is not UTF-8."""
    try:
        ort.InferenceSession(bytes(model), providers=["CPUExecutionProvider"])
    except Exception:
        return True
    return False


def corrupt(whole, session, feeds):
    """Damaged models are refused with a sentence or run; nothing ends the process."""
    rng = np.random.default_rng(4)
    for trial in range(60):
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), 1 + trial % 5):
            damaged[at] = rng.integers(0, 256)
        if trial % 10 == 0:
            del damaged[len(whole) * trial // 60:]
        try:
            made = session(bytes(damaged), {})
            made.run(None, feeds(made, 0))
        except Exception as error:
            if not str(error) and not refused_without_us(damaged):
                yield "a damaged model was refused without a sentence"


def cached(path, folder, session, feeds):
    """Packed weights come from files, whose damage is found; sizes that are free get them, too."""
    options = {"cache": str(folder), "report": "1"}
    plain = session(path, {})
    given = feeds(plain, 5)
    want = plain.run(None, given)

    def use(words):
        made, lines = said_while(lambda: session(path, options, severity=2))
        if not all(np.array_equal(a, b) for a, b in zip(made.run(None, given), want)):
            yield f"with packed weights in files bytes differ ({words})"
        if not any(words in line for line in lines):
            yield f"nothing said '{words}'"

    folder.mkdir()
    yield from use("0 packed weights come from")
    files = sorted(folder.iterdir())
    if not files:
        yield "no packed weights were written"
    yield from use(f"{len(files)} packed weights come from {folder}, 0 were packed")
    for file in files[:2]:
        whole = file.read_bytes()
        for damaged in (b"", whole[:-1], whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], whole[:-1] + bytes([whole[-1] ^ 128])):
            file.write_bytes(damaged)
            yield from use(f"{len(files) - 1} packed weights come from {folder}, 1 were packed")
        if file.read_bytes() != whole:
            yield "a damaged file of packed weights was not written anew"

    # Sessions that begin at the same time write and map the same files
    shared = folder / "shared"
    shared.mkdir()

    def work(_):
        return all(np.array_equal(a, b) for a, b in zip(session(path, {"cache": str(shared)}).run(None, given), want))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        if not all(pool.map(work, range(32))):
            yield "sessions that share a folder of packed weights gave other bytes"
    if len(list(shared.iterdir())) != len(files):
        yield "sessions that share a folder of packed weights left other files than one session"
