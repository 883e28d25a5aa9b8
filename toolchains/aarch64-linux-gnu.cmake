# Debian's cross compiler (g++-aarch64-linux-gnu) with qemu-user as the emulator: plain `ctest` runs the tests.
# The CPU model is chosen when a test runs, by the environment variable QEMU_CPU (unset: max), or for good by -DOCTET_QEMU_CPU=cortex-a53.
# A Yocto-style -DCMAKE_CXX_FLAGS=-mcpu=cortex-a72 sets the baseline; the kernels' own flags come later and win.
# Verified: Debian 12, GCC 12.2, qemu 7.2.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(OCTET_QEMU_CPU "$ENV{OCTET_QEMU_CPU}" CACHE STRING "The qemu CPU model of every test; empty: QEMU_CPU decides")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
if(OCTET_QEMU_CPU)
  list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -cpu ${OCTET_QEMU_CPU})
endif()

# -DCMAKE_FIND_ROOT_PATH=<prefix> adds places to find aarch64 packages; those of the build machine are never found.
list(APPEND CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
