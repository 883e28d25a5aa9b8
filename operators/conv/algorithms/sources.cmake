octet_sources(block.cc estimate.cc filter_sums.cc im2col.cc lines.cc pipeline.cc table.cc transposed.cc
  LOOPS direct.cc filter_blob.cc panels.cc stage.cc)
if(octet_winograd)
  octet_sources(winograd.cc winograd_algorithms.cc LOOPS winograd_pack.cc)
endif()
if(octet_depthwise)
  octet_sources(channelwise.cc depthwise.cc grouped.cc)
endif()
