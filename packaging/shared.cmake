# SPDX-License-Identifier: Apache-2.0
# liboctet.so.0, of a build with BUILD_SHARED_LIBS: it has what liboctet_tune.a and
# liboctet_traffic.a have, too, and exports the functions of the C API only. tests/abi/shared.py
# tests it; the other tests and the benchmarks of kernels look inside the library, and need the
# archive.
set(OCTET_BUILD_TESTS OFF)
set(OCTET_BUILD_BENCHMARKS OFF)
# It is linked by the C compiler: it needs nothing of the C++ runtime.
set_target_properties(octet PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LINKER_LANGUAGE C)
if(WIN32)
  target_compile_definitions(octet PRIVATE OCTET_API=__declspec\(dllexport\)
    INTERFACE OCTET_API=__declspec\(dllimport\))
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_link_options(octet PRIVATE -static) # else the DLL needs GCC's libraries beside it
  endif()
else()
  target_compile_definitions(octet PRIVATE OCTET_API=__attribute__\(\(visibility\("default"\)\)\))
endif()
if(UNIX AND NOT APPLE)
  set(map ${CMAKE_CURRENT_LIST_DIR}/octet.map)
  target_link_options(octet PRIVATE LINKER:--version-script=${map} LINKER:-Bsymbolic-functions
    LINKER:--no-undefined)
  set_property(TARGET octet APPEND PROPERTY LINK_DEPENDS ${map})
endif()
