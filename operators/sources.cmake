# SPDX-License-Identifier: Apache-2.0
# One folder per operator. A part that the library is built without has its folder's not_built.cc in
# place of the other files; networks have nothing.
octet_folders(common epilogue functions gemm conv sparse helpers network)
octet_sources(IF "NOT OCTET_WITH_TUNING" tuning_not_built.cc)
