#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TFLite mode beside float mode on Arm: instructions of whole calls, layer by layer of whole networks, without Arm hardware.

The networks are those of `octet bench`, the counts those of estimate.py, the ratio is TFLite mode's over float mode's.
"""
import argparse
import pathlib
import subprocess

import estimate


def layers_of(octet, network):
    """[(layer, how often)]"""
    listed = subprocess.run([octet, "bench", "--list", network], check=True, capture_output=True, text=True).stdout
    return [(layer, int(count)) for layer, count, *_ in map(str.split, listed.splitlines())]


def instructions(directory, tier, layer, mode):
    counts, printed = estimate.count_one_call(directory, tier.qemu_cpu, [layer, *estimate.DEFAULT_TYPES.split(":"), *mode])
    return sum(counts.values()), printed.split(" ", 1)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build-dir", action="append", type=pathlib.Path, required=True, help="aarch64 build of Octet; repeat to compare compilers")
    parser.add_argument("--octet", default="octet", help="the octet command of this machine, which knows the networks")
    parser.add_argument("--tier", action="append", choices=estimate.TIERS, help="default: all")
    parser.add_argument("--layers", action="store_true", help="print every layer")
    parser.add_argument("network", nargs="*", default=["resnet50", "mobilenet_v2", "efficientnet_lite0"])
    options = parser.parse_args()

    for network in options.network:
        for name in options.tier or estimate.TIERS:
            for build in options.build_dir:
                directory, tier = estimate.programs_of(build), estimate.TIERS[name]
                total, worst = [0, 0], (0, "")
                for layer, times in layers_of(options.octet, network):
                    in_float, _ = instructions(directory, tier, layer, [])
                    in_tflite, how = instructions(directory, tier, layer, ["tflite"])
                    total = [total[0] + times * in_float, total[1] + times * in_tflite]
                    worst = max(worst, (in_tflite / in_float, layer))
                    if options.layers:
                        print(f"  {layer:<38} {how:<34} {in_tflite:>10} {in_float:>10} {in_tflite / in_float:6.3f}", flush=True)
                print(f"{network:<20} {name:<8} {estimate.compiler_of(build):<9} {total[1] / 1e6:8.2f} {total[0] / 1e6:8.2f} million "
                      f"{total[1] / total[0]:6.3f}   worst {worst[0]:.3f} {worst[1]}", flush=True)


if __name__ == "__main__":
    main()
