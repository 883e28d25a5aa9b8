# SPDX-License-Identifier: Apache-2.0
# macOS on Intel's CPUs: Xcode's compiler on a Mac, else zig.
# Verified: compiling and linking with zig 0.17 (Clang 22) from PyPI on Linux. Not verified: Xcode,
# and running anything.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
octet_cross(Darwin x86_64)
if(CMAKE_HOST_APPLE)
  set(CMAKE_OSX_ARCHITECTURES x86_64)
else()
  octet_use_zig(x86_64-macos)
endif()
