# zig as a cross compiler: `zig` itself, or PyPI's ziglang by `python3 -m ziglang`. Included by the toolchain files beside it.
# octet_use_zig(<target>) sets the compilers, <target> as zig spells it.
macro(octet_use_zig target)
  set(CMAKE_C_COMPILER ${CMAKE_CURRENT_LIST_DIR}/zig-compiler cc -target ${target})
  set(CMAKE_CXX_COMPILER ${CMAKE_CURRENT_LIST_DIR}/zig-compiler c++ -target ${target})
  find_program(CMAKE_AR NAMES llvm-ar llvm-ar-19 llvm-ar-14 REQUIRED)
  find_program(CMAKE_RANLIB NAMES llvm-ranlib llvm-ranlib-19 llvm-ranlib-14 REQUIRED)
  find_program(CMAKE_NM NAMES llvm-nm llvm-nm-19 llvm-nm-14)
  find_program(CMAKE_OBJDUMP NAMES llvm-objdump llvm-objdump-19 llvm-objdump-14)
endmacro()
