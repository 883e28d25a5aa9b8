// SPDX-License-Identifier: Apache-2.0
// Turns the tensors and operators of a description into those of a graph.
#include "bench/described/described_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/cases/cases.h"
#include "bench/described/description_file.h"

namespace tool {
namespace {

using octet::graph::Activation;
using octet::graph::Clamp;
using octet::graph::Graph;
using octet::graph::Kind;
using octet::graph::Op;
using octet::graph::Padding;
using octet::graph::Tensor;

// Kinds that a description names as engines/graph does; others have forms of their own, or none.
constexpr Kind kNamedKinds[] = {Kind::kSubtract,     Kind::kMultiply,      Kind::kMaxPool,
                                Kind::kAveragePool,  Kind::kMean,          Kind::kPad,
                                Kind::kConcatenate,  Kind::kSlice,         Kind::kReshape,
                                Kind::kTranspose,    Kind::kActivation,    Kind::kLogistic,
                                Kind::kTanh,         Kind::kHardSwish,     Kind::kLeakyRelu,
                                Kind::kSoftmax,      Kind::kResizeNearest, Kind::kResizeBilinear,
                                Kind::kQuantize,     Kind::kDequantize,    Kind::kDepthToSpace,
                                Kind::kSpaceToDepth, Kind::kLstm,          Kind::kSvdf};

octet_type type_of(const std::string& type) {
  return type == "s8"    ? OCTET_S8
         : type == "u8"  ? OCTET_U8
         : type == "s16" ? OCTET_S16
         : type == "s32" ? OCTET_S32
         : type == "f32" ? OCTET_F32
         : type == "s4"  ? OCTET_S4
         : type == "u4"  ? OCTET_U4
                         : octet_type{};
}

class GraphReader : DescriptionFile {
 public:
  GraphReader(const std::string& path, size_t batch, const std::string& as)
      : DescriptionFile(path), batch_(batch), as_(as) {}

  DescribedModel read() {
    try {
      read_arithmetic();
      where_ = "data";
      to_.data = read_data();
      to_.name = network_.at("name");
      for (const json& tensor : array(network_, "tensors")) read_tensor(tensor);
      for (const json& op : array(network_, "operators")) read_operator(op);
      where_ = "inputs and outputs";
      to_.inputs = list("inputs"), to_.outputs = list("outputs");
    } catch (const json::exception& error) {
      fail(error.what());
    }
    return std::move(to_);
  }

 private:
  void read_arithmetic() {
    where_ = "arithmetic";
    const std::string name = network_.value("arithmetic", "tflite");
    if (name != "tflite" && name != "float")
      fail(fmt::format("'{}' is neither tflite nor float", name));
    using octet::graph::Arithmetic;
    const bool onnx = name == "float";
    to_.graph.arithmetic = onnx ? Arithmetic::kOnnxruntime : Arithmetic::kTflite;
    if (as_.empty()) return;
    const bool standard = as_ == "standard", xnnpack = as_ == "xnnpack";
    const bool known =
        onnx ? standard || as_ == "onnxruntime" : xnnpack || as_ == "litert" || as_ == "litert-1.2";
    if (!known)
      throw Error(fmt::format("--as '{}' is no engine of this model: {}", as_,
                              onnx ? "onnxruntime, standard" : "litert-1.2, litert, xnnpack"));
    if (standard) to_.graph.arithmetic = Arithmetic::kStandard;
    if (xnnpack) to_.graph.arithmetic = Arithmetic::kXnnpack;
  }

  std::optional<std::vector<int>> list(const char* field) const {
    if (!network_.contains(field)) return std::nullopt;
    std::vector<int> tensors = tensors_of(network_, field);
    tensors.erase(std::remove(tensors.begin(), tensors.end(), -1), tensors.end());
    return tensors;
  }

  // ---- tensors

