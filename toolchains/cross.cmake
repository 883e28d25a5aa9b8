# SPDX-License-Identifier: Apache-2.0
# Included by the toolchain files beside it.

# octet_cross(<system> <processor>): of what is found, only programs are of the build machine.
# -DCMAKE_FIND_ROOT_PATH=<prefix> adds places to find packages of the target.
macro(octet_cross system processor)
  set(CMAKE_SYSTEM_NAME ${system})
  set(CMAKE_SYSTEM_PROCESSOR ${processor})
  set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
  set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
endmacro()

# octet_use_debian(<processor> <triple> <qemu's name of it>): Debian's cross compilers, and qemu-user
# as the emulator: plain `ctest` runs the tests.
macro(octet_use_debian processor triple qemu)
  octet_cross(Linux ${processor})
  set(CMAKE_C_COMPILER ${triple}-gcc)
  set(CMAKE_CXX_COMPILER ${triple}-g++)
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${qemu} -L /usr/${triple})
  list(APPEND CMAKE_FIND_ROOT_PATH /usr/${triple})
endmacro()

# octet_use_headers(): libraries of the build machine that are headers only, apart from the headers
# of its C library.
macro(octet_use_headers)
  set(octet_headers ${CMAKE_BINARY_DIR}/headers)
  file(MAKE_DIRECTORY ${octet_headers})
  foreach(library CLI fmt nlohmann xsimd)
    if(EXISTS /usr/include/${library})
      file(CREATE_LINK /usr/include/${library} ${octet_headers}/${library} SYMBOLIC)
    endif()
  endforeach()
  if(EXISTS ${octet_headers}/CLI AND EXISTS ${octet_headers}/fmt AND EXISTS ${octet_headers}/nlohmann)
    set(OCTET_TOOL_HEADERS ${octet_headers} CACHE PATH "Links to CLI11, fmt, nlohmann_json")
  endif()
  if(EXISTS ${octet_headers}/xsimd)
    set(OCTET_XSIMD_INCLUDE_DIR ${octet_headers} CACHE PATH "A link to xsimd")
  endif()
endmacro()

# octet_use_zig(<target>): zig as a cross compiler: `zig` itself, or PyPI's ziglang by
# `python3 -m ziglang`. <target> is as zig spells it.
macro(octet_use_zig target)
  set(CMAKE_C_COMPILER ${CMAKE_CURRENT_LIST_DIR}/zig-compiler cc -target ${target})
  set(CMAKE_CXX_COMPILER ${CMAKE_CURRENT_LIST_DIR}/zig-compiler c++ -target ${target})
  # Only zig links slowly: for each set of flags it compiles its libraries anew.
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  find_program(CMAKE_AR NAMES llvm-ar llvm-ar-19 llvm-ar-14 REQUIRED)
  find_program(CMAKE_RANLIB NAMES llvm-ranlib llvm-ranlib-19 llvm-ranlib-14 REQUIRED)
  find_program(CMAKE_NM NAMES llvm-nm llvm-nm-19 llvm-nm-14)
  find_program(CMAKE_OBJDUMP NAMES llvm-objdump llvm-objdump-19 llvm-objdump-14)
  octet_use_headers()
endmacro()

# octet_use_wine(): Wine runs the tests. Debian's package wine64 has no `wine64` on the PATH.
macro(octet_use_wine)
  find_program(OCTET_WINE NAMES wine64 wine PATHS /usr/lib/wine NO_CMAKE_FIND_ROOT_PATH)
  if(OCTET_WINE)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${OCTET_WINE})
  endif()
endmacro()
