# SPDX-License-Identifier: Apache-2.0
octet_add_archive(octet_traffic)
octet_sources(TARGET octet_traffic gemm.cc memory.cc trace.cc traffic.cc)
octet_sources(IF OCTET_WITH_CONVOLUTION TARGET octet_traffic conv.cc)
octet_sources(IF OCTET_WITH_NETWORK TARGET octet_traffic network.cc)
