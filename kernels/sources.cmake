# SPDX-License-Identifier: Apache-2.0
# Kernels and the loops around them. Tiers add theirs: x86/tiers.cmake, arm/tiers.cmake.
octet_sources(macro/macro_kernel.cc macro/prepare.cc generic/int4.cc
  LOOPS generic/portable.cc generic/functions/image_portable.cc generic/functions/portable.cc)
octet_sources(scalar/scalar_u8s8.cc scalar/scalar_u8s8_4x16x4.cc scalar/scalar_u8s4.cc scalar/scalar_s8u4_blocks_1x16x8.cc)
octet_sources(IF OCTET_WITH_WINOGRAD scalar/scalar_s16s16_4x4x2.cc
  LOOPS generic/portable_winograd.cc)
octet_sources(IF OCTET_WITH_DEPTHWISE scalar/scalar_u8s8_dw16.cc scalar/scalar_u8s8_group16.cc)
octet_sources(IF OCTET_WITH_SPARSE scalar/scalar_u8s8_sparse.cc)
