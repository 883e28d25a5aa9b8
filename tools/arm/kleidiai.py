#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of one product by 4-bit weights in KleidiAI, per 1000 multiply-adds, f32 to f32, counted as count.py counts those of Octet.

    git clone https://github.com/ARM-software/kleidiai && git -C kleidiai checkout 495f6524
    cmake --build build-arm64 -t octet_count_blocks
    tools/arm/kleidiai.py --build-dir build-arm64 kleidiai 16x1024x1024
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from count import instructions

HERE = pathlib.Path(__file__).parent
FOLDERS = {"BLOCKS": "matmul_clamp_f32_qsi8d32p_qsi4c32p", "CHANNELS": "matmul_clamp_f32_qai8dxp_qsi4cxp"}
PACKING = ["kai_lhs_quant_pack_qai8dxp_f32", "kai_lhs_quant_pack_qsi8d32p_f32", "kai_lhs_quant_pack_qsi8d32p4x8sb_f32_neon",
           "kai_rhs_pack_nxk_qsi4c32pscalef16_qsu4c32s16s0", "kai_rhs_pack_nxk_qsi4cxp_qs4cxs1s0"]


def build(kleidiai, compiler, to):
    """Compiles kleidiai_one with all kernels of dot products and of products of matrices. Returns the program."""
    matmul = kleidiai / "kai/ukernels/matmul"
    lists, header = [], ["#pragma once"]
    sources = [matmul / "pack" / f"{name}.c" for name in PACKING]
    for kind, folder in FOLDERS.items():
        kernels = sorted(f for f in (matmul / folder).glob("kai_*.c") if re.search("_neon_(dotprod|i8mm)$", f.stem))
        sources += kernels + [f.with_name(f"{f.stem}_asm.S") for f in kernels if f.with_name(f"{f.stem}_asm.S").exists()]
        header += [f'#include "kai/ukernels/matmul/{folder}/{f.stem}.h"' for f in kernels]
        names = " ".join(f"X({f.stem.removeprefix('kai_matmul_clamp_f32_')})" for f in kernels)
        lists.append(f"#define KLEIDIAI_{kind}(X) {names}")
    (to / "kernels.h").write_text("\n".join(header + lists) + "\n")
    flags = ["-O3", "-march=armv8.2-a+dotprod+i8mm+fp16", f"-I{kleidiai}", f"-I{to}"]
    objects = []
    for source in sources + [HERE / "kleidiai_one.cc"]:
        objects.append(to / f"{source.name}.o")
        language = ["-xc++", "-std=c++17"] if source.suffix == ".cc" else ["-xc"] if source.suffix == ".c" else []
        subprocess.run([compiler, *flags, *language, "-c", source, "-o", objects[-1]], check=True)
    program = to / "kleidiai_one"
    subprocess.run([compiler, "-static", *objects, "-o", program], check=True)
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kleidiai", type=pathlib.Path, help="a checkout")
    parser.add_argument("--build-dir", required=True, type=pathlib.Path, help="with octet_count_blocks built")
    parser.add_argument("--qemu", default="qemu-aarch64 -cpu max")
    parser.add_argument("--compiler", default="aarch64-linux-gnu-g++")
    parser.add_argument("shapes", nargs="*", default=["1x1024x1024", "16x1024x1024", "128x1024x1024"])
    a = parser.parse_args()
    plugin = a.build_dir / "tools/arm/libcount_blocks.so"
    with tempfile.TemporaryDirectory() as to:
        program = build(a.kleidiai.resolve(), a.compiler, pathlib.Path(to))
        names = subprocess.run([*a.qemu.split(), program], capture_output=True, text=True, check=True).stdout.split()
        for shape in a.shapes:
            for name in names:
                if (shape.split("x")[0] == "1") != bool(re.match("q.i8d(32|x)p1x", name)):
                    continue
                for packing in [[]] + [["sb"]] * ("qsi8d32p4x8" in name and "16x4" in name):
                    once, twice = (instructions(a.qemu.split(), plugin, [program, name, shape, str(runs), *packing]) for runs in (1, 2))
                    macs, _, error = once[1]
                    if float(error) > 0.02:
                        sys.exit(f"{name}: {error} of the largest output is wrong")
                    print(f"{shape:16} {name} {' '.join(packing):3} {1000 * (twice[0] - once[0]) / int(macs):8.1f}", flush=True)


if __name__ == "__main__":
    main()
