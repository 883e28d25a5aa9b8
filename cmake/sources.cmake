# SPDX-License-Identifier: Apache-2.0
# For what is unrolled. Sanitizers multiply its code, and compilers need minutes for a tile; so they
# check by calls, and where Clang can, end the program instead of saying what was undefined. Without
# Clang's checks of pointers that only add to AddressSanitizer's it takes half of the time.
set(calls asan-instrumentation-with-call-threshold=0)
octet_choose(calls "--param;${calls}" "-mllvm;-${calls};-fsanitize-trap=undefined;-fno-sanitize=null,object-size,pointer-overflow"
  CMAKE_CXX_COMPILER_ID STREQUAL GNU)
octet_choose(octet_unrolled "-O1;${calls}" -O3 CMAKE_CXX_FLAGS MATCHES "-fsanitize")
# For GCC: vectors, and no copies of loops for every count.
set(octet_vectors -O2 -ftree-vectorize -fvect-cost-model=dynamic)

# octet_sources([IF <condition>] <file>... [SETUP|VECTORS|LOOPS|UNTIMED <file>...]...
#               [TARGET <target>]):
# the sources of the folder whose file calls it, each named once, with the size or the speed that it
# needs; only where the condition, one string of what if() takes, holds. SETUP runs once per object:
# small counts. VECTORS need vectors somewhere. LOOPS are portable loops over every accumulator, which
# GCC 12 needs -O3 for; a MinSizeRel build gets both small. UNTIMED files of tools compile faster so.
function(octet_sources)
  cmake_parse_arguments(arg "" "IF;TARGET" "SETUP;VECTORS;LOOPS;UNTIMED" IF ON TARGET octet ${ARGN})
  string(REPLACE " " ";" condition "${arg_IF}")
  if(NOT (${condition}))
    return()
  endif()
  get_target_property(type ${arg_TARGET} TYPE)
  octet_choose(arg_TARGET octet ${arg_TARGET} type STREQUAL INTERFACE_LIBRARY)
  foreach(kind UNPARSED_ARGUMENTS SETUP VECTORS LOOPS UNTIMED)
    list(TRANSFORM arg_${kind} PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
    target_sources(${arg_TARGET} PRIVATE ${arg_${kind}})
  endforeach()
  # Operators only: kernels would be 2 % larger, and none was faster
  octet_choose(moves "${octet_small_moves}" "" CMAKE_CURRENT_LIST_DIR MATCHES "^${PROJECT_SOURCE_DIR}/operators/")
  set_property(SOURCE ${arg_UNPARSED_ARGUMENTS} APPEND PROPERTY COMPILE_OPTIONS ${moves})
  set_property(SOURCE ${arg_SETUP} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-Os>)
  set_property(SOURCE ${arg_VECTORS} APPEND PROPERTY COMPILE_OPTIONS
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<CONFIG:MinSizeRel>>>:${octet_vectors}>")
  set_property(SOURCE ${arg_UNTIMED} APPEND PROPERTY COMPILE_OPTIONS $<IF:$<CONFIG:Debug>,-O0,-O1>)
  set_property(SOURCE ${arg_LOOPS} APPEND PROPERTY COMPILE_OPTIONS "$<$<NOT:$<CONFIG:MinSizeRel>>:${octet_unrolled}>")
endfunction()

# octet_precompile(<target> <header>...): headers of libraries that take most of a file's compilation.
# Files optimized otherwise may compile without them, in silence: GCC 14 takes -O1 and -O3 for unlike.
function(octet_precompile target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_target_properties(${target} PROPERTIES PCH_WARN_INVALID OFF)
  endif()
endfunction()

# octet_folders(<folder>...): the sources of folders beside the file that calls it.
macro(octet_folders)
  foreach(folder ${ARGN})
    include(${CMAKE_CURRENT_LIST_DIR}/${folder}/sources.cmake)
  endforeach()
endmacro()
