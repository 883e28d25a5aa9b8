# SPDX-License-Identifier: Apache-2.0
# RISC-V, RV64GC, by Debian's g++-riscv64-linux-gnu. Runs on the SCALAR tier.
# Verified: Debian 12, GCC 12.2, all tests under qemu 7.2. Not verified: hardware.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
octet_use_debian(riscv64 riscv64-linux-gnu riscv64)
