# SPDX-License-Identifier: Apache-2.0
# Apple silicon: Xcode's compiler on a Mac, else zig. On an Apple silicon Mac no toolchain file is
# needed.
# Verified: compiling and linking with zig 0.17 (Clang 22) from PyPI on Linux. Not verified: Xcode,
# and running anything.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
octet_cross(Darwin arm64)
if(CMAKE_HOST_APPLE)
  set(CMAKE_OSX_ARCHITECTURES arm64)
else()
  octet_use_zig(aarch64-macos)
endif()
