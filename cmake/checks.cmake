# ctest checks of what the compiler does not check. Those of object code look at Release objects, the ones that ship.
octet_add_test(check_layering LABELS checks COMMAND ${CMAKE_COMMAND}
  -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/check_layering.cmake)

# Sources are the same in every build: one looks.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_CROSSCOMPILING)
  octet_add_test(check_format LABELS checks COMMAND ${CMAKE_COMMAND}
    -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/check_format.cmake)
  set_property(TEST check_format${OCTET_TEST_SUFFIX} PROPERTY SKIP_REGULAR_EXPRESSION "Skipped:")

  # The picture and the tour of the code are of this code.
  find_program(OCTET_PYTHON3 python3)
  set(octet_draw ${CMAKE_COMMAND} -E echo "Skipped: there is no python3, which draws the picture.")
  if(OCTET_PYTHON3)
    set(octet_draw ${OCTET_PYTHON3} ${PROJECT_SOURCE_DIR}/docs/architecture.py --check)
  endif()
  octet_add_test(check_architecture LABELS checks COMMAND ${octet_draw})
  set_property(TEST check_architecture${OCTET_TEST_SUFFIX}
    PROPERTY SKIP_REGULAR_EXPRESSION "Skipped:")

  # Sizes of folders, files and functions, opening sentences, retired words, names of kernels, links.
  if(OCTET_PYTHON3)
    octet_add_test(check_house LABELS checks COMMAND ${OCTET_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/house/check.py)
    set_property(TEST check_house${OCTET_TEST_SUFFIX} PROPERTY SKIP_REGULAR_EXPRESSION "Skipped:")
  endif()
endif()

# As if for a big-endian machine.
octet_add_test(check_big_endian LABELS checks COMMAND ${CMAKE_COMMAND}
  -D CMAKE_CXX_BYTE_ORDER=BIG_ENDIAN -P ${PROJECT_SOURCE_DIR}/cmake/target.cmake)
set_property(TEST check_big_endian${OCTET_TEST_SUFFIX}
  PROPERTY PASS_REGULAR_EXPRESSION "does not support big-endian")

# A tier that is asked for by name is not left out in silence.
if(OCTET_TARGET STREQUAL "x86_64" AND NOT CMAKE_CROSSCOMPILING)
  octet_add_test(check_missing_xsimd LABELS checks COMMAND ${CMAKE_COMMAND}
    -S ${PROJECT_SOURCE_DIR} -B ${PROJECT_BINARY_DIR}/missing_xsimd -G ${CMAKE_GENERATOR}
    -D CMAKE_C_COMPILER=${CMAKE_C_COMPILER} -D CMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
    -D OCTET_WITH_XSIMD=OFF -D OCTET_TIERS=SSE41)
  set_property(TEST check_missing_xsimd${OCTET_TEST_SUFFIX}
    PROPERTY PASS_REGULAR_EXPRESSION "OCTET_TIERS has SSE41, whose kernels are written on xsimd")
endif()

# By this compiler, and by one for 32-bit x86, whose x87 registers do not round to float.
function(octet_check_strict_float name compiler id flags)
  octet_add_test(${name} LABELS checks slow COMMAND ${CMAKE_COMMAND}
    -D "COMPILER=${compiler}" -D COMPILER_ID=${id} -D "FLAGS=${flags}"
    -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D "SOURCES=$<TARGET_PROPERTY:octet,SOURCES>"
    -P ${PROJECT_SOURCE_DIR}/cmake/check_strict_float.cmake)
endfunction()
octet_check_strict_float(check_strict_float "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_ARG1}" ${CMAKE_CXX_COMPILER_ID} "${octet_strict_float_flags}")
find_program(OCTET_I686_COMPILER i686-linux-gnu-g++)
if(OCTET_I686_COMPILER AND NOT CMAKE_CROSSCOMPILING)
  octet_check_strict_float(check_strict_float_i686 ${OCTET_I686_COMPILER} GNU "${octet_strict_float_flags};-msse2;-mfpmath=sse")
endif()

set(octet_objects ${octet_archives})
list(TRANSFORM octet_objects REPLACE ".+" "$<TARGET_OBJECTS:\\0>")
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize|-flto" AND NOT APPLE)
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/octet-objects.txt
    CONTENT "$<JOIN:${octet_objects},\n>\n" TARGET octet)
  octet_add_test(check_objects LABELS checks COMMAND ${CMAKE_COMMAND}
    -D OBJECTS=${CMAKE_CURRENT_BINARY_DIR}/octet-objects.txt -D ARCHIVE=$<TARGET_FILE:octet>
    -D WITH_CPUINFO=${octet_cpuinfo} -D NM=${CMAKE_NM} -D OBJDUMP=${CMAKE_OBJDUMP} -P ${PROJECT_SOURCE_DIR}/cmake/check_objects.cmake)

  # No object has instructions beyond its tier; the ledger of depth loops is of one compiler.
  find_program(OCTET_PYTHON3 python3)
  if(OCTET_PYTHON3 AND OCTET_TARGET MATCHES "^(x86_64|aarch64)$")
    set(octet_ledger)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.")
      set(octet_ledger ${PROJECT_SOURCE_DIR}/tests/house/depth_loops_${OCTET_TARGET}.txt)
    endif()
    octet_add_test(check_kernels LABELS checks COMMAND ${OCTET_PYTHON3}
      ${PROJECT_SOURCE_DIR}/tests/house/check_kernels.py ${CMAKE_CURRENT_BINARY_DIR}/octet-objects.txt
      ${CMAKE_OBJDUMP} ${octet_ledger})
  endif()
