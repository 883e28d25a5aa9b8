octet_sources(TARGET octet_tune SETUP gemm_choices.cc operands.cc profile.cc race.cc search.cc tune_gemm.cc)
if(OCTET_WITH_CONVOLUTION)
  octet_sources(TARGET octet_tune calibrate.cc conv_choices.cc fit_costs.cc tune_conv.cc)
endif()
