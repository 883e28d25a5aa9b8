// SPDX-License-Identifier: Apache-2.0
// Chooses the part of a described model that runs: its operators, the tensors that `octet run`
// reads from outside, and the tensors that it writes, in the order of the model's own.
#pragma once

#include <string>
#include <vector>

#include "bench/described/described_graph.h"

namespace tool {

// Adds to `why`, which has a reason for each operator that cannot run, those that need its result.
void leave_out_readers(const DescribedModel& model, std::vector<std::string>* why);

struct DescribedEnds {
  std::vector<int> inputs, outputs;  // tensors of the description
  std::vector<std::string> missing;  // outputs of the model that are not written, and why
};
DescribedEnds find_ends(const DescribedModel& model, const std::vector<std::string>& why);

// A line for each reason: "left out: operators[3] (PAD), operators[9] (PAD): not Octet's".
std::vector<std::string> left_out_lines(const DescribedModel& model,
                                        const std::vector<std::string>& why);

}  // namespace tool
