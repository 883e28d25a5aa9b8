# Installs Octet, moves the installation to prove that it is relocatable, then builds and runs one consumer project against it.
#   -D CONSUMER=c|cpp|pkg-config|readme|integration -D SOURCE_DIR= -D BUILD_DIR= -D CONFIG= -D GENERATOR= -D C_COMPILER= -D OBJDUMP= -D LIBDIR=
#   and for a cross build -D TOOLCHAIN_FILE= -D EMULATOR=
cmake_minimum_required(VERSION 3.22)
set(work ${BUILD_DIR}/consumer/${CONSUMER})
set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${work})

function(run)
  list(JOIN ARGN " " command)
  message(STATUS "${command}")
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${work}/elsewhere --config ${CONFIG})
file(RENAME ${work}/elsewhere ${prefix})

set(document_readme README.md)
set(document_integration docs/integration.md)
if(CONSUMER STREQUAL "pkg-config" OR DEFINED document_${CONSUMER})
  set(source ${SOURCE_DIR}/c/main.c)
  if(DEFINED document_${CONSUMER}) # its C example, as it stands there
    file(READ ${SOURCE_DIR}/../../${document_${CONSUMER}} example)
    string(REGEX REPLACE "^.*\n```c\n" "" example "${example}")
    string(FIND "${example}" "\n```" end)
    string(SUBSTRING "${example}" 0 ${end} example)
    set(source ${work}/example.c)
    file(WRITE ${source} "${example}\n")
  endif()
  find_program(pkg_config NAMES pkg-config pkgconf REQUIRED)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig) # beside what it may require
  execute_process(COMMAND ${pkg_config} --cflags --libs octet OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  separate_arguments(C_COMPILER UNIX_COMMAND "${C_COMPILER}")
  set(program ${work}/consumer)
  run(${C_COMPILER} -std=c11 -Wall -Wpedantic -Werror ${source} ${flags} -o ${program})
else()
  set(program ${work}/build/consumer)
  run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/${CONSUMER} -B ${work}/build -G ${GENERATOR} -D CMAKE_BUILD_TYPE=${CONFIG} -D CMAKE_TOOLCHAIN_FILE=${TOOLCHAIN_FILE}
    -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_FIND_ROOT_PATH=${prefix})
  run(${CMAKE_COMMAND} --build ${work}/build)
endif()

execute_process(COMMAND ${OBJDUMP} -p ${program} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
if(NOT CONSUMER STREQUAL "cpp" AND headers MATCHES "NEEDED[ ]+(libstdc|libgcc_s|libc\\+\\+)")
  message(FATAL_ERROR "A C program that links Octet needs ${CMAKE_MATCH_1}")
endif()
run(${EMULATOR} ${program})
