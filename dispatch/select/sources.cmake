# SPDX-License-Identifier: Apache-2.0
octet_sources(format_to_try.cc override.cc SETUP choice.cc machine.cc products.cc select.cc)
octet_sources(IF OCTET_WITH_SPARSE sparsity.cc)
