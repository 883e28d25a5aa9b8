octet_sources(quantize.cc SETUP tflite_scales.cc)
octet_sources(IF OCTET_WITH_CONVOLUTION conv_padding.cc)
