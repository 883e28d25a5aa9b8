# octet_xsimd: whether the tiers whose kernels are written on xsimd's batches can be built. It is
# headers only, and none of it is needed by who links the library.
set(octet_xsimd OFF)
if(OCTET_WITH_XSIMD)
  find_path(OCTET_XSIMD_INCLUDE_DIR xsimd/xsimd.hpp DOC "The folder that has xsimd/xsimd.hpp")
  if(OCTET_XSIMD_INCLUDE_DIR)
    set(CMAKE_REQUIRED_INCLUDES ${OCTET_XSIMD_INCLUDE_DIR})
    check_cxx_source_compiles("#include <xsimd/xsimd.hpp>
      #if XSIMD_VERSION_MAJOR < 8
      #error batches that name their instruction set came with 8.0
      #endif
      int main() {}" OCTET_XSIMD_COMPILES)
    unset(CMAKE_REQUIRED_INCLUDES)
    set(octet_xsimd ${OCTET_XSIMD_COMPILES})
  endif()
  if(NOT octet_xsimd AND OCTET_WITH_XSIMD STREQUAL "ON")
    message(FATAL_ERROR "OCTET_WITH_XSIMD is ON, but no xsimd 8.0 or newer was found; "
      "OCTET_XSIMD_INCLUDE_DIR is the folder that has xsimd/xsimd.hpp")
  endif()
endif()
if(octet_xsimd)
  target_include_directories(octet SYSTEM PRIVATE ${OCTET_XSIMD_INCLUDE_DIR})
endif()
