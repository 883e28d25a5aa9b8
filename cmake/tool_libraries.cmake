# SPDX-License-Identifier: Apache-2.0
# octet_tool_libraries: whether the libraries of the octet command and of its benches are there.
set(OCTET_TOOL_HEADERS "" CACHE PATH "For cross builds: a directory with the headers of CLI11, fmt \
and nlohmann_json, which need no more")
find_package(Threads)
octet_choose(octet_tool_libraries "${Threads_FOUND}" OFF NOT WIN32 OR MINGW) # it asks pthreads' clock
foreach(library CLI11 fmt nlohmann_json)
  if(OCTET_TOOL_HEADERS)
    add_library(${library}::${library} INTERFACE IMPORTED)
    target_include_directories(${library}::${library} INTERFACE ${OCTET_TOOL_HEADERS})
    target_compile_definitions(${library}::${library} INTERFACE FMT_HEADER_ONLY)
  else()
    find_package(${library} CONFIG)
    octet_choose(octet_tool_libraries "${octet_tool_libraries}" OFF ${library}_FOUND)
  endif()
endforeach()
if(octet_tool_libraries)
  include(bench/peers/onednn.cmake)
else()
  message(STATUS "Octet: no octet command without CLI11, fmt, nlohmann_json and threads")
endif()
