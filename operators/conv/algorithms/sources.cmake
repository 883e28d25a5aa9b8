octet_sources(IF OCTET_WITH_CONVOLUTION block.cc estimate.cc filter_sums.cc im2col.cc lines.cc pipeline.cc
  table.cc LOOPS stage.cc VECTORS filter_blob.cc panels.cc)
octet_sources(IF OCTET_WITH_DEPTHWISE channelwise.cc depthwise.cc grouped.cc)
