# SPDX-License-Identifier: Apache-2.0
octet_sources(IF OCTET_WITH_WINOGRAD winograd.cc SETUP winograd_algorithms.cc VECTORS winograd_pack.cc)
