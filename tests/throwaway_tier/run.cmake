# Follows docs/add-a-tier.md and docs/add-a-format.md once, in a copy of the library: a tier with a
# feature, a weight format and a kernel of its own, and a format of 4 bits with a kernel that decodes
# it. The library must then find them, pack for them and compute the right bytes with them, without
# other changes.
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
  set(new_BEFORE "${text}\\1")
  set(new_AFTER "\\1${text}")
  string(REGEX REPLACE "(${regex})" "${new_${where}}" new "${old}")
  file(WRITE ${copy}/${file} "${new}")
endfunction()

# The tier's number. 31 is the last; a real tier takes the next one.
add(include/octet/octet.h ",\n  OCTET_ISA_THROWAWAY = 31" BEFORE "\n} octet_isa")
add(kernels/core/isa.h "kThrowaway = 31, " BEFORE "kScalar = 1,")
# The feature that it needs, which this CPU has.
add(kernels/core/feature.h "  kHasThrowaway = 1u << 31,\n" AFTER "enum Feature : uint32_t {\n")
add(dispatch/cpu/features.cc "kHasThrowaway | " AFTER "cpu\\.features = ")
# Its own weight formats, as docs/add-a-format.md says, and its kernels.
add(kernels/scalar/kernels.h "constexpr RhsLayout kThrowawayLayout = {8, 8, 4, ElementType::kS8};
extern const MicroKernel throwaway_u8s8_32x8x4;
constexpr RhsLayout kThrowawayNibbles = {16, 16, 8, ElementType::kS8, 4};
extern const MicroKernel throwaway_u8s8_4x16x8;\n" BEFORE "\n}  // namespace octet\n")
set(here ${CMAKE_CURRENT_LIST_DIR})
file(COPY ${here}/throwaway_u8s8_32x8x4.cc ${here}/throwaway_u8s8_4x16x8.cc DESTINATION ${copy}/kernels/scalar)
file(COPY ${here}/nibbles.h ${here}/nibbles.cc DESTINATION ${copy}/packing)
add(packing/sources.cmake " nibbles.cc" AFTER "octet_sources\\(interleave\\.cc")
add(packing/format.h "  kS8_8x4 = 65535,\n  kS4_16x8 = 65534,\n" AFTER "enum class FormatId : uint16_t {\n")
add(dispatch/tables/formats.cc
  "    {FormatId::kS8_8x4, \"s8_8x4\", kThrowawayLayout, kInt8, &kDensePacking},
    {FormatId::kS4_16x8, \"s4_16x8\", kThrowawayNibbles, kInt8, &kNibblePacking},\n"
  AFTER "constexpr WeightFormat kFormats\\[\\] = {\n")
add(dispatch/tables/formats.cc "#include \"packing/nibbles.h\"\n" BEFORE "#include \"packing/paired\\.h\"")
# The rows of the tables.
add(dispatch/tables/tiers.cc "\n    {.isa = Isa::kThrowaway,
     .name = \"THROWAWAY\", .architecture = Architecture::kAny, .needs = kHasThrowaway,
     .s8 = FormatId::kS8_8x4, .u8 = FormatId::kS8_8x4, .s16 = FormatId::kS16_4x2,
     .costs = like(kScalarCosts, [](TierCosts& c) constexpr { c.mr = 32; c.nr = 8; })}," AFTER "constexpr Tier kTiers\\[\\] = {")
add(dispatch/tables/kernels.def "#if defined(OCTET_THROWAWAY)
TIER(kThrowaway, portable_ops, portable_winograd)
INT8(kThrowaway, throwaway_u8s8_32x8x4, kChosen)
INT8(kThrowaway, throwaway_u8s8_4x16x8, kChosen)
#endif\n" BEFORE "TIER\\(kScalar,")
# The build.
file(APPEND ${copy}/kernels/x86/tiers.cmake "octet_add_tier(THROWAWAY FLAGS
  SOURCES ../scalar/throwaway_u8s8_32x8x4.cc ../scalar/throwaway_u8s8_4x16x8.cc PROBE \"int main() {}\")\n")

function(run expected)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0 OR NOT output MATCHES "${expected}")
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${status}, expected ${expected}:\n${output}")
  endif()
  message(STATUS "${output}")
endfunction()

set(options BUILD_TESTS BUILD_BENCHMARKS BUILD_TOOLS BUILD_EXAMPLES INSTALL WITH_ADAPTERS)
list(TRANSFORM options REPLACE "(.+)" "-DOCTET_\\1=OFF")
run("" ${CMAKE_COMMAND} -S ${copy} -B ${copy}/build -G ${GENERATOR} -D CMAKE_BUILD_TYPE=Release
  -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D CMAKE_C_COMPILER=${C_COMPILER}
  -D OCTET_TIERS=THROWAWAY ${options})
run("" ${CMAKE_COMMAND} --build ${copy}/build)
run("" ${CMAKE_COMMAND} -D SOURCE_DIR=${copy} -P ${copy}/cmake/check_layering.cmake)
set(program ${copy}/build/parts)
run("" ${COMPILER} -std=c++17 -O1 -I${copy}/include ${SOURCE_DIR}/tests/consumer/parts/main.cc
  ${copy}/build/liboctet.a -o ${program})
run("" ${COMPILER} -std=c++17 -O1 -fno-fast-math -ffp-contract=off -DOCTET_STRICT_FLOAT -I${copy}
  -I${copy}/include ${here}/four_bits.cc ${copy}/build/liboctet.a -o ${program}_of_4_bits)

# One product, and convolutions by all algorithms, beside plain loops.
set(its "throwaway_u8s8_32x8x4: right")
run("^${its}\n.*\ndirect by ${its}\nim2col by ${its}\n"
  ${CMAKE_COMMAND} -E env OCTET_MAX_ISA=THROWAWAY ${program})
run("^scalar_u8s8_4x16x4: right" ${CMAKE_COMMAND} -E env OCTET_MAX_ISA=SCALAR ${program})

# Matrices and filters of 4 bits.
set(its "by throwaway_u8s8_4x16x8: right\n")
run("^2x37x21 ${its}.*direct ${its}.*im2col ${its}" ${CMAKE_COMMAND} -E env OCTET_MAX_ISA=THROWAWAY ${program}_of_4_bits)
