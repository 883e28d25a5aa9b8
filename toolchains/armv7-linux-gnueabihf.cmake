# SPDX-License-Identifier: Apache-2.0
# 32-bit Arm with floating-point registers, by Debian's g++-arm-linux-gnueabihf. CPUs with NEON run on the NEON tier, others on SCALAR.
# The CPU model is chosen when a test runs, by the environment variable QEMU_CPU.
# Verified: Debian 12, GCC 12.2, all tests under qemu 7.2. Not verified: hardware.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
octet_use_debian(armv7l arm-linux-gnueabihf arm)
