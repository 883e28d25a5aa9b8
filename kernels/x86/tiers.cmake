# The x86 tiers: their sources, flags and a program that tells whether the compiler has them.
# The reference tier's, for CPUs without AVX2 only: a quarter of the size.
set_property(SOURCE kernels/generic/portable.cc kernels/generic/portable_winograd.cc
  APPEND PROPERTY COMPILE_OPTIONS -Os)
octet_add_tier(SSE41 XSIMD FLAGS -msse4.1
  SOURCES sse41_s16s8_6x8x4.cc sse41_ops.cc
  WINOGRAD sse41_s16s16_3x16x2.cc sse41_winograd.cc
  DEPTHWISE sse41_s16s8_dw16.cc
  PROBE "#include <smmintrin.h>\nint main() { __m128i a = _mm_setzero_si128(); return _mm_extract_epi32(_mm_max_epi32(a, a), 0); }")
octet_add_tier(AVX2 FLAGS -mavx2 SOURCES avx2_s16s8_6x16x4.cc
  avx2_u8s8_8x8x4.cc avx2_u8s8_6x64x4.cc
  SPARSE avx2_s8s8_sparse_4x16x16.cc
  WINOGRAD avx2_s16s16_6x16x2.cc DEPTHWISE avx2_s16s8_dw32.cc
  avx2_s16s8_group64.cc
  PROBE "#include <immintrin.h>\nint main() { __m256i a = _mm256_setzero_si256(); a = _mm256_madd_epi16(a, a); return _mm256_extract_epi32(a, 0); }")
octet_add_tier(AVXVNNI FLAGS -mavx2 -mavxvnni SOURCES avxvnni_u8s8_6x16x4.cc
  SPARSE avxvnni_u8s8_sparse_4x16x16.cc avxvnni_u8s8_sparse_4x16x32.cc
  WINOGRAD avxvnni_s16s16_6x16x2.cc DEPTHWISE avxvnni_u8s8_dw32.cc
  avxvnni_u8s8_group64.cc
  PROBE "#include <immintrin.h>\nint main() { __m256i a = _mm256_setzero_si256(); a = _mm256_dpbusd_avx_epi32(a, a, a); return _mm256_extract_epi32(a, 0); }")
# GCC's own AVX-512 headers read an uninitialised variable on purpose (GCC bug 105593).
set(octet_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND octet_avx512 -Wno-maybe-uninitialized -Wno-uninitialized)
endif()
octet_add_tier(AVX512VNNI FLAGS ${octet_avx512} -mavx512vnni
  SOURCES avx512vnni_u8s8_6x64x4.cc avx512vnni_ops.cc
  SPARSE avx512vnni_u8s8_sparse_8x32x16.cc
  avx512vnni_u8s8_sparse_4x32x32.cc
  WINOGRAD avx512vnni_s16s16_14x32x2.cc avx512vnni_winograd.cc
  DEPTHWISE avx512vnni_u8s8_dw64.cc avx512vnni_u8s8_group64.cc
  PROBE "#include <immintrin.h>\nint main() { __m512i a = _mm512_setzero_si512(); a = _mm512_dpbusd_epi32(a, a, a); return _mm512_reduce_add_epi32(a); }")
# Files of AVX2's that other tiers use, too.
if(OCTET_BUILDS_AVX2 OR OCTET_BUILDS_AVXVNNI)
  octet_add_sources(FLAGS -mavx2 SOURCES avx2_ops.cc
    WINOGRAD avx2_winograd.cc)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A tenth more code for nothing: what it does besides its loops needs no copies.
  set_property(SOURCE kernels/x86/avxvnni_u8s8_6x16x4.cc kernels/x86/avx2_s16s8_6x16x4.cc
    kernels/x86/avx2_u8s8_8x8x4.cc kernels/x86/avx2_u8s8_6x64x4.cc
    APPEND PROPERTY COMPILE_OPTIONS -O2)
  # Nor does any loop here change its ways half through.
  set_property(SOURCE kernels/x86/avx2_ops.cc kernels/x86/avx512vnni_ops.cc
    packing/packed_rhs.cc APPEND PROPERTY COMPILE_OPTIONS -fno-split-loops)
endif()
