# SPDX-License-Identifier: Apache-2.0
# musl on 32-bit Arm with NEON, by zig. Programs are static: qemu needs no sysroot, a board no
# libraries.
# Verified: zig 0.17 (Clang 22) from PyPI, `octet verify` under qemu 7.2. Not verified: hardware.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
octet_cross(Linux armv7l)
octet_use_zig("arm-linux-musleabihf -mcpu=cortex_a7")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-arm)
