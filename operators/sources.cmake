# One folder per operator. A part that the library is built without has its folder's not_built.cc in
# place of the other files; networks have nothing.
include(${CMAKE_CURRENT_LIST_DIR}/common/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/gemm/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/conv/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/sparse/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/helpers/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/network/sources.cmake)
if(NOT OCTET_WITH_TUNING)
  octet_sources(tuning_not_built.cc)
endif()
