# The Arm tiers: their sources, flags and a program that tells whether the compiler has them.
if(OCTET_TARGET STREQUAL "arm")
  octet_add_tier(NEON FLAGS -mfpu=neon SOURCES neon_s8s8_2x64x16.cc neon_ops.cc
    WINOGRAD neon_s16s16_4x8x1.cc neon_winograd.cc
    DEPTHWISE neon_s8s8_dw16.cc neon_s8s8_group64.cc
    PROBE "#include <arm_neon.h>\nint main() { int16x8_t a = vmull_s8(vdup_n_s8(1), vdup_n_s8(1)); return vgetq_lane_s32(vpadalq_s16(vdupq_n_s32(0), a), 0); }")
endif()

if(OCTET_TARGET STREQUAL "aarch64")
  # GCC takes -march after a distribution's -mcpu, but with a warning that no option turns off; another -mcpu it takes in silence.
  set(octet_armv82 -march=armv8.2-a+dotprod)
  if("${CMAKE_CXX_COMPILER_ARG1} ${CMAKE_CXX_FLAGS}" MATCHES "-mcpu=")
    set(octet_armv82 -mtune=generic -mcpu=cortex-a76+dotprod)
  endif()
  octet_add_tier(NEON SOURCES neon_s8s8_4x64x16.cc
    SPARSE neon_s8s8_sparse_2x16x16.cc
    WINOGRAD neon_s16s16_8x8x1.cc DEPTHWISE neon_s8s8_dw16.cc
    neon_s8s8_group64.cc
    PROBE "#include <arm_neon.h>\nint main() { int16x8_t a = vmull_s8(vdup_n_s8(1), vdup_n_s8(1)); return vgetq_lane_s32(vpadalq_s16(vdupq_n_s32(0), a), 0); }")
  octet_add_tier(DOTPROD FLAGS ${octet_armv82} SOURCES dotprod_s8s8_6x16x4.cc
    SPARSE dotprod_s8s8_sparse_4x16x16.cc
    DEPTHWISE dotprod_s8s8_dw16.cc dotprod_s8s8_group64.cc
    PROBE "#include <arm_neon.h>\nint main() { int32x4_t c = vdupq_n_s32(0); int8x16_t a = vdupq_n_s8(1); return vgetq_lane_s32(vdotq_s32(c, a, a), 0); }")
  octet_add_tier(I8MM FLAGS ${octet_armv82}+i8mm SOURCES i8mm_12x64x8.cc i8mm_1x16x8.cc
    PROBE "#include <arm_neon.h>\nint main() { int32x4_t c = vdupq_n_s32(0); int8x16_t a = vdupq_n_s8(1); return vgetq_lane_s32(vmmlaq_s32(c, a, a), 0); }")
  if(OCTET_BUILDS_NEON OR OCTET_BUILDS_DOTPROD OR OCTET_BUILDS_I8MM) # what all do alike: NEON is the baseline
    octet_add_sources(SOURCES neon_ops.cc SPARSE sparse.cc WINOGRAD neon_winograd.cc)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12's scheduler before register allocation moves loads so far ahead that tiles which need 30 of the 32 registers are spilled.
    set_property(SOURCE kernels/arm/neon_s8s8_dw16.cc kernels/arm/dotprod_s8s8_dw16.cc
      kernels/arm/neon_s8s8_4x64x16.cc kernels/arm/neon_s16s16_8x8x1.cc kernels/arm/dotprod_s8s8_6x16x4.cc kernels/arm/i8mm_12x64x8.cc
      APPEND PROPERTY COMPILE_OPTIONS -fno-schedule-insns)
  endif()
endif()
