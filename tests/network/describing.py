# SPDX-License-Identifier: Apache-2.0
"""tools/models/describe.py in the process of a test: of the time of a process of its own, most would be that of importing onnx or tflite."""
import contextlib
import io
import subprocess
import traceback


def described(*arguments):
    """What subprocess.run would say of describe.py with these arguments; tools/models must be on sys.path."""
    import describe

    out, said, status = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        try:
            describe.main([str(argument) for argument in arguments])
        except SystemExit as refused:
            status = refused.code if isinstance(refused.code, int) else 1
            if isinstance(refused.code, str):
                said.write(f"{refused.code}\n")
        except Exception:
            traceback.print_exc()
            status = 1
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), said.getvalue())
