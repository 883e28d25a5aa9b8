# SPDX-License-Identifier: Apache-2.0
# Sub-graphs of quantized operators as one network, for programs inside of engines.
add_library(octet_graph STATIC ${all})
octet_add_flags(octet_graph PRIVATE ${octet_werror} -fPIC)
target_link_libraries(octet_graph PUBLIC octet)
octet_sources(TARGET octet_graph check.cc copies.cc functions.cc fuse.cc image_functions.cc layout.cc
  match_qdq.cc objects.cc pairs.cc products.cc program.cc programs.cc sizes.cc tables.cc weights.cc would.cc)
include(${CMAKE_CURRENT_LIST_DIR}/blocks/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/memory/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/recurrent/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/stored/sources.cmake)
# A file of packed weights is another library's if that one has other algorithms and formats.
set_property(SOURCE ${CMAKE_CURRENT_LIST_DIR}/weights.cc APPEND PROPERTY COMPILE_DEFINITIONS
  "OCTET_PARTS=\"${OCTET_WITH_WINOGRAD} ${OCTET_WITH_DEPTHWISE} ${OCTET_WITH_SPARSE}\"")
