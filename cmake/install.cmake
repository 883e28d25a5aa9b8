# The installed package: headers, the archives, find_package(octet CONFIG) and octet.pc,
# octet-tune.pc, octet-traffic.pc. All of it may be moved after installation.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_CURRENT_BINARY_DIR}/package)
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/octet)
install(TARGETS ${octet_archives} EXPORT octet-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/octet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT octet-targets NAMESPACE octet:: DESTINATION ${folder})
configure_package_config_file(cmake/octet-config.cmake.in ${package}/octet-config.cmake
  INSTALL_DESTINATION ${folder})
write_basic_package_version_file(${package}/octet-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${package}/octet-config.cmake ${package}/octet-config-version.cmake
  cmake/octet-adapters.cmake DESTINATION ${folder})

file(RELATIVE_PATH OCTET_PC_UP "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" OCTET_PC_UP "${OCTET_PC_UP}")
octet_choose(OCTET_PC_REQUIRES libcpuinfo "" octet_cpuinfo)
foreach(OCTET_PC_ARCHIVE IN LISTS octet_archives)
  string(REPLACE "_" "-" OCTET_PC_NAME ${OCTET_PC_ARCHIVE})
  configure_file(cmake/octet.pc.in ${package}/${OCTET_PC_NAME}.pc @ONLY)
  install(FILES ${package}/${OCTET_PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  # The other archives need the library's.
  set(OCTET_PC_REQUIRES "octet = ${PROJECT_VERSION}")
endforeach()
