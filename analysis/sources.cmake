# Archives beside the library's, for programs that measure (octet::tune) or that ask for traffic
# (octet::traffic).
set(octet_archives octet)
foreach(part tune traffic)
  string(TOUPPER ${part} PART)
  if((part STREQUAL "tune" AND OCTET_WITH_TUNING) OR (part STREQUAL "traffic" AND OCTET_WITH_TRAFFIC))
    octet_add_archive(octet_${part})
    add_library(octet::${part} ALIAS octet_${part})
    set_target_properties(octet_${part} PROPERTIES EXPORT_NAME ${part})
    target_link_libraries(octet_${part} PUBLIC octet)
    include(${CMAKE_CURRENT_LIST_DIR}/${part}/sources.cmake)
    list(APPEND octet_archives octet_${part})
  endif()
endforeach()
