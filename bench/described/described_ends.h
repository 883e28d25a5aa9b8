// Finds the tensors that `octet run` reads from outside and those that it writes, in the order of
// the model's own inputs and outputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "octet/network.h"

namespace tool {

// An operator of the file, computed or left out.
struct DescribedOperator {
  std::string name;  // "operators[3] (PAD)"
  std::vector<size_t> inputs, outputs;
  std::string left_out;  // the reason; empty: it is computed
};

struct DescribedEnds {
  std::vector<size_t> inputs, outputs;  // tensors of the description
  std::vector<std::string> missing;     // outputs of the model that are not written, and why
};

// alias_roots: for each tensor the tensor whose memory it has. inputs, outputs: the description's
// lists; nullopt if it has none: both are then in the order of tensors, and the outputs are the
// tensors that no operator reads.
struct DescribedModel {
  std::vector<DescribedOperator> operators;
  std::vector<size_t> alias_roots;
  std::vector<bool> storable;  // not constants, nor types that Octet lacks
  std::optional<std::vector<size_t>> inputs, outputs;
};
DescribedEnds find_ends(const DescribedModel& model, const std::vector<octet_network_op>& ops);

// A line for each reason: "left out: operators[3] (PAD), operators[9] (PAD): not Octet's".
std::vector<std::string> left_out_lines(const std::vector<DescribedOperator>& operators);

}  // namespace tool
