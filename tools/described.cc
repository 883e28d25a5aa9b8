#include "described.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "activation_bounds.h"
#include "cases.h"
#include "described_ends.h"
#include "description_file.h"
#include "fuse_residual.h"
#include "objects.h"
#include "octet/helpers.h"
#include "reshaped.h"

namespace tool {

using nlohmann::json;

// What an operator of the file becomes: an op, or left out with a reason. A description that
// contradicts itself is refused as a whole.
class DescriptionReader : DescriptionFile {
 public:
  DescriptionReader(const std::string& path, octet_isa isa, size_t batch, bool fuse,
                    DescribedNetwork* to, LayerSink sink = {})
      : DescriptionFile(path),
        isa_(isa),
        batch_(batch),
        fuse_(fuse),
        to_(*to),
        sink_(std::move(sink)) {}

  void read() {
    try {
      read_arithmetic();
      read_data();
      read_tensors();
      if (!sink_) find_makers();
      for (size_t i = 0; i < network_.at("operators").size(); ++i) read_operator(i);
      where_ = "inputs and outputs";
      model_.inputs = optional_tensors("inputs");
      model_.outputs = optional_tensors("outputs");
    } catch (const json::exception& error) {
      fail(error.what());
    }
    if (sink_) return;
    settle_ends();
    if (!float_ && fuse_)
      fuse();  // in float mode a residual is added before the product is rounded
  }

 private:
  struct Tensor {
    size_t home;  // of those that lie in each other, as a reshape's do, the first
    std::string type, maker;
    size_t dimensions;
    bool computed, constant, made;
    bool comes_later;            // of an operator that was not read yet
    bool empty;                  // has no elements
    octet_network_tensor sizes;  // the model's; those of its home are where it lies
    std::string because_of;      // the operator that is left out, if this is not computed
  };

  void read_arithmetic() {
    where_ = "arithmetic";
    const std::string name = network_.value("arithmetic", "tflite");
    if (name != "tflite" && name != "float")
      fail(fmt::format("'{}' is neither tflite nor float", name));
    float_ = name == "float";
  }

