# One folder per operator. A part that the library is built without has its folder's not_built.cc in
# place of the other files; networks have nothing.
octet_folders(common epilogue functions gemm conv sparse helpers network)
octet_choose(octet_without_tuning OFF ON OCTET_WITH_TUNING)
octet_sources(IF octet_without_tuning tuning_not_built.cc)
