#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a quantized ONNX model on many images on a Ray cluster, on ONNX Runtime with Octet.

    batch.py <model.onnx> <images> [--workers N] [--alone]

Each worker is a process with a session of its own, on whichever machine Ray puts it; machines may
have unlike CPUs. The model's first input is an f32 image, 1 x C x H x W, and its first output what
is wanted of each image. Images are drawn from their numbers here; ray.data.read_images and a map
take the place of numbers and drawing, and need a CPU beside those of the workers.

Prints how many images ran on which of Octet's instruction sets, the rate from the first batch's start to the
last one's end, and the first digits of a digest of all outputs in the order of the images.
"""

import argparse
import collections
import hashlib
import time

import numpy as np
import ray

BATCH = 16


class Worker:
    """An actor of Ray Data: one session for all batches that it gets."""

    def __init__(self, model, alone):
        import octet.onnxruntime
        import onnxruntime

        if alone:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            self.session = onnxruntime.InferenceSession(model, options)
        else:
            self.session = octet.onnxruntime.session(model, threads=1)
        self.tier = "ONNX Runtime" if alone else octet.cpu()["tier"]
        end = self.session.get_inputs()[0]
        self.name, self.shape = end.name, [1, *end.shape[1:]]

    def __call__(self, batch):
        start = time.time()
        outputs = [self.session.run(None, {self.name: self.image(i)})[0][0] for i in batch["data"]]
        size = len(outputs)
        return {
            "id": batch["data"],
            "output": np.stack(outputs),
            "tier": [self.tier] * size,
            "start": [start] * size,
            "end": [time.time()] * size,
        }

    def image(self, number):
        pixels = np.random.default_rng(number).integers(0, 256, self.shape, np.uint8)
        return pixels.astype(np.float32) / 127.5 - 1


def run(model, images, workers, alone, **placement):
    """placement: what Ray is to know of a worker, such as resources."""
    numbers = [np.arange(first, min(first + BATCH, images)) for first in range(0, images, BATCH)]
    results = ray.data.from_numpy(numbers).map_batches(
        Worker,
        fn_constructor_kwargs={"model": model, "alone": alone},
        batch_size=BATCH,
        compute=ray.data.ActorPoolStrategy(size=workers),
        num_cpus=1,
        **placement,
    )
    rows = sorted(results.take_all(), key=lambda row: row["id"])
    digest = hashlib.sha256(b"".join(row["output"].tobytes() for row in rows)).hexdigest()
    tiers = collections.Counter(row["tier"] for row in rows)
    seconds = max(row["end"] for row in rows) - min(row["start"] for row in rows)
    where = ", ".join(f"{count} images on {tier}" for tier, count in sorted(tiers.items()))
    return digest, f"{where}: {images / seconds:.0f} images/s, outputs {digest[:8]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("images", type=int)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--alone", action="store_true", help="ONNX Runtime without Octet")
    given = parser.parse_args()
    ray.init(logging_level="warning")
    print(run(given.model, given.images, given.workers, given.alone)[1])


if __name__ == "__main__":
    main()
