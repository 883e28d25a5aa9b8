# SPDX-License-Identifier: Apache-2.0
# Products by weights in scale blocks.
octet_sources(TARGET octet_graph describe.cc)
