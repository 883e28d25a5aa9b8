octet_sources(int4.cc interleave.cc packed_rhs.cc paired.cc weight_sums.cc SETUP container.cc
  matrix_blob.cc scale_blocks.cc sparse.cc LOOPS checksum.cc)

# Sums of columns need vectors, and no other copies of their loops.
set_property(SOURCE packing/packed_rhs.cc packing/weight_sums.cc APPEND PROPERTY COMPILE_OPTIONS
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<CONFIG:MinSizeRel>>>:\
-O2;-ftree-vectorize;-fvect-cost-model=dynamic>")
