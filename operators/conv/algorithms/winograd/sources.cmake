octet_sources(IF OCTET_WITH_WINOGRAD winograd.cc winograd_algorithms.cc VECTORS winograd_pack.cc)
