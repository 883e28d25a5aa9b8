# SPDX-License-Identifier: Apache-2.0
# Loops over floats, compiled by each tier for itself as the library's are, and the choice of one.
add_library(octet_floats STATIC ${all})
octet_add_flags(octet_floats PRIVATE ${octet_werror} -fPIC -fvisibility=hidden)
target_link_libraries(octet_floats PUBLIC octet)
octet_sources(TARGET octet_floats heads.cc loops.cc)
foreach(tier ${portable} ${octet_built_tiers})
  add_library(octet_floats_${tier} OBJECT ${all} ${CMAKE_CURRENT_LIST_DIR}/attention_rows.cc
    ${CMAKE_CURRENT_LIST_DIR}/rows.cc)
  octet_add_flags(octet_floats_${tier} PRIVATE ${octet_werror} -fPIC -fvisibility=hidden ${octet_unrolled} ${octet_flags_${tier}})
  target_compile_definitions(octet_floats_${tier} PRIVATE OCTET_TIER=${tier})
  target_sources(octet_floats PRIVATE $<TARGET_OBJECTS:octet_floats_${tier}>)
  string(APPEND octet_float_tiers "X(${tier})")
endforeach()
target_compile_definitions(octet_floats PRIVATE "OCTET_FLOAT_TIERS=${octet_float_tiers}")
