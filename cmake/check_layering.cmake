# One row for each room: the rooms whose headers its files may include. Rows name only rooms above
# them, so that includes point one way and no circle can be.
#
# An ISA kernel is compiled with flags that the rest of the program does not have, so its file
# includes only intrinsics, C headers and headers of kernels/.
#
# And names are kept apart: a name of which there are several, and of which more will come (tiers,
# formats, algorithms), stands in its tables and its own files; all others ask the tables.
cmake_minimum_required(VERSION 3.22)
set(rooms)
# octet_room(<room> <room>...)
macro(octet_room room)
  list(APPEND rooms ${room})
  set(may_include_${room} ${room} ${ARGN})
  foreach(other ${ARGN})
    if(NOT other IN_LIST rooms)
      message(SEND_ERROR "${room} may not include ${other}, whose row is not above its own")
    endif()
  endforeach()
endmacro()
octet_room(octet)
octet_room(kernels/core)
octet_room(kernels/generic kernels/core)
octet_room(kernels/scalar kernels/generic kernels/core)
octet_room(kernels/xsimd kernels/generic kernels/core)
octet_room(kernels/x86/shared kernels/generic kernels/core)
octet_room(kernels/x86 kernels/x86/shared kernels/xsimd kernels/generic kernels/core)
octet_room(kernels/arm/shared kernels/generic kernels/core)
octet_room(kernels/arm kernels/arm/shared kernels/generic kernels/core)
octet_room(kernels/macro kernels/core)
octet_room(packing kernels/core)
octet_room(dispatch/api octet)
octet_room(dispatch/tables packing kernels/x86 kernels/arm kernels/scalar kernels/generic kernels/core
  octet)
octet_room(dispatch/cpu dispatch/tables dispatch/api kernels/core octet)
octet_room(dispatch/self_test dispatch/cpu dispatch/tables packing kernels/core)
octet_room(dispatch/select dispatch/self_test dispatch/cpu dispatch/tables dispatch/api packing
  kernels/macro kernels/core octet)
octet_room(dispatch/tuning dispatch/select dispatch/cpu dispatch/tables dispatch/api packing
  kernels/core octet)
octet_room(operators/common dispatch/select dispatch/cpu dispatch/tables dispatch/api packing
  kernels/core octet)
octet_room(operators/helpers operators/common dispatch/select dispatch/tables dispatch/api octet)
octet_room(operators/gemm operators/common dispatch/tuning dispatch/select dispatch/cpu dispatch/tables
  dispatch/api packing kernels/macro kernels/core octet)
octet_room(operators/conv/algorithms dispatch/tables dispatch/api packing kernels/macro kernels/core)
octet_room(operators/conv operators/conv/algorithms operators/gemm operators/common dispatch/tuning
  dispatch/select dispatch/self_test dispatch/cpu dispatch/tables dispatch/api kernels/core octet)
octet_room(operators/sparse operators/conv operators/gemm operators/common dispatch/select dispatch/api
  packing kernels/core octet)
octet_room(operators/network operators/conv operators/gemm operators/common dispatch/select dispatch/cpu
  dispatch/api kernels/core octet)
octet_room(operators operators/conv operators/gemm dispatch/cpu)
octet_room(analysis/tune operators/conv/algorithms operators/conv operators/gemm operators/common
  dispatch/tuning dispatch/select dispatch/cpu dispatch/tables dispatch/api kernels/core octet)
octet_room(analysis/traffic operators/network operators/conv/algorithms operators/conv operators/gemm
  operators/common dispatch/select dispatch/tables dispatch/api kernels/core octet)
set(isa_rooms kernels/core kernels/generic kernels/scalar kernels/x86 kernels/x86/shared kernels/arm
  kernels/arm/shared)
set(c_headers "^(stddef|stdint|string|immintrin|arm_neon)\\.h$")

# octet_keep(<what> PATTERN <regex> IN <regex>): code that has a word like this stands in these files
# only. Comments may have it.
set(kept)
macro(octet_keep what)
  cmake_parse_arguments(arg "" "PATTERN;IN" "" ${ARGN})
  list(APPEND kept ${what})
  set(pattern_of_${what} "(^|[^A-Za-z0-9_])(${arg_PATTERN})($|[^A-Za-z0-9_])")
  set(files_of_${what} "^(${arg_IN})")
endmacro()

