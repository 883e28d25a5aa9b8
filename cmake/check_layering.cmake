# Includes point one way: {network, traffic, tune} -> dispatch -> {conv, gemm} -> {nest, pack} -> core and dispatch/tables ->
# {ref, x86, arm} -> simd -> core; the tables name the functions of pack and the algorithms of conv.
# An ISA kernel is compiled with flags that the rest of the program does not have, so its file
# includes only intrinsics, C headers and headers of core/, simd/ and its own folder.
#
# And names are kept apart: what there are several of, and more will be, is named in its tables and
# its own files; all others ask the tables.
cmake_minimum_required(VERSION 3.22)
set(may_include_tune tune dispatch dispatch/tables kernels/conv kernels/core octet)
set(may_include_network network dispatch kernels/conv kernels/core octet)
set(may_include_traffic traffic network dispatch kernels/conv kernels/core octet)
set(may_include_dispatch dispatch dispatch/tables kernels/conv kernels/gemm kernels/nest kernels/pack kernels/sparse kernels/core octet)
set(may_include_dispatch/tables dispatch dispatch/tables kernels/conv kernels/pack kernels/core kernels/ref kernels/simd kernels/x86 kernels/arm)
set(may_include_kernels/conv kernels/conv kernels/nest kernels/pack kernels/core)
set(may_include_kernels/gemm kernels/gemm kernels/nest kernels/pack kernels/core)
set(may_include_kernels/nest kernels/nest kernels/core)
set(may_include_kernels/pack kernels/pack kernels/core)
set(may_include_kernels/sparse kernels/sparse kernels/pack kernels/core)
set(may_include_kernels/core kernels/core)
set(may_include_kernels/simd kernels/simd kernels/core)
set(may_include_kernels/ref kernels/ref kernels/simd kernels/core)
set(may_include_kernels/x86 kernels/x86 kernels/xsimd kernels/simd kernels/core)
set(may_include_kernels/xsimd kernels/xsimd kernels/simd kernels/core)
set(may_include_kernels/arm kernels/arm kernels/simd kernels/core)
set(isa_layers kernels/core kernels/simd kernels/ref kernels/x86 kernels/arm)
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

# Tiers, forms and algorithms, so that one more is its rows and its own files. Their names are those
# that the tables have.
octet_words(isas dispatch/tables/tiers.cc "\\.isa = (Isa::k[A-Za-z0-9]+)")
octet_words(tiers dispatch/tables/tiers.cc "\\.name = \"([A-Z0-9]+)\"")
octet_words(layouts dispatch/tables/forms.cc ", (k[A-Za-z0-9]+Layout)")
octet_words(forms dispatch/tables/forms.cc "(FormId::k[A-Za-z0-9_]+)")
octet_words(kernels dispatch/tables/tiers.def ", ([a-z0-9]+_[a-z0-9_]+)")
set(own "dispatch/tables/|kernels/(x86|arm|ref)/")
octet_keep(tier PATTERN "${isas}|(OCTET_[A-Z_]*)?(${tiers})" IN "${own}|kernels/core/isa\\.h")
octet_keep(layout PATTERN "${layouts}" IN "${own}|kernels/(core/(depthwise|sparse)|conv/(depthwise|grouped|channelwise))")
octet_keep(form PATTERN "${forms}" IN "${own}")
octet_keep(kernel PATTERN "${kernels}" IN "${own}|kernels/simd/portable")
octet_keep(feature PATTERN "kHas[A-Z][A-Za-z0-9]*" IN "${own}|dispatch/cpu_features\\.")
octet_words(algorithms dispatch/conv_names.cc "(OCTET_CONV_[A-Z0-9_]+): return \"[b-z]")
octet_keep(algorithm PATTERN "${algorithms}|[a-z0-9_]+_method"
  IN "${own}|dispatch/conv_names\\.|kernels/conv/")
octet_keep(architecture PATTERN "__(x86_64|aarch64|AVX[A-Z0-9]*|ARM_[A-Z0-9_]*)__"
  IN "${own}|dispatch/cpu_features\\.|kernels/core/unroll\\.h")

file(GLOB_RECURSE sources RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/dispatch/* ${SOURCE_DIR}/kernels/*
  ${SOURCE_DIR}/network/* ${SOURCE_DIR}/traffic/* ${SOURCE_DIR}/tune/*)
foreach(source IN LISTS sources)
  cmake_path(GET source PARENT_PATH layer)
  if(NOT DEFINED may_include_${layer})
    message(SEND_ERROR "${source}: ${layer} has no place in the layering; give it one in ${CMAKE_CURRENT_LIST_FILE}")
  endif()
  file(STRINGS ${SOURCE_DIR}/${source} lines REGEX "^[ \t]*#[ \t]*include")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ".*[<\"]([^>\"]+)[>\"].*" "\\1" header "${line}")
    cmake_path(GET header PARENT_PATH target)
    if(line MATCHES "\"")
      if(NOT target IN_LIST may_include_${layer})
        message(SEND_ERROR "${source} includes ${header}: ${layer} may include ${may_include_${layer}}")
      endif()
    elseif(layer IN_LIST isa_layers AND NOT header MATCHES "${c_headers}")
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
