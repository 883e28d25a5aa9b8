# SPDX-License-Identifier: Apache-2.0
octet_sources(SETUP detect.cc environment.cc features.cc permission.cc)
octet_sources(IF OCTET_WITH_CPU_FILES files.cc)
