# SPDX-License-Identifier: Apache-2.0
octet_sources(int4.cc interleave.cc paired.cc VECTORS packed_rhs.cc weight_sums.cc SETUP container.cc
  matrix_blob.cc scale_blocks.cc sparse.cc LOOPS checksum.cc)
