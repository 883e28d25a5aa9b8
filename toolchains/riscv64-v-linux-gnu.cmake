# SPDX-License-Identifier: Apache-2.0
# RISC-V with vectors of at least 128 bits, RV64GCV, by Clang with the libraries of Debian's g++-riscv64-linux-gnu (its
# GCC 12 has no vectors). Runs on the SCALAR tier, whose kernels the compiler turns into vectors.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
octet_use_debian(riscv64 riscv64-linux-gnu riscv64)
set(CMAKE_C_COMPILER clang)
set(CMAKE_CXX_COMPILER clang++)
set(CMAKE_C_COMPILER_TARGET riscv64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET riscv64-linux-gnu)
set(CMAKE_C_FLAGS_INIT -march=rv64gcv)
set(CMAKE_CXX_FLAGS_INIT -march=rv64gcv)
# Clang 14 uses vectors only when it is told that they are there; newer ones read it off -march.
add_compile_options("SHELL:-mllvm -riscv-v-vector-bits-min=128")
# Not verified: hardware. Verified: Debian 12, Clang 14, the quick tests under qemu 7.2, but for one: that qemu fails an assertion of
# its own at vfcvt.rtz.x.f.v (QEMU's issue 1441, mended in 8.0), which the compiler makes of packing for Winograd with int8 taps.
set(OCTET_DISABLED_TESTS fuzz_conv)
list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -cpu rv64,v=true,vext_spec=v1.0,vlen=128)
