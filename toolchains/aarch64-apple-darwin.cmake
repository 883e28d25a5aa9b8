# Apple silicon: Xcode's compiler on a Mac, else zig. On an Apple silicon Mac no toolchain file is needed.
# Verified: compiling and linking with zig 0.17 (Clang 22) from PyPI on Linux. Not verified: Xcode, and running anything.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
if(CMAKE_HOST_APPLE)
  set(CMAKE_OSX_ARCHITECTURES arm64)
else()
  include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
  octet_use_zig(aarch64-macos)
endif()

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
