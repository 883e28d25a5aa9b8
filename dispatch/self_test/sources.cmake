# SPDX-License-Identifier: Apache-2.0
octet_sources(SETUP cases.cc demoted.cc products.cc requantize.cc runtime_weights.cc scale_blocks.cc self_test.cc s16.cc)
octet_sources(IF OCTET_WITH_CONVOLUTION byte_windows.cc conv.cc int16.cc winograd.cc)
