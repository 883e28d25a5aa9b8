#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Evaluates the numeric contract, ../vectors/contract.py, on vectors/*.bin, without the library, and counts the results that differ."""
import itertools
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "vectors"))
import contract
import vectors


def main():
    cases = results = differences = 0
    for path in sorted((HERE / "vectors").glob("*.bin")):
        for name, tensors in vectors.read(path):
            expected = tensors["dst"]
            bits = f"u{expected.itemsize}"  # also tells 0.0 from -0.0
            none = [[contract.ACTIVATION_NONE]]
            kinds = itertools.product(tensors.get("activations", none)[0], tensors.get("product_activations", none)[0])
            for activation, of_product in kinds:
                got = contract.evaluate(tensors, expected.dtype.type, activation, of_product)
                wrong = np.count_nonzero(got.view(bits) != expected.view(bits))
                if wrong:
                    print(f"{path.name}: {name}: {wrong} of {expected.size} results differ")
                differences += wrong
            cases, results = cases + 1, results + expected.size
    print(f"{cases} cases, {results} results, {differences} differences")
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
