# SPDX-License-Identifier: Apache-2.0
# 32-bit x86 with SSE2, by Debian's g++-i686-linux-gnu. Runs on the SCALAR tier. An x86-64 machine runs its programs itself, with the C library of the
# cross compiler.
# Verified: Debian 12, GCC 12.2, all tests.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
octet_use_debian(i686 i686-linux-gnu i386)
if(CMAKE_HOST_SYSTEM_PROCESSOR MATCHES "^(x86_64|i.86)$")
  set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--dynamic-linker=/usr/i686-linux-gnu/lib/ld-linux.so.2 -Wl,-rpath,/usr/i686-linux-gnu/lib")
  unset(CMAKE_CROSSCOMPILING_EMULATOR)
endif()
