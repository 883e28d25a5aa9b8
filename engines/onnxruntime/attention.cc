// SPDX-License-Identifier: Apache-2.0
// Describes a QAttention for the library, and takes each run through its product and its heads.
#include "engines/onnxruntime/attention.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engines/onnxruntime/dynamic.h"
#include "engines/onnxruntime/float_works.h"
#include "engines/onnxruntime/floats/loops.h"

namespace octet::onnxruntime {

namespace {

enum Input {
  kX,
  kWeights,
  kBias,
  kXScale,
  kWeightScale,
  kMask,
  kXZeroPoint,
  kWeightZeroPoint,
  kPast
};

constexpr auto kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
constexpr auto kInt32 = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
constexpr auto kUint8 = ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
constexpr auto kInt8 = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8;

// Far above models, so that sizes of a run's memory stay in size_t.
constexpr int64_t kMostSize = 1 << 20;

bool is_bytes(const Value& v) { return v.type == kUint8 || v.type == kInt8; }
octet_type type_of(const Value& v) { return v.type == kInt8 ? OCTET_S8 : OCTET_U8; }

// The form of a mask of this shape; nothing: it is no mask's. A size below 0 is not known yet, and
// may be any.
std::optional<TokenMask::Form> form_of(const std::vector<int64_t>& shape, int64_t images,
                                       int64_t tokens) {
  const auto is = [&](const std::vector<int64_t>& wanted) {
    return std::equal(shape.begin(), shape.end(), wanted.begin(), wanted.end(),
                      [](int64_t a, int64_t b) { return a == b || a < 0 || b < 0; });
  };
  if (is({images})) return TokenMask::kEnds;
  if (is({2 * images})) return TokenMask::kEndsAndStarts;
  if (is({images, tokens})) return TokenMask::kTokens;
  if (is({images, tokens, tokens})) return TokenMask::kPairs;
  if (is({images, 1}) || is({1, 1})) return TokenMask::kNone;  // these two mask nothing
  return std::nullopt;
}

class Reader : NodeInputs {
 public:
  using NodeInputs::NodeInputs;

  // These throw a sentence about the first thing that Octet does not compute.
  void check_node() const {
    if (node().outputs.empty() || node().outputs[0] < 0) graph::refuse("it has no output");
    if (find(kPast)) graph::refuse("it has keys and values of the past");
    if (node().outputs.size() > 1 && node().outputs[1] >= 0)
      graph::refuse("it gives out its keys and values (present)");
    if (node().integer("do_rotary", 0)) graph::refuse("it rotates queries and keys (do_rotary)");
    if (node().integer("past_present_share_buffer", 0))
      graph::refuse("its past and present share a buffer");
    if (!find(kX) || find(kX)->constant || !is_bytes(*find(kX)))
      graph::refuse("its input is not a computed tensor of 8 bits");
    if (!find(kXScale) || find(kXScale)->type != kFloat)
      graph::refuse("the scale of its input is not of f32");
    if (find(kXZeroPoint) && find(kXZeroPoint)->type != find(kX)->type)
      graph::refuse("the zero point of its input is of another type");
    const Value* const mask = find(kMask);
    if (mask && (mask->type != kInt32 || mask->shape.size() > 3))
      graph::refuse("its mask_index is not of int32 with 1 to 3 axes");
    check_ends();
  }

  const Value& weights() const {
    if (!is_constant(kWeights) || !is_bytes(*find(kWeights)))
      graph::refuse("its weights are no constant of 8 bits");
    const Value& w = *find(kWeights);
    if (w.shape.size() != 2 || w.shape[0] < 1 || w.shape[1] < 1 || w.shape[1] % 3 ||
        w.shape[0] > kMostSize || w.shape[1] > 3 * kMostSize)
      graph::refuse("its weights are no matrix of 1 to ", kMostSize,
                    " rows whose columns are Q's, K's and V's, as many of each");
    return w;
  }
  size_t heads(int64_t hidden) const {
    const int64_t heads = node().integer("num_heads", 0);
    if (heads < 1 || hidden % heads)
      graph::refuse("its ", hidden, " columns are not divided by num_heads = ", heads);
    return (size_t)heads;
  }
  std::vector<float> bias(int64_t n) const { return floats(kBias, "bias", n); }
  std::vector<int32_t> zero_points(int64_t n) const {
    if (!find(kWeightZeroPoint)) return {};
    const int64_t count = count_of(kWeightZeroPoint, n);
    const std::vector<int64_t> zeros = constant(kWeightZeroPoint, "weight_zero_point",
                                                find(kWeights)->type, "the weights' type", count)
                                           .integers();
    return {zeros.begin(), zeros.end()};
  }
  // One, or one for each column.
  std::vector<float> weight_scales(int64_t n) const {
    return floats(kWeightScale, "weight_scale", count_of(kWeightScale, n));
  }

