# SPDX-License-Identifier: Apache-2.0
octet_sources(conv_kernels.cc elementwise.cc formats.cc image_functions.cc int8_kernels.cc
  kernel_names.cc runtime_ops.cc scale_block_kernels.cc tier_ops.cc SETUP designs.cc tiers.cc)
octet_sources(IF OCTET_WITH_CONVOLUTION depthwise_kernels.cc int16_kernels.cc transforms.cc s16_kernels.cc)
