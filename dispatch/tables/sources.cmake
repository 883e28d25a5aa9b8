octet_sources(designs.cc formats.cc int8_kernels.cc kernel_names.cc tier_ops.cc tiers.cc)
if(OCTET_WITH_CONVOLUTION)
  octet_sources(depthwise_kernels.cc int16_kernels.cc transforms.cc)
endif()