  void read_tensor(const json& t) {
    const size_t index = to_.graph.tensors.size();
    where_ = fmt::format("tensors[{}]", index);
    Tensor tensor;
    tensor.type = type_of(t.at("type"));
    tensor.int64 = t.at("type") == "s64";
    tensor.constant = t.at("constant").get<bool>();
    tensor.variable = t.value("variable", false);
    tensor.shape_known = !t.at("shape").is_null();
    if (tensor.shape_known)
      for (const json& size : array(t, "shape"))
        tensor.shape.push_back((int64_t)std::min<uint64_t>(count(size, "a size"), INT64_MAX));
    if (!tensor.constant && tensor.shape_known) multiply_batch(&tensor.shape);
    tensor.scales = scales(t), tensor.zero_points = zero_points(index, t);
    if (t.contains("scale_block")) tensor.scale_block = count(t.at("scale_block"), "scale_block");
    if (tensor.constant && t.contains("data_at")) {
      const size_t at = count(t.at("data_at"), "where its data begin");
      if (at > to_.data.size()) fail(fmt::format("the data of tensor {} ends too early", index));
      tensor.data = to_.data.data() + at, tensor.bytes = to_.data.size() - at;
    }
    to_.graph.tensors.push_back(std::move(tensor));
  }

  void multiply_batch(std::vector<int64_t>* shape) const {
    if (batch_ == 1) return;
    if (shape->size() < 2) shape->insert(shape->begin(), 1);
    if (__builtin_mul_overflow(shape->front(), batch_, &shape->front()))
      fail(fmt::format("a batch of {} leaves size_t", batch_));
  }

  // ---- operators

  void read_operator(const json& op) {
    const size_t index = to_.graph.ops.size();
    where_ = fmt::format("operators[{}]", index);
    const std::string kind = op.at("kind"), name = op.at("operator");
    where_ += fmt::format(" ({})", name);
    Op to;
    to.name = where_;
    to.inputs = tensors_of(op, "inputs"), to.outputs = tensors_of(op, "outputs");
    to_.results.push_back(to.outputs);
    if (kind != "other") {
      read_computed(op, kind, name, &to);
    } else {
      to.refused = op.value("left_out", "not Octet's");
      if (op.value("from_outside", false)) to.outputs.clear();
    }
    to_.as_unsigned.push_back(op.value("as_unsigned", false));
    to_.layers.push_back(op.value("name", ""));
    to_.cases.push_back(op.value("case", ""));
    to_.graph.ops.push_back(std::move(to));
  }

  void read_computed(const json& op, const std::string& kind, const std::string& name, Op* to) {
    if (to->inputs.empty()) fail("it has no input");
    if (to->outputs.size() != 1) fail(fmt::format("it has {} outputs, not 1", to->outputs.size()));
    if (kind == "convolution")
      convolution(op, name, to);
    else if (kind == "product")
      product(op, name, to);
    else if (kind == "addition")
      to->kind = Kind::kAdd;
    else if (kind == "pooling")
      pooling(op, name, to);
    else
      function(op, kind, to);
    const bool has_one = kind == "convolution" || kind == "product" || kind == "addition" ||
                         kind == "pooling" || op.contains("activation");
    if (has_one) clamp(op, to);
  }

  void product(const json& op, const std::string& name, Op* to) const {
    to->kind = Kind::kProduct;
    to->weights_kn = op.value("columns_last", false);
    const bool dense = name == "FULLY_CONNECTED";
    to->in_double = as_ == "litert" && dense;
    const int weights = to->inputs.size() > 1 ? to->inputs[1] : -1;
    if (as_ == "xnnpack" && dense && weights >= 0 && !to_.graph.tensors[(size_t)weights].constant)
      to->refused = "its weights are computed: LiteRT's own kernel rounds it in a way of its own";
  }

