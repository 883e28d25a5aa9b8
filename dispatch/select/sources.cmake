octet_sources(format_to_try.cc override.cc SETUP choice.cc machine.cc select.cc)
if(OCTET_WITH_SPARSE)
  octet_sources(sparsity.cc)
endif()
