# SPDX-License-Identifier: Apache-2.0
# octet::pthreadpool and octet::openmp: octet::octet plus the thread pool that octet/pthreadpool.h
# or octet/openmp.h hands tasks to. Defined where the library is found. Included by the build and, on
# request (COMPONENTS pthreadpool openmp), by the installed package.
find_path(OCTET_PTHREADPOOL_INCLUDE_DIR pthreadpool.h)
find_library(OCTET_PTHREADPOOL_LIBRARY pthreadpool)
if(OCTET_PTHREADPOOL_INCLUDE_DIR AND OCTET_PTHREADPOOL_LIBRARY AND NOT TARGET octet::pthreadpool)
  add_library(octet::pthreadpool INTERFACE IMPORTED GLOBAL)
  target_include_directories(octet::pthreadpool INTERFACE ${OCTET_PTHREADPOOL_INCLUDE_DIR})
  target_link_libraries(octet::pthreadpool INTERFACE octet::octet ${OCTET_PTHREADPOOL_LIBRARY})
endif()
find_package(OpenMP QUIET COMPONENTS C)
if(OpenMP_C_FOUND AND NOT TARGET octet::openmp)
  add_library(octet::openmp INTERFACE IMPORTED GLOBAL)
  target_compile_options(octet::openmp INTERFACE "SHELL:${OpenMP_C_FLAGS}")
  target_link_libraries(octet::openmp INTERFACE octet::octet ${OpenMP_C_LIBRARIES})
endif()
