# OCTET_BUILD_TESTS=AUTO: ON where there is a GoogleTest, of the target if that is another machine.
if(CMAKE_CROSSCOMPILING)
  find_path(OCTET_GOOGLETEST_DIR googletest/CMakeLists.txt PATHS /usr/src/googletest NO_DEFAULT_PATH
    NO_CMAKE_FIND_ROOT_PATH DOC "GoogleTest's source, for cross builds")
else()
  find_package(GTest QUIET)
endif()
set(OCTET_BUILD_TESTS OFF)
if(OCTET_GOOGLETEST_DIR OR GTest_FOUND)
  set(OCTET_BUILD_TESTS ON)
else()
  message(STATUS "Octet: GoogleTest was not found (Debian: libgtest-dev), so no tests are built")
endif()
