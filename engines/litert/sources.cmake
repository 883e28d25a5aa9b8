# SPDX-License-Identifier: Apache-2.0
# liboctet_litert.so, where LiteRT's C headers and pthreadpool are.
find_path(OCTET_LITERT_INCLUDE_DIR tensorflow/lite/core/c/common.h
  PATHS ${PROJECT_SOURCE_DIR}/build/engine-headers/usr/include)
if(OCTET_LITERT_INCLUDE_DIR AND TARGET octet_threads AND NOT WIN32)
  add_library(octet_litert MODULE ${all})
  octet_add_flags(octet_litert PRIVATE ${octet_werror} -fvisibility=hidden)
  target_include_directories(octet_litert SYSTEM PRIVATE ${OCTET_LITERT_INCLUDE_DIR})
  # A host may have a pthreadpool or an Octet of its own: three functions are all it may see.
  target_link_libraries(octet_litert PRIVATE octet_graph octet_threads
    $<$<NOT:$<PLATFORM_ID:Darwin>>:-Wl,--exclude-libs,ALL>)
  octet_sources(TARGET octet_litert delegate.cc operator_names.cc options.cc partition.cc
    rounds_twice.cc slices.cc translate.cc)
  if(OCTET_BUILD_TESTS)
    octet_add_program(litert_translate
      "${PROJECT_SOURCE_DIR}/tests/litert/litert_translate_test.cc;${CMAKE_CURRENT_LIST_DIR}/operator_names.cc;${CMAKE_CURRENT_LIST_DIR}/slices.cc;${CMAKE_CURRENT_LIST_DIR}/translate.cc"
      "octet_test_support;octet_graph" LABELS engines)
    target_include_directories(litert_translate_test SYSTEM PRIVATE ${OCTET_LITERT_INCLUDE_DIR})
  endif()
  # Python loads the delegate: not a sanitizer's, nor another machine's.
  if(OCTET_BUILD_TESTS AND NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    octet_add_script(litert tests/litert/check.py $<TARGET_FILE:octet_litert>
      ${PROJECT_BINARY_DIR}/litert-venv ${octet_native_tiers} LABELS engines slow)
  endif()
endif()
