// SPDX-License-Identifier: Apache-2.0
// Copies a layer's numbers from Python's arrays, and puts them into descriptors.
#include "engines/python/arithmetic.h"

#include <nanobind/stl/string.h>

#include "engines/python/arrays.h"
#include "engines/python/errors.h"
#include "engines/python/module.h"

namespace nb = nanobind;

namespace octet::python {
namespace {

template <typename T>
std::vector<T> values(nb::handle object, const char* name, octet_type type) {
  if (object.is_none()) return {};
  const Array array(object, name, {type}, 1, 1);
  array.require_dense();
  const T* const data = (const T*)array.data();
  return std::vector<T>(data, data + array.extent(0));
}

octet_activation activation_of(const std::string& text) {
  if (text == "none") return OCTET_ACTIVATION_NONE;
  if (text == "relu") return OCTET_ACTIVATION_RELU;
  if (text == "relu6") return OCTET_ACTIVATION_RELU6;
  fail(PyExc_ValueError, "activation is " + text + ": None, relu or relu6 is needed");
}

}  // namespace

Arithmetic::Arithmetic(const std::string& input, const std::string& output, bool symmetric,
                       int32_t input_zero_point, nb::handle weight_zero_points, nb::handle scales,
                       nb::handle bias, nb::handle float_bias, const std::string& activation,
                       float output_scale, int32_t output_zero_point)
    : input_(type_of_text(input, "input", {OCTET_S8, OCTET_U8, OCTET_F32})),
      output_(type_of_text(output, "output", {OCTET_S8, OCTET_U8, OCTET_S32, OCTET_F32})),
      input_zero_point_(input_zero_point),
      output_zero_point_(output_zero_point),
      activation_(activation_of(activation)),
      output_scale_(output_scale),
      scales_(values<float>(scales, "scales", OCTET_F32)),
      float_bias_(values<float>(float_bias, "bias", OCTET_F32)),
      bias_(values<int32_t>(bias, "bias", OCTET_S32)),
      weight_zero_points_(
          values<int32_t>(weight_zero_points, "the weights' zero_points", OCTET_S32)) {
  if (input_ == OCTET_F32) quant_ = symmetric ? OCTET_LHS_SYMMETRIC : OCTET_LHS_ASYMMETRIC;
}

void Arithmetic::require_channels(size_t channels, size_t blocks) const {
  const auto require = [&](const char* name, size_t count, bool one_will_do) {
    if (count == 0 || count == channels || (one_will_do && count == 1)) return;
    fail(PyExc_ValueError, std::string(name) + " has " + std::to_string(count) +
                               " elements, the weights have " + std::to_string(channels) +
                               " output channels");
  };
  require("scales", scales_.size(), true);
  require("bias", bias_.size() + float_bias_.size(), false);
  if (weight_zero_points_.size() != channels * blocks)
    require("zero_points", weight_zero_points_.size(), true);
}

octet_epilogue Arithmetic::epilogue() const {
  octet_epilogue epilogue = {};
  if (!bias_.empty()) epilogue.bias = bias_.data();
  if (!float_bias_.empty()) epilogue.bias_f32 = float_bias_.data();
  if (!scales_.empty()) epilogue.scales = scales_.data();
  epilogue.scale_count = scales_.size();
  epilogue.dst_zero_point = output_zero_point_;
  epilogue.activation = activation_;
  epilogue.dst_scale = output_scale_;
  return epilogue;
}

void bind_arithmetic(nb::module_& m) {
  nb::class_<Arithmetic>(m, "Arithmetic", "Types, zero points, scales, bias of a layer.")
      .def(nb::init<const std::string&, const std::string&, bool, int32_t, nb::handle, nb::handle,
                    nb::handle, nb::handle, const std::string&, float, int32_t>(),
           nb::kw_only(), nb::arg("input"), nb::arg("output"), nb::arg("symmetric") = true,
           nb::arg("input_zero_point") = 0, nb::arg("weight_zero_points") = nb::none(),
           nb::arg("scales") = nb::none(), nb::arg("bias") = nb::none(),
           nb::arg("float_bias") = nb::none(), nb::arg("activation") = "none",
           nb::arg("output_scale") = 0.f, nb::arg("output_zero_point") = 0);
}

}  // namespace octet::python
