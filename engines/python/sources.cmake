# SPDX-License-Identifier: Apache-2.0
# The wheel is a project of its own, CMakeLists.txt beside this file, which takes these files from a
# build of Octet.
if(OCTET_BUILD_ENGINES)
  set(octet_wheel octet)
  foreach(target octet_threads octet_litert octet_onnxruntime)
    if(TARGET ${target})
      list(APPEND octet_wheel ${target})
    endif()
  endforeach()
  export(TARGETS ${octet_wheel} FILE ${PROJECT_BINARY_DIR}/octet-build.cmake)
endif()
if(OCTET_BUILD_ENGINES AND OCTET_BUILD_TESTS AND TARGET octet_threads AND NOT CMAKE_CROSSCOMPILING
   AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  octet_add_script(python tests/python/check.py ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/python
    LABELS engines slow)
  octet_add_script(python_torch tests/python/torch_check.py ${PROJECT_BINARY_DIR}/python
    LABELS engines slow PROPERTIES DEPENDS python)
endif()
