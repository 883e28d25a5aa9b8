# Debian's cross compilers with qemu-user as the emulator: plain `ctest` runs the tests. Included by the toolchain files beside it.
# octet_use_debian(<processor> <triple> <qemu's name of it>)
macro(octet_use_debian processor triple qemu)
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR ${processor})
  set(CMAKE_C_COMPILER ${triple}-gcc)
  set(CMAKE_CXX_COMPILER ${triple}-g++)
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${qemu} -L /usr/${triple})

  # -DCMAKE_FIND_ROOT_PATH=<prefix> adds places to find packages of the target; those of the build machine are never found.
  list(APPEND CMAKE_FIND_ROOT_PATH /usr/${triple})
  set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
  set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
endmacro()
