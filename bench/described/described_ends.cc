// Finds the inputs and outputs of a described model.
#include "bench/described/described_ends.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tool {
namespace {

constexpr size_t kNone = SIZE_MAX;

class Ends {
 public:
  Ends(const DescribedModel& model, const std::vector<octet_network_op>& ops)
      : model_(model),
        read_(model.alias_roots.size()),
        written_(read_),
        makers_(read_.size(), kNone) {
    for (const octet_network_op& op : ops) {
      written_[op.output] = true;
      for (size_t k = 0; k < op.input_count; ++k) read_[op.inputs[k]] = true;
    }
    for (size_t i = 0; i < model.operators.size(); ++i)
      for (const size_t output : model.operators[i].outputs) makers_[output] = i;
  }

  DescribedEnds find() {
    if (model_.outputs)
      of_the_model();
    else
      of_tensors();
    std::vector<bool> external(read_.size());
    for (size_t i = 0; i < read_.size(); ++i) external[i] = read_[i] && !written_[i];
    for (const size_t tensor : ends_.outputs)
      if (!written_[model_.alias_roots[tensor]])
        external[model_.alias_roots[tensor]] = true;  // passes through
    order_inputs(external);
    return std::move(ends_);
  }

 private:
  void of_tensors() {
    for (size_t i = 0; i < read_.size(); ++i)
      if (written_[i] && !read_[i]) ends_.outputs.push_back(i);
  }

  void of_the_model() {
    for (const size_t output : *model_.outputs) add_output(output);
    // Further computed tensors that left-out operators read
    std::vector<size_t> wanted;
    for (const DescribedOperator& op : model_.operators)
      if (!op.left_out.empty())
        for (const size_t input : op.inputs)
          if (written_[model_.alias_roots[input]]) wanted.push_back(input);
    std::sort(wanted.begin(), wanted.end());
    for (const size_t tensor : wanted) add_once(tensor);
  }

  const DescribedOperator* left_out_maker(size_t tensor) const {
    if (makers_[tensor] == kNone) return nullptr;
    const DescribedOperator& op = model_.operators[makers_[tensor]];
    return op.left_out.empty() ? nullptr : &op;
  }

  // Replaces an output that is not computed by the computed tensors that it is made of.
  void add_output(size_t output) {
    if (const DescribedOperator* const maker = left_out_maker(output)) {
      std::vector<bool> seen(read_.size());
      if (!add_sources(*maker, &seen))
        ends_.missing.push_back(fmt::format(
            "output tensor {}: nothing computed leads to it; {} makes it", output, maker->name));
      return;
    }
    const size_t alias_root = model_.alias_roots[output];
    const bool made = makers_[output] != kNone || !model_.inputs || is_input(output);
    if (!model_.storable[alias_root])
      ends_.missing.push_back(fmt::format(
          "output tensor {}: it is a constant or of a type that is no network's", output));
    else if (!made)
      ends_.missing.push_back(fmt::format("output tensor {}: no operator makes it", output));
    else
      ends_.outputs.push_back(output);
  }

  bool is_input(size_t tensor) const {
    const std::vector<size_t>& inputs = *model_.inputs;
    return std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
  }

  // Returns whether it found any.
  bool add_sources(const DescribedOperator& op, std::vector<bool>* seen) {
    bool found = false;
    for (const size_t input : op.inputs) {
      if ((*seen)[input]) continue;
      (*seen)[input] = true;
      if (const DescribedOperator* const maker = left_out_maker(input)) {
        found |= add_sources(*maker, seen);
      } else if (written_[model_.alias_roots[input]]) {
        add_once(input);
        found = true;
      }
    }
    return found;
  }

  void add_once(size_t tensor) {
    const auto same = [&](size_t output) {
      return model_.alias_roots[output] == model_.alias_roots[tensor];
    };
    if (std::none_of(ends_.outputs.begin(), ends_.outputs.end(), same))
      ends_.outputs.push_back(tensor);
  }

  // The converted form of an input has the input's place.
  size_t place(size_t tensor) const {
    const std::vector<size_t>& inputs = *model_.inputs;
    std::vector<bool> seen(read_.size());
    while (!seen[tensor]) {
      seen[tensor] = true;
      const auto found = std::find(inputs.begin(), inputs.end(), tensor);
      if (found != inputs.end()) return (size_t)(found - inputs.begin());
      const DescribedOperator* const maker = left_out_maker(tensor);
      if (!maker || maker->inputs.empty()) break;
      tensor = maker->inputs[0];
    }
    return inputs.size();
  }

  void order_inputs(const std::vector<bool>& external) {
    for (size_t i = 0; i < external.size(); ++i)
      if (external[i]) ends_.inputs.push_back(i);
    if (model_.inputs)
      std::stable_sort(ends_.inputs.begin(), ends_.inputs.end(),
                       [&](size_t a, size_t b) { return place(a) < place(b); });
  }

  const DescribedModel& model_;
  std::vector<bool> read_, written_;  // by computed operators
  std::vector<size_t> makers_;
  DescribedEnds ends_;
};

}  // namespace

DescribedEnds find_ends(const DescribedModel& model, const std::vector<octet_network_op>& ops) {
  return Ends(model, ops).find();
}

std::vector<std::string> left_out_lines(const std::vector<DescribedOperator>& operators) {
  std::vector<std::string> lines;
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;  // by their reasons
  for (const DescribedOperator& op : operators) {
    if (op.left_out.empty()) continue;
    const auto found = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& group) { return group.first == op.left_out; });
    if (found == groups.end())
      groups.push_back({op.left_out, {op.name}});
    else
      found->second.push_back(op.name);
  }
  for (const auto& [reason, names] : groups)
    lines.push_back(fmt::format("left out: {}: {}", fmt::join(names, ", "), reason));
  return lines;
}

}  // namespace tool
