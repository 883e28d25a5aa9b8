# SPDX-License-Identifier: Apache-2.0
# Windows on x86-64 by Debian's g++-mingw-w64-x86-64-posix (GCC). Wine is the emulator.
# Verified: Debian 12, GCC 12, the suites of docs/building.md under Wine 8. Not verified: Windows
# itself.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
octet_cross(Windows AMD64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_CXX_FLAGS_INIT -fno-ipa-ra) # of GoogleTest, too: cmake/strict_float.cmake has the reason
set(CMAKE_EXE_LINKER_FLAGS_INIT -static) # Wine finds no libraries of the compiler
list(APPEND CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
octet_use_headers()
octet_use_wine()
# Precompiled headers were not tried with this compiler.
set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
