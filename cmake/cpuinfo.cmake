# octet_cpuinfo: whether the library asks cpuinfo; then PkgConfig::cpuinfo is there. By pkg-config:
# the CMake package that Debian ships names files that do not exist.
#
# AUTO looks for it where it knows more than the CPU and the system tell. What is found has to link:
# of a cross build pkg-config may find the package of the machine that builds.
set(octet_cpuinfo ${OCTET_WITH_CPUINFO})
if(OCTET_WITH_CPUINFO STREQUAL "AUTO")
  set(octet_cpuinfo OFF)
  if(OCTET_WITH_CPU_FILES AND OCTET_TARGET STREQUAL "aarch64"
     AND CMAKE_SYSTEM_NAME MATCHES "^(Linux|Android)$")
    find_package(PkgConfig QUIET)
    pkg_check_modules(cpuinfo QUIET IMPORTED_TARGET libcpuinfo)
    if(cpuinfo_FOUND)
      set(CMAKE_REQUIRED_LIBRARIES PkgConfig::cpuinfo)
      check_cxx_source_compiles("#include <cpuinfo.h>
        int main() { return !cpuinfo_initialize(); }" OCTET_CPUINFO_LINKS)
      unset(CMAKE_REQUIRED_LIBRARIES)
      set(octet_cpuinfo ${OCTET_CPUINFO_LINKS})
    endif()
  endif()
elseif(OCTET_WITH_CPUINFO)
  if(NOT OCTET_WITH_CPU_FILES)
    message(FATAL_ERROR "OCTET_WITH_CPUINFO opens files, and OCTET_WITH_CPU_FILES is OFF")
  endif()
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(cpuinfo REQUIRED IMPORTED_TARGET libcpuinfo)
endif()
if(octet_cpuinfo)
  target_link_libraries(octet PRIVATE PkgConfig::cpuinfo)
  target_compile_definitions(octet PRIVATE OCTET_WITH_CPUINFO)
endif()
