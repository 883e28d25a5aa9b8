# SPDX-License-Identifier: Apache-2.0
octet_add_archive(octet_tune)
octet_sources(TARGET octet_tune
  SETUP gemm_choices.cc operands.cc profile.cc race.cc search.cc tune_gemm.cc)
octet_sources(IF OCTET_WITH_CONVOLUTION TARGET octet_tune
  calibrate.cc conv_choices.cc fit_costs.cc tune_conv.cc)
