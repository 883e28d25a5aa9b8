# SPDX-License-Identifier: Apache-2.0
# GoogleTest, of the target if that is another machine: then its source. OCTET_BUILD_TESTS=AUTO
# becomes OFF where there is none.
if(NOT OCTET_BUILD_TESTS)
  return()
endif()
if(CMAKE_CROSSCOMPILING)
  find_path(OCTET_GOOGLETEST_DIR googletest/CMakeLists.txt PATHS /usr/src/googletest NO_DEFAULT_PATH
    NO_CMAKE_FIND_ROOT_PATH DOC "GoogleTest's source, for cross builds")
else()
  octet_choose(how QUIET REQUIRED OCTET_BUILD_TESTS STREQUAL "AUTO")
  find_package(GTest CONFIG ${how})
endif()
if(OCTET_BUILD_TESTS STREQUAL "AUTO" AND NOT OCTET_GOOGLETEST_DIR AND NOT GTest_FOUND)
  set(OCTET_BUILD_TESTS OFF)
  message(STATUS "Octet: GoogleTest was not found (Debian: libgtest-dev), so no tests are built")
  return()
endif()
enable_testing()

# octet_add_test(<name> LABELS <label>... COMMAND <command>... [ENVIRONMENT <variable=value>...]
#                [PROPERTIES <property> <value>...] [EVERY_MODEL ON | ONCE] [IF <condition>])
# A ctest test, where the condition, one string of what if() takes, holds; its labels say what it is about, and CONTRIBUTING.md what they mean.
#
# Where qemu has CPU models with different tiers, it becomes tests <name>@<model>, which find the
# model in the environment variable QEMU_CPU: those of gemm and conv on the first model, those that
# look at kernels most (octet_kernel_suites) on the first of each tier, for the kernels of that tier
# (OCTET_TEST_TIERS; of SCALAR, the suites that are quick, too); those that look at the CPU itself,
# which EVERY_MODEL says, on all; others on one. A model that has more than its tier runs a few
# suites for the kernels that need it. A test that is ONCE does not. docs/testing.md has the reasons.
find_package(Python3 COMPONENTS Interpreter)
octet_choose(models "cortex-a7;cortex-a15" "cortex-a53;cortex-a72;a64fx;neoverse-n1;max,sve=off,sme=off;max,sme=off;max,sve256=on,sme=off"
  OCTET_TARGET STREQUAL arm)
set(OCTET_QEMU_CPUS ${models} CACHE STRING "The qemu CPU models that the tests run on")
# SMOPA of qemu before 10 is wrong, so SME's tests have an emulator of their own. They run with
# streaming vectors of 64 bytes, and the suites of the kernel alone with 32 and 16, too. SME's other
# kernels are DOTPROD's and I8MM's, which have models of their own.
set(octet_sme_suites batch conv_algorithms dynamic gemm gemm_s16 kernel random stack streaming tflite
  vectors)
