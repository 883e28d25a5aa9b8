# OCTET_DNNL_WORKS: whether oneDNN 2 is there, a peer that benches can run against. Not by its CMake
# package: Debian's demands OpenCL, and ends the configuration where that is missing. It comes with
# OpenMP.
find_path(OCTET_DNNL_INCLUDE_DIR dnnl.hpp)
find_library(OCTET_DNNL_LIBRARY dnnl)
find_package(OpenMP QUIET COMPONENTS CXX)
if(OCTET_DNNL_INCLUDE_DIR AND OCTET_DNNL_LIBRARY AND OpenMP_CXX_FOUND)
  set(CMAKE_REQUIRED_INCLUDES ${OCTET_DNNL_INCLUDE_DIR})
  set(CMAKE_REQUIRED_LIBRARIES ${OCTET_DNNL_LIBRARY} OpenMP::OpenMP_CXX)
  check_cxx_source_compiles("#include <dnnl.hpp>
    int main() { dnnl::memory::desc any; dnnl::matmul::desc matmul(any, any, any); }"
    OCTET_DNNL_WORKS)
endif()
