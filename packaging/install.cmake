# The installed package, all of which may be moved after installation. Its components:
#   runtime: the shared library
#   development: headers, archives, find_package(octet CONFIG), octet.pc, octet-tune.pc,
#     octet-traffic.pc
include(CMakePackageConfigHelpers)
set(package ${CMAKE_CURRENT_BINARY_DIR}/package)
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/octet)
install(TARGETS ${octet_archives} EXPORT octet-targets
  RUNTIME COMPONENT runtime ARCHIVE COMPONENT development
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
install(DIRECTORY include/octet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT octet-targets NAMESPACE octet:: DESTINATION ${folder} COMPONENT development)
# The users of an archive link what it needs.
octet_choose(octet_needs_cpuinfo ON OFF octet_cpuinfo AND NOT BUILD_SHARED_LIBS)
configure_package_config_file(packaging/octet-config.cmake.in ${package}/octet-config.cmake
  INSTALL_DESTINATION ${folder})
write_basic_package_version_file(${package}/octet-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${package}/octet-config.cmake ${package}/octet-config-version.cmake
  cmake/octet-adapters.cmake DESTINATION ${folder} COMPONENT development)

file(RELATIVE_PATH OCTET_PC_UP "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" OCTET_PC_UP "${OCTET_PC_UP}")
octet_choose(OCTET_PC_REQUIRES "Requires: libcpuinfo\n" "" octet_needs_cpuinfo)
foreach(archive IN LISTS octet_archives)
  string(REPLACE "_" "-" OCTET_PC_NAME ${archive})
  octet_choose(OCTET_PC_LIBRARY octet ${archive} BUILD_SHARED_LIBS)
  configure_file(packaging/octet.pc.in ${package}/${OCTET_PC_NAME}.pc @ONLY)
  install(FILES ${package}/${OCTET_PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT development)
  # The other archives need the library's.
  set(OCTET_PC_REQUIRES "Requires: octet = ${PROJECT_VERSION}\n")
endforeach()
