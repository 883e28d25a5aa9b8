# SPDX-License-Identifier: Apache-2.0
octet_sources(binary.cc run.cc SETUP add.cc concat.cc convert.cc copies.cc fit.cc function.cc
  image_check.cc look_up.cc multiply.cc pools.cc resize.cc resize_places.cc softmax.cc softmax_s16.cc unary.cc
  s16.cc)
