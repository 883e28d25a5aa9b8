#include "described.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "activation_bounds.h"
#include "cases.h"
#include "fuse_residual.h"
#include "network.h"
#include "objects.h"
#include "octet/helpers.h"

namespace tool {

using nlohmann::json;

// What an operator of the file becomes. What json and the library say becomes errors that name the
// file and the operator.
class DescriptionReader {
 public:
  DescriptionReader(const std::string& path, octet_isa isa, size_t batch, bool fuse,
                    DescribedNetwork* to)
      : path_(path),
        isa_(isa),
        batch_(batch),
        fuse_(fuse),
        to_(*to),
        network_(parse_description(path)) {}

  void read() {
    try {
      read_arithmetic();
      read_data();
      read_tensors();
      find_makers();
      for (size_t i = 0; i < network_.at("operators").size(); ++i) read_operator(i);
    } catch (const LocatedError&) {
      throw;
    } catch (const json::exception& error) {
      fail(error.what());
    } catch (const Error& error) {
      fail(error.what());
    }
    if (to_.ops_.empty()) throw Error(fmt::format("{} has nothing that Octet computes", path_));
    find_ends();
    if (!float_ && fuse_)  // in float mode a residual is added before the product is rounded
      fuse_residuals(to_.tensors_, &fusable_, &to_.convs_, &to_.ops_);
  }

 private:
  struct LocatedError : Error {
    using Error::Error;
  };
  struct Tensor {
    size_t home;  // of those that lie in each other, as a reshape's do, the first
    std::string type, maker;
    size_t dimensions;
    bool computed, constant, made;
    bool comes_later;  // of an operator that was not read yet
  };

  [[noreturn]] void fail(const std::string& why) const {
    throw LocatedError(fmt::format("{}: {}: {}", path_, where_, why));
  }

  void read_arithmetic() {
    where_ = "arithmetic";
    const std::string name = network_.value("arithmetic", "tflite");
    if (name != "tflite" && name != "float")
      fail(fmt::format("'{}' is neither tflite nor float", name));
    float_ = name == "float";
  }

  void read_data() {
    where_ = "data";
    if (!network_.contains("data"))
      fail("the description has no weights: tools/network/describe.py --data writes them");
    const auto data =
        std::filesystem::path(path_).parent_path() / network_.at("data").get<std::string>();
    if (!std::filesystem::is_regular_file(data))
      fail(fmt::format("{} is no regular file", data.string()));
    std::ifstream file(data, std::ios::binary);
    if (!file) fail(fmt::format("cannot read {}", data.string()));
    data_.assign(std::istreambuf_iterator<char>(file), {});
  }

  void read_tensors() {
    where_ = "tensors";
    for (const json& t : array(network_, "tensors")) {
      where_ = fmt::format("tensors[{}]", tensors_.size());
      octet_network_tensor tensor = {1, 1, 1, 1, OCTET_U8, 0, 0, 0, 0, 0};
      const std::string type = t.at("type");
      tensor.type = type == "s8" ? OCTET_S8 : type == "s32" ? OCTET_S32 : OCTET_U8;
      std::vector<size_t> s;
      if (!t.at("shape").is_null())
        for (const json& size : array(t, "shape")) s.push_back(count(size, "a size"));
      if (!s.empty()) tensor.channels = s.back();
      if (s.size() > 1) tensor.batch = s[0];
      if (s.size() > 2) tensor.w = s[s.size() - 2];
      if (s.size() > 3) tensor.h = s[s.size() - 3];
      if (!t.at("constant") && __builtin_mul_overflow(tensor.batch, batch_, &tensor.batch))
        fail(fmt::format("a batch of {} leaves size_t", batch_));
      const size_t index = tensors_.size();
      to_.tensors_.push_back(tensor);
      tensors_.push_back({index, type, "", s.size(), true, t.at("constant"), false, false});
    }
  }

  // So that what is read before it is made is not taken for an input.
  void find_makers() {
    size_t index = 0;
    for (const json& op : array(network_, "operators")) {
      where_ = fmt::format("operators[{}]", index++);
      for (const size_t output : tensors_of(op, "outputs")) tensors_[output].comes_later = true;
    }
  }

