# SPDX-License-Identifier: Apache-2.0
# ONNX Runtime's graphs, and what is known of them before a run.
octet_sources(TARGET octet_onnxruntime host.cc known.cc whole.cc)
