# SPDX-License-Identifier: Apache-2.0
# Tensors of int8 that are stored as uint8.
octet_sources(TARGET octet_graph describe.cc mark.cc)
