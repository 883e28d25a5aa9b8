# SPDX-License-Identifier: Apache-2.0
# OCTET_DNNL_WORKS: whether oneDNN 2 or 3 is there, a peer that benches can run against. Another
# than the system's is chosen by OCTET_DNNL_INCLUDE_DIR and OCTET_DNNL_LIBRARY. Not by its CMake
# package: Debian's demands OpenCL, and ends the configuration where that is missing. It comes with
# OpenMP.
find_path(OCTET_DNNL_INCLUDE_DIR dnnl.hpp)
find_library(OCTET_DNNL_LIBRARY dnnl)
find_package(OpenMP QUIET COMPONENTS CXX)
if(OCTET_DNNL_INCLUDE_DIR AND OCTET_DNNL_LIBRARY AND OpenMP_CXX_FOUND)
  set(CMAKE_REQUIRED_INCLUDES ${OCTET_DNNL_INCLUDE_DIR})
  set(CMAKE_REQUIRED_LIBRARIES ${OCTET_DNNL_LIBRARY} OpenMP::OpenMP_CXX)
  check_cxx_source_compiles("#include <dnnl.hpp>
    int main() { dnnl::matmul matmul; return !matmul; }"
    OCTET_DNNL_WORKS)
endif()
