octet_sources(IF OCTET_WITH_CONVOLUTION estimate.cc filter_sums.cc im2col.cc lines.cc pipeline.cc table.cc
  transposed.cc LOOPS stage.cc VECTORS direct.cc filter_blob.cc panels.cc)
octet_sources(IF OCTET_WITH_DEPTHWISE channelwise.cc depthwise.cc grouped.cc)
octet_folders(winograd)
