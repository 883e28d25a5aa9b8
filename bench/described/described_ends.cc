// SPDX-License-Identifier: Apache-2.0
// Finds the operators, the inputs and the outputs of a run.
#include "bench/described/described_ends.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tool {
namespace {

using octet::graph::Op;

bool contains(const std::vector<int>& tensors, int tensor) {
  return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
}

class Ends {
 public:
  Ends(const DescribedModel& model, const std::vector<std::string>& why)
      : model_(model), why_(why), makers_(model.graph.tensors.size(), -1), read_(makers_.size()) {
    for (size_t i = 0; i < why.size(); ++i) {
      for (const int output : model.results[i])
        if (output >= 0) makers_[(size_t)output] = (int)i;
      for (const int input : model.graph.ops[i].inputs)
        if (input >= 0 && why[i].empty()) read_[(size_t)input] = 1;
    }
  }

  DescribedEnds find() {
    if (model_.outputs)
      of_the_model();
    else
      for (int t = 0; (size_t)t < read_.size(); ++t)
        if (written(t) && !read_[(size_t)t]) ends_.outputs.push_back(t);
    std::vector<char> external(read_.size());
    for (int t = 0; (size_t)t < read_.size(); ++t)
      external[(size_t)t] =
          !written(t) && !model_.graph.tensors[(size_t)t].constant &&
          (read_[(size_t)t] || contains(ends_.outputs, t));  // it is read, or passes through
    order_inputs(external);
    return std::move(ends_);
  }

 private:
  int maker(int tensor) const { return makers_[(size_t)tensor]; }
  bool written(int tensor) const {
    return maker(tensor) >= 0 && why_[(size_t)maker(tensor)].empty();
  }
  const Op& op(int index) const { return model_.graph.ops[(size_t)index]; }
  bool is_left_out(int tensor) const { return maker(tensor) >= 0 && !written(tensor); }

  void of_the_model() {
    for (const int output : *model_.outputs) add_output(output);
    // Further computed tensors that left-out operators read
    std::vector<int> wanted;
    for (size_t i = 0; i < why_.size(); ++i)
      for (const int input : op((int)i).inputs)
        if (!why_[i].empty() && input >= 0 && written(input)) wanted.push_back(input);
    std::sort(wanted.begin(), wanted.end());
    for (const int tensor : wanted) add_once(tensor);
  }

  // Replaces an output that is not computed by the computed tensors that it is made of.
  void add_output(int output) {
    const octet::graph::Tensor& tensor = model_.graph.tensors[(size_t)output];
    const bool made = maker(output) >= 0 || !model_.inputs || contains(*model_.inputs, output);
    std::vector<char> seen(read_.size());
    if (is_left_out(output)) {
      if (!add_sources(op(maker(output)), &seen))
        ends_.missing.push_back(
            fmt::format("output tensor {}: nothing computed leads to it; {} makes it", output,
                        op(maker(output)).name));
    } else if (tensor.constant || !tensor.type) {
      ends_.missing.push_back(fmt::format(
          "output tensor {}: it is a constant or of a type that is no network's", output));
    } else if (!made) {
      ends_.missing.push_back(fmt::format("output tensor {}: no operator makes it", output));
    } else {
      ends_.outputs.push_back(output);
    }
  }

  // Returns whether it found any.
  bool add_sources(const Op& from, std::vector<char>* seen) {
    bool found = false;
    for (const int input : from.inputs) {
      if (input < 0 || (*seen)[(size_t)input]) continue;
      (*seen)[(size_t)input] = 1;
      if (is_left_out(input)) {
        found |= add_sources(op(maker(input)), seen);
      } else if (written(input)) {
        add_once(input);
        found = true;
      }
    }
    return found;
  }

  void add_once(int tensor) {
    if (!contains(ends_.outputs, tensor)) ends_.outputs.push_back(tensor);
  }

  // The converted form of an input has the input's place.
  size_t place(int tensor) const {
    const std::vector<int>& inputs = *model_.inputs;
    std::vector<char> seen(read_.size());
    while (tensor >= 0 && !seen[(size_t)tensor]) {
      seen[(size_t)tensor] = 1;
      const auto found = std::find(inputs.begin(), inputs.end(), tensor);
      if (found != inputs.end()) return (size_t)(found - inputs.begin());
      if (!is_left_out(tensor) || op(maker(tensor)).inputs.empty()) break;
      tensor = op(maker(tensor)).inputs[0];
    }
    return inputs.size();
  }

  void order_inputs(const std::vector<char>& external) {
    for (size_t i = 0; i < external.size(); ++i)
      if (external[i]) ends_.inputs.push_back((int)i);
    if (model_.inputs)
      std::stable_sort(ends_.inputs.begin(), ends_.inputs.end(),
                       [&](int a, int b) { return place(a) < place(b); });
  }

  const DescribedModel& model_;
  const std::vector<std::string>& why_;
  std::vector<int> makers_;
  std::vector<char> read_;  // by operators that run
  DescribedEnds ends_;
};

}  // namespace

void leave_out_readers(const DescribedModel& model, std::vector<std::string>* why) {
  std::vector<std::string> reasons(model.graph.tensors.size());  // of tensors that are not computed
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < why->size(); ++i) {
      const Op& op = model.graph.ops[i];
      for (const int input : op.inputs)
        if ((*why)[i].empty() && input >= 0 && !reasons[(size_t)input].empty())
          (*why)[i] = reasons[(size_t)input];
      if ((*why)[i].empty()) continue;
      for (const int output : op.outputs)
        if (output >= 0 && reasons[(size_t)output].empty()) {
          changed = true;
          reasons[(size_t)output] = (*why)[i].rfind("needs what ", 0) == 0
                                        ? (*why)[i]
                                        : fmt::format("needs what {} makes", op.name);
        }
    }
  }
}

DescribedEnds find_ends(const DescribedModel& model, const std::vector<std::string>& why) {
  return Ends(model, why).find();
}

std::vector<std::string> left_out_lines(const DescribedModel& model,
                                        const std::vector<std::string>& why) {
  std::vector<std::string> lines;
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;  // by their reasons
  for (size_t i = 0; i < why.size(); ++i) {
    if (why[i].empty()) continue;
    const auto found = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& group) { return group.first == why[i]; });
    if (found == groups.end())
      groups.push_back({why[i], {model.graph.ops[i].name}});
    else
      found->second.push_back(model.graph.ops[i].name);
  }
  for (const auto& [reason, names] : groups)
    lines.push_back(fmt::format("left out: {}: {}", fmt::join(names, ", "), reason));
  return lines;
}

}  // namespace tool
