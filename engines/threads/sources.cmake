# SPDX-License-Identifier: Apache-2.0
# The process's pool of threads, for engines that lend none.
if(TARGET octet::pthreadpool)
  add_library(octet_threads STATIC ${all})
  octet_add_flags(octet_threads PRIVATE ${octet_werror} -fPIC)
  target_link_libraries(octet_threads PUBLIC octet::pthreadpool ${CMAKE_DL_LIBS})
  octet_sources(TARGET octet_threads first_pool.cc threads.cc)
endif()