if(OCTET_TARGET STREQUAL aarch64 AND CMAKE_CROSSCOMPILING_EMULATOR MATCHES "qemu-aarch64")
  find_program(OCTET_NEW_QEMU qemu-aarch64 HINTS ${PROJECT_SOURCE_DIR}/build/qemu/usr/bin
    NO_CMAKE_FIND_ROOT_PATH DOC "A qemu-aarch64 of version 10 or later, for SME's tests")
  execute_process(COMMAND ${OCTET_NEW_QEMU} --version OUTPUT_VARIABLE version ERROR_QUIET)
  if(version MATCHES "version ([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL 10)
    list(TRANSFORM CMAKE_CROSSCOMPILING_EMULATOR REPLACE "^.*qemu-aarch64$" ${OCTET_NEW_QEMU}
      OUTPUT_VARIABLE octet_new_emulator)
    set(octet_sme_models max,sme-default-vector-length=64 max,sme-default-vector-length=32
      max,sme-default-vector-length=16)
  else()
    message(STATUS "Octet: SME's tests are left out: they need qemu 10 (OCTET_NEW_QEMU)")
  endif()
endif()
set(OCTET_TEST_SUFFIX "" CACHE STRING "Ends every test's name: ctest may run several builds")

# The tiers that a test of its own limits a native run to: the portable one, which is the table's
# last, and this architecture's. Under qemu the CPU model limits a run.
list(GET octet_names -1 portable)
octet_choose(octet_native_tiers "${portable};${octet_tiers}" ""
  octet_tiers AND NOT CMAKE_CROSSCOMPILING)

function(octet_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ONCE" "EVERY_MODEL;IF"
    "LABELS;COMMAND;ENVIRONMENT;PROPERTIES")
  string(REPLACE " " ";" condition "NOT ( ${arg_IF} )")
  if(arg_IF AND ${condition})
    return()
  endif()
  set(models ${OCTET_QEMU_CPUS} ${octet_sme_models})
  octet_choose(cpus "${models}" this CMAKE_CROSSCOMPILING_EMULATOR MATCHES
    "qemu-(aarch64|arm)" AND NOT OCTET_QEMU_CPU AND NOT arg_ONCE)
  octet_choose(emulated emulated "" NOT cpus STREQUAL "this")
  octet_choose(scalar SCALAR "" name IN_LIST octet_quick_suites)
  foreach(cpu IN LISTS cpus)
    set(test ${name}${OCTET_TEST_SUFFIX})
    set(environment ${arg_ENVIRONMENT})
    set(command ${arg_COMMAND})
    if(NOT cpu STREQUAL this)
      set(test ${name}@${cpu})
      list(APPEND environment QEMU_CPU=${cpu})
      octet_choose(dotprod ,DOTPROD "" cpu MATCHES "^(neoverse-n1|max)")
      octet_choose(i8mm ,I8MM "" cpu MATCHES "^max")
      octet_choose(sme ,SME "" cpu IN_LIST octet_sme_models)
      string(REPLACE "," ";" tiers "${scalar},NEON${dotprod}${i8mm}${sme}")
      list(REMOVE_ITEM tiers "" ${seen})
      list(JOIN tiers , new_tiers)
      octet_choose(variant sve256 "" cpu MATCHES "sve256=on" AND OCTET_COMPILES_SVE256I8MM)
      if(sme)
        list(POP_FRONT command program)
        set(command ${octet_new_emulator} $<TARGET_FILE:${program}> ${command})
        octet_choose(suites "${octet_sme_suites}" "kernel;streaming" cpu MATCHES "=64$")
        set(new_tiers SME)
        octet_choose(tiers SME "" name IN_LIST suites)
        if(NOT tiers AND NOT (arg_EVERY_MODEL AND cpu MATCHES "=64$"))
          continue()
        endif()
      endif()
      if(arg_EVERY_MODEL)
        list(APPEND environment OCTET_MODEL_TIERS=SCALAR,NEON${dotprod}${i8mm}${sme} OCTET_MODEL_VARIANT=${variant})
      elseif(variant AND name MATCHES "^(kernel|gemm|tflite|conv_algorithms)$")
        list(APPEND environment OCTET_TEST_TIERS=I8MM GTEST_FILTER=*${variant}*:*BestKernels-*TileShape*)
      elseif(arg_LABELS MATCHES "gemm|conv" AND tiers AND (sme OR NOT seen OR name IN_LIST octet_kernel_suites))
        list(APPEND environment OCTET_TEST_TIERS=${new_tiers})
      elseif(arg_LABELS MATCHES "gemm|conv" OR seen) # not the first model
        continue()
      endif()
      list(APPEND seen ${tiers})
    elseif(CMAKE_CROSSCOMPILING_EMULATOR MATCHES "qemu-aarch64") # old ones have a wrong SMOPA
      list(APPEND environment QEMU_CPU=max,sme=off)
    endif()
    add_test(NAME ${test} COMMAND ${command})
    set_tests_properties(${test} PROPERTIES LABELS "${arg_LABELS};${emulated}"
      ENVIRONMENT "${environment}" ${arg_PROPERTIES})
  endforeach()
endfunction()

# octet_add_program(<name> <sources> <libraries> [<argument>...] <what octet_add_test takes>...):
# the program <name>_test as a test. Several sources or libraries are one list.
function(octet_add_program name sources libraries)
  add_executable(${name}_test ${sources})
  target_link_libraries(${name}_test PRIVATE ${libraries})
  if(name MATCHES "^(depthwise|kernel)$") # they run for long
    target_compile_options(${name}_test PRIVATE "$<IF:$<CONFIG:Debug>,-O2;-fno-sanitize=undefined,-O1>")
  elseif(libraries MATCHES "octet_test_support" AND TARGET octet_test_main)
    target_compile_options(${name}_test PRIVATE ${octet_test_flags})
    target_precompile_headers(${name}_test REUSE_FROM octet_test_main)
  endif()
  octet_add_test(${name} COMMAND ${name}_test ${ARGN})
endfunction()

# octet_add_script(<name> <script> [<argument>...] LABELS <label>... [PROPERTIES ...] [IF ...]): a program in
# Python, which ends with 77 where it cannot run.
function(octet_add_script name script)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "IF" "LABELS;PROPERTIES")
  octet_choose(python "${Python3_EXECUTABLE}" "${CMAKE_COMMAND};-E;echo;Skipped: there is no Python"
    Python3_EXECUTABLE)
  octet_add_test(${name} ONCE IF "${arg_IF}" LABELS ${arg_LABELS}
    COMMAND ${python} ${PROJECT_SOURCE_DIR}/${script} ${arg_UNPARSED_ARGUMENTS}
    PROPERTIES SKIP_RETURN_CODE 77 SKIP_REGULAR_EXPRESSION "Skipped: there is no Python"
    ${arg_PROPERTIES})
endfunction()

include(cmake/checks.cmake)
