# SPDX-License-Identifier: Apache-2.0
# Windows on arm64 by zig (Clang).
# Verified: compiling and linking with zig 0.17 (Clang 22) from PyPI on Linux. Not verified: running
# anything.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
octet_cross(Windows ARM64)
octet_use_zig(aarch64-windows-gnu)
# Precompiled headers were not tried with this compiler.
set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
