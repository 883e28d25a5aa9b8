# SPDX-License-Identifier: Apache-2.0
octet_sources(struct_size.cc SETUP algorithm_names.cc error.cc)
octet_sources(IF OCTET_WITH_TUNING SETUP file_error.cc)
