# SPDX-License-Identifier: Apache-2.0
# POWER, little-endian, by Debian's g++-powerpc64le-linux-gnu. Runs on the SCALAR tier.
# Verified: Debian 12, GCC 12.2, all tests under qemu 7.2. Not verified: hardware.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
octet_use_debian(ppc64le powerpc64le-linux-gnu ppc64le)
