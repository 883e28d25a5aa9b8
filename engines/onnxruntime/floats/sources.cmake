octet_sources(TARGET octet_onnxruntime heads.cc loops.cc)
# Loops over floats, compiled by each tier for itself as the library's are.
foreach(tier ${portable} ${octet_built_tiers})
  add_library(octet_floats_${tier} OBJECT ${all} ${CMAKE_CURRENT_LIST_DIR}/attention_rows.cc
    ${CMAKE_CURRENT_LIST_DIR}/rows.cc)
  octet_add_flags(octet_floats_${tier} PRIVATE ${octet_werror} -fvisibility=hidden
    ${octet_unrolled} ${octet_flags_${tier}})
  target_compile_definitions(octet_floats_${tier} PRIVATE OCTET_TIER=${tier})
  set_property(TARGET octet_floats_${tier} PROPERTY POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(octet_onnxruntime PRIVATE octet_floats_${tier})
  string(APPEND octet_float_tiers "X(${tier})")
endforeach()
set_property(SOURCE ${CMAKE_CURRENT_LIST_DIR}/loops.cc APPEND PROPERTY
  COMPILE_DEFINITIONS "OCTET_FLOAT_TIERS=${octet_float_tiers}")