  // ---- numbers

  const json& array(const json& from, const char* field) const {
    const json& found = from.at(field);
    if (!found.is_array()) fail(fmt::format("'{}' is no array", field));
    return found;
  }
  size_t count(const json& number, const char* what) const {
    if (!number.is_number_unsigned())
      fail(fmt::format("{} is {}, and must be a whole number from 0 on", what, number.dump()));
    return number.get<size_t>();
  }
  // Those that an operator leaves out are -1.
  std::vector<size_t> tensors_of(const json& op, const char* field) const {
    std::vector<size_t> tensors;
    for (const json& number : array(op, field))
      if (number != -1) tensors.push_back(checked(number));
    return tensors;
  }
  size_t checked(const json& number) const {
    if (!number.is_number_unsigned() || number.get<size_t>() >= tensors_.size())
      fail(fmt::format("{} is no tensor", number.dump()));
    return number.get<size_t>();
  }

  // ---- what is said of tensors

  const json& tensor(size_t index) const { return network_.at("tensors").at(index); }
  std::vector<float> scales(size_t index) const {
    if (tensor(index).at("quantization").is_null())
      fail(fmt::format("tensor {} is not quantized", index));
    return tensor(index).at("quantization").at("scales");
  }
  float scale(size_t index) const {
    const std::vector<float> all = scales(index);
    if (all.size() != 1) fail(fmt::format("tensor {} has {} scales", index, all.size()));
    constexpr float kMost = float{1ull << 48};  // octet_epilogue's; sums of such values are finite
    if (!(all[0] > 0 && all[0] <= kMost))
      fail(fmt::format("tensor {} has the scale {}", index, all[0]));
    return all[0];
  }
  std::vector<int32_t> zero_points(size_t index) const {
    scales(index);
    const std::string& type = tensors_[index].type;
    const Bounds bounds = type == "s8"   ? bounds_of_type(OCTET_S8)
                          : type == "u8" ? bounds_of_type(OCTET_U8)
                                         : Bounds{0, 0};
    std::vector<int32_t> all;
    for (const json& z : array(tensor(index).at("quantization"), "zero_points")) {
      // Large ones are unsigned to json, and would become negative
      if (!z.is_number_integer() || z > bounds.most || z < bounds.least)
        fail(fmt::format("tensor {} of {} has the zero point {}", index, type, z.dump()));
      all.push_back(z.get<int32_t>());
    }
    return all;
  }
  int32_t zero_point(size_t index) const {
    const std::vector<int32_t> all = zero_points(index);
    if (all.size() != 1) fail(fmt::format("tensor {} has {} zero points", index, all.size()));
    return all[0];
  }
  const uint8_t* data(size_t index, size_t bytes) const {
    if (!tensor(index).contains("data_at")) fail(fmt::format("tensor {} has no data", index));
    const size_t at = count(tensor(index).at("data_at"), "where its data begin");
    if (at > data_.size() || bytes > data_.size() - at)
      fail(fmt::format("the data of tensor {} ends too early", index));
    return reinterpret_cast<const uint8_t*>(data_.data()) + at;
  }

  // ---- operators

  void read_operator(size_t i) {
    const json& op = network_.at("operators").at(i);
    const std::string kind = op.at("kind"), name = op.at("operator");
    where_ = fmt::format("operators[{}] ({})", i, name);
    inputs_ = tensors_of(op, "inputs");
    const std::vector<size_t> outputs = tensors_of(op, "outputs");
    if (kind != "other") check_order(outputs);
    for (const size_t output : outputs) {
      Tensor& t = tensors_[output];
      if (t.made) fail(fmt::format("{} makes tensor {}, too", t.maker, output));
      t.maker = where_, t.made = true;
      if (kind == "other") t.computed = op.value("from_outside", false);
    }
    if (kind == "other") {
      to_.left_out_.push_back(fmt::format("{}: {}", where_, op.value("left_out", "not Octet's")));
      return;
    }
    output_ = outputs[0];
    if (kind == "reshape") return reshape();
    op_ = {};
    op_.output = output_;
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
    to_.ops_.push_back(op_);
  }

