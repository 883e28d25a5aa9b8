# SPDX-License-Identifier: Apache-2.0
"""Runs damaged models, of which some end LiteRT itself.

    faults.py <model> <library of the delegate, or "" for LiteRT alone> <first trial> <end of trials>

Prints each trial as it begins, so that a process that ends tells where.
"""
import pathlib
import subprocess
import sys

import numpy as np

TRIALS = 80


def damaged(whole, trial):
    rng = np.random.default_rng(trial)
    model = bytearray(whole)
    for at in rng.integers(0, len(whole), 1 + trial % 4):
        model[at] = rng.integers(0, 256)
    if trial % 10 == 0:
        del model[len(whole) * trial // TRIALS:]
    return bytes(model)


def run(model, library):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType, load_delegate

    delegates = [load_delegate(library, {"as": "reference", "threads": "2"})] if library else None
    made = Interpreter(model_content=model, experimental_delegates=delegates, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    if any(np.prod(details["shape"], dtype=float) > 1e6 for details in made.get_tensor_details()):
        return  # a size was damaged: LiteRT would allocate it
    made.allocate_tensors()
    for details in made.get_input_details():
        made.set_tensor(details["index"], np.zeros(details["shape"], details["dtype"]))
    made.invoke()


def last_trial(path, library, first, end):
    """The last trial that began in a process of its own, and how the process ended."""
    ended = subprocess.run([sys.executable, __file__, str(path), library, str(first), str(end)], capture_output=True, text=True, check=False)
    begun = [int(line) for line in ended.stdout.split() if line.isdigit()]
    return (begun[-1] if begun else first), ended.returncode


def corrupt(path, library):
    """Damaged models are refused or run; none ends a process that LiteRT alone does not end. Yields complaints."""
    first = 0
    while first < TRIALS:
        last, code = last_trial(path, library, first, TRIALS)
        if code == 0:
            return
        if last_trial(path, "", last, last + 1)[1] == 0:
            yield f"the damaged model {last} ended the process: {code}"
        first = last + 1


if __name__ == "__main__":
    whole = pathlib.Path(sys.argv[1]).read_bytes()
    for trial in range(int(sys.argv[3]), int(sys.argv[4])):
        print(trial, flush=True)
        try:
            run(damaged(whole, trial), sys.argv[2])
        except (ValueError, RuntimeError):
            pass  # with LiteRT's or Octet's sentence