# octet_words(<result> <file> <regex>): "a|b|c", what the regex's group is wherever it matches.
function(octet_words result file regex)
  file(READ ${SOURCE_DIR}/${file} text)
  string(REGEX MATCHALL "${regex}" words "${text}")
  list(TRANSFORM words REPLACE "${regex}" "\\1")
  list(REMOVE_DUPLICATES words)
  list(JOIN words "|" words)
  if(NOT words)
    message(FATAL_ERROR "${file} has nothing of the form ${regex}: it is not as this file thinks")
  endif()
  set(${result} "${words}" PARENT_SCOPE)
endfunction()

# Tiers, formats and algorithms, so that one more is its rows and its own files. Their names are those
# that the tables have.
octet_words(isas dispatch/tables/tiers.cc "\\.isa = (Isa::k[A-Za-z0-9]+)")
octet_words(tiers dispatch/tables/tiers.cc "\\.name = \"([A-Z0-9]+)\"")
octet_words(layouts dispatch/tables/formats.cc ", (k[A-Za-z0-9]+Layout)")
octet_words(formats dispatch/tables/formats.cc "(FormatId::k[A-Za-z0-9_]+)")
octet_words(kernels dispatch/tables/kernels.def ", ([a-z0-9]+_[a-z0-9_]+)")
set(own "dispatch/tables/|kernels/(x86|arm|scalar)/")
octet_keep(tier PATTERN "${isas}|(OCTET_[A-Z_]*)?(${tiers})" IN "${own}|kernels/core/isa\\.h")
octet_keep(layout PATTERN "${layouts}" IN "${own}|kernels/core/(depthwise|sparse)|operators/conv/algorithms/(depthwise|grouped|channelwise)")
octet_keep(format PATTERN "${formats}" IN "${own}")
octet_keep(kernel PATTERN "${kernels}" IN "${own}|kernels/generic/portable")
octet_keep(feature PATTERN "kHas[A-Z][A-Za-z0-9]*" IN "${own}|kernels/core/feature\\.h|dispatch/cpu/features\\.")
octet_words(algorithms dispatch/api/algorithm_names.cc "(OCTET_CONV_[A-Z0-9_]+): return \"[b-z]")
octet_words(implementations operators/conv/algorithms/table.cc "[&(]([a-z0-9]+_[a-z0-9_]*algorithm)[,)]")
octet_keep(algorithm PATTERN "${algorithms}|${implementations}"
  IN "${own}|dispatch/api/algorithm_names\\.|operators/conv/algorithms/")
octet_keep(architecture PATTERN "__(x86_64|aarch64|AVX[A-Z0-9]*|ARM_[A-Z0-9_]*)__"
  IN "${own}|dispatch/cpu/features\\.|kernels/core/compiler\\.h")

file(GLOB_RECURSE sources RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/analysis/*
  ${SOURCE_DIR}/dispatch/* ${SOURCE_DIR}/kernels/* ${SOURCE_DIR}/operators/* ${SOURCE_DIR}/packing/*)
list(FILTER sources EXCLUDE REGEX "\\.(cmake|md)$")
foreach(source IN LISTS sources)
  cmake_path(GET source PARENT_PATH room)
  if(NOT DEFINED may_include_${room})
    message(SEND_ERROR "${source}: ${room} has no row; give it one in ${CMAKE_CURRENT_LIST_FILE}")
  endif()
  file(STRINGS ${SOURCE_DIR}/${source} lines REGEX "^[ \t]*#[ \t]*include")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ".*[<\"]([^>\"]+)[>\"].*" "\\1" header "${line}")
    cmake_path(GET header PARENT_PATH target)
    if(line MATCHES "\"")
      if(NOT target IN_LIST may_include_${room})
        message(SEND_ERROR "${source} includes ${header}: ${room} may include ${may_include_${room}}")
      endif()
    elseif(room IN_LIST isa_rooms AND NOT header MATCHES "${c_headers}")
      message(SEND_ERROR "${source} includes ${header}: kernels include only intrinsics and C headers")
    endif()
  endforeach()
  file(READ ${SOURCE_DIR}/${source} text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  foreach(what IN LISTS kept)
    if(NOT source MATCHES "${files_of_${what}}" AND text MATCHES "${pattern_of_${what}}")
      message(SEND_ERROR "${source} names the ${what} ${CMAKE_MATCH_2}: the tables know which; ask them")
    endif()
  endforeach()
endforeach()
list(LENGTH sources count)
message(STATUS "${count} files looked at")
