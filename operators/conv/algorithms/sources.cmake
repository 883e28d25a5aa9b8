octet_sources(IF OCTET_WITH_CONVOLUTION estimate.cc filter_sums.cc im2col.cc lines.cc pipeline.cc table.cc
  transposed.cc
  LOOPS direct.cc filter_blob.cc panels.cc stage.cc)
octet_sources(IF OCTET_WITH_WINOGRAD winograd.cc winograd_algorithms.cc LOOPS winograd_pack.cc)
octet_sources(IF OCTET_WITH_DEPTHWISE channelwise.cc depthwise.cc grouped.cc)
