octet_sources(quantize.cc SETUP tflite_scales.cc)
if(OCTET_WITH_CONVOLUTION)
  octet_sources(conv_padding.cc)
endif()
