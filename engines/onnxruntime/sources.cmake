# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/floats/sources.cmake)
# liboctet_onnxruntime.so, where ONNX Runtime's C headers are.
find_path(OCTET_ONNXRUNTIME_INCLUDE_DIR onnxruntime_c_api.h
  PATHS ${PROJECT_SOURCE_DIR}/build/engine-headers/usr/include PATH_SUFFIXES onnxruntime)
if(OCTET_ONNXRUNTIME_INCLUDE_DIR AND NOT WIN32)
  add_library(octet_onnxruntime MODULE ${all})
  octet_add_flags(octet_onnxruntime PRIVATE ${octet_werror} -fvisibility=hidden)
  target_include_directories(octet_onnxruntime SYSTEM PRIVATE ${OCTET_ONNXRUNTIME_INCLUDE_DIR})
  # A host may have an Octet of its own: the two functions are all it may see.
  target_link_libraries(octet_onnxruntime PRIVATE octet_graph octet_floats
    $<$<NOT:$<PLATFORM_ID:Darwin>>:-Wl,--exclude-libs,ALL>)
  octet_sources(TARGET octet_onnxruntime attention.cc block_product.cc claim.cc dynamic.cc
    find_dynamic.cc find_floats.cc float_works.cc group.cc groups.cc node.cc options.cc
    place_nodes.cc provider.cc quantized_nodes.cc region.cc standard_nodes.cc translate.cc)
  include(${CMAKE_CURRENT_LIST_DIR}/host/sources.cmake)
  # Python loads the provider: not a sanitizer's, nor another machine's.
  if(OCTET_BUILD_TESTS AND NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    octet_add_script(onnxruntime tests/onnxruntime/check.py $<TARGET_FILE:octet_onnxruntime>
      ${PROJECT_BINARY_DIR}/onnxruntime-venv ${octet_native_tiers} LABELS engines slow)
  endif()
endif()