  void read_tensors() {
    where_ = "tensors";
    for (const json& t : array(network_, "tensors")) {
      where_ = fmt::format("tensors[{}]", tensors_.size());
      octet_network_tensor tensor = {1, 1, 1, 1, OCTET_U8, 0, 0, 0, 0, 0};
      const std::string type = t.at("type");
      tensor.type = type == "s8"    ? OCTET_S8
                    : type == "s32" ? OCTET_S32
                    : type == "f32" ? OCTET_F32
                                    : OCTET_U8;
      std::vector<size_t> s;
      if (!t.at("shape").is_null())
        for (const json& size : array(t, "shape")) s.push_back(count(size, "a size"));
      const bool empty = std::find(s.begin(), s.end(), size_t{0}) != s.end();
      if (empty) s.assign(s.size(), 1);
      if (!s.empty()) tensor.channels = s.back();
      if (s.size() > 1) tensor.batch = s[0];
      if (s.size() > 2) tensor.w = s[s.size() - 2];
      if (s.size() > 3) tensor.h = s[s.size() - 3];
      if (!t.at("constant") && __builtin_mul_overflow(tensor.batch, batch_, &tensor.batch))
        fail(fmt::format("a batch of {} leaves size_t", batch_));
      const size_t index = tensors_.size();
      to_.tensors_.push_back(tensor);
      touched_.push_back(false);
      tensors_.push_back(
          {index, type, "", s.size(), true, t.at("constant"), false, false, empty, tensor, ""});
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

  // ---- operators

  void read_operator(size_t i) {
    const json& op = network_.at("operators").at(i);
    const std::string kind = op.at("kind"), name = op.at("operator");
    where_ = fmt::format("operators[{}] ({})", i, name);
    if (sink_ && kind != "convolution" && kind != "product") return;
    inputs_ = tensors_of(op, "inputs");
    const std::vector<size_t> outputs = tensors_of(op, "outputs");
    if (kind != "other") check_order();
    if (sink_ && inputs_.size() > 1 && !tensors_[inputs_[1]].constant) {
      to_.left_out_.push_back(fmt::format("{}: its weights are no constant", where_));
      return;
    }
    for (const size_t output : outputs) {
      Tensor& t = tensors_[output];
      if (t.made) fail(fmt::format("{} makes tensor {}, too", t.maker, output));
      t.maker = where_, t.made = true;
    }
    std::string because_of = where_;
    std::string why = kind == "other" ? op.value("left_out", "not Octet's") : read(op, outputs);
    if (sink_) {
      if (!why.empty()) to_.left_out_.push_back(fmt::format("{}: {}", where_, why));
      return;
    }
    if (why.empty())
      for (const size_t input : inputs_)
        if (why.empty() && !tensors_[input].computed) {
          because_of = tensors_[input].because_of;
          why = fmt::format("needs what {} makes", because_of);
        }
    model_.operators.push_back({where_, inputs_, outputs, why});
    if (why.empty()) return finish(kind);
    for (const size_t output : outputs)
      tensors_[output].computed = op.value("from_outside", false),
      tensors_[output].because_of = because_of;
  }

  // Returns why it cannot run, if it cannot.
  std::string read(const json& op, const std::vector<size_t>& outputs) {
    try {
      check_tensors(outputs);
      output_ = outputs[0];
      op_ = {}, depth_ = 0;
      op_.output = output_;
      if (op.at("kind") == "reshape")
        check_reshape();
      else
        read_computed(op);
    } catch (const BrokenDescription&) {
      throw;
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  void read_computed(const json& op) {
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
    for (size_t k = 0; k < op_.input_count; ++k)
      if (tensors_[inputs_[k]].computed) check_place(inputs_[k]);
  }

  void check_order() const {
    for (const size_t input : inputs_)
      if (tensors_[input].comes_later && !tensors_[input].made)
        fail(fmt::format("it reads tensor {} before that is made", input));
  }
  void check_tensors(const std::vector<size_t>& outputs) const {
    if (inputs_.empty()) fail("it has no input");
    if (outputs.size() != 1) fail(fmt::format("it has {} outputs, not 1", outputs.size()));
    for (const size_t tensor : {inputs_[0], outputs[0]}) {
      const Tensor& t = tensors_[tensor];
      if (t.dimensions > 4)
        refuse(fmt::format("tensor {} has {} dimensions", tensor, t.dimensions));
      if (t.empty) refuse(fmt::format("tensor {} has no elements", tensor));
    }
  }
  void check_type(size_t tensor, const char* type) const {
    if (tensors_[tensor].type != type)
      fail(fmt::format("tensor {} is {}, not {}", tensor, tensors_[tensor].type, type));
  }
  void check_reshape() const {
    const Tensor &from = tensors_[inputs_[0]], &to = tensors_[output_];
    check_type(output_, from.type.c_str());
    if (!from.dimensions || !to.dimensions) return;
    const auto elements = [](const octet_network_tensor& t) {
      double all = 1;
      for (const size_t size : {t.batch, t.h, t.w, t.channels}) all *= static_cast<double>(size);
      return all;
    };
    if (elements(from.sizes) != elements(to.sizes))
      refuse("its input and its output have different numbers of elements");
  }
  void input(size_t k) {
    if (k >= inputs_.size()) fail("it lacks an input");
    if (tensors_[inputs_[k]].constant) refuse("it computes with a constant in an input's place");
    op_.inputs[op_.input_count++] = inputs_[k];
  }

  // ---- where tensors lie

  void finish(const std::string& kind) {
    if (kind == "reshape") {  // nothing moves: what it makes lies where it was
      const Tensor& from = tensors_[inputs_[0]];
      Tensor& to = tensors_[output_];
      to.home = from.home, to.constant = from.constant;
      if (!to.dimensions) to.sizes = from.sizes;
      return;
    }
    for (size_t k = 0; k < op_.input_count; ++k) op_.inputs[k] = place(op_.inputs[k]);
    if (op_.gemm)
      set_sizes(&to_.tensors_[output_],
                rows_of(to_.tensors_[op_.inputs[0]], depth_, tensors_[output_].sizes.channels));
    touched_[output_] = true;
    if (op_.conv2d) {
      convolution_.op = to_.ops_.size();
      fusable_.push_back(std::move(convolution_));
    }
    to_.ops_.push_back(op_);
    to_.op_names_.push_back(where_);
  }
  // Whether the operator can read the tensor as it lies.
  bool fits(size_t tensor) const {
    const octet_network_tensor& lies = to_.tensors_[tensors_[tensor].home];
    return op_.gemm ? has_rows(lies, depth_) : same_sizes(lies, tensors_[tensor].sizes);
  }
  void check_place(size_t tensor) const {
    const size_t home = tensors_[tensor].home;
    if (!fits(tensor) && touched_[home] && to_.tensors_[home].batch != tensors_[tensor].sizes.batch)
      refuse(fmt::format("tensor {}, a reshape, is of more or fewer images than what it is made of",
                         tensor));
  }
  // The tensor that the operator reads: one in whose memory this one lies, or a copy.
  size_t place(size_t tensor) {
    Tensor& t = tensors_[tensor];
    if (!fits(tensor) && !touched_[t.home]) set_sizes(&to_.tensors_[t.home], t.sizes);
    if (!fits(tensor)) {
      to_.functions_.emplace_back().lines = copy_function();
      octet_network_op copy = {};
      copy.function = &to_.functions_.back().lines;
      copy.inputs[copy.input_count++] = t.home;
      t.home = copy.output = to_.tensors_.size();
      to_.tensors_.push_back(t.sizes);
      touched_.push_back(true);
      to_.ops_.push_back(copy);
      to_.op_names_.push_back(where_ + "'s input");
    }
    touched_[t.home] = true;
    return t.home;
  }

  // What products and convolutions share; the arrays live until the object is created.
  template <typename Desc>
  void rescale(octet_tflite_op kind, const json& op, size_t n, Desc* d) {
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
      refuse(fmt::format("the bounds of its activation {} are not known", activation));
    }
    const Bounds bounds = quantize_bounds(type, scale(output_), zero_point(output_), least, most);
    if (bounds.least > bounds.most) refuse("nothing is between the bounds of its activation");
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
      refuse(fmt::format("its activation {} is not Octet's", activation));
  }

  size_t weights_of(const octet_conv2d_shape& s) const {
    size_t weights = s.in_channels / s.groups;
    for (const size_t size : {s.kernel_h, s.kernel_w, s.out_channels})
      if (__builtin_mul_overflow(weights, size, &weights)) refuse("its weights leave size_t");
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
    if (sink_) return give(op, {"", "", "", &d, &filter, nullptr, nullptr});
    to_.blobs_.push_back(pack(filter, isa_, &d));
    to_.convs_.push_back(create(d));
    op_.conv2d = to_.convs_.back().get();
    convolution_ = {
        0, to_.convs_.size() - 1, d, std::move(bias_), std::move(multipliers_), std::move(shifts_)};
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
    d.m_max = shape.m * batch_, d.n = shape.n, d.k = depth_ = shape.k;
    if (sink_) return give(op, {"", "", "", nullptr, nullptr, &d, &rhs});
    to_.blobs_.push_back(pack(rhs, isa_, &d));
    to_.gemms_.push_back(create(d));
    op_.gemm = to_.gemms_.back().get();
  }

  void give(const json& op, DescribedLayer layer) const {
    layer.network = network_.at("name"), layer.name = op.at("name"), layer.shape = op.at("case");
    sink_(layer);
  }

  // Of the op's inputs and output, which are all of this type.
  octet_type function_type() const {
    const octet_type type = to_.tensors_[output_].type;
    check_type(output_, type == OCTET_S8 ? "s8" : "u8");
    for (size_t k = 0; k < op_.input_count; ++k)
      if (tensors_[inputs_[k]].sizes.type != type) refuse("its tensors have different types");
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
        : float_
            ? onnx_average(op, type, bounds, window)
            : become(TfliteAverage{type, bounds.least, bounds.most, window}, run_tflite_average);
    lines.kernel_h = window.kernel_h, lines.stride_h = window.stride_h;
    lines.pad_top = window.pad_top;
  }
  octet_network_function& onnx_average(const json& op, octet_type type, const Bounds& bounds,
                                       const Window& window) {
    const octet_network_tensor& in = tensors_[inputs_[0]].sizes;
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

  void settle_ends() {
    std::vector<bool> used(to_.tensors_.size()), read(used);
    for (size_t i = 0; i < used.size(); ++i) {
      const bool described = i < tensors_.size();
      model_.homes.push_back(described ? tensors_[i].home : i);
      model_.storable.push_back(!described || is_storable(tensors_[i]));
    }
    to_.left_out_ = left_out_lines(model_.operators);
    to_.operator_count_ = model_.operators.size();
    for (const DescribedOperator& op : model_.operators) to_.runs_ += op.left_out.empty();
    if (to_.ops_.empty())
      throw Error(fmt::format("{} has nothing that Octet computes\n{}", path_,
                              fmt::join(to_.left_out_, "\n")));
    DescribedEnds ends = find_ends(model_, to_.ops_);
    for (std::string& line : ends.missing) to_.left_out_.push_back("not written: " + line);
    to_.inputs_ = std::move(ends.inputs), to_.described_outputs_ = std::move(ends.outputs);
    for (const size_t i : to_.described_outputs_) to_.outputs_.push_back(model_.homes[i]);
    for (const octet_network_op& op : to_.ops_) {
      used[op.output] = true;
      for (size_t k = 0; k < op.input_count; ++k) used[op.inputs[k]] = read[op.inputs[k]] = true;
    }
    for (size_t i = 0; i < used.size(); ++i) to_.tensors_[i].keep = used[i] && !read[i];
    for (const auto* kept : {&to_.inputs_, &to_.outputs_})
      for (const size_t i : *kept) to_.tensors_[i].keep = used[i] = true;
    // The network need not know of others, which may have sizes that no network's tensor has
    for (size_t i = 0; i < used.size(); ++i)
      if (!used[i]) to_.tensors_[i] = {1, 1, 1, 1, OCTET_U8, 0, 0, 0, 0, 0};
  }
  void fuse() {
    const std::vector<size_t> erased =
        fuse_residuals(to_.tensors_, &fusable_, &to_.convs_, &to_.ops_);
    for (size_t i = erased.size(); i-- > 0;)
      to_.op_names_.erase(to_.op_names_.begin() + static_cast<std::ptrdiff_t>(erased[i]));
  }
  bool is_storable(const Tensor& t) const {
    return !t.constant && !t.empty && t.dimensions <= 4 &&
           (t.type == "s8" || t.type == "u8" || t.type == "s32" || t.type == "f32");
  }

  const octet_isa isa_;
  const size_t batch_;
  const bool fuse_;
  DescribedNetwork& to_;
  DescribedModel model_;
  const LayerSink sink_;  // of convolutions and products; empty: a network is made
  std::vector<Tensor> tensors_;
  std::vector<bool> touched_;  // of the network's tensors: an op reads or writes it
  std::vector<size_t> inputs_;
  size_t output_ = 0;
  octet_network_op op_ = {};
  size_t depth_ = 0;    // of a product
  bool float_ = false;  // the arithmetic: ONNX's, not TFLite's
  std::vector<int32_t> multipliers_, shifts_, bias_;
  std::vector<float> scales_;
  FusableConvolution convolution_ = {};  // of op_
  std::vector<FusableConvolution> fusable_;
};

DescribedNetwork::DescribedNetwork(const std::string& path, octet_isa isa, size_t batch,
                                   bool fuse) {
  DescriptionReader(path, isa, batch, fuse, this).read();
}

std::string DescribedNetwork::named(const std::string& message) const {
  std::string text = message;
  for (size_t at = 0; (at = text.find("ops[", at)) != std::string::npos;) {
    const size_t end = text.find(']', at), i = std::strtoull(text.c_str() + at + 4, nullptr, 10);
    const std::string name = i < op_names_.size() ? op_names_[i] : "an operator";
    if (end != std::string::npos) text.replace(at, end + 1 - at, name);
    at += name.size();
  }
  return text;
}

std::vector<std::string> DescribedNetwork::each_layer(const std::string& path,
                                                      const LayerSink& sink) {
  DescribedNetwork none;
  DescriptionReader(path, OCTET_ISA_AUTO, 1, false, &none, sink).read();
  return none.left_out_;
}

octet_network_desc DescribedNetwork::desc() const {
  octet_network_desc d = OCTET_NETWORK_DESC_INIT;
  d.tensors = tensors_.data(), d.tensor_count = tensors_.size();
  d.ops = ops_.data(), d.op_count = ops_.size();
  return d;
}

}  // namespace tool
