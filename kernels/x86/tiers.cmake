# SPDX-License-Identifier: Apache-2.0
# The x86 tiers: their sources, flags and an expression that tells whether the compiler has them.
set(octet_intrinsics immintrin.h)
# Only CPUs without a vector tier run the portable kernels: -Os makes them a quarter of the size.
set_property(SOURCE kernels/generic/portable.cc kernels/generic/portable_winograd.cc
  kernels/generic/functions/portable.cc APPEND PROPERTY COMPILE_OPTIONS -Os)
# Compilers that have the intrinsics of AVX-VNNI have those of the other tiers, too, and a probe takes
# a second: this one is the first.
set(octet_avxvnni -mavx2 -mfma -mf16c -mavxvnni)
set(octet_probe_avxvnni
  "_mm256_extract_epi32(_mm256_dpbusd_avx_epi32(__m256i{}, __m256i{}, __m256i{}), 0)")
if(NOT OCTET_TIERS)
  octet_probe(AVXVNNI "${octet_probe_avxvnni}" ${octet_avxvnni})
endif()
if(OCTET_COMPILES_AVXVNNI)
  foreach(tier SSE41 AVX2 AVX512BW AVX512VNNI)
    set(OCTET_COMPILES_${tier} 1 CACHE INTERNAL "by AVX-VNNI's probe")
  endforeach()
endif()
octet_add_tier(SSE41 XSIMD FLAGS -msse4.1 SOURCES sse41_s16s8_6x8x4.cc
  sse41_ops.cc functions/sse41_elementwise.cc RUNTIME_WEIGHTS runtime/sse41_runtime.cc
  INT4 int4/sse41_s16s4_6x8x8.cc scale_blocks/sse41_s8u4_blocks_2x16x8.cc WINOGRAD sse41_s16s16_3x16x2.cc sse41_winograd.cc
  DEPTHWISE sse41_s16s8_dw16.cc
  PROBE "_mm_extract_epi32(_mm_max_epi32(_mm_set1_epi32(1), _mm_set1_epi32(1)), 0)")
# AVX512BW takes all kernels that it does not have itself from AVX2.
if(AVX512BW IN_LIST OCTET_TIERS)
  list(APPEND OCTET_TIERS AVX2)
endif()
octet_add_tier(AVX2 FLAGS -mavx2 -mfma -mf16c
  SOURCES avx2_s16s8_6x16x4.cc avx2_u8s8_8x8x4.cc byte_rows/avx2_u8s8_rows_6x64x4.cc avx2_u8s8_6x64x4.cc
  INT4 int4/avx2_u8s4_6x16x8.cc scale_blocks/avx2_s8u4_blocks_4x16x8.cc
  RUNTIME_WEIGHTS runtime/avx2_runtime.cc SPARSE sparse/avx2_s8s8_sparse_4x16x16.cc WINOGRAD avx2_s16s16_6x16x2.cc
  DEPTHWISE avx2_byte_windows.cc avx2_s16s8_dw32.cc avx2_s16s8_group64.cc
  PROBE "_mm256_extract_epi32(_mm256_madd_epi16(_mm256_set1_epi8(1), _mm256_set1_epi8(1)), 0)")
octet_add_tier(AVXVNNI FLAGS ${octet_avxvnni} SOURCES avxvnni_u8s8_6x16x4.cc taps/avxvnni_add_tap.cc
  INT4 int4/avxvnni_u8s4_6x16x8.cc scale_blocks/avxvnni_s8u4_blocks_6x16x8.cc
  RUNTIME_WEIGHTS runtime/avxvnni_runtime.cc
  SPARSE sparse/avxvnni_u8s8_sparse.cc
  WINOGRAD avxvnni_s16s16_6x16x2.cc DEPTHWISE avxvnni_u8s8_dw32.cc avxvnni_u8s8_group64.cc
  PROBE ${octet_probe_avxvnni})
if(OCTET_BUILDS_AVXVNNI)
  # Compilers older than GCC 13 have no intrinsics of AVX-VNNI-INT8; binutils know it since 2.40.
  check_cxx_source_compiles([[int main() { __asm__("vpdpbssd %ymm0, %ymm0, %ymm0"); }]]
    OCTET_ASSEMBLES_AVXVNNIINT8)
  if(OCTET_ASSEMBLES_AVXVNNIINT8)
    octet_add_feature(AVXVNNIINT8 kernels/x86/avxvnni_u8s8_6x16x4.cc)
  endif()
endif()
# GCC's own AVX-512 headers read an uninitialised variable on purpose (GCC bug 105593).
octet_choose(octet_quiet "-Wno-maybe-uninitialized;-Wno-uninitialized" ""
  CMAKE_CXX_COMPILER_ID STREQUAL GNU)
set(octet_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl ${octet_quiet})
octet_add_tier(AVX512BW FLAGS ${octet_avx512}
  SOURCES avx512bw/avx512bw_s16s8_12x32x4.cc avx512bw/avx512bw_u8s8_6x64x4.cc
  WINOGRAD avx512bw/avx512bw_s16s16_14x32x2.cc DEPTHWISE avx512bw/avx512bw_s16s8_dw64.cc
  PROBE "_mm512_reduce_add_epi32(_mm512_madd_epi16(__m512i{}, __m512i{}))")
