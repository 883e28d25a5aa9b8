# SPDX-License-Identifier: Apache-2.0
# musl: aarch64-linux-musl-g++ if it is there, else zig. Programs are static: qemu needs no sysroot.
# Verified: zig 0.17 (Clang 22) from PyPI, tests under qemu 7.2. Not verified: a musl GCC.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
find_program(OCTET_MUSL_GXX aarch64-linux-musl-g++)
octet_cross(Linux aarch64)
if(OCTET_MUSL_GXX)
  set(CMAKE_C_COMPILER aarch64-linux-musl-gcc)
  set(CMAKE_CXX_COMPILER aarch64-linux-musl-g++)
  set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
else()
  octet_use_zig(aarch64-linux-musl)
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
