# SPDX-License-Identifier: Apache-2.0
# The installed package, all of which may be moved after installation. Its components:
#   runtime: the shared library
#   development: headers, archives, find_package(octet CONFIG), octet.pc, octet-tune.pc,
#     octet-traffic.pc
#   tools: the octet command, its page of the manual, completions for bash, zsh and fish
#   engines: the plug-ins that LiteRT and ONNX Runtime load
#   documentation: docs, licence, the sources of the examples
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

if(TARGET octet_command)
  install(TARGETS octet_command RUNTIME COMPONENT tools)
  set_property(TARGET octet_command APPEND PROPERTY
    INSTALL_RPATH $<$<BOOL:${BUILD_SHARED_LIBS}>:$ORIGIN/../${CMAKE_INSTALL_LIBDIR}>)
  # The command writes them: a cross build needs an emulator for that.
  find_package(Python3 COMPONENTS Interpreter)
  if(Python3_FOUND AND NOT WIN32 AND (NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR))
    set(manual ${CMAKE_CURRENT_BINARY_DIR}/manual)
    add_custom_command(OUTPUT ${manual}/octet.1 DEPENDS octet_command packaging/manual.py README.md
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/packaging/manual.py
      ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:octet_command> ${PROJECT_VERSION} ${manual}
      VERBATIM)
    add_custom_target(octet_manual ALL DEPENDS ${manual}/octet.1)
    set(data ${CMAKE_INSTALL_DATADIR})
    install(FILES ${manual}/octet.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
    install(FILES ${manual}/octet.bash DESTINATION ${data}/bash-completion/completions RENAME octet
      COMPONENT tools)
    install(FILES ${manual}/_octet DESTINATION ${data}/zsh/site-functions COMPONENT tools)
    install(FILES ${manual}/octet.fish DESTINATION ${data}/fish/vendor_completions.d
      COMPONENT tools)
  endif()
endif()
foreach(plugin octet_litert octet_onnxruntime)
  if(TARGET ${plugin} AND OCTET_BUILD_ENGINES)
    install(TARGETS ${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT engines)
    set_property(TARGET ${plugin} APPEND PROPERTY
      INSTALL_RPATH $<$<BOOL:${BUILD_SHARED_LIBS}>:$ORIGIN>)
  endif()
endforeach()
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation
  REGEX "(docs/.*|train)\\.py$" EXCLUDE)
install(FILES README.md DESIGN.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT documentation)
if(top)
  include(packaging/cpack.cmake)
endif()
