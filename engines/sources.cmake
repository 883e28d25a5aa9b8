# SPDX-License-Identifier: Apache-2.0
# Octet inside engines. These targets use the C++ library, unlike the library's.
octet_choose(all "" EXCLUDE_FROM_ALL OCTET_BUILD_ENGINES)
include(engines/graph/sources.cmake)
include(engines/threads/sources.cmake)
include(engines/litert/sources.cmake)
include(engines/onnxruntime/sources.cmake)
include(engines/python/sources.cmake)
