# liboctet_litert.so, where LiteRT's C headers and pthreadpool are.
find_path(OCTET_LITERT_INCLUDE_DIR tensorflow/lite/core/c/common.h
  PATHS ${PROJECT_SOURCE_DIR}/build/engine-headers/usr/include)
if(OCTET_LITERT_INCLUDE_DIR AND TARGET octet_threads)
  add_library(octet_litert MODULE ${all})
  octet_add_flags(octet_litert PRIVATE ${octet_werror} -fvisibility=hidden -Wl,-z,defs)
  target_include_directories(octet_litert SYSTEM PRIVATE ${OCTET_LITERT_INCLUDE_DIR})
  target_link_libraries(octet_litert PRIVATE octet_graph octet_threads)
  octet_sources(TARGET octet_litert delegate.cc options.cc partition.cc translate.cc)
endif()
