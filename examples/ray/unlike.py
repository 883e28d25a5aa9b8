#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A cluster of two unlike machines on this one: runs batch.py's workers on each, then on both.

    unlike.py <model.onnx> <images> <tier>

Each machine has one core; OCTET_MAX_ISA limits the second one to the tier. Ends with 1 if the
outputs of the runs on Octet differ.
"""

import sys

import batch
import ray
import ray.cluster_utils


def main(model, images, tier):
    head = {"num_cpus": 1, "resources": {"first": 1}, "include_dashboard": False}
    cluster = ray.cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    digests = set()
    try:
        cluster.add_node(num_cpus=1, resources={"second": 1}, env_vars={"OCTET_MAX_ISA": tier})
        cluster.wait_for_nodes()
        ray.init(address=cluster.address, logging_level="error")
        for name in ("first", "second", "both"):
            both = name == "both"
            placement = {} if both else {"resources": {name: 1}}
            for alone in (False, True):
                # OCTET_MAX_ISA does not limit ONNX Runtime
                if alone and name == "second":
                    continue
                digest, text = batch.run(model, int(images), 1 + both, alone, **placement)
                print(f"{name}{', ONNX Runtime alone' if alone else ''}: {text}", flush=True)
                if not alone:
                    digests.add(digest)
    finally:
        ray.shutdown()
        cluster.shutdown()
    return len(digests) != 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
