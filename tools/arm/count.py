#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of one call of Octet, per 1000 multiply-adds, of any target under qemu-user: estimate.py's counts without its cycles, because llvm-mca
has no good models of 32-bit cores. OCTET_MAX_ISA and OCTET_KERNEL choose the kernel.
"""
import argparse
import pathlib
import subprocess
import sys

SHAPES = ["196x256x1024", "3136x64x64", "784x40x120", "1x1024x1024", "ic64oc64_ih28kh3ph1", "g32ic32oc32_ih112oh112kh3ph1",
          "g32ic128oc128_ih14kh3ph1"]


def instructions(qemu, plugin, program):
    """Instructions of a whole program, and its output: multiply-adds and names."""
    command = [*qemu, "-d", "plugin", "-plugin", str(plugin), *map(str, program)]
    result = subprocess.run(command, capture_output=True, text=True)
    blocks = [line.split() for line in result.stderr.splitlines() if line.startswith("block ")]
    if result.returncode or not blocks:
        sys.exit(f"{' '.join(command)}\nfailed or counted nothing: {result.stderr.strip()[-400:]}")
    return sum(int(block[2]) * int(block[3]) for block in blocks), result.stdout.split()


def count(qemu, build, shape, types, runs, mode):
    return instructions(qemu, build / "libcount_blocks.so", [build / "one_shape", shape, *types, runs, *mode])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", required=True, type=pathlib.Path, help="with octet_one_shape and octet_count_blocks built")
    parser.add_argument("--qemu", default="qemu-arm -cpu cortex-a7")
    parser.add_argument("--types", default="s8:s8:s8")
    parser.add_argument("--tflite", action="store_true")
    parser.add_argument("--blocks", action="store_true", help="weights of s4 in scale blocks of 32")
    parser.add_argument("shapes", nargs="*", default=SHAPES)
    a = parser.parse_args()
    options = ["tflite"] * a.tflite + ["blocks"] * a.blocks
    for shape in a.shapes or SHAPES:
        once, twice = (count(a.qemu.split(), a.build_dir / "tools/arm", shape, a.types.split(":"), runs, options) for runs in (1, 2))
        print(f"{shape:32} {' '.join(once[1][1:]):32} {1000 * (twice[0] - once[0]) / int(once[1][0]):8.1f}")


if __name__ == "__main__":
    main()
