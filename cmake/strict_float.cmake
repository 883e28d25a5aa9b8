# octet_strict_float(<target> <PUBLIC|PRIVATE>): floats as the numeric contract wants them. Every
# operation rounds once, to float, in the order written: no FMA in place of a product and a sum, no
# reassociation, no x87. -fno-fast-math takes back all that -ffast-math stands for, wherever the
# user asked for a part of it. kernels/core/strict_float.h refuses what was compiled otherwise.
set(octet_strict_float_flags -fno-fast-math -ffp-contract=off)
if(OCTET_TARGET STREQUAL "i386")
  list(APPEND octet_strict_float_flags -msse2 -mfpmath=sse)
endif()

function(octet_strict_float target visibility)
  target_compile_options(${target} ${visibility} ${octet_strict_float_flags})
  target_compile_definitions(${target} ${visibility} OCTET_STRICT_FLOAT)
endfunction()

# octet_add_flags(<target> <PUBLIC|PRIVATE> [<option>...]): includes are from the root, and floats
# follow the numeric contract.
function(octet_add_flags target visibility)
  target_compile_features(${target} ${visibility} cxx_std_17)
  target_include_directories(${target} ${visibility} ${PROJECT_SOURCE_DIR})
  octet_strict_float(${target} ${visibility})
  target_compile_options(${target} ${visibility} -Wall -Wextra ${ARGN})
endfunction()
set(octet_werror $<$<BOOL:${OCTET_WERROR}>:-Werror>)
