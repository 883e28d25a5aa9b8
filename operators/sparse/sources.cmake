# SPDX-License-Identifier: Apache-2.0
octet_sources(IF "NOT OCTET_WITH_SPARSE" not_built.cc)
octet_sources(IF OCTET_WITH_SPARSE import_indexed.cc import_stream.cc indexed.cc prune.cc prune_matrix.cc stream.cc
  weights.cc)
octet_sources(IF "OCTET_WITH_SPARSE AND OCTET_WITH_CONVOLUTION" prune_filter.cc)
