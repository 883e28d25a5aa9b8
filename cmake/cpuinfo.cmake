# SPDX-License-Identifier: Apache-2.0
# octet_cpuinfo: whether the library asks cpuinfo; then PkgConfig::cpuinfo is there. By pkg-config:
# the CMake package that Debian ships names files that do not exist.
#
# AUTO looks for it where it knows more than the CPU and the system tell. What is found has to link:
# of a cross build pkg-config may find the package of the machine that builds.
octet_choose(how QUIET REQUIRED OCTET_WITH_CPUINFO STREQUAL "AUTO")
octet_choose(octet_cpuinfo "${OCTET_WITH_CPU_FILES}" OFF OCTET_TARGET STREQUAL "aarch64"
  AND CMAKE_SYSTEM_NAME MATCHES "^(Linux|Android)$")
octet_choose(octet_cpuinfo "${octet_cpuinfo}" "${OCTET_WITH_CPUINFO}" how STREQUAL "QUIET")
if(octet_cpuinfo AND NOT OCTET_WITH_CPU_FILES)
  message(FATAL_ERROR "OCTET_WITH_CPUINFO opens files, and OCTET_WITH_CPU_FILES is OFF")
endif()
if(octet_cpuinfo)
  find_package(PkgConfig ${how})
  pkg_check_modules(cpuinfo ${how} IMPORTED_TARGET libcpuinfo)
  set(octet_cpuinfo ${cpuinfo_FOUND})
endif()
if(octet_cpuinfo)
  set(CMAKE_REQUIRED_LIBRARIES PkgConfig::cpuinfo)
  check_cxx_source_compiles("#include <cpuinfo.h>
    int main() { return !cpuinfo_initialize(); }" OCTET_CPUINFO_LINKS)
  unset(CMAKE_REQUIRED_LIBRARIES)
  octet_choose(octet_cpuinfo ON "${OCTET_CPUINFO_LINKS}" how STREQUAL "REQUIRED")
endif()
if(octet_cpuinfo)
  target_link_libraries(octet PRIVATE PkgConfig::cpuinfo)
  target_compile_definitions(octet PRIVATE OCTET_WITH_CPUINFO)
endif()
