# SPDX-License-Identifier: Apache-2.0
octet_sources(IF OCTET_WITH_CONVOLUTION block.cc byte_windows.cc filter_sums.cc lines.cc pipeline.cc table.cc
  SETUP estimate.cc im2col.cc LOOPS stage.cc VECTORS filter_blob.cc panels.cc)
octet_sources(IF OCTET_WITH_DEPTHWISE channelwise.cc depthwise.cc SETUP grouped.cc)
