# The only place where an ISA flag is spelled.
include(CheckCXXSourceCompiles)

# For what is unrolled. Sanitizers multiply its code, and compilers need minutes for a tile; so they
# check by calls, and where Clang can, end the program instead of saying what was undefined.
set(octet_unrolled -O3)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(octet_unrolled -O1)
  set(threshold asan-instrumentation-with-call-threshold=0)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND octet_unrolled --param ${threshold})
  else()
    list(APPEND octet_unrolled -mllvm -${threshold} -fsanitize-trap=undefined)
  endif()
endif()

# octet_add_sources(FLAGS <flags> SOURCES <files> SPARSE <files> WINOGRAD <files> DEPTHWISE <files>): the
# flags come last on the command line, so that they beat a distribution's -mcpu. The last three lists
# are left out of a library without these parts.
function(octet_add_sources)
  cmake_parse_arguments(arg "" "" "FLAGS;SOURCES;SPARSE;WINOGRAD;DEPTHWISE" ${ARGN})
  if(OCTET_WITH_SPARSE)
    list(APPEND arg_SOURCES ${arg_SPARSE})
  endif()
  if(octet_winograd)
    list(APPEND arg_SOURCES ${arg_WINOGRAD})
  endif()
  if(octet_depthwise)
    list(APPEND arg_SOURCES ${arg_DEPTHWISE})
  endif()
  if(NOT arg_SOURCES)
    return()
  endif()
  target_sources(octet PRIVATE ${arg_SOURCES})
  set_property(SOURCE ${arg_SOURCES} APPEND PROPERTY COMPILE_OPTIONS ${arg_FLAGS} ${octet_unrolled})
endfunction()

# The names of all tiers, of other architectures too: the table's.
file(STRINGS ${PROJECT_SOURCE_DIR}/dispatch/tables/tiers.cc octet_names REGEX "^ +\\.name = ")
list(TRANSFORM octet_names REPLACE ".*\"(.*)\".*" "\\1")
foreach(tier IN LISTS OCTET_TIERS)
  if(NOT tier IN_LIST octet_names)
    list(JOIN octet_names ", " octet_names)
    message(FATAL_ERROR
      "OCTET_TIERS has '${tier}'; tiers are ${octet_names}, the last of which is always built")
  endif()
endforeach()

# octet_add_tier(<tier> [XSIMD] <arguments of octet_add_sources> PROBE <program>): built if the compiler can, which is probed by compiling, not by its version;
# one whose kernels are written on XSIMD, if that was found, too. When the
# tier is built, OCTET_BUILDS_<tier> is set, and OCTET_<tier> defined for dispatch/tables/tiers.def. octet_tiers lists all.
function(octet_add_tier tier)
  cmake_parse_arguments(arg "XSIMD" "" "FLAGS;SOURCES;SPARSE;WINOGRAD;DEPTHWISE;PROBE" ${ARGN})
  if(arg_XSIMD AND NOT octet_xsimd)
    if(tier IN_LIST OCTET_TIERS)
      message(FATAL_ERROR "OCTET_TIERS has ${tier}, whose kernels are written on xsimd: that was not found, or OCTET_WITH_XSIMD is OFF")
    endif()
    return()
  endif()
  set(octet_tiers ${octet_tiers} ${tier} PARENT_SCOPE)
  if(OCTET_TIERS AND NOT tier IN_LIST OCTET_TIERS)
    return()
  endif()
  string(JOIN " " flags ${arg_FLAGS})
  set(CMAKE_REQUIRED_FLAGS "${flags}")
  check_cxx_source_compiles("${arg_PROBE}" OCTET_COMPILES_${tier})
  if(NOT OCTET_COMPILES_${tier})
    message(WARNING "Octet: this compiler cannot build the ${tier} kernels (${flags}); the library will do without them")
    return()
  endif()
  octet_add_sources(FLAGS ${arg_FLAGS} SOURCES ${arg_SOURCES}
    SPARSE ${arg_SPARSE} WINOGRAD ${arg_WINOGRAD} DEPTHWISE ${arg_DEPTHWISE})
  set_property(SOURCE dispatch/tables/byte_kernels.cc dispatch/tables/depthwise_kernels.cc
    dispatch/tables/kernel_names.cc dispatch/tables/tier_ops.cc dispatch/tables/transforms.cc
    dispatch/tables/word_kernels.cc APPEND PROPERTY COMPILE_DEFINITIONS OCTET_${tier})
  set(OCTET_BUILDS_${tier} ON PARENT_SCOPE)