  // The kinds that have engines/graph's names.
  void function(const json& op, const std::string& kind, Op* to) {
    for (const Kind known : kNamedKinds)
      if (kind == octet::graph::kind_name(known)) to->kind = known;
    if (to->kind == Kind::kOther) fail(fmt::format("'{}' is no kind of operator", kind));
    if (to->kind == Kind::kPad) {
      const std::vector<int64_t> pads = numbers(op, "pads");
      if (pads.size() != 4) fail(fmt::format("it has {} pads, not 4", pads.size()));
      octet::graph::Window& w = to->window;
      w.top = (size_t)pads[0], w.bottom = (size_t)pads[1];
      w.left = (size_t)pads[2], w.right = (size_t)pads[3];
    }
    to->axis = op.value("axis", -1);
    to->alpha = op.value("alpha", 0.f), to->beta = op.value("beta", 1.f);
    to->in_floats = op.value("in_floats", false);
    to->block = op.contains("block") ? count(op.at("block"), "block") : 1;
    if (octet::graph::has_state(to->kind)) layer_with_state(op, to);
    if (to->kind == Kind::kSlice) to->begins = numbers(op, "begins");
    if (to->kind == Kind::kSlice && op.contains("sizes")) to->sizes = numbers(op, "sizes");
    if (to->kind == Kind::kTranspose) to->permutation = numbers(op, "permutation");
    const std::string where = op.value("coordinates", "asymmetric");
    const char* const known[] = {"asymmetric", "align corners", "half pixel", "pytorch half pixel"};
    const auto found = std::find(std::begin(known), std::end(known), where);
    if (found == std::end(known)) fail(fmt::format("'{}' are no coordinates", where));
    to->coordinates = (octet_coordinates)(found - known);
    if (op.contains("nearest")) to->nearest = nearest(op.at("nearest"));
  }

  void layer_with_state(const json& op, Op* to) const {
    to->time_major = op.value("time_major", false);
    to->cell_clip = op.value("cell_clip", 0.f),
    to->projection_clip = op.value("projection_clip", 0.f);
    if (op.contains("rank")) to->rank = count(op.at("rank"), "rank");
    if (op.contains("hidden")) to->hidden = tensor_of(op.at("hidden"));
  }

  octet_nearest_pixel nearest(const std::string& name) const {
    const std::pair<const char*, octet_nearest_pixel> all[] = {
        {"round prefer floor", OCTET_NEAREST_PIXEL_ROUND_PREFER_FLOOR},
        {"round prefer ceil", OCTET_NEAREST_PIXEL_ROUND_PREFER_CEIL},
        {"floor", OCTET_NEAREST_PIXEL_FLOOR},
        {"ceil", OCTET_NEAREST_PIXEL_CEIL}};
    for (const auto& [known, nearest] : all)
      if (name == known) return nearest;
    fail(fmt::format("'{}' is no nearest pixel", name));
  }

  std::vector<int64_t> numbers(const json& op, const char* field) const {
    std::vector<int64_t> all;
    for (const json& number : array(op, field))
      all.push_back((int64_t)std::min<uint64_t>(count(number, field), INT64_MAX));
    return all;
  }

  void clamp(const json& op, Op* to) {
    const std::string activation = op.at("activation");
    Clamp& c = to->clamp;
    if (activation == "RELU") {
      c.activation = Activation::kRelu;
    } else if (activation == "RELU6") {
      c.activation = Activation::kRelu6;
    } else if (activation == "RELU_N1_TO_1") {
      c.activation = Activation::kReluN1To1;
    } else if (activation == "CLIP" && op.contains("clip")) {
      const json &least = op.at("clip").at(0), &most = op.at("clip").at(1);
      c = {Activation::kClip, least.is_null() ? -INFINITY : least.get<float>(),
           most.is_null() ? INFINITY : most.get<float>()};
    } else if (activation != "NONE") {
      to->refused = fmt::format("its activation {} is not Octet's", activation);
    }
  }

  void convolution(const json& op, const std::string& name, Op* to) {
    if (op.at("layout") != "nhwc") fail("networks are of tensors in NHWC");
    const octet_conv2d_shape s = parse_conv(op.at("case")).geometry;
    to->kind = Kind::kConvolution;
    to->depthwise = name == "DEPTHWISE_CONV_2D";
    to->groups = s.groups, to->transposed = s.transposed != 0;
    to->output_padding_h = s.output_padding_h, to->output_padding_w = s.output_padding_w;
    to->window = {1,
                  1,
                  s.stride_h,
                  s.stride_w,
                  s.dilation_h,
                  s.dilation_w,
                  Padding::kExplicit,
                  s.pad_top,
                  s.pad_bottom,
                  s.pad_left,
                  s.pad_right};
  }

