# The installed package: headers, the archives, find_package(octet CONFIG) and octet.pc, octet-tune.pc, octet-traffic.pc. All of it may be moved after installation.
include(CMakePackageConfigHelpers)
set(octet_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/octet)
set(octet_generated ${CMAKE_CURRENT_BINARY_DIR}/package)

install(TARGETS ${octet_archives} EXPORT octet-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/octet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT octet-targets NAMESPACE octet:: DESTINATION ${octet_cmake_dir})

configure_package_config_file(cmake/octet-config.cmake.in ${octet_generated}/octet-config.cmake INSTALL_DESTINATION ${octet_cmake_dir})
write_basic_package_version_file(${octet_generated}/octet-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${octet_generated}/octet-config.cmake ${octet_generated}/octet-config-version.cmake cmake/octet-adapters.cmake
  DESTINATION ${octet_cmake_dir})

file(RELATIVE_PATH OCTET_PC_UP "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" OCTET_PC_UP "${OCTET_PC_UP}")
if(octet_cpuinfo)
  set(OCTET_PC_REQUIRES libcpuinfo)
else()
  set(OCTET_PC_REQUIRES)
endif()
foreach(archive IN LISTS octet_archives)
  set(OCTET_PC_ARCHIVE ${archive})
  string(REPLACE "_" "-" OCTET_PC_NAME ${archive})
  configure_file(cmake/octet.pc.in ${octet_generated}/${OCTET_PC_NAME}.pc @ONLY)
  install(FILES ${octet_generated}/${OCTET_PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  # The other archives need the library's.
  set(OCTET_PC_REQUIRES "octet = ${PROJECT_VERSION}")
endforeach()
