# SPDX-License-Identifier: Apache-2.0
# ctest checks of what the compiler does not check, in Python: see the head of each. Those of object
# code look at Release objects, the ones that ship.
octet_add_script(check_layering tests/house/check_layering.py LABELS checks)
# Sources are the same in every build: one looks.
set(here "NOT CMAKE_CROSSCOMPILING")
set(once "${here} AND CMAKE_BUILD_TYPE STREQUAL Release")
octet_add_script(check_format tests/house/check_format.py LABELS checks IF "${once}")
octet_add_script(check_architecture docs/architecture.py --check LABELS checks IF "${once}")
octet_add_script(check_house tests/house/check.py LABELS checks IF "${once}")
octet_add_script(check_names tests/house/check_names.py LABELS checks IF "${once}")
# Whether the tool of mutation testing makes the mutants that it should; the testing is by hand.
octet_add_script(mutate tools/mutate/mutate_test.py LABELS tools slow IF "${once}")
octet_add_script(check_project tests/house/check_project.py ${PROJECT_BINARY_DIR}/project-venv
  LABELS checks slow IF "${once}")

# As if for a big-endian machine.
octet_add_test(check_big_endian ONCE LABELS checks COMMAND ${CMAKE_COMMAND}
  -D CMAKE_CXX_BYTE_ORDER=BIG_ENDIAN -P ${PROJECT_SOURCE_DIR}/cmake/target.cmake
  PROPERTIES PASS_REGULAR_EXPRESSION "does not support big-endian")
# A tier that is asked for by name is not left out in silence.
octet_add_test(check_missing_xsimd ONCE LABELS checks IF "${here} AND OCTET_TARGET STREQUAL x86_64"
  COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${PROJECT_BINARY_DIR}/missing_xsimd
  -G ${CMAKE_GENERATOR} -D CMAKE_C_COMPILER=${CMAKE_C_COMPILER}
  -D CMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -D OCTET_WITH_XSIMD=OFF -D OCTET_TIERS=SSE41
  PROPERTIES PASS_REGULAR_EXPRESSION "OCTET_TIERS has SSE41, whose kernels are written on xsimd")

# This build, for tests/house/build.py.
list(TRANSFORM octet_archives REPLACE ".+" "$<TARGET_OBJECTS:\\0>" OUTPUT_VARIABLE octet_objects)
set(octet_sources $<TARGET_PROPERTY:octet,SOURCES>)
set(octet_archive $<TARGET_FILE:octet>)
foreach(name CMAKE_BUILD_TYPE CMAKE_COMMAND CMAKE_CROSSCOMPILING CMAKE_CROSSCOMPILING_EMULATOR CMAKE_CXX_COMPILER CMAKE_CXX_COMPILER_ARG1 CMAKE_CXX_COMPILER_ID CMAKE_CXX_COMPILER_VERSION
    CMAKE_CXX_FLAGS CMAKE_C_COMPILER CMAKE_C_COMPILER_ARG1 CMAKE_C_COMPILER_TARGET CMAKE_C_COMPILE_OPTIONS_TARGET CMAKE_EXE_LINKER_FLAGS CMAKE_GENERATOR CMAKE_INSTALL_LIBDIR CMAKE_NM
    CMAKE_OBJDUMP CMAKE_TOOLCHAIN_FILE OCTET_TARGET PROJECT_BINARY_DIR octet_archive octet_cpuinfo octet_objects octet_sources octet_strict_float_flags octet_tiers)
  string(APPEND octet_told "${name}=${${name}}\n")
endforeach()
set(build ${PROJECT_BINARY_DIR}/octet-build-$<CONFIG>.txt)
file(GENERATE OUTPUT ${build} CONTENT "${octet_told}")

# By this compiler, and by one for 32-bit x86, whose x87 registers do not round to float.
set(plain "NOT CMAKE_CXX_FLAGS MATCHES -fsanitize")
octet_add_script(check_strict_float tests/house/check_strict_float.py ${build} LABELS checks slow)
find_program(OCTET_I686_COMPILER i686-linux-gnu-g++)
octet_add_script(check_strict_float_i686 tests/house/check_strict_float.py ${build}
  ${OCTET_I686_COMPILER} ${octet_strict_float_flags} -msse2 -mfpmath=sse LABELS checks slow
  IF "OCTET_I686_COMPILER AND ${here} AND ${plain}")
# Installations, on which tests/consumer is built.
foreach(consumer c cpp pkg-config readme integration examples)
  octet_add_script(consumer_${consumer} tests/consumer/run.py ${build} $<CONFIG> ${consumer}
    LABELS checks slow IF "OCTET_INSTALL AND NOT WIN32 AND ${plain}")
endforeach()
# A shared library and programs of before; the release tarball.
set(linux "CMAKE_SYSTEM_NAME STREQUAL Linux AND ${once}")
octet_add_script(shared tests/abi/shared.py ${build} LABELS api slow IF "${linux}")
octet_add_script(check_tarball tests/house/check_tarball.py ${build} LABELS checks slow IF "${linux}")
# docs/add-a-tier.md, followed once.
set(ships "CMAKE_BUILD_TYPE STREQUAL Release AND NOT CMAKE_CXX_FLAGS MATCHES -fsanitize|-flto")
octet_add_script(throwaway_tier tests/throwaway_tier/run.py ${build} LABELS checks slow
  IF "${here} AND ${ships} AND CMAKE_GENERATOR MATCHES Make|Ninja")
string(APPEND ships " AND NOT APPLE AND NOT WIN32")
octet_add_script(check_objects tests/house/check_objects.py ${build} LABELS checks IF "${ships}")
octet_add_script(check_clang tests/house/check_clang.py ${build} LABELS checks IF "${ships} AND OCTET_TARGET MATCHES ^(arm|aarch64)$")
octet_add_script(check_kernels tests/house/check_kernels.py ${build} LABELS checks
  IF "${ships} AND OCTET_TARGET MATCHES ^(x86_64|aarch64)$")
# Libraries of some parts are put together of the objects of a build of all.
octet_choose(all_tiers ON OFF octet_tiers AND octet_tiers STREQUAL octet_built_tiers)
octet_add_script(check_parts tests/house/check_parts.py ${build} LABELS checks slow
  IF "${ships} AND all_tiers AND CMAKE_GENERATOR MATCHES Make|Ninja")
