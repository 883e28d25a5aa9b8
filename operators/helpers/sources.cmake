# SPDX-License-Identifier: Apache-2.0
octet_sources(dequantize_gguf.cc import_weights.cc quantize.cc quantize_weights.cc SETUP tflite_scales.cc weight_arrays.cc)
octet_sources(IF OCTET_WITH_CONVOLUTION conv_padding.cc)
