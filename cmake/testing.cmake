# octet_add_test(<name> <target> [arguments...]): one ctest test per program. Where qemu has models with different tiers it becomes one test per model,
# <name>@<model>, so that a single ctest run covers every tier. The test finds the model in the environment variable QEMU_CPU.
set(OCTET_QEMU_CPUS cortex-a53 cortex-a72 a64fx neoverse-n1 "max,sve=off" max CACHE STRING "The qemu CPU models that the tests run on")
set(OCTET_TEST_SUFFIX "" CACHE STRING "Ends every test's name, to tell builds apart when ctest runs several")

function(octet_add_test name target)
  if(NOT CMAKE_CROSSCOMPILING_EMULATOR MATCHES "qemu-aarch64" OR OCTET_QEMU_CPU)
    add_test(NAME ${name}${OCTET_TEST_SUFFIX} COMMAND ${target} ${ARGN})
    return()
  endif()
  foreach(cpu IN LISTS OCTET_QEMU_CPUS)
    add_test(NAME ${name}@${cpu} COMMAND ${target} ${ARGN})
    set_property(TEST ${name}@${cpu} PROPERTY ENVIRONMENT QEMU_CPU=${cpu})
  endforeach()
endfunction()