  void check_order(const std::vector<size_t>& outputs) const {
    if (inputs_.empty()) fail("it has no input");
    if (outputs.size() != 1) fail(fmt::format("it has {} outputs, not 1", outputs.size()));
    for (const size_t input : inputs_)
      if (tensors_[input].comes_later && !tensors_[input].made)
        fail(fmt::format("it reads tensor {} before that is made", input));
    for (const size_t input : inputs_)
      if (!tensors_[input].computed)
        fail(fmt::format("it reads what {} makes, which Octet does not compute",
                         tensors_[input].maker));
    for (const size_t tensor : {inputs_[0], outputs[0]})
      if (tensors_[tensor].dimensions > 4)
        fail(fmt::format("tensor {} has {} dimensions", tensor, tensors_[tensor].dimensions));
  }
  void check_type(size_t tensor, const char* type) const {
    if (tensors_[tensor].type != type)
      fail(fmt::format("tensor {} is {}, not {}", tensor, tensors_[tensor].type, type));
  }
  // Nothing moves: what it makes lies where it was.
  void reshape() {
    const size_t from = inputs_[0];
    check_type(output_, tensors_[from].type.c_str());
    const auto elements = [&](size_t i) {
      const octet_network_tensor& t = to_.tensors_[i];
      double all = 1;
      for (const size_t size : {t.batch, t.h, t.w, t.channels}) all *= static_cast<double>(size);
      return all;
    };
    const bool known = tensors_[from].dimensions && tensors_[output_].dimensions;
    if (known && elements(from) != elements(output_))
      fail("its input and its output have different numbers of elements");
    tensors_[output_].home = tensors_[from].home;
  }
  void input(size_t k) {
    if (k >= inputs_.size()) fail("it lacks an input");
    if (tensors_[inputs_[k]].constant) fail("it computes with a constant in an input's place");
    op_.inputs[op_.input_count++] = tensors_[inputs_[k]].home;
  }

