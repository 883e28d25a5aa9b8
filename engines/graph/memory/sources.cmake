# SPDX-License-Identifier: Apache-2.0
# Blobs in memory and in files.
octet_sources(TARGET octet_graph blob.cc blob_file.cc)
