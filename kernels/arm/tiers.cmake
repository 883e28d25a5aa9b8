# SPDX-License-Identifier: Apache-2.0
# The Arm tiers: their sources, flags and an expression that tells whether the compiler has them.
set(octet_intrinsics arm_neon.h)
set(octet_neon "vgetq_lane_s32(vpaddlq_s16(vmull_s8(vdup_n_s8(1), vdup_n_s8(1))), 0)")
if(OCTET_TARGET STREQUAL "arm")
  octet_add_tier(NEON FLAGS -mfpu=neon PROBE ${octet_neon} SOURCES neon_s8s8_2x64x16.cc
    neon_ops.cc INT4 neon_s8s4_2x64x32.cc neon_s8u4_blocks_2x16x8.cc
    WINOGRAD neon_s16s16_4x8x1.cc neon_winograd.cc DEPTHWISE neon_s8s8_dw16.cc neon_s8s8_group64.cc)
  return()
endif()

# Every CPU has NEON: the portable transforms are for a library without tiers, and small.
set_property(SOURCE kernels/generic/portable_winograd.cc APPEND PROPERTY COMPILE_OPTIONS -Os)
# After a distribution's -mcpu, GCC takes -march with a warning that no option turns off; another
# -mcpu it takes in silence.
octet_choose(octet_armv82 "-mtune=generic;-mcpu=cortex-a76+dotprod" -march=armv8.2-a+dotprod
  "${CMAKE_CXX_COMPILER_ARG1} ${CMAKE_CXX_FLAGS}" MATCHES "-mcpu=")
# SME has a kernel of int8 matrices, and takes all others from DOTPROD and, for weights of 4 bits, from
# I8MM.
if(SME IN_LIST OCTET_TIERS)
  list(APPEND OCTET_TIERS DOTPROD I8MM)
endif()
octet_add_tier(NEON PROBE ${octet_neon} SOURCES neon_s8s8_4x64x16.cc
  INT4 neon_s8s4_4x64x32.cc neon_s8u4_blocks_2x16x8.cc SPARSE neon_s8s8_sparse_2x16x16.cc WINOGRAD neon_s16s16_8x8x1.cc
  DEPTHWISE neon_s8s8_group64.cc)
octet_add_tier(DOTPROD FLAGS ${octet_armv82} SOURCES dotprod_s8s8_6x16x4.cc
  INT4 dotprod_s8s4_6x16x8.cc dotprod_s8u4_blocks_4x16x8.cc SPARSE dotprod_s8s8_sparse_4x16x16.cc
  DEPTHWISE dotprod_s8s8_dw16.cc dotprod_s8s8_group64.cc
  PROBE "vgetq_lane_s32(vdotq_s32(int32x4_t{}, int8x16_t{}, int8x16_t{}), 0)")
octet_add_tier(I8MM FLAGS ${octet_armv82}+i8mm SOURCES i8mm_12x64x8.cc i8mm_1x64x8.cc
  INT4 i8mm_int4.cc i8mm_s8u4_blocks_8x16x8.cc
  PROBE "vgetq_lane_s32(vmmlaq_s32(int32x4_t{}, int8x16_t{}, int8x16_t{}), 0)")
if(OCTET_BUILDS_I8MM AND CMAKE_SYSTEM_NAME MATCHES "Linux|Android")
  # Vectors of 256 bits beyond the tier, where the system tells their length.
  set(octet_sve256 ${octet_armv82}+i8mm+sve -msve-vector-bits=256)
  string(JOIN " " CMAKE_REQUIRED_FLAGS ${octet_sve256})
  check_cxx_source_compiles([[#include <arm_sve.h>
    typedef svint32_t Sums __attribute__((arm_sve_vector_bits(256)));
    Sums product(Sums sums, svint8_t a) { return svmmla_s32(sums, a, a); }
    int main() {}]] OCTET_COMPILES_SVE256I8MM)
  unset(CMAKE_REQUIRED_FLAGS)
  if(OCTET_COMPILES_SVE256I8MM)
    octet_add_sources(FLAGS ${octet_sve256} SOURCES sve256_panels.cc)
    octet_add_feature(SVE256I8MM kernels/arm/i8mm_12x64x8.cc)
  endif()
endif()
if(OCTET_BUILDS_DOTPROD AND OCTET_BUILDS_I8MM)
  # The instructions of SME are in assembly, for which a compiler needs no flags.
  check_cxx_source_compiles([[int main() { __asm__(R"(.arch_extension sme
    smopa za0.s, p0/m, p0/m, z0.b, z1.b)"); }]]
    OCTET_COMPILES_SME)
  octet_add_tier(SME FLAGS ${octet_armv82} SOURCES sme_s8s8_32x32x4.cc)
endif()
if(octet_built_tiers) # all use these: NEON is the baseline
  octet_add_sources(SOURCES neon_ops.cc SPARSE sparse.cc WINOGRAD neon_winograd.cc
    DEPTHWISE neon_s8s8_dw16.cc)
endif()
# An exchange is an instruction sequence here, not a function of libgcc.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-mno-outline-atomics OCTET_INLINES_ATOMICS)
if(OCTET_INLINES_ATOMICS)
  set_property(SOURCE operators/network/run_bound.cc APPEND PROPERTY COMPILE_OPTIONS
    -mno-outline-atomics)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12's scheduler before register allocation moves loads so far ahead that tiles which need 30
  # of the 32 registers are spilled.
  set_property(SOURCE kernels/arm/neon_s8s8_dw16.cc kernels/arm/dotprod_s8s8_dw16.cc
    kernels/arm/neon_s8s8_4x64x16.cc kernels/arm/neon_s16s16_8x8x1.cc
    kernels/arm/dotprod_s8u4_blocks_4x16x8.cc kernels/arm/i8mm_s8u4_blocks_8x16x8.cc
    kernels/arm/dotprod_s8s8_6x16x4.cc kernels/arm/i8mm_12x64x8.cc
    APPEND PROPERTY COMPILE_OPTIONS -fno-schedule-insns)
endif()
