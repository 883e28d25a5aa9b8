# Follows docs/add-a-tier.md and docs/add-a-format.md once, in a copy of the library: a tier with a
# feature, a weight format and a kernel of its own. The library must then find the tier, pack for it
# and compute the right bytes with it, and no other file must have changed.
cmake_minimum_required(VERSION 3.22)
separate_arguments(COMPILER UNIX_COMMAND "${COMPILER}")
set(copy ${BUILD_DIR}/throwaway_tier)
file(REMOVE_RECURSE ${copy})
file(COPY ${SOURCE_DIR}/CMakeLists.txt ${SOURCE_DIR}/cmake ${SOURCE_DIR}/analysis
  ${SOURCE_DIR}/dispatch ${SOURCE_DIR}/include ${SOURCE_DIR}/kernels ${SOURCE_DIR}/operators ${SOURCE_DIR}/packing DESTINATION ${copy})

# add(<file> <text> BEFORE|AFTER <regex>), once.
function(add file text where regex)
  file(READ ${copy}/${file} old)
  string(REGEX MATCHALL "${regex}" found "${old}")
  list(LENGTH found count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${file} matches ${regex} ${count} times: has docs/add-a-tier.md changed, too?")
  endif()
  if(where STREQUAL "BEFORE")
    string(REGEX REPLACE "(${regex})" "${text}\\1" new "${old}")
  else()
    string(REGEX REPLACE "(${regex})" "\\1${text}" new "${old}")
  endif()
  file(WRITE ${copy}/${file} "${new}")
endfunction()

# Its number. 31 is the last; a tier to stay takes the next.
add(include/octet/octet.h ",\n  OCTET_ISA_THROWAWAY = 31" BEFORE "\n} octet_isa")
add(kernels/core/isa.h "kThrowaway = 31, " BEFORE "kScalar = 1,")
# What it needs, which this CPU has.
add(kernels/core/feature.h "  kHasThrowaway = 1u << 31,\n" AFTER "enum Feature : uint32_t {\n")
add(dispatch/cpu/features.cc "kHasThrowaway | " AFTER "cpu\\.features = ")
# How its weights lie: a weight format of its own, as docs/add-a-format.md says; and its kernel.
add(kernels/scalar/kernels.h "constexpr RhsLayout kThrowawayLayout = {8, 8, 4, ElementType::kS8};
extern const MicroKernel throwaway_u8s8_32x8x4;\n" BEFORE "\n}  // namespace octet\n")
file(COPY ${CMAKE_CURRENT_LIST_DIR}/throwaway_u8s8_32x8x4.cc DESTINATION ${copy}/kernels/scalar)
add(packing/format.h "  kS8_8x4 = 65535,\n" AFTER "enum class FormatId : uint16_t {\n")
add(dispatch/tables/formats.cc
  "    {FormatId::kS8_8x4, \"s8_8x4\", kThrowawayLayout, kInt8, &kDensePacking},\n"
  AFTER "constexpr WeightFormat kFormats\\[\\] = {\n")
# Its rows.
add(dispatch/tables/tiers.cc "
    {
        .isa = Isa::kThrowaway,
        .name = \"THROWAWAY\",
        .architecture = Architecture::kAny,
        .needs = kHasThrowaway,
        .s8 = FormatId::kS8_8x4,
        .u8 = FormatId::kS8_8x4,
        .s16 = FormatId::kS16_4x2,
        .costs = like(kScalarCosts, [](TierCosts& c) constexpr { c.mr = 32; c.nr = 8; }),
    }," AFTER "constexpr Tier kTiers\\[\\] = {")
add(dispatch/tables/kernels.def "#if defined(OCTET_THROWAWAY)
TIER(kThrowaway, portable_ops, portable_winograd)
INT8(kThrowaway, throwaway_u8s8_32x8x4, kChosen)
#endif\n" BEFORE "TIER\\(kScalar,")
# How it is built.
file(APPEND ${copy}/kernels/x86/tiers.cmake "octet_add_tier(THROWAWAY FLAGS
  SOURCES ../scalar/throwaway_u8s8_32x8x4.cc PROBE \"int main() {}\")\n")

function(run expected)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT status EQUAL 0 OR NOT output MATCHES "${expected}")
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${status}, expected ${expected}:\n${output}")
  endif()
  message(STATUS "${output}")
endfunction()

set(options)
foreach(option BUILD_TESTS BUILD_BENCHMARKS BUILD_TOOLS BUILD_EXAMPLES INSTALL WITH_ADAPTERS)
  list(APPEND options -D OCTET_${option}=OFF)
endforeach()
run("" ${CMAKE_COMMAND} -S ${copy} -B ${copy}/build -G ${GENERATOR} -D CMAKE_BUILD_TYPE=Release
  -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D CMAKE_C_COMPILER=${C_COMPILER}
  -D OCTET_TIERS=THROWAWAY ${options})
run("" ${CMAKE_COMMAND} --build ${copy}/build)
run("" ${CMAKE_COMMAND} -D SOURCE_DIR=${copy} -P ${copy}/cmake/check_layering.cmake)
set(program ${copy}/build/parts)
run("" ${COMPILER} -std=c++17 -O1 -I${copy}/include ${SOURCE_DIR}/tests/consumer/parts/main.cc
  ${copy}/build/liboctet.a -o ${program})

# One product, and convolutions by all algorithms, beside plain loops.
set(its "throwaway_u8s8_32x8x4: right")
run("^${its}\n.*\ndirect by ${its}\nim2col by ${its}\n"
  ${CMAKE_COMMAND} -E env OCTET_MAX_ISA=THROWAWAY ${program})
run("^scalar_u8s8_4x16x4: right" ${CMAKE_COMMAND} -E env OCTET_MAX_ISA=SCALAR ${program})
