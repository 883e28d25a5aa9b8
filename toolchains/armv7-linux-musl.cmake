# musl on 32-bit Arm with NEON, by zig. Programs are static: qemu needs no sysroot, a board no libraries.
# Verified: zig 0.13 (Clang 18) from PyPI, `octet verify` under qemu 7.2. Not verified: hardware.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR armv7l)
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
octet_use_zig("arm-linux-musleabihf -mcpu=cortex_a7")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-arm)

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
