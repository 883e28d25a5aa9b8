# SPDX-License-Identifier: Apache-2.0
# Layers with a state.
octet_sources(TARGET octet_graph function.cc gates.cc lstm.cc operands.cc read_lstm.cc sums.cc
  svdf.cc)
