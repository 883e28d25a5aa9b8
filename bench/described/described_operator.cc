// Makes an op of each kind of operator.
#include "bench/described/described_operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "bench/cases/cases.h"
#include "bench/described/reshaped.h"
#include "bench/problems/objects.h"

namespace tool {

void OperatorReader::check_type(size_t tensor, const char* type) const {
  if (tensors_[tensor].type != type)
    fail(fmt::format("tensor {} is {}, not {}", tensor, tensors_[tensor].type, type));
}

void OperatorReader::input(size_t k) {
  if (k >= inputs_.size()) fail("it lacks an input");
  if (tensors_[inputs_[k]].constant) refuse("it computes with a constant in an input's place");
  op_.inputs[op_.input_count++] = inputs_[k];
}

void OperatorReader::create_op(const json& op) {
  op_ = {}, depth_ = 0;
  op_.output = output_;
  const std::string kind = op.at("kind");
  input(0);
  if (kind == "convolution")
    convolution(op);
  else if (kind == "product")
    product(op);
  else if (kind == "addition")
    addition(op);
  else if (kind == "pooling")
    pooling(op);
  else
    fail(fmt::format("'{}' is no kind of operator", kind));
}

template <typename Desc>
void OperatorReader::rescale(octet_tflite_op kind, const json& op, size_t n, Desc* d) {
  if (inputs_.size() < 2) refuse("it has no weights");
  const OperandTypes types = parse_types(op.at("types"));
  d->lhs_type = types.lhs, d->rhs_type = types.rhs, d->dst_type = types.dst;
  if (float_ ? types.dst == OCTET_F32 : types.lhs != types.dst)
    refuse(fmt::format("{} is not computed", types.name()));
  check_type(inputs_[0], octet_type_name(types.lhs));
  check_type(inputs_[1], octet_type_name(types.rhs));
  check_type(output_, octet_type_name(types.dst));
  d->lhs_zero_point = zero_point(inputs_[0]);
  d->max_isa = isa_;
  octet_epilogue& e = d->epilogue;
  if (inputs_.size() > 2) {
    check_type(inputs_[2], "s32");
    const uint8_t* const bytes = data(inputs_[2], n * sizeof(int32_t));
    bias_.resize(n);
    std::memcpy(bias_.data(), bytes, n * sizeof(int32_t));
    e.bias = bias_.data();
  }
  if (types.dst == OCTET_S32) return;
  e.dst_zero_point = zero_point(output_);
  e.dst_scale = scale(output_);
  if (float_)
    rescale_floats(op, types.dst, &e);
  else
    rescale_tflite(kind, op, types.dst, &e);
}

void OperatorReader::rescale_floats(const json& op, octet_type dst, octet_epilogue* to) {
  octet_epilogue& e = *to;
  scales_ = scales(inputs_[1]);
  for (float& s : scales_) s = scale(inputs_[0]) * s / e.dst_scale;
  e.scales = scales_.data(), e.scale_count = scales_.size();
  const Bounds bounds = bounds_of(op, dst);
  e.activation = OCTET_ACTIVATION_CLAMP;
  e.clamp_min = (float)bounds.least, e.clamp_max = (float)bounds.most;
}

Bounds OperatorReader::bounds_of(const json& op, octet_type type) const {
  const std::string activation = op.at("activation");
  if (activation == "NONE") return bounds_of_type(type);  // no further fields are needed
  std::optional<float> least, most;
  if (activation == "RELU") {
    least = 0.0f;
  } else if (activation == "CLIP" && op.contains("clip")) {
    if (const json& x = op.at("clip").at(0); !x.is_null()) least = x.get<float>();
    if (const json& x = op.at("clip").at(1); !x.is_null()) most = x.get<float>();
  } else {
    refuse(fmt::format("the bounds of its activation {} are not known", activation));
  }
  const Bounds bounds = quantize_bounds(type, scale(output_), zero_point(output_), least, most);
  if (bounds.least > bounds.most) refuse("nothing is between the bounds of its activation");
  return bounds;
}

void OperatorReader::rescale_tflite(octet_tflite_op kind, const json& op, octet_type dst,
                                    octet_epilogue* to) {
  octet_epilogue& e = *to;
  const std::vector<float> rhs_scales = scales(inputs_[1]);
  multipliers_.resize(rhs_scales.size()), shifts_.resize(rhs_scales.size());
  octet_error error = {};
  check(octet_tflite_multipliers(kind, dst, scale(inputs_[0]), rhs_scales.data(), rhs_scales.size(),
                                 scale(output_), multipliers_.data(), shifts_.data(), &error),
        error);
  e.requant = OCTET_REQUANT_TFLITE;
  e.multipliers = multipliers_.data(), e.shifts = shifts_.data();
  e.multiplier_count = rhs_scales.size();
  const std::string activation = op.at("activation");
  if (activation == "RELU")
    e.activation = OCTET_ACTIVATION_RELU;
  else if (activation == "RELU6")
    e.activation = OCTET_ACTIVATION_RELU6;
  else if (activation == "RELU_N1_TO_1")
    e.activation = OCTET_ACTIVATION_RELU_N1_TO_1;
  else if (activation != "NONE")
    refuse(fmt::format("its activation {} is not Octet's", activation));
}

size_t OperatorReader::weights_of(const octet_conv2d_shape& s) const {
  size_t weights = s.in_channels / s.groups;
  for (const size_t size : {s.kernel_h, s.kernel_w, s.out_channels})
    if (__builtin_mul_overflow(weights, size, &weights)) refuse("its weights leave size_t");
  return weights;
}

void OperatorReader::convolution(const json& op) {
  if (op.at("layout") != "nhwc") fail("networks are of tensors in NHWC");
  octet_conv2d_shape shape = parse_conv(op.at("case")).geometry;
  shape.batch_max *= batch_;
  octet_conv2d_desc d = OCTET_CONV2D_DESC_INIT;
  rescale(OCTET_TFLITE_CONVOLUTION, op, shape.out_channels, &d);
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  filter.shape = d.shape = shape;
  filter.type = d.rhs_type;
  filter.order = op.at("operator") == "DEPTHWISE_CONV_2D" ? OCTET_HWIO : OCTET_OHWI;
  filter.data = data(inputs_[1], weights_of(shape));
  const std::vector<int32_t> zeros = zero_points(inputs_[1]);
  filter.zero_points = zeros.data(), filter.zero_point_count = zeros.size();
  if (visitor_) return give(op, {"", "", "", output_, &d, &filter, nullptr, nullptr});
  filter.packed_bytes_max = to_.limits_.of(output_);
  to_.blobs_.push_back(pack(filter, isa_, &d));
  to_.convs_.push_back(create(d));
  op_.conv2d = to_.convs_.back().get();
  convolution_ = {
      0, to_.convs_.size() - 1, d, std::move(bias_), std::move(multipliers_), std::move(shifts_)};
}

void OperatorReader::product(const json& op) {
  const GemmShape shape = parse_product(op.at("case"), "").shape;
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  rescale(OCTET_TFLITE_FULLY_CONNECTED, op, shape.n, &d);
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = d.rhs_type, rhs.order = OCTET_NK, rhs.n = shape.n, rhs.k = shape.k;
  rhs.data = data(inputs_[1], shape.n * shape.k);
  const std::vector<int32_t> zeros = zero_points(inputs_[1]);
  rhs.zero_points = zeros.data(), rhs.zero_point_count = zeros.size();
  d.m_max = shape.m * batch_, d.n = shape.n, d.k = depth_ = shape.k;
  if (visitor_) return give(op, {"", "", "", output_, nullptr, nullptr, &d, &rhs});
  to_.blobs_.push_back(pack(rhs, isa_, &d));
  to_.gemms_.push_back(create(d));
  op_.gemm = to_.gemms_.back().get();
}

void OperatorReader::give(const json& op, DescribedLayer layer) const {
  layer.network = network_.at("name"), layer.name = op.at("name"), layer.shape = op.at("case");
  visitor_(layer);
}

octet_type OperatorReader::function_type() const {
  const octet_type type = to_.tensors_[output_].type;
  check_type(output_, type == OCTET_S8 ? "s8" : "u8");
  for (size_t k = 0; k < op_.input_count; ++k)
    if (tensors_[inputs_[k]].sizes.type != type) refuse("its tensors have different types");
  return type;
}

Bounds OperatorReader::function_bounds(const json& op, octet_type type) const {
  return float_ ? bounds_of(op, type)
                : tflite_bounds(type, op.at("activation"), scale(output_), zero_point(output_));
}

template <typename Arguments>
octet_network_function& OperatorReader::become(const Arguments& arguments,
                                               void (*run)(void*, const octet_network_call*)) {
  DescribedFunction& f = to_.functions_.emplace_back();
  f.arguments = arguments;
  f.lines.run = run, f.lines.context = &std::get<Arguments>(f.arguments);
  f.lines.kernel_h = 1;
  op_.function = &f.lines;
  return f.lines;
}

void OperatorReader::addition(const json& op) {
  input(1);
  for (const size_t k : {0, 1})
    if (!same_sizes(tensors_[inputs_[k]].sizes, tensors_[output_].sizes))
      refuse("its tensors have different shapes");
  const octet_type type = function_type();
  const Bounds bounds = function_bounds(op, type);
  const size_t tensors[] = {inputs_[0], inputs_[1], output_};
  if (float_) {
    OnnxAdd add = {type, {}, {}, bounds.least, bounds.most, op.value("as_unsigned", false)};
    for (size_t i = 0; i < 3; ++i)
      add.scales[i] = scale(tensors[i]), add.zero_points[i] = zero_point(tensors[i]);
    become(add, is_bounded(bounds, type) ? run_float_add : run_qlinear_add);
    return;
  }
  TfliteAdd add = {type, {}, {}, bounds.least, bounds.most};
  for (size_t i = 0; i < 3; ++i) add.zero_points[i] = zero_point(tensors[i]);
  octet_error error = {};
  check(octet_tflite_add(scale(inputs_[0]), scale(inputs_[1]), scale(output_), &add.add, &error),
        error);
  become(add, run_tflite_add);
}

bool OperatorReader::is_bounded(const Bounds& bounds, octet_type type) {
  const Bounds all = bounds_of_type(type);
  return bounds.least != all.least || bounds.most != all.most;
}

void OperatorReader::pooling(const json& op) {
  const octet_type type = function_type();
  const Bounds bounds = function_bounds(op, type);
  const std::string name = op.at("operator");
  const bool average = name == "AVERAGE_POOL_2D" || name.find("Average") != std::string::npos;
  if (!average && name != "MAX_POOL_2D" && name != "MaxPool" && name != "Relu")
    refuse("it is no pooling");
  if (!float_ &&
      (scale(inputs_[0]) != scale(output_) || zero_point(inputs_[0]) != zero_point(output_)))
    refuse("its input and its output are quantized differently");
  const auto size = [&](const char* name) { return count(op.at("geometry").at(name), name); };
  const Window window = {size("kernel_h"), size("kernel_w"), size("stride_h"),
                         size("stride_w"), size("pad_top"),  size("pad_left")};
  check_windows(window, average);
  octet_network_function& lines =
      !average ? become(MaxPool{type, bounds.least, bounds.most, window}, run_max_pool)
      : float_ ? onnx_average(op, type, bounds, window)
               : become(TfliteAverage{type, bounds.least, bounds.most, window}, run_tflite_average);
  lines.kernel_h = window.kernel_h, lines.stride_h = window.stride_h;
  lines.pad_top = window.pad_top;
}

octet_network_function& OperatorReader::onnx_average(const json& op, octet_type type,
                                                     const Bounds& bounds, const Window& window) {
  const octet_network_tensor &in = tensors_[inputs_[0]].sizes, &out = tensors_[output_].sizes;
  const bool global = window.kernel_h == in.h && window.kernel_w == in.w && window.pad_top == 0 &&
                      window.pad_left == 0 && out.h == 1 && out.w == 1;
  const OnnxAverage average = {type,
                               {scale(inputs_[0]), scale(output_)},
                               {zero_point(inputs_[0]), zero_point(output_)},
                               bounds.least,
                               bounds.most,
                               op.value("as_unsigned", false),
                               window};
  return become(average, global ? run_qlinear_global_average : run_qlinear_average);
}

void OperatorReader::check_windows(const Window& f, bool average) const {
  const octet_network_tensor &in = tensors_[inputs_[0]].sizes, &out = tensors_[output_].sizes;
  constexpr size_t kMost = 1 << 16;
  const auto fits = [](size_t from, size_t to, size_t kernel, size_t stride, size_t pad) {
    return stride && stride <= kMost && kernel <= kMost && kernel > pad &&
           kernel <= from + 2 * pad && (to - 1) * stride < from + pad;
  };
  if (in.channels != out.channels || in.batch != out.batch ||
      !fits(in.h, out.h, f.kernel_h, f.stride_h, f.pad_top) ||
      !fits(in.w, out.w, f.kernel_w, f.stride_w, f.pad_left))
    refuse("its windows do not fit its tensors");
  if (average && std::min(in.h, f.kernel_h) * std::min(in.w, f.kernel_w) > kAveragePixels)
    refuse(fmt::format("its windows have more than {} pixels", kAveragePixels));
}

}  // namespace tool
