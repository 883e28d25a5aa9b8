# SPDX-License-Identifier: Apache-2.0
# Floats as the numeric contract wants them. Every operation rounds once, to float, in the order
# written: no FMA in place of a product and a sum, no reassociation, no x87. -fno-fast-math takes
# back all that -ffast-math stands for, wherever the user asked for a part of it.
# kernels/core/strict_float.h refuses what was compiled otherwise.
octet_choose(x87 "-msse2;-mfpmath=sse" "" OCTET_TARGET STREQUAL i386)
set(octet_strict_float_flags -fno-fast-math -ffp-contract=off ${x87})
# GCC for Windows: its stack is aligned to 16 bytes, and it moves wider vectors there as if it were
# aligned to theirs (GCC bug 54412); it takes registers for kept that the linker's choice among
# copies of an inline function changes; it warns about %zu, which the C library then understands.
octet_choose(octet_mingw "-Wa,-muse-unaligned-vector-move;-fno-ipa-ra;-Wno-format;-Wno-format-extra-args"
  "" MINGW AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
# GCC for x86 fills and copies small objects by `rep stos` and `rep movs`, which take 30 cycles to begin:
# as long as a small operator of a network.
set(moves strategy=unrolled_loop:256:noalign,libcall:-1:noalign)
octet_choose(octet_small_moves "-mmemset-${moves};-mmemcpy-${moves}" "" CMAKE_CXX_COMPILER_ID STREQUAL GNU AND OCTET_TARGET MATCHES "^(x86_64|i386)$")
octet_choose(octet_stdio __USE_MINGW_ANSI_STDIO=1 "" MINGW)
set(octet_werror $<$<BOOL:${OCTET_WERROR}>:-Werror>)

# octet_add_flags(<target> <PUBLIC|PRIVATE> [<option>...]): of the library, its tests and tools. GCC 9 sees no use in `if constexpr`.
function(octet_add_flags target visibility)
  target_compile_features(${target} ${visibility} cxx_std_17)
  target_include_directories(${target} ${visibility} ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} ${visibility} OCTET_STRICT_FLOAT ${octet_stdio})
  target_compile_options(${target} ${visibility} ${octet_strict_float_flags} ${octet_mingw} -Wall -Wextra $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,10>>:-Wno-unused-but-set-variable> ${ARGN})
endfunction()
