# ctest checks of what the compiler does not check, in Python: see the head of each. Those of object
# code look at Release objects, the ones that ship.
octet_add_script(check_layering tests/house/check_layering.py LABELS checks)
# Sources are the same in every build: one looks.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_CROSSCOMPILING)
  octet_add_script(check_format tests/house/check_format.py LABELS checks)
  octet_add_script(check_architecture docs/architecture.py --check LABELS checks)
  octet_add_script(check_house tests/house/check.py LABELS checks)
  octet_add_script(check_names tests/house/check_names.py LABELS checks)
  # Whether the tool of mutation testing makes the mutants that it should; the testing is by hand.
  octet_add_script(mutate tools/mutate/mutate_test.py LABELS tools slow)
  octet_add_script(check_project tests/house/check_project.py ${PROJECT_BINARY_DIR}/project-venv
    LABELS checks slow)
endif()

# As if for a big-endian machine.
octet_add_test(check_big_endian ONCE LABELS checks COMMAND ${CMAKE_COMMAND}
  -D CMAKE_CXX_BYTE_ORDER=BIG_ENDIAN -P ${PROJECT_SOURCE_DIR}/cmake/target.cmake
  PROPERTIES PASS_REGULAR_EXPRESSION "does not support big-endian")
# A tier that is asked for by name is not left out in silence.
if(OCTET_TARGET STREQUAL "x86_64" AND NOT CMAKE_CROSSCOMPILING)
  octet_add_test(check_missing_xsimd ONCE LABELS checks COMMAND ${CMAKE_COMMAND}
    -S ${PROJECT_SOURCE_DIR} -B ${PROJECT_BINARY_DIR}/missing_xsimd -G ${CMAKE_GENERATOR}
    -D CMAKE_C_COMPILER=${CMAKE_C_COMPILER} -D CMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
    -D OCTET_WITH_XSIMD=OFF -D OCTET_TIERS=SSE41
    PROPERTIES PASS_REGULAR_EXPRESSION "OCTET_TIERS has SSE41, whose kernels are written on xsimd")
endif()

# This build, for tests/house/build.py.
set(octet_objects ${octet_archives})
list(TRANSFORM octet_objects REPLACE ".+" "$<TARGET_OBJECTS:\\0>")
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
octet_add_script(check_strict_float tests/house/check_strict_float.py ${build} LABELS checks slow)
find_program(OCTET_I686_COMPILER i686-linux-gnu-g++)
if(OCTET_I686_COMPILER AND NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  octet_add_script(check_strict_float_i686 tests/house/check_strict_float.py ${build}
    ${OCTET_I686_COMPILER} ${octet_strict_float_flags} -msse2 -mfpmath=sse LABELS checks slow)
endif()
# Installations, on which tests/consumer is built.
if(OCTET_INSTALL AND NOT WIN32 AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  foreach(consumer c cpp pkg-config readme integration examples)
    octet_add_script(consumer_${consumer} tests/consumer/run.py ${build} $<CONFIG> ${consumer}
      LABELS checks slow)
  endforeach()
endif()
# A shared library and programs of before; the release tarball.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT CMAKE_CROSSCOMPILING
   AND CMAKE_BUILD_TYPE STREQUAL "Release")
  octet_add_script(shared tests/abi/shared.py ${build} LABELS api slow)
  octet_add_script(check_tarball tests/house/check_tarball.py ${build} LABELS checks slow)
endif()
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR CMAKE_CXX_FLAGS MATCHES "-fsanitize|-flto")
  return()
endif()
# docs/add-a-tier.md, followed once.
if(NOT CMAKE_CROSSCOMPILING AND CMAKE_GENERATOR MATCHES "Makefiles|Ninja")
  octet_add_script(throwaway_tier tests/throwaway_tier/run.py ${build} LABELS checks slow)
endif()
if(APPLE OR WIN32)
  return()
endif()
octet_add_script(check_objects tests/house/check_objects.py ${build} LABELS checks)
if(OCTET_TARGET MATCHES "^(x86_64|aarch64)$")
  octet_add_script(check_kernels tests/house/check_kernels.py ${build} LABELS checks)
endif()
# Libraries of some parts are put together of the objects of a build of all.
if(octet_tiers AND octet_tiers STREQUAL octet_built_tiers AND CMAKE_GENERATOR MATCHES "Make|Ninja")
  octet_add_script(check_parts tests/house/check_parts.py ${build} LABELS checks slow)
endif()
