# SPDX-License-Identifier: Apache-2.0
# musl on x86-64, by zig. Programs are static: they run on any Linux, whatever its C library.
# Verified: zig 0.17 (Clang 22) from PyPI, `octet verify`.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
octet_cross(Linux x86_64)
octet_use_zig(x86_64-linux-musl)
if(CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(CMAKE_CROSSCOMPILING_EMULATOR env) # this machine runs them itself
endif()