endfunction()

# Portable loops over every weight or every accumulator: GCC 12 makes vectors of them only at -O3.
# Whoever asks for the least size gets them small.
set_property(SOURCE kernels/conv/direct.cc kernels/conv/filter_blob.cc
  kernels/conv/panels.cc kernels/conv/stage.cc kernels/conv/winograd_pack.cc
  kernels/nest/nest.cc kernels/pack/checksum.cc kernels/pack/pairs.cc kernels/pack/sparse.cc
  kernels/gemm/gemm.cc kernels/simd/portable.cc kernels/simd/portable_winograd.cc
  APPEND PROPERTY COMPILE_OPTIONS "$<$<NOT:$<CONFIG:MinSizeRel>>:${octet_unrolled}>")

# Sums of columns want the vectors, not all the other copies of their loops.
set_property(SOURCE kernels/pack/packed_rhs.cc kernels/pack/weight_sums.cc APPEND PROPERTY COMPILE_OPTIONS
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<CONFIG:MinSizeRel>>>:-O2;-ftree-vectorize;-fvect-cost-model=dynamic>")

# Checks and choices, made once: small counts.
set_property(SOURCE dispatch/blob.cc dispatch/choice.cc dispatch/cpu_features.cc
  dispatch/environment.cc dispatch/gemm_bias.cc dispatch/gemm_check.cc dispatch/gemm_choice.cc dispatch/gemm_choose.cc
  dispatch/gemm_create.cc dispatch/gemm_explain.cc dispatch/gemm_finish.cc dispatch/info.cc
  dispatch/machine.cc dispatch/pack.cc dispatch/select.cc
  dispatch/self_test.cc dispatch/self_test_cases.cc dispatch/self_test_exits.cc
  dispatch/file_error.cc dispatch/gemm_tuning.cc dispatch/tflite_scales.cc dispatch/tuning.cc dispatch/tuning_report.cc dispatch/tuning_source.cc
  network/candidates.cc network/chains.cc network/check_args.cc network/check_order.cc
  network/create.cc network/explain.cc network/layout.cc network/plan.cc network/read_ops.cc
  network/read_tensors.cc network/schedule.cc
  dispatch/costs.cc tune/cache.cc tune/gemm_choices.cc tune/operands.cc tune/profile.cc tune/race.cc tune/save.cc tune/search.cc
  tune/tune_gemm.cc kernels/pack/container.cc kernels/pack/matrices.cc
  APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-Os>)

if(OCTET_TARGET STREQUAL "x86_64")
  # The reference tier's, for CPUs without AVX2 only: a quarter of the size.
  set_property(SOURCE kernels/simd/portable.cc kernels/simd/portable_winograd.cc
    APPEND PROPERTY COMPILE_OPTIONS -Os)
  octet_add_tier(SSE41 XSIMD FLAGS -msse4.1
    SOURCES kernels/x86/sse41_s16s8_6x8x4.cc kernels/x86/sse41_ops.cc
    WINOGRAD kernels/x86/sse41_s16s16_3x16x2.cc kernels/x86/sse41_winograd.cc
    DEPTHWISE kernels/x86/sse41_s16s8_dw16.cc
    PROBE "#include <smmintrin.h>\nint main() { __m128i a = _mm_setzero_si128(); return _mm_extract_epi32(_mm_max_epi32(a, a), 0); }")
  octet_add_tier(AVX2 FLAGS -mavx2 SOURCES kernels/x86/avx2_s16s8_6x16x4.cc
    kernels/x86/avx2_u8s8_8x8x4.cc kernels/x86/avx2_u8s8_6x64x4.cc
    SPARSE kernels/x86/avx2_s8s8_sparse_4x16x16.cc
    WINOGRAD kernels/x86/avx2_s16s16_6x16x2.cc DEPTHWISE kernels/x86/avx2_s16s8_dw32.cc
    kernels/x86/avx2_s16s8_group64.cc
    PROBE "#include <immintrin.h>\nint main() { __m256i a = _mm256_setzero_si256(); a = _mm256_madd_epi16(a, a); return _mm256_extract_epi32(a, 0); }")
  octet_add_tier(AVXVNNI FLAGS -mavx2 -mavxvnni SOURCES kernels/x86/avxvnni_u8s8_6x16x4.cc
    SPARSE kernels/x86/avxvnni_u8s8_sparse_4x16x16.cc kernels/x86/avxvnni_u8s8_sparse_4x16x32.cc
    WINOGRAD kernels/x86/avxvnni_s16s16_6x16x2.cc DEPTHWISE kernels/x86/avxvnni_u8s8_dw32.cc
    kernels/x86/avxvnni_u8s8_group64.cc
    PROBE "#include <immintrin.h>\nint main() { __m256i a = _mm256_setzero_si256(); a = _mm256_dpbusd_avx_epi32(a, a, a); return _mm256_extract_epi32(a, 0); }")
  if(OCTET_BUILDS_AVX2 OR OCTET_BUILDS_AVXVNNI) # what both do alike
    octet_add_sources(FLAGS -mavx2 SOURCES kernels/x86/avx2_ops.cc
      WINOGRAD kernels/x86/avx2_winograd.cc)
  endif()
  octet_add_tier(AVX512VNNI FLAGS -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni
    SOURCES kernels/x86/avx512vnni_u8s8_6x64x4.cc kernels/x86/avx512_ops.cc
    SPARSE kernels/x86/avx512vnni_u8s8_sparse_8x32x16.cc
    kernels/x86/avx512vnni_u8s8_sparse_4x32x32.cc
    WINOGRAD kernels/x86/avx512vnni_s16s16_14x32x2.cc kernels/x86/avx512_winograd.cc
    DEPTHWISE kernels/x86/avx512vnni_u8s8_dw64.cc kernels/x86/avx512vnni_u8s8_group64.cc
    PROBE "#include <immintrin.h>\nint main() { __m512i a = _mm512_setzero_si512(); a = _mm512_dpbusd_epi32(a, a, a); return _mm512_reduce_add_epi32(a); }")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A tenth more code for nothing: what it does besides its loops needs no copies.
    set_property(SOURCE kernels/x86/avxvnni_u8s8_6x16x4.cc kernels/x86/avx2_s16s8_6x16x4.cc
      kernels/x86/avx2_u8s8_8x8x4.cc kernels/x86/avx2_u8s8_6x64x4.cc
      APPEND PROPERTY COMPILE_OPTIONS -O2)
    # Nor does any loop here change its ways half through.
    set_property(SOURCE kernels/x86/avx2_ops.cc kernels/x86/avx512_ops.cc
      kernels/pack/packed_rhs.cc APPEND PROPERTY COMPILE_OPTIONS -fno-split-loops)
    # GCC's own AVX-512 headers read an uninitialised variable on purpose (GCC bug 105593).
    set_property(SOURCE kernels/x86/avx512vnni_u8s8_dw64.cc kernels/x86/avx512vnni_u8s8_group64.cc kernels/x86/avx512vnni_u8s8_6x64x4.cc
      kernels/x86/avx512vnni_u8s8_sparse_8x32x16.cc kernels/x86/avx512vnni_u8s8_sparse_4x32x32.cc
      kernels/x86/avx512vnni_s16s16_14x32x2.cc kernels/x86/avx512_winograd.cc
      kernels/x86/avx512_ops.cc APPEND PROPERTY COMPILE_OPTIONS -Wno-maybe-uninitialized -Wno-uninitialized)
  endif()
endif()

if(OCTET_TARGET STREQUAL "arm")
  octet_add_tier(NEON FLAGS -mfpu=neon SOURCES kernels/arm/neon_s8s8_2x64x16.cc kernels/arm/neon_ops.cc
    WINOGRAD kernels/arm/neon_s16s16_4x8x1.cc kernels/arm/neon_winograd.cc
    DEPTHWISE kernels/arm/neon_s8s8_dw16.cc kernels/arm/neon_s8s8_group64.cc
    PROBE "#include <arm_neon.h>\nint main() { int16x8_t a = vmull_s8(vdup_n_s8(1), vdup_n_s8(1)); return vgetq_lane_s32(vpadalq_s16(vdupq_n_s32(0), a), 0); }")
endif()

if(OCTET_TARGET STREQUAL "aarch64")
  # GCC takes -march after a distribution's -mcpu, but with a warning that no option turns off; another -mcpu it takes in silence.
  set(octet_armv82 -march=armv8.2-a+dotprod)
  if("${CMAKE_CXX_COMPILER_ARG1} ${CMAKE_CXX_FLAGS}" MATCHES "-mcpu=")
    set(octet_armv82 -mtune=generic -mcpu=cortex-a76+dotprod)
  endif()
  octet_add_tier(NEON SOURCES kernels/arm/neon_s8s8_4x64x16.cc
    SPARSE kernels/arm/neon_s8s8_sparse_2x16x16.cc
    WINOGRAD kernels/arm/neon_s16s16_8x8x1.cc DEPTHWISE kernels/arm/neon_s8s8_dw16.cc
    kernels/arm/neon_s8s8_group64.cc
    PROBE "#include <arm_neon.h>\nint main() { int16x8_t a = vmull_s8(vdup_n_s8(1), vdup_n_s8(1)); return vgetq_lane_s32(vpadalq_s16(vdupq_n_s32(0), a), 0); }")
  octet_add_tier(DOTPROD FLAGS ${octet_armv82} SOURCES kernels/arm/dotprod_s8s8_6x16x4.cc
    SPARSE kernels/arm/dotprod_s8s8_sparse_4x16x16.cc
    DEPTHWISE kernels/arm/dotprod_s8s8_dw16.cc kernels/arm/dotprod_s8s8_group64.cc
    PROBE "#include <arm_neon.h>\nint main() { int32x4_t c = vdupq_n_s32(0); int8x16_t a = vdupq_n_s8(1); return vgetq_lane_s32(vdotq_s32(c, a, a), 0); }")
  octet_add_tier(I8MM FLAGS ${octet_armv82}+i8mm SOURCES kernels/arm/i8mm_12x64x8.cc kernels/arm/i8mm_1x16x8.cc
    PROBE "#include <arm_neon.h>\nint main() { int32x4_t c = vdupq_n_s32(0); int8x16_t a = vdupq_n_s8(1); return vgetq_lane_s32(vmmlaq_s32(c, a, a), 0); }")
  if(OCTET_BUILDS_NEON OR OCTET_BUILDS_DOTPROD OR OCTET_BUILDS_I8MM) # what all do alike: NEON is the baseline
    octet_add_sources(SOURCES kernels/arm/neon_ops.cc SPARSE kernels/arm/sparse.cc WINOGRAD kernels/arm/neon_winograd.cc)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12's scheduler before register allocation moves loads so far ahead that tiles which need 30 of the 32 registers are spilled.
    set_property(SOURCE kernels/arm/neon_s8s8_dw16.cc kernels/arm/dotprod_s8s8_dw16.cc
      kernels/arm/neon_s8s8_4x64x16.cc kernels/arm/neon_s16s16_8x8x1.cc kernels/arm/dotprod_s8s8_6x16x4.cc kernels/arm/i8mm_12x64x8.cc
      APPEND PROPERTY COMPILE_OPTIONS -fno-schedule-insns)
  endif()
endif()