  // What products and convolutions share; the arrays live until the object is created.
  template <typename Desc>
  void rescale(octet_tflite_op kind, const json& op, size_t n, Desc* d) {
    if (inputs_.size() < 2) fail("it has no weights");
    const OperandTypes types = parse_types(op.at("types"));
    d->lhs_type = types.lhs, d->rhs_type = types.rhs, d->dst_type = types.dst;
    if (float_ ? types.dst == OCTET_F32 : types.lhs != types.dst)
      fail(fmt::format("{} is not computed", types.name()));
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

  // The product of the operands' scales over the output's, rounded in this order as ONNX Runtime
  // does it.
  void rescale_floats(const json& op, octet_type dst, octet_epilogue* to) {
    octet_epilogue& e = *to;
    scales_ = scales(inputs_[1]);
    for (float& s : scales_) s = scale(inputs_[0]) * s / e.dst_scale;
    e.scales = scales_.data(), e.scale_count = scales_.size();
    const Bounds bounds = bounds_of(op, dst);
    e.activation = OCTET_ACTIVATION_CLAMP;
    e.clamp_min = static_cast<float>(bounds.least), e.clamp_max = static_cast<float>(bounds.most);
  }
  Bounds bounds_of(const json& op, octet_type type) const {
    const std::string activation = op.at("activation");
    if (activation == "NONE") return bounds_of_type(type);  // nothing else need be known
    std::optional<float> least, most;
    if (activation == "RELU") {
      least = 0.0f;
    } else if (activation == "CLIP" && op.contains("clip")) {
      if (const json& x = op.at("clip").at(0); !x.is_null()) least = x.get<float>();
      if (const json& x = op.at("clip").at(1); !x.is_null()) most = x.get<float>();
    } else {
      fail(fmt::format("the bounds of its activation {} are not known", activation));
    }
    const Bounds bounds = quantize_bounds(type, scale(output_), zero_point(output_), least, most);
    if (bounds.least > bounds.most) fail("nothing is between the bounds of its activation");
    return bounds;
  }

  void rescale_tflite(octet_tflite_op kind, const json& op, octet_type dst, octet_epilogue* to) {
    octet_epilogue& e = *to;
    const std::vector<float> rhs_scales = scales(inputs_[1]);
    multipliers_.resize(rhs_scales.size()), shifts_.resize(rhs_scales.size());
    octet_error error = {};
    check(
        octet_tflite_multipliers(kind, dst, scale(inputs_[0]), rhs_scales.data(), rhs_scales.size(),
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
      fail(fmt::format("its activation {} is not Octet's", activation));
  }

  size_t weights_of(const octet_conv2d_shape& s) const {
    size_t weights = s.in_channels / s.groups;
    for (const size_t size : {s.kernel_h, s.kernel_w, s.out_channels})
      if (__builtin_mul_overflow(weights, size, &weights)) fail("its weights leave size_t");
    return weights;
  }

  void convolution(const json& op) {
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
    to_.blobs_.push_back(pack(filter, isa_, &d));
    to_.convs_.push_back(create(d));
    op_.conv2d = to_.convs_.back().get();
    fusable_.push_back({to_.ops_.size(), to_.convs_.size() - 1, d, std::move(bias_),
                        std::move(multipliers_), std::move(shifts_)});
  }

  void product(const json& op) {
    const GemmShape shape = parse_product(op.at("case"), "").shape;
    octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
    rescale(OCTET_TFLITE_FULLY_CONNECTED, op, shape.n, &d);
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = d.rhs_type, rhs.order = OCTET_NK, rhs.n = shape.n, rhs.k = shape.k;
    rhs.data = data(inputs_[1], shape.n * shape.k);
    const std::vector<int32_t> zeros = zero_points(inputs_[1]);
    rhs.zero_points = zeros.data(), rhs.zero_point_count = zeros.size();
    d.m_max = shape.m * batch_, d.n = shape.n, d.k = shape.k;
    to_.blobs_.push_back(pack(rhs, isa_, &d));
    to_.gemms_.push_back(create(d));
    op_.gemm = to_.gemms_.back().get();
  }

  // Of the op's inputs and output, which are all of this type.
  octet_type function_type() const {
    const octet_type type = to_.tensors_[output_].type;
    check_type(output_, type == OCTET_S8 ? "s8" : "u8");
    for (size_t k = 0; k < op_.input_count; ++k)
      if (to_.tensors_[op_.inputs[k]].type != type) fail("its tensors have different types");
    return type;
  }
  Bounds function_bounds(const json& op, octet_type type) const {
    return float_ ? bounds_of(op, type)
                  : tflite_bounds(type, op.at("activation"), scale(output_), zero_point(output_));
  }
  // The op becomes this function over lines, those of one line until the caller says otherwise.
  template <typename Arguments>
  octet_network_function& become(const Arguments& arguments,
                                 void (*run)(void*, const octet_network_call*)) {
    DescribedFunction& f = to_.functions_.emplace_back();
    f.arguments = arguments;
    f.lines.run = run, f.lines.context = &std::get<Arguments>(f.arguments);
    f.lines.kernel_h = 1;
    op_.function = &f.lines;
    return f.lines;
  }

  void addition(const json& op) {
    input(1);
    const octet_network_tensor& out = to_.tensors_[output_];
    for (const size_t k : {0, 1}) {
      const octet_network_tensor& in = to_.tensors_[op_.inputs[k]];
      if (in.batch != out.batch || in.h != out.h || in.w != out.w || in.channels != out.channels)
        fail("its tensors have different shapes");
    }
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
  // ONNX Runtime drops an activation that the type's range implies, and only then makes one operator
  // of an addition and its quantizations.
  static bool is_bounded(const Bounds& bounds, octet_type type) {
    const Bounds all = bounds_of_type(type);
    return bounds.least != all.least || bounds.most != all.most;
  }

  void pooling(const json& op) {
    const octet_type type = function_type();
    const Bounds bounds = function_bounds(op, type);
    const std::string name = op.at("operator");
    const bool average = name == "AVERAGE_POOL_2D" || name.find("Average") != std::string::npos;
    if (!average && name != "MAX_POOL_2D" && name != "MaxPool" && name != "Relu")
      fail("it is no pooling");
    if (!float_ &&
        (scale(inputs_[0]) != scale(output_) || zero_point(inputs_[0]) != zero_point(output_)))
      fail("its input and its output are quantized differently");
    const auto size = [&](const char* name) { return count(op.at("geometry").at(name), name); };
    const Window window = {size("kernel_h"), size("kernel_w"), size("stride_h"),
                           size("stride_w"), size("pad_top"),  size("pad_left")};
    check_windows(window, average);
    octet_network_function& lines =
        !average ? become(MaxPool{type, bounds.least, bounds.most, window}, run_max_pool)
        : float_
            ? onnx_average(op, type, bounds, window)
            : become(TfliteAverage{type, bounds.least, bounds.most, window}, run_tflite_average);
    lines.kernel_h = window.kernel_h, lines.stride_h = window.stride_h;
    lines.pad_top = window.pad_top;
  }
  octet_network_function& onnx_average(const json& op, octet_type type, const Bounds& bounds,
                                       const Window& window) {
    const octet_network_tensor& in = to_.tensors_[op_.inputs[0]];
    const bool global = window.kernel_h == in.h && window.kernel_w == in.w && window.pad_top == 0 &&
                        window.pad_left == 0;
    const OnnxAverage average = {type,
                                 {scale(inputs_[0]), scale(output_)},
                                 {zero_point(inputs_[0]), zero_point(output_)},
                                 bounds.least,
                                 bounds.most,
                                 op.value("as_unsigned", false),
                                 window};
    return become(average, global ? run_qlinear_global_average : run_qlinear_average);
  }
  // Each has a pixel, and no more than its sum allows.
  void check_windows(const Window& f, bool average) const {
    const octet_network_tensor &in = to_.tensors_[op_.inputs[0]], &out = to_.tensors_[output_];
    constexpr size_t kMost = 1 << 16;
    const auto fits = [](size_t from, size_t to, size_t kernel, size_t stride, size_t pad) {
      return stride && stride <= kMost && kernel <= kMost && kernel > pad &&
             kernel <= from + 2 * pad && (to - 1) * stride < from + pad;
    };
    if (in.channels != out.channels || in.batch != out.batch ||
        !fits(in.h, out.h, f.kernel_h, f.stride_h, f.pad_top) ||
        !fits(in.w, out.w, f.kernel_w, f.stride_w, f.pad_left))
      fail("its windows do not fit its tensors");
    if (average && std::min(in.h, f.kernel_h) * std::min(in.w, f.kernel_w) > kAveragePixels)
      fail(fmt::format("its windows have more than {} pixels", kAveragePixels));
  }

  // What comes from outside, and what nobody reads.
  void find_ends() {
    std::vector<bool> read(tensors_.size()), written(tensors_.size());
    for (const octet_network_op& op : to_.ops_) {
      written[op.output] = true;
      for (size_t k = 0; k < op.input_count; ++k) read[op.inputs[k]] = true;
    }
    for (size_t i = 0; i < tensors_.size(); ++i) {
      to_.tensors_[i].keep = read[i] != written[i];
      if (read[i] && !written[i]) to_.inputs_.push_back(i);
    }
  }

  const std::string path_;
  const octet_isa isa_;
  const size_t batch_;
  const bool fuse_;
  DescribedNetwork& to_;
  const json network_;
  std::string where_;  // of what is read now
  std::vector<char> data_;
  std::vector<Tensor> tensors_;
  std::vector<size_t> inputs_;
  size_t output_ = 0;
  octet_network_op op_ = {};
  bool float_ = false;  // the arithmetic: ONNX's, not TFLite's
  std::vector<int32_t> multipliers_, shifts_, bias_;
  std::vector<float> scales_;
  std::vector<FusableConvolution> fusable_;
};

DescribedNetwork::DescribedNetwork(const std::string& path, octet_isa isa, size_t batch,
                                   bool fuse) {
  DescriptionReader(path, isa, batch, fuse, this).read();
}

octet_network_desc DescribedNetwork::desc() const {
  octet_network_desc d = OCTET_NETWORK_DESC_INIT;
  d.tensors = tensors_.data(), d.tensor_count = tensors_.size();
  d.ops = ops_.data(), d.op_count = ops_.size();
  return d;
}

}  // namespace tool
