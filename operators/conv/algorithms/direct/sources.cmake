# SPDX-License-Identifier: Apache-2.0
octet_sources(IF OCTET_WITH_CONVOLUTION transposed.cc SETUP direct_plan.cc VECTORS direct.cc direct_s16.cc strided_pixels.cc)
