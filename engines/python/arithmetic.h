// SPDX-License-Identifier: Apache-2.0
// The types and numbers of a layer, as Python gives them.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "octet/octet.h"

namespace octet::python {

// Types, zero points, scales, bias and activation of a product or a convolution. Copies the arrays.
class Arithmetic {
 public:
  // input: "int8", "uint8", or "float32", which is quantized on the fly, symmetrically or not.
  // output: "int8", "uint8", "int32" or "float32". Arrays are None or have an element for each
  // channel (or one for all: scales, weight_zero_points). activation: "none", "relu", "relu6".
  Arithmetic(const std::string& input, const std::string& output, bool symmetric,
             int32_t input_zero_point, nanobind::handle weight_zero_points, nanobind::handle scales,
             nanobind::handle bias, nanobind::handle float_bias, const std::string& activation,
             float output_scale, int32_t output_zero_point);

  octet_type input() const { return input_; }
  octet_type output() const { return output_; }

  // Fails where arrays have not `channels` elements. Zero points may also be one for each of
  // `blocks` scale blocks of each channel.
  void require_channels(size_t channels, size_t blocks = 1) const;

  // The descriptor borrows arrays of this object.
  template <typename Weights>  // octet_rhs_desc, octet_filter_desc
  void describe_weights(Weights* desc) const {
    if (weight_zero_points_.empty()) return;
    desc->zero_points = weight_zero_points_.data();
    desc->zero_point_count = weight_zero_points_.size();
  }
  template <typename Operator>  // octet_gemm_desc, octet_conv2d_desc
  void describe(Operator* desc) const {
    desc->lhs_type = input_;
    desc->dst_type = output_;
    desc->lhs_quant = quant_;
    desc->lhs_zero_point = input_zero_point_;
    desc->epilogue = epilogue();
  }

 private:
  octet_epilogue epilogue() const;

  octet_type input_, output_;
  octet_lhs_quant quant_ = OCTET_LHS_STATIC;
  int32_t input_zero_point_, output_zero_point_;
  octet_activation activation_ = OCTET_ACTIVATION_NONE;
  float output_scale_;
  std::vector<float> scales_, float_bias_;
  std::vector<int32_t> bias_, weight_zero_points_;
};

}  // namespace octet::python
