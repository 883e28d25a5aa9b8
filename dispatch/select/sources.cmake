octet_sources(override.cc paired_format.cc SETUP choice.cc machine.cc select.cc)
octet_sources(IF OCTET_WITH_SPARSE sparsity.cc)
