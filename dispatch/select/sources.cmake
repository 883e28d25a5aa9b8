octet_sources(override.cc paired_format.cc SETUP choice.cc machine.cc select.cc)
if(OCTET_WITH_SPARSE)
  octet_sources(sparsity.cc)
endif()
