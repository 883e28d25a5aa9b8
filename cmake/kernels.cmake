# SPDX-License-Identifier: Apache-2.0
# How a tier is added. Only kernels/x86/tiers.cmake and kernels/arm/tiers.cmake spell ISA flags.

# octet_add_sources(FLAGS <flags> SOURCES <files> [<part> <files>]...): the flags come last on the
# command line, so that they beat a distribution's -mcpu. A part's files are left out of a library
# without it. Takes octet_add_tier's other arguments, too, and ignores them.
set(octet_kernel_parts SPARSE INT4 RUNTIME_WEIGHTS WINOGRAD DEPTHWISE)
function(octet_add_sources)
  cmake_parse_arguments(arg "XSIMD" "PROBE" "FLAGS;SOURCES;${octet_kernel_parts}" ${ARGN})
  foreach(part ${octet_kernel_parts})
    if(OCTET_WITH_${part})
      list(APPEND arg_SOURCES ${arg_${part}})
    endif()
  endforeach()
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
  foreach(source IN LISTS arg_SOURCES)
    get_property(already SOURCE ${source} PROPERTY COMPILE_OPTIONS)
    if(already)
      message(FATAL_ERROR "${source} is of two tiers: it would be compiled with the flags of both")
    endif()
  endforeach()
  target_sources(octet PRIVATE ${arg_SOURCES})
  set_property(SOURCE ${arg_SOURCES} APPEND PROPERTY COMPILE_OPTIONS ${arg_FLAGS} ${octet_unrolled})
endfunction()

# The names of all tiers, of other architectures too: the table's.
file(STRINGS ${PROJECT_SOURCE_DIR}/dispatch/tables/tiers.cc octet_names REGEX "^ +\\.name = ")
list(TRANSFORM octet_names REPLACE ".*\"(.*)\".*" "\\1")
set(octet_unknown ${OCTET_TIERS})
list(REMOVE_ITEM octet_unknown ${octet_names})
if(octet_unknown)
  list(JOIN octet_names ", " octet_names)
  message(FATAL_ERROR "OCTET_TIERS has '${octet_unknown}'; "
    "tiers are ${octet_names}, the last of which is always built")
endif()

# octet_probe(<tier> <expression> <flag>...): OCTET_COMPILES_<tier>, if that is not known already.
function(octet_probe tier expression)
  string(JOIN " " CMAKE_REQUIRED_FLAGS ${ARGN})
  check_cxx_source_compiles("#include <${octet_intrinsics}>\nint main() { return ${expression}; }"
    OCTET_COMPILES_${tier})
endfunction()

# octet_add_feature(<feature> [<file>...]): defines OCTET_<feature>, which a tier's kernels or a part of
# them ask for, for these files and the tables', which include kernels.def.
file(GLOB octet_tables ${PROJECT_SOURCE_DIR}/dispatch/tables/*.cc)
function(octet_add_feature feature)
  set_property(SOURCE ${octet_tables} ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS OCTET_${feature})
endfunction()

# octet_add_tier(<tier> [XSIMD] <arguments of octet_add_sources> [PROBE <expression>]): built if the
# compiler can, which is probed by compiling an int of intrinsics, not by its version, unless
# OCTET_COMPILES_<tier> is known; a tier whose kernels are written on XSIMD, if that was found, too.
# When the tier is built, OCTET_BUILDS_<tier> is set, octet_flags_<tier> has its flags, and the tier is
# a feature of the tables. octet_tiers lists all tiers of this architecture, octet_built_tiers those that are built.
function(octet_add_tier tier)
  cmake_parse_arguments(arg "XSIMD" "PROBE" "FLAGS;SOURCES;${octet_kernel_parts}" ${ARGN})
  if(arg_XSIMD AND NOT octet_xsimd)
    if(tier IN_LIST OCTET_TIERS)
      message(FATAL_ERROR "OCTET_TIERS has ${tier}, whose kernels are written on xsimd: "
        "that was not found, or OCTET_WITH_XSIMD is OFF")
    endif()
    return()
  endif()
  set(octet_tiers ${octet_tiers} ${tier} PARENT_SCOPE)
  if(OCTET_TIERS AND NOT tier IN_LIST OCTET_TIERS)
    return()
  endif()
  octet_probe(${tier} "${arg_PROBE}" ${arg_FLAGS})
  if(NOT OCTET_COMPILES_${tier})
    message(WARNING "Octet: this compiler cannot build the ${tier} kernels "
      "(${arg_FLAGS}); the library will do without them")
    return()
  endif()
  octet_add_sources(${ARGN})
  octet_add_feature(${tier})
  set(OCTET_BUILDS_${tier} ON PARENT_SCOPE)
  set(octet_flags_${tier} ${arg_FLAGS} PARENT_SCOPE)
  set(octet_built_tiers ${octet_built_tiers} ${tier} PARENT_SCOPE)
endfunction()

if(OCTET_TARGET STREQUAL "x86_64")
  include(kernels/x86/tiers.cmake)
elseif(OCTET_TARGET MATCHES "^(arm|aarch64)$")
  include(kernels/arm/tiers.cmake)
endif()