endif()

set(octet_c_compiler "${CMAKE_C_COMPILER} ${CMAKE_C_COMPILER_ARG1}")
if(CMAKE_C_COMPILER_TARGET)
  string(APPEND octet_c_compiler " ${CMAKE_C_COMPILE_OPTIONS_TARGET}${CMAKE_C_COMPILER_TARGET}")
endif()

# Installs, moves the installation, then builds and runs the projects in tests/consumer against it.
if(OCTET_INSTALL AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  foreach(consumer c cpp pkg-config readme integration)
    octet_add_test(consumer_${consumer} LABELS checks slow COMMAND ${CMAKE_COMMAND}
      -D CONSUMER=${consumer} -D SOURCE_DIR=${PROJECT_SOURCE_DIR}/tests/consumer
      -D BUILD_DIR=${PROJECT_BINARY_DIR} -D CONFIG=$<CONFIG> -D GENERATOR=${CMAKE_GENERATOR}
      -D "C_COMPILER=${octet_c_compiler}"
      -D TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE} -D "EMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}"
      -D OBJDUMP=${CMAKE_OBJDUMP} -D LIBDIR=${CMAKE_INSTALL_LIBDIR}
      -P ${PROJECT_SOURCE_DIR}/tests/consumer/run.cmake)
  endforeach()
endif()

# A library with some of its parts builds, links and runs: each tier alone, each left out, and none;
# natively also without convolutions, Winograd or the depthwise algorithm. Objects are those of a
# build of all parts.
set(octet_missing)
foreach(tier IN LISTS octet_tiers)
  if(NOT OCTET_BUILDS_${tier})
    list(APPEND octet_missing ${tier})
  endif()
endforeach()
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize|-flto" AND NOT APPLE
   AND octet_tiers AND NOT octet_missing AND CMAKE_GENERATOR MATCHES "Makefiles|Ninja")
  set(octet_cache -D CMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} -D CMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE} -D "CMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS}")
  if(NOT CMAKE_TOOLCHAIN_FILE)
    list(APPEND octet_cache -D CMAKE_C_COMPILER=${CMAKE_C_COMPILER} -D CMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER})
  endif()
  octet_add_test(check_parts LABELS checks slow COMMAND ${CMAKE_COMMAND}
    -D "COMPILER=${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_ARG1}"
    -D "C_COMPILER=${octet_c_compiler}" -D NM=${CMAKE_NM}
    -D "FLAGS=${CMAKE_CXX_FLAGS} ${CMAKE_EXE_LINKER_FLAGS}" -D "CROSS=${CMAKE_CROSSCOMPILING}"
    -D "EMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}" -D GENERATOR=${CMAKE_GENERATOR}
    -D "TIERS=${octet_tiers}" -D "CACHE=${octet_cache}" -D ARCHIVE=$<TARGET_FILE:octet>
    -D OBJECTS=${CMAKE_CURRENT_BINARY_DIR}/octet-objects.txt -D SOURCE_DIR=${PROJECT_SOURCE_DIR}
    -D BUILD_DIR=${PROJECT_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/check_parts.cmake)
endif()

# docs/add-a-tier.md, followed once.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_CROSSCOMPILING
   AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize|-flto" AND CMAKE_GENERATOR MATCHES "Makefiles|Ninja")
  octet_add_test(throwaway_tier LABELS checks slow COMMAND ${CMAKE_COMMAND}
    -D "COMPILER=${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_ARG1}"
    -D CXX_COMPILER=${CMAKE_CXX_COMPILER} -D C_COMPILER=${CMAKE_C_COMPILER}
    -D GENERATOR=${CMAKE_GENERATOR} -D SOURCE_DIR=${PROJECT_SOURCE_DIR}
    -D BUILD_DIR=${PROJECT_BINARY_DIR}
    -P ${PROJECT_SOURCE_DIR}/tests/throwaway_tier/run.cmake)
endif()
