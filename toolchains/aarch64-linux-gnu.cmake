# SPDX-License-Identifier: Apache-2.0
# aarch64 by Debian's g++-aarch64-linux-gnu, on any model of qemu's.
# The CPU model is chosen when a test runs, by the environment variable QEMU_CPU (unset: max), or for
# good by -DOCTET_QEMU_CPU=cortex-a53. A Yocto-style -DCMAKE_CXX_FLAGS=-mcpu=cortex-a72 sets the
# baseline; the kernels' own flags come later and win.
# Verified: Debian 12, GCC 12.2, qemu 7.2.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
octet_use_debian(aarch64 aarch64-linux-gnu aarch64)

set(OCTET_QEMU_CPU "$ENV{OCTET_QEMU_CPU}" CACHE STRING "qemu's CPU model; empty: QEMU_CPU decides")
if(OCTET_QEMU_CPU)
  list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -cpu ${OCTET_QEMU_CPU})
endif()
