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
# Clang 14 uses vectors only when it is told that they are there; newer ones read it off -march. The
# library alone is told: exceptions do not pass the frames of Clang 14 that hold vectors.
add_compile_options("SHELL:$<$<STREQUAL:$<TARGET_PROPERTY:NAME>,octet>:-mllvm -riscv-v-vector-bits-min=128>")
# Of qemu this needs 8.0, because older ones fail an assertion of their own at vfcvt.rtz.x.f.v (QEMU's
# issue 1441). Not verified: hardware. Verified: Debian 12, Clang 14, the quick tests under qemu 10.0.
find_program(OCTET_RISCV_QEMU qemu-riscv64 HINTS ${CMAKE_CURRENT_LIST_DIR}/../build/qemu/usr/bin)
set(CMAKE_CROSSCOMPILING_EMULATOR ${OCTET_RISCV_QEMU} -L /usr/riscv64-linux-gnu
  -cpu rv64,v=true,vext_spec=v1.0,vlen=128)