# AMXINT8 has kernels of int8 matrices only, and takes all others from AVX512VNNI.
if(AMXINT8 IN_LIST OCTET_TIERS)
  list(APPEND OCTET_TIERS AVX512VNNI)
endif()
octet_add_tier(AVX512VNNI FLAGS ${octet_avx512} -mavx512vnni
  SOURCES avx512vnni_u8s8_6x64x4.cc taps/avx512vnni_add_tap.cc avx512vnni_s16s8_12x32x4.cc avx512vnni_ops.cc avx512vnni_epilogue.cc
  functions/avx512vnni_add.cc INT4 int4/avx512vnni_u8s4_6x64x8.cc scale_blocks/avx512vnni_s8u4_blocks_8x32x8.cc
  RUNTIME_WEIGHTS runtime/avx512vnni_runtime.cc
  SPARSE sparse/avx512vnni_u8s8_sparse.cc
  WINOGRAD avx512vnni_s16s16_14x32x2.cc
  DEPTHWISE avx512vnni_u8s8_dw64.cc avx512vnni_u8s8_group64.cc
  PROBE "_mm512_reduce_add_epi32(_mm512_dpbusd_epi32(__m512i{}, __m512i{}, __m512i{}))")
if(OCTET_BUILDS_AVX512BW OR OCTET_BUILDS_AVX512VNNI) # what both do alike
  octet_add_sources(FLAGS ${octet_avx512} SOURCES functions/avx512bw_resize.cc
    WINOGRAD avx512bw/avx512bw_winograd.cc)
endif()
if(OCTET_BUILDS_AVX512VNNI)
  octet_add_sources(FLAGS ${octet_avx512} -mavx512vbmi SOURCES avx512vbmi_look_up.cc
    functions/avx512vbmi_look_up_lines.cc)
  # The instructions of AMX are in assembly, for which a compiler needs no flags.
  check_cxx_source_compiles([[int main() { __asm__("tdpbusd %tmm2, %tmm1, %tmm0"); }]]
    OCTET_COMPILES_AMXINT8)
  octet_add_tier(AMXINT8 FLAGS ${octet_avx512} -mavx512vnni SOURCES amx/amxint8_16x64x4.cc)
endif()
# Files of AVX2 that other tiers use, too.
if(OCTET_BUILDS_AVX2 OR OCTET_BUILDS_AVXVNNI OR OCTET_BUILDS_AVX512VNNI)
  octet_add_sources(FLAGS -mavx2 -mfma SOURCES avx2_epilogue.cc avx2_ops.cc avx2_requantize.cc
    shared/avx2_plain_ops.cc functions/avx2_elementwise.cc functions/avx2_images.cc
    WINOGRAD avx2_winograd.cc)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC's -O3 copies code outside of these kernels' depth loops: a tenth more, and no faster.
  set_property(SOURCE kernels/x86/avxvnni_u8s8_6x16x4.cc kernels/x86/avx2_s16s8_6x16x4.cc
    kernels/x86/avx2_u8s8_8x8x4.cc kernels/x86/avx2_u8s8_6x64x4.cc
    kernels/x86/sse41_s16s8_6x8x4.cc kernels/x86/runtime/avxvnni_runtime.cc
    kernels/x86/runtime/avx2_runtime.cc kernels/x86/runtime/sse41_runtime.cc
    kernels/x86/scale_blocks/avx512vnni_s8u4_blocks_8x32x8.cc
    kernels/x86/avx512vnni_s16s8_12x32x4.cc kernels/x86/avx512bw/avx512bw_s16s8_12x32x4.cc kernels/x86/avx512bw/avx512bw_u8s8_6x64x4.cc
    kernels/x86/scale_blocks/avxvnni_s8u4_blocks_6x16x8.cc
    kernels/x86/scale_blocks/avx2_s8u4_blocks_4x16x8.cc kernels/x86/scale_blocks/sse41_s8u4_blocks_2x16x8.cc
    kernels/x86/amx/amxint8_16x64x4.cc kernels/x86/int4/avx512vnni_u8s4_6x64x8.cc kernels/x86/int4/avxvnni_u8s4_6x16x8.cc kernels/x86/int4/avx2_u8s4_6x16x8.cc
    APPEND PROPERTY COMPILE_OPTIONS -O2)
  # Plain loops gain by vectors, and not by copies for every count. The epilogues' loops are
  # intrinsics already.
  set_property(SOURCE kernels/x86/avx2_ops.cc kernels/x86/shared/avx2_plain_ops.cc
    kernels/x86/avx512vnni_ops.cc kernels/x86/sse41_ops.cc kernels/x86/functions/avx2_images.cc
    kernels/x86/functions/avx512bw_resize.cc kernels/generic/functions/image_portable.cc
    APPEND PROPERTY COMPILE_OPTIONS ${octet_vectors})
  set_property(SOURCE kernels/x86/avx2_epilogue.cc kernels/x86/avx512vnni_epilogue.cc
    APPEND PROPERTY COMPILE_OPTIONS -Os)
endif()
