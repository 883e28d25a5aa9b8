# One folder per operator. A part that the library is built without has its folder's not_built.cc in
# place of the other files; networks have nothing.
octet_folders(common gemm conv sparse helpers network)
if(NOT OCTET_WITH_TUNING)
  octet_sources(tuning_not_built.cc)
endif()
