# SPDX-License-Identifier: Apache-2.0
octet_sources(IF WIN32 SETUP windows.cc)
octet_sources(IF "NOT WIN32" posix.cc)
octet_sources(IF "NOT WIN32 AND ( OCTET_WITH_CPU_FILES OR OCTET_WITH_TUNING )" SETUP posix_read.cc)
octet_sources(IF "NOT WIN32 AND OCTET_WITH_TUNING" SETUP posix_replace.cc)
