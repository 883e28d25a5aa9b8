# SPDX-License-Identifier: Apache-2.0
# cpack -G RPM, DEB or TGZ, in a build directory: a package of each component.
#
# Debian's own packages are made by packaging/debian. An RPM says that it needs what the programs in
# it link; its C library's version comes from the machine that builds it.
set(CPACK_PACKAGE_VENDOR "The Octet Authors")
set(CPACK_PACKAGE_CONTACT "The Octet Authors <octet@example.org>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL development documentation)
if(TARGET octet_command)
  list(APPEND CPACK_COMPONENTS_ALL tools)
endif()
if(BUILD_SHARED_LIBS)
  list(APPEND CPACK_COMPONENTS_ALL runtime)
endif()
if(TARGET octet_litert)
  list(APPEND CPACK_COMPONENTS_ALL engines)
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_AUTOREQ ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
include(CPack)
