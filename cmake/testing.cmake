# octet_add_test(<name> LABELS <label>... COMMAND <command>... [ENVIRONMENT <variable=value>...] [EVERY_MODEL])
# A ctest test; its labels say what it is about, and CONTRIBUTING.md what they mean.
#
# Where qemu has CPU models with different tiers, it becomes tests <name>@<model>, which find the
# model in the environment variable QEMU_CPU: those of gemm and conv on the first model of each
# tier, for the kernels of that tier (OCTET_TEST_TIERS); those that look at the CPU itself, which
# EVERY_MODEL says, on all; others on one. docs/testing.md has the reasons.
set(octet_models cortex-a53 cortex-a72 a64fx neoverse-n1 "max,sve=off" max)
if(OCTET_TARGET STREQUAL "arm")
  set(octet_models cortex-a7 cortex-a15)
endif()
set(OCTET_QEMU_CPUS ${octet_models}
  CACHE STRING "The qemu CPU models that the tests run on")
set(OCTET_TEST_SUFFIX "" CACHE STRING
  "Ends every test's name, to tell builds apart when ctest runs several")

# The tiers of a model.
function(octet_tiers_of_model cpu result)
  set(tiers SCALAR NEON)
  if(cpu MATCHES "^(neoverse-n1|max)")
    list(APPEND tiers DOTPROD)
  endif()
  if(cpu MATCHES "^max")
    list(APPEND tiers I8MM)
  endif()
  set(${result} ${tiers} PARENT_SCOPE)
endfunction()

function(octet_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EVERY_MODEL" "" "LABELS;COMMAND;ENVIRONMENT")
  if(NOT CMAKE_CROSSCOMPILING_EMULATOR MATCHES "qemu-(aarch64|arm)" OR OCTET_QEMU_CPU
     OR checks IN_LIST arg_LABELS)
    set(test ${name}${OCTET_TEST_SUFFIX})
    add_test(NAME ${test} COMMAND ${arg_COMMAND})
    set_tests_properties(${test} PROPERTIES LABELS "${arg_LABELS}" ENVIRONMENT "${arg_ENVIRONMENT}")
    if(name IN_LIST OCTET_DISABLED_TESTS)
      set_tests_properties(${test} PROPERTIES DISABLED ON)
    endif()
    return()
  endif()
  set(seen)
  foreach(cpu IN LISTS OCTET_QEMU_CPUS)
    octet_tiers_of_model(${cpu} tiers)
    list(JOIN tiers , model_tiers)
    list(REMOVE_ITEM tiers ${seen})
    list(APPEND seen ${tiers})
    set(environment QEMU_CPU=${cpu} ${arg_ENVIRONMENT})
    if(arg_EVERY_MODEL)
      list(APPEND environment OCTET_MODEL_TIERS=${model_tiers})
    elseif(gemm IN_LIST arg_LABELS OR conv IN_LIST arg_LABELS)
      if(NOT tiers)
        continue()
      endif()
      list(JOIN tiers , tiers)
      list(APPEND environment OCTET_TEST_TIERS=${tiers})
    elseif(NOT SCALAR IN_LIST tiers) # which all have: not the first
      continue()
    endif()
    add_test(NAME ${name}@${cpu} COMMAND ${arg_COMMAND})
    set_tests_properties(${name}@${cpu} PROPERTIES
      LABELS "${arg_LABELS};emulated" ENVIRONMENT "${environment}")
  endforeach()
endfunction()
