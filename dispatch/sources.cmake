# Tiers, kernels and the choice among them.
include(${CMAKE_CURRENT_LIST_DIR}/api/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/tables/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/cpu/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/self_test/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/select/sources.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/tuning/sources.cmake)
