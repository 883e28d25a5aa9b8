# ctest checks of what the compiler does not check, in Python: see the head of each. Those of object
# code look at Release objects, the ones that ship.
octet_add_script(check_layering tests/house/check_layering.py LABELS checks)

# Sources are the same in every build: one looks.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_CROSSCOMPILING)
  octet_add_script(check_format tests/house/check_format.py LABELS checks)
  octet_add_script(check_architecture docs/architecture.py --check LABELS checks)
  octet_add_script(check_house tests/house/check.py LABELS checks)
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
set(octet_cxx "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_ARG1}")
set(octet_c "${CMAKE_C_COMPILER} ${CMAKE_C_COMPILER_ARG1}")
if(CMAKE_C_COMPILER_TARGET)
  string(APPEND octet_c " ${CMAKE_C_COMPILE_OPTIONS_TARGET}${CMAKE_C_COMPILER_TARGET}")
endif()
set(octet_flags "${CMAKE_CXX_FLAGS} ${CMAKE_EXE_LINKER_FLAGS}")
set(octet_cache -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} "-DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS}"
  -DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE})
if(NOT CMAKE_TOOLCHAIN_FILE)
  list(APPEND octet_cache -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}
    -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER})
endif()
foreach(name CMAKE_COMMAND CMAKE_CROSSCOMPILING CMAKE_CROSSCOMPILING_EMULATOR CMAKE_CXX_COMPILER_ID
    CMAKE_GENERATOR CMAKE_INSTALL_LIBDIR CMAKE_NM CMAKE_OBJDUMP CMAKE_TOOLCHAIN_FILE
    PROJECT_BINARY_DIR octet_archive octet_c octet_cache octet_cpuinfo octet_cxx octet_flags
    octet_objects octet_sources octet_strict_float_flags octet_tiers)
  string(APPEND octet_build "${name}=${${name}}\n")
endforeach()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/octet-build-$<CONFIG>.txt CONTENT "${octet_build}")
set(octet_build ${PROJECT_BINARY_DIR}/octet-build-$<CONFIG>.txt)

# By this compiler, and by one for 32-bit x86, whose x87 registers do not round to float.
octet_add_script(check_strict_float tests/house/check_strict_float.py ${octet_build}
  LABELS checks slow)
find_program(OCTET_I686_COMPILER i686-linux-gnu-g++)
if(OCTET_I686_COMPILER AND NOT CMAKE_CROSSCOMPILING)
  octet_add_script(check_strict_float_i686 tests/house/check_strict_float.py ${octet_build}
    ${OCTET_I686_COMPILER} ${octet_strict_float_flags} -msse2 -mfpmath=sse LABELS checks slow)
endif()

if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  return()
endif()
# Installations, of which tests/consumer is built.
if(OCTET_INSTALL)
  foreach(consumer c cpp pkg-config readme integration)
    octet_add_script(consumer_${consumer} tests/consumer/run.py ${octet_build} $<CONFIG> ${consumer}
      LABELS checks slow)
  endforeach()
endif()
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR CMAKE_CXX_FLAGS MATCHES "-flto")
  return()
endif()
set(octet_can_make OFF) # builds of its own
if(CMAKE_GENERATOR MATCHES "Makefiles|Ninja")
  set(octet_can_make ON)
endif()
# docs/add-a-tier.md, followed once.
if(octet_can_make AND NOT CMAKE_CROSSCOMPILING)
  octet_add_script(throwaway_tier tests/throwaway_tier/run.py ${octet_build} LABELS checks slow)
endif()
if(APPLE)
  return()
endif()
octet_add_script(check_objects tests/house/check_objects.py ${octet_build} LABELS checks)
# No object has instructions beyond its tier; the ledger of depth loops is of one compiler.
if(OCTET_TARGET MATCHES "^(x86_64|aarch64)$")
  set(octet_ledger)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.")
    set(octet_ledger ${PROJECT_SOURCE_DIR}/tests/house/depth_loops_${OCTET_TARGET}.txt)
  endif()
  octet_add_script(check_kernels tests/house/check_kernels.py ${octet_build} ${octet_ledger}
    LABELS checks)
endif()
# Libraries of some parts are put together of the objects of a build of all.
set(octet_missing ${octet_tiers})
list(REMOVE_ITEM octet_missing ${octet_built_tiers})
if(octet_can_make AND octet_tiers AND NOT octet_missing)
  octet_add_script(check_parts tests/house/check_parts.py ${octet_build} LABELS checks slow)
endif()
