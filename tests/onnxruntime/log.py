# SPDX-License-Identifier: Apache-2.0
"""Reads what ONNX Runtime logs."""
import os
import tempfile


def said_while(work):
    """What is written to stderr by file descriptor, as ONNX Runtime's log is."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            made = work()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        return made, file.read().decode(errors="replace").splitlines()
