# SPDX-License-Identifier: Apache-2.0
# Prints the configuration at its end: two builds of one source differ by what is installed.
octet_choose(cpuinfo ON OFF octet_cpuinfo)
octet_choose(tests ON OFF TARGET octet_test_support)
octet_choose(benchmarks ON OFF TARGET kernel_bench)
octet_choose(tool ON OFF TARGET octet_command)
string(JOIN " " tiers SCALAR ${octet_built_tiers})
message(STATUS "Octet ${PROJECT_VERSION} for ${OCTET_TARGET}, ${CMAKE_BUILD_TYPE}")
message(STATUS "  tiers: ${tiers}")
message(STATUS "  parts:${octet_parts}")
message(STATUS "  cpuinfo: ${cpuinfo}; xsimd: ${octet_xsimd}; tests: ${tests}; "
  "benchmarks: ${benchmarks}; octet command: ${tool}")
