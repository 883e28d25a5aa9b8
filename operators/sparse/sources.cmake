if(NOT OCTET_WITH_SPARSE)
  octet_sources(not_built.cc)
  return()
endif()
octet_sources(import_indexed.cc import_stream.cc indexed.cc prune.cc prune_matrix.cc stream.cc
  weights.cc)
octet_sources(IF OCTET_WITH_CONVOLUTION prune_filter.cc)
