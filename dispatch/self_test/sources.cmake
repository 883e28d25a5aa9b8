octet_sources(SETUP cases.cc demoted.cc requantize.cc self_test.cc)
if(OCTET_WITH_CONVOLUTION)
  octet_sources(conv.cc)
endif()
