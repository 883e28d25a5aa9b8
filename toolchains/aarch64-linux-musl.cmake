# musl: aarch64-linux-musl-g++ if it is there, else zig. Programs are static, so qemu needs no sysroot.
# Verified: zig 0.17 (Clang 22) from PyPI, tests under qemu 7.2. Not verified: a musl GCC.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
find_program(OCTET_MUSL_GXX aarch64-linux-musl-g++)
if(OCTET_MUSL_GXX)
  set(CMAKE_C_COMPILER aarch64-linux-musl-gcc)
  set(CMAKE_CXX_COMPILER aarch64-linux-musl-g++)
  set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
else()
  include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
  octet_use_zig(aarch64-linux-musl)
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
