# SPDX-License-Identifier: Apache-2.0
# OCTET_TARGET: x86_64, i386, aarch64, arm or other, as the compiler says. CMAKE_SYSTEM_PROCESSOR may
# name the machine, which may run programs of more than one kind.
if(CMAKE_CXX_BYTE_ORDER STREQUAL "BIG_ENDIAN")
  message(FATAL_ERROR "Octet does not support big-endian machines (${CMAKE_SYSTEM_PROCESSOR}): "
    "packed weights are little-endian, and read where they lie")
endif()

include(CheckCXXSourceCompiles)
set(OCTET_TARGET other)
foreach(cpu x86_64 i386 aarch64 arm)
  check_cxx_source_compiles("#ifndef __${cpu}__\n#error\n#endif\nint main() {}" OCTET_TARGETS_${cpu})
  if(OCTET_TARGETS_${cpu})
    set(OCTET_TARGET ${cpu})
    break()
  endif()
endforeach()

# octet_choose(<variable> <value> <other> <condition>...): <value> where the condition holds.
function(octet_choose variable value other)
  set(${variable} ${other} PARENT_SCOPE)
  if(${ARGN})
    set(${variable} ${value} PARENT_SCOPE)
  endif()
endfunction()
