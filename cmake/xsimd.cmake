# SPDX-License-Identifier: Apache-2.0
# octet_xsimd: whether the tiers whose kernels are written on xsimd's batches can be built. It is
# headers only, and none of it is needed by who links the library.
octet_choose(octet_xsimd ON OFF
  OCTET_TARGET STREQUAL x86_64 AND ( NOT OCTET_TIERS OR SSE41 IN_LIST OCTET_TIERS ))
octet_choose(octet_xsimd "${octet_xsimd}" "${OCTET_WITH_XSIMD}" OCTET_WITH_XSIMD STREQUAL AUTO)
if(octet_xsimd)
  find_path(OCTET_XSIMD_INCLUDE_DIR xsimd/xsimd.hpp DOC "The folder that has xsimd/xsimd.hpp")
  if(OCTET_XSIMD_INCLUDE_DIR)
    set(CMAKE_REQUIRED_INCLUDES ${OCTET_XSIMD_INCLUDE_DIR})
    check_cxx_source_compiles("#include <xsimd/xsimd.hpp>
      #if XSIMD_VERSION_MAJOR < 8
      #error batches that name their instruction set came with 8.0
      #endif
      int main() {}" OCTET_XSIMD_COMPILES)
    unset(CMAKE_REQUIRED_INCLUDES)
  endif()
  if(NOT OCTET_XSIMD_INCLUDE_DIR OR NOT OCTET_XSIMD_COMPILES)
    message(FATAL_ERROR "Octet: no xsimd 8.0 or newer was found, and the kernels of the tier SSE41 "
      "are written on it. Install it (Debian: libxsimd-dev), say where it is by "
      "OCTET_XSIMD_INCLUDE_DIR, the folder that has xsimd/xsimd.hpp, "
      "or build without that tier: -D OCTET_WITH_XSIMD=OFF")
  endif()
  target_include_directories(octet SYSTEM PRIVATE ${OCTET_XSIMD_INCLUDE_DIR})
endif()
