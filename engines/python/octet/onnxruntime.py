# SPDX-License-Identifier: Apache-2.0
"""Octet inside ONNX Runtime 1.23 and later, unmodified: an execution provider.

>>> import octet.onnxruntime
>>> session = octet.onnxruntime.session("model.onnx")  # an onnxruntime.InferenceSession
>>> session.run(None, {"input": x})
>>> octet.onnxruntime.nodes(session)  # on Octet, of all
(52, 54)
"""

import typing

import onnxruntime

from . import plugins
from ._octet import cpu

NAME = "OctetExecutionProvider"
_RECORD = "session.record_ep_graph_assignment_info"


def library() -> str:
    """The path of liboctet_onnxruntime.so. RuntimeError: the wheel was built without it."""
    return plugins.library("liboctet_onnxruntime.so", "ONNX Runtime's C headers")


def register() -> typing.List[typing.Any]:
    """Registers the provider once in this process, and returns its OrtEpDevices.

    They go into SessionOptions.add_provider_for_devices. RuntimeError: this ONNX Runtime is older
    than 1.23, or the wheel was built without the provider.
    """
    if not hasattr(onnxruntime, "register_execution_provider_library"):
        raise RuntimeError(
            f"onnxruntime {onnxruntime.__version__} takes no providers: 1.23 or later is needed"
        )
    if not _devices():
        onnxruntime.register_execution_provider_library(NAME, library())
    return _devices()


def _devices():
    return [device for device in onnxruntime.get_ep_devices() if device.ep_name == NAME]


def session(
    path: typing.Any,
    session_options: typing.Optional["onnxruntime.SessionOptions"] = None,
    threads: int = 1,
    **options: str,
) -> "onnxruntime.InferenceSession":
    """An InferenceSession whose quantized operators run on Octet, and the others on the CPU.

    path: a file's name, or the bytes of a model
    session_options: gets the provider, and otherwise stays; its intra_op_num_threads are yours to
        set. None: new ones, of `threads` threads
    threads: most tasks of a run at once, on the session's threads; 0 means as many as the process
        may use
    options: of the provider, such as goal="memory" or report="1"
    """
    devices = register()
    count = threads or cpu()["usable_cpus"]
    if session_options is None:
        session_options = onnxruntime.SessionOptions()
        session_options.intra_op_num_threads = count
        session_options.add_session_config_entry(_RECORD, "1")
    session_options.add_provider_for_devices(devices, {"threads": str(count), **options})
    return onnxruntime.InferenceSession(path, session_options)


def nodes(session: "onnxruntime.InferenceSession") -> typing.Tuple[int, int]:
    """How many nodes of a session's model run on Octet, and how many there are.

    They are counted as ONNX Runtime assigned them, before later optimizations. RuntimeError: this
    ONNX Runtime does not say, or the session's own session_options lack the entry
    session.record_ep_graph_assignment_info = 1.
    """
    try:
        parts = session.get_provider_graph_assignment_info()
    except Exception as error:  # an AttributeError before 1.24, and ONNX Runtime's own later
        raise RuntimeError(
            f"the session does not say where its nodes run; it needs {_RECORD} = 1: {error}"
        ) from error
    counts = [(part.ep_name == NAME, len(part.get_nodes())) for part in parts]
    return sum(count for ours, count in counts if ours), sum(count for _, count in counts)
