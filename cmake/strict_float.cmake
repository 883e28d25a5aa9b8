# Floats as the numeric contract wants them. Every operation rounds once, to float, in the order
# written: no FMA in place of a product and a sum, no reassociation, no x87. -fno-fast-math takes
# back all that -ffast-math stands for, wherever the user asked for a part of it.
# kernels/core/strict_float.h refuses what was compiled otherwise.
octet_choose(x87 "-msse2;-mfpmath=sse" "" OCTET_TARGET STREQUAL i386)
set(octet_strict_float_flags -fno-fast-math -ffp-contract=off ${x87})
set(octet_werror $<$<BOOL:${OCTET_WERROR}>:-Werror>)

# octet_add_flags(<target> <PUBLIC|PRIVATE> [<option>...]): of the library, its tests and tools.
function(octet_add_flags target visibility)
  target_compile_features(${target} ${visibility} cxx_std_17)
  target_include_directories(${target} ${visibility} ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} ${visibility} OCTET_STRICT_FLOAT)
  target_compile_options(${target} ${visibility} ${octet_strict_float_flags} -Wall -Wextra ${ARGN})
endfunction()
