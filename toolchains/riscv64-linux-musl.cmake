# SPDX-License-Identifier: Apache-2.0
# musl on RISC-V, RV64GC, by zig. Programs are static: qemu needs no sysroot, a board no libraries.
# Verified: zig 0.13 (Clang 18) from PyPI, `octet verify` under qemu 7.2. Not verified: hardware.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
octet_cross(Linux riscv64)
octet_use_zig(riscv64-linux-musl)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-riscv64)