  float score_scale(size_t depth) const {
    const float given = node().number("scale", 0);
    if (!std::isfinite(given)) graph::refuse("its scale is not finite");
    return given == 0 ? 1 / std::sqrt((float)depth) : given;
  }
  TokenMask mask() const {
    TokenMask to;
    to.masked = node().number("mask_filter_value", -10000);
    to.causal = node().integer("unidirectional", 0) != 0;
    if (!std::isfinite(to.masked)) graph::refuse("its mask_filter_value is not finite");
    return to;
  }
  const Value* end(Input i) const { return find(i); }

 private:
  // Refuses a node that each run would refuse, as far as constants and shapes tell.
  void check_ends() const {
    if (is_constant(kXScale)) {
      const std::vector<float> scale = find(kXScale)->floats();
      if (scale.size() != 1 || !std::isfinite(scale[0]) || scale[0] <= 0)
        graph::refuse("the scale of its input is not one finite number above 0");
    }
    if (is_constant(kXZeroPoint) && find(kXZeroPoint)->count != 1)
      graph::refuse("the zero point of its input is not one number");
    const Value &x = *find(kX), *const mask = find(kMask);
    if (!mask || !(mask->shape_known || mask->constant)) return;
    const bool known = x.shape_known && x.shape.size() == 3;
    if (!form_of(mask->shape, known ? x.shape[0] : -1, known ? x.shape[1] : -1))
      graph::refuse("its mask_index has no shape of a mask of its input");
  }
  int64_t count_of(Input i, int64_t n) const {
    return is_constant(i) && find(i)->count == 1 ? 1 : n;
  }
};

}  // namespace

Attention::Attention(const HostGraph& host, const Node& node, const Node* quantizer,
                     const Shared& shared)
    : threads_(shared.options.threads), quantizes_(quantizer != nullptr) {
  const Reader reader(host, node);
  reader.check_node();
  const Value& w = reader.weights();
  k_ = (size_t)w.shape[0], n_ = (size_t)w.shape[1];
  heads_ = reader.heads(w.shape[1] / 3);
  scale_ = reader.score_scale(n_ / 3 / heads_), mask_ = reader.mask();
  type_ = type_of(*reader.end(kX));
  outputs = {host.values[(size_t)node.outputs[0]].name};
  input_ = End(quantizer ? NodeInputs(host, *quantizer).find(0) : reader.end(kX), &inputs);
  mask_index_ = End(reader.end(kMask), &inputs);
  if (!quantizes_) {
    input_scale_ = End(reader.end(kXScale), &inputs);
    input_zero_point_ = End(reader.end(kXZeroPoint), &inputs);
  }
  const std::vector<float> scales = reader.weight_scales(w.shape[1]),
                           bias = reader.bias(w.shape[1]);
  const std::vector<int32_t> zero_points = reader.zero_points(w.shape[1]);
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = type_of(w), rhs.order = OCTET_KN, rhs.n = n_, rhs.k = k_, rhs.data = w.data;
  if (!zero_points.empty())
    rhs.zero_points = zero_points.data(), rhs.zero_point_count = zero_points.size();
  object_.blob = shared.weights->get(rhs, OCTET_ISA_AUTO);
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = std::min<size_t>((size_t)1 << 31, PTRDIFF_MAX / sizeof(float) / std::max(n_, k_));
  desc.n = n_, desc.k = k_;
  desc.lhs_type = type_, desc.rhs_type = rhs.type, desc.dst_type = OCTET_F32;
  desc.lhs_quant = OCTET_LHS_PER_TENSOR;
  desc.packed = object_.blob->data, desc.packed_bytes = object_.blob->bytes;
  desc.epilogue.scales = scales.data(), desc.epilogue.scale_count = scales.size();
  desc.epilogue.bias_f32 = bias.data();
  octet_gemm* gemm = nullptr;
  octet_error error = {};
  graph::check(octet_gemm_create(&desc, &gemm, &error), error);
  object_.gemm.reset(gemm);
  attend_ = best_loops().attend;
}

// ---- runs

Given Attention::single(const End& end, const char* what, const std::vector<Given>& from) const {
  const Given found = end.of(from);
  for (const int64_t size : found.shape)
    if (size != 1) graph::refuse("the ", what, " of '", inputs[0], "' is not one number");
  return found;
}

void Attention::read_numbers(const std::vector<Given>& from, Call* call) const {
  call->scale = *(const float*)single(input_scale_, "scale", from).data;
  if (!input_zero_point_.exists) return;
  const void* const zero = single(input_zero_point_, "zero point", from).data;
  call->zero_point = type_ == OCTET_S8 ? *(const int8_t*)zero : *(const uint8_t*)zero;
}

TokenMask Attention::read_mask(const std::vector<Given>& from, int64_t images,
                               int64_t tokens) const {
  TokenMask mask = mask_;
  if (!mask_index_.exists) return mask;
  const Given found = mask_index_.of(from);
  const std::optional<TokenMask::Form> form = form_of(found.shape, images, tokens);
  if (!form)
    graph::refuse("'", inputs[mask_index_.index], "' has no shape of a mask of ", images, " x ",
                  tokens, " tokens");
  mask.form = *form, mask.data = (const int32_t*)found.data;
  return mask;
}

void Attention::multiply(OrtKernelContext* context, size_t rows, const Call& call) const {
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = rows, args.lhs = call.bytes, args.dst = call.products;
  args.lhs_scales = &call.scale, args.lhs_zero_points = &call.zero_point;
  args.workspace = call.workspace, args.workspace_bytes = call.workspace_bytes;
  lend(context, threads_, &args);
  octet_error error = {};
  graph::check(octet_gemm_run(object_.gemm.get(), &args, &error), error);
}

std::vector<Shape> Attention::shapes(const std::vector<Shape>& given) {
  const Shape& x = given[0];
  if (x.size() != 3 || x[2] != (int64_t)k_)
    graph::refuse("'", inputs[0], "' is not of three axes, the last one of ", k_, " elements");
  if (x[1] > kMostSize)
    graph::refuse("'", inputs[0], "' has ", x[1], " tokens; it takes up to ", kMostSize);
  return {{x[0], x[1], (int64_t)n_ / 3}};
}

void Attention::run(OrtKernelContext* context, const std::vector<Given>& from,
                    const std::vector<void*>& to) {
  const Given x = input_.of(from);
  const size_t images = (size_t)x.shape[0], tokens = (size_t)x.shape[1], rows = images * tokens;
  if (rows == 0) return;
  Call call = {x.data, 0, 0, nullptr, nullptr, 0};
  Heads heads = {};
  heads.images = images, heads.tokens = tokens, heads.heads = heads_;
  heads.depth = n_ / 3 / heads_, heads.stride = n_, heads.scale = scale_,
  heads.output = (float*)to[0];
  heads.mask = read_mask(from, x.shape[0], x.shape[1]);
  if (!quantizes_) read_numbers(from, &call);
  octet_error error = {};
  graph::check(
      octet_gemm_workspace(object_.gemm.get(), rows, threads_, &call.workspace_bytes, &error),
      error);
  const size_t quantized = quantizes_ ? graph::aligned(rows * k_) : 0;
  const size_t products = graph::aligned(rows * n_ * sizeof(float));
  // The product's bytes and workspace lie where its heads have their scratch afterwards.
  const size_t scratch = HeadTasks(heads, attend_, threads_).scratch_bytes();
  const size_t behind = std::max(quantized + call.workspace_bytes, scratch);
  memory_.use(products + behind, [&](void* all) {
    uint8_t* const place = (uint8_t*)all + products;
    call.products = (float*)all, call.workspace = place + quantized;
    if (quantizes_) {
      const Quantized q = quantize(context, threads_, (const float*)x.data, rows * k_, place);
      call.bytes = q.data, call.scale = q.scale, call.zero_point = q.zero_point;
    }
    multiply(context, rows, call);
    heads.queries = call.products, heads.keys = heads.queries + n_ / 3;
    heads.values = heads.keys + n_ / 3;
    attend(context, HeadTasks(heads, attend_, threads_), (float*)place);
  });
}

}  // namespace octet::onnxruntime
