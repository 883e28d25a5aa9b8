# SPDX-License-Identifier: Apache-2.0
# Windows on x86-64 by zig (Clang). Wine is the emulator: plain `ctest` runs the tests.
# Verified: zig 0.17 (Clang 22) from PyPI, the suites of docs/building.md under Debian's Wine 8.
# Not verified: Windows itself.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
octet_cross(Windows AMD64)
octet_use_zig(x86_64-windows-gnu)
octet_use_wine()
# Precompiled headers were not tried with this compiler.
set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
