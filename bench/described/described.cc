// Reads a described model, and makes the descriptor of its network.
#include "bench/described/described.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "bench/described/described_ends.h"
#include "bench/described/described_operator.h"
#include "bench/described/reshaped.h"

namespace tool {

using nlohmann::json;

// Turns each operator of the file into an op, or leaves it out with a reason. Refuses a description
// that contradicts itself.
class DescriptionReader : OperatorReader {
 public:
  DescriptionReader(const std::string& path, octet_isa isa, size_t batch, bool fuse,
                    DescribedNetwork* to, LayerVisitor visitor = {})
      : OperatorReader(path, isa, batch, to, std::move(visitor)), fuse_(fuse) {}

  void read() {
    try {
      read_arithmetic();
      read_data();
      read_tensors();
      if (!visitor_) find_makers();
      for (size_t i = 0; i < network_.at("operators").size(); ++i) read_operator(i);
      where_ = "inputs and outputs";
      model_.inputs = optional_tensors("inputs");
      model_.outputs = optional_tensors("outputs");
    } catch (const json::exception& error) {
      fail(error.what());
    }
    if (visitor_) return;
    settle_ends();
    if (!float_ && fuse_)
      fuse();  // in float mode a residual is added before the product is rounded
  }

 private:
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

  // A tensor that is read before an operator makes it is not an input.
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
    if (visitor_ && kind != "convolution" && kind != "product") return;
    inputs_ = tensors_of(op, "inputs");
    const std::vector<size_t> outputs = tensors_of(op, "outputs");
    if (kind != "other") check_order();
    if (visitor_ && inputs_.size() > 1 && !tensors_[inputs_[1]].constant) {
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
    if (visitor_) {
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

  // Returns the reason if the operator cannot run.
  std::string read(const json& op, const std::vector<size_t>& outputs) {
    try {
      const bool is_reshape = op.at("kind") == "reshape";
      check_tensors(outputs, is_reshape);
      output_ = outputs[0];
      if (is_reshape)
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
    create_op(op);
    for (size_t k = 0; k < op_.input_count; ++k)
      if (tensors_[inputs_[k]].computed) check_place(inputs_[k]);
  }

  void check_order() const {
    for (const size_t input : inputs_)
      if (tensors_[input].comes_later && !tensors_[input].made)
        fail(fmt::format("it reads tensor {} before that is made", input));
  }
  void check_tensors(const std::vector<size_t>& outputs, bool is_reshape) const {
    if (inputs_.empty()) fail("it has no input");
    if (outputs.size() != 1) fail(fmt::format("it has {} outputs, not 1", outputs.size()));
    for (const size_t tensor : {inputs_[0], outputs[0]}) {
      const Tensor& t = tensors_[tensor];
      if (t.dimensions == 0 && !is_reshape)
        refuse(fmt::format("the sizes of tensor {} are not known", tensor));
      if (t.dimensions > 4)
        refuse(fmt::format("tensor {} has {} dimensions", tensor, t.dimensions));
      if (t.empty) refuse(fmt::format("tensor {} has no elements", tensor));
    }
  }
  void check_reshape() const {
    const Tensor &from = tensors_[inputs_[0]], &to = tensors_[output_];
    check_type(output_, from.type.c_str());
    if (!from.dimensions || !to.dimensions) return;
    const auto elements = [](const octet_network_tensor& t) {
      double all = 1;
      for (const size_t size : {t.batch, t.h, t.w, t.channels}) all *= (double)size;
      return all;
    };
    if (elements(from.sizes) != elements(to.sizes))
      refuse("its input and its output have different numbers of elements");
  }
  // ---- where tensors lie

  void finish(const std::string& kind) {
    if (kind == "reshape") {  // no bytes move: the output is in its input's memory
      const Tensor& from = tensors_[inputs_[0]];
      Tensor& to = tensors_[output_];
      to.alias_root = from.alias_root, to.constant = from.constant;
      if (!to.dimensions) to.sizes = from.sizes, to.dimensions = from.dimensions;
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
  // Whether the operator can read the tensor in place.
  bool fits(size_t tensor) const {
    const octet_network_tensor& lies = to_.tensors_[tensors_[tensor].alias_root];
    return op_.gemm ? has_rows(lies, depth_) : same_sizes(lies, tensors_[tensor].sizes);
  }
  void check_place(size_t tensor) const {
    const size_t alias_root = tensors_[tensor].alias_root;
    if (!fits(tensor) && touched_[alias_root] &&
        to_.tensors_[alias_root].batch != tensors_[tensor].sizes.batch)
      refuse(fmt::format("tensor {}, a reshape, is of more or fewer images than what it is made of",
                         tensor));
  }
  // The network's tensor that the operator reads: the alias root, or a copy.
  size_t place(size_t tensor) {
    Tensor& t = tensors_[tensor];
    if (!fits(tensor) && !touched_[t.alias_root]) set_sizes(&to_.tensors_[t.alias_root], t.sizes);
    if (!fits(tensor)) {
      to_.functions_.emplace_back().lines = copy_function();
      octet_network_op copy = {};
      copy.function = &to_.functions_.back().lines;
      copy.inputs[copy.input_count++] = t.alias_root;
      t.alias_root = copy.output = to_.tensors_.size();
      to_.tensors_.push_back(t.sizes);
      touched_.push_back(true);
      to_.ops_.push_back(copy);
      to_.op_names_.push_back(where_ + "'s input");
    }
    touched_[t.alias_root] = true;
    return t.alias_root;
  }

  void settle_ends() {
    std::vector<bool> used(to_.tensors_.size()), read(used);
    for (size_t i = 0; i < used.size(); ++i) {
      const bool described = i < tensors_.size();
      model_.alias_roots.push_back(described ? tensors_[i].alias_root : i);
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
    for (const size_t i : to_.described_outputs_) to_.outputs_.push_back(model_.alias_roots[i]);
    for (const octet_network_op& op : to_.ops_) {
      used[op.output] = true;
      for (size_t k = 0; k < op.input_count; ++k) used[op.inputs[k]] = read[op.inputs[k]] = true;
    }
    for (size_t i = 0; i < used.size(); ++i) to_.tensors_[i].keep = used[i] && !read[i];
    for (const auto* kept : {&to_.inputs_, &to_.outputs_})
      for (const size_t i : *kept) to_.tensors_[i].keep = used[i] = true;
    // Unused tensors may have sizes that a network refuses
    for (size_t i = 0; i < used.size(); ++i)
      if (!used[i]) to_.tensors_[i] = {1, 1, 1, 1, OCTET_U8, 0, 0, 0, 0, 0};
  }
  void fuse() {
    const std::vector<size_t> erased =
        fuse_residuals(to_.tensors_, &fusable_, &to_.convs_, &to_.ops_);
    for (size_t i = erased.size(); i-- > 0;)
      to_.op_names_.erase(to_.op_names_.begin() + (std::ptrdiff_t)erased[i]);
  }
  bool is_storable(const Tensor& t) const {
    return !t.constant && !t.empty && t.dimensions <= 4 &&
           (t.type == "s8" || t.type == "u8" || t.type == "s32" || t.type == "f32");
  }

  const bool fuse_;
  DescribedModel model_;
  std::vector<bool> touched_;  // per tensor of the network: an op reads or writes it
  std::vector<FusableConvolution> fusable_;
};

// Reads the file twice, because the common limit of all filters is needed before the first is
// packed.
DescribedNetwork::DescribedNetwork(const std::string& path, octet_isa isa, size_t batch,
                                   size_t weights_max, bool fuse)
    : limits_(isa, weights_max) {
  DescribedNetwork none(isa, weights_max);
  const auto add = [this](const DescribedLayer& layer) {
    if (layer.filter) limits_.add(layer.output, *layer.filter);
  };
  DescriptionReader(path, isa, batch, false, &none, add).read();
  limits_.apply(path);
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
                                                      const LayerVisitor& visitor) {
  DescribedNetwork none(OCTET_ISA_AUTO, 0);
  DescriptionReader(path, OCTET_ISA_AUTO, 1, false, &none, visitor).read();
  return none.left_out_;
}

octet_network_desc DescribedNetwork::desc() const {
  octet_network_desc d = OCTET_NETWORK_DESC_INIT;
  d.tensors = tensors_.data(), d.tensor_count = tensors_.size();
  d.ops = ops_.data(), d.op_count = ops_.size();
  return d;
}

}  // namespace tool