  void pooling(const json& op, const std::string& name, Op* to) {
    if (name == "Relu") {
      to->kind = Kind::kActivation;
      return;
    }
    const bool average = name.find("Average") != std::string::npos || name == "AVERAGE_POOL_2D";
    if (!average && name != "MAX_POOL_2D" && name != "MaxPool") {
      to->refused = "it is no pooling";
      return;
    }
    to->kind = average ? Kind::kAveragePool : Kind::kMaxPool;
    const auto size = [&](const char* field) { return count(op.at("geometry").at(field), field); };
    octet::graph::Window& w = to->window;
    w.kernel_h = size("kernel_h"), w.kernel_w = size("kernel_w");
    w.stride_h = size("stride_h"), w.stride_w = size("stride_w");
    w.top = size("pad_top"), w.left = size("pad_left");
    w.bottom = w.kernel_h, w.right = w.kernel_w;  // at most; the output's size says how much
  }

  const size_t batch_;
  const std::string as_;
  DescribedModel to_;
};

// ---- s8 as u8

class Separator {
 public:
  explicit Separator(Graph* g) : g_(*g) {}

  void separate(const std::vector<char>& as_unsigned) {
    const size_t ops = g_.ops.size(), tensors = g_.tensors.size();
    for (size_t t = 0; t < tensors; ++t)
      if (Tensor& tensor = g_.tensors[t]; !tensor.constant && tensor.type == OCTET_S8)
        retype(&tensor, OCTET_U8), signed_.push_back((int)t);
    for (size_t i = 0; i < ops; ++i)
      if (!as_unsigned[i] && rounds_floats(g_.ops[i])) make_signed(i);
    for (int& t : g_.inputs)
      if (was_signed(t)) t = become_end(t, true);
    for (int& t : g_.outputs)
      if (was_signed(t)) t = become_end(t, false);
  }

 private:
  static bool rounds_floats(const Op& op) {
    return op.kind == Kind::kAdd || op.kind == Kind::kMultiply || op.kind == Kind::kAveragePool ||
           op.kind == Kind::kMean || op.kind == Kind::kResizeBilinear;
  }
  bool was_signed(int t) const { return std::binary_search(signed_.begin(), signed_.end(), t); }
  static void retype(Tensor* t, octet_type type) {
    t->type = type;
    if (t->zero_points.empty()) t->zero_points = {0};
    t->zero_points[0] += type == OCTET_U8 ? 128 : -128;
  }
  int signed_twin(int t) {
    Tensor twin = g_.tensors[(size_t)t];
    retype(&twin, OCTET_S8);
    g_.tensors.push_back(std::move(twin));
    return (int)g_.tensors.size() - 1;
  }
  int become_end(int t, bool input) {
    const int twin = signed_twin(t);
    convert(input ? twin : t, input ? t : twin, "an end of the network");
    return twin;
  }
  void convert(int from, int to, const std::string& name) {
    Op op;
    op.kind = Kind::kQuantize;
    op.name = name, op.inputs = {from}, op.outputs = {to};
    g_.ops.push_back(std::move(op));
  }
  void make_signed(size_t i) {
    const std::string name = g_.ops[i].name;
    for (size_t k = 0; k < g_.ops[i].inputs.size(); ++k)
      if (const int t = g_.ops[i].inputs[k]; t >= 0 && was_signed(t)) {
        g_.ops[i].inputs[k] = signed_twin(t);
        convert(t, g_.ops[i].inputs[k], name);
      }
    const int y = g_.ops[i].outputs[0];
    if (!was_signed(y)) return;
    g_.ops[i].outputs[0] = signed_twin(y);
    convert(g_.ops[i].outputs[0], y, name);
  }

  Graph& g_;
  std::vector<int> signed_;  // tensors that were s8, in rising order
};

}  // namespace

DescribedModel read_described(const std::string& path, size_t batch, const std::string& as) {
  DescribedModel model = GraphReader(path, batch, as).read();
  std::vector<char> made(model.graph.tensors.size());
  for (const octet::graph::Op& op : model.graph.ops)
    for (const int t : op.outputs)
      if (t >= 0) made[(size_t)t] = 1;
  for (size_t t = 0; t < made.size(); ++t)
    if (!made[t] && !model.graph.tensors[t].constant) model.graph.inputs.push_back((int)t);
  return model;
}

void separate_unsigned(const std::vector<char>& as_unsigned, Graph* graph) {
  if (std::find(as_unsigned.begin(), as_unsigned.end(), 1) != as_unsigned.end())
    Separator(graph).separate(as_unsigned);
}

}  // namespace tool
