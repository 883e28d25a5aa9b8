// SPDX-License-Identifier: Apache-2.0
// Reads a described model as a graph for engines/graph.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/graph/graph.h"

namespace tool {

struct DescribedModel {
  std::string name;
  // Tensor i and operator i are the description's. Constants point into `data`. Operators that
  // the description leaves out are refused with its reason, and make nothing in the graph if their
  // results come from outside. Inputs are all tensors that no operator makes; there is no output.
  octet::graph::Graph graph;
  std::vector<std::vector<int>> results;  // per operator, as the description has them
  std::vector<char> as_unsigned;  // per operator: s8 tensors count as u8 (separate_unsigned)
  std::vector<std::string> layers, cases;  // per operator: the model's name; a case, or nothing
  // The description's own lists; nullopt if it has none.
  std::optional<std::vector<int>> inputs, outputs;
  std::vector<char> data;
};

// batch: a multiple of the model's images. as: the engine whose bytes it is to have, "" for that of
// the format: "litert-1.2" (FULLY_CONNECTED rounds twice), "litert" (from 1.3 on, it rounds once,
// in double) or "xnnpack" of .tflite; "onnxruntime" or "standard" of .onnx. Throws an error that
// names the fault of the file.
DescribedModel read_described(const std::string& path, size_t batch, const std::string& as = "");

// ONNX Runtime stores s8 tensors between QuantizeLinear and DequantizeLinear as u8, with zero
// points that are 128 larger, which changes how the floats of sums and averages round. If there is
// such an operator, all computed s8 tensors become u8. The ends of the graph stay s8, and so do the
// tensors of sums and averages with as_unsigned = 0.
void separate_unsigned(const std::vector<char>& as_unsigned, octet::graph::Graph* graph);

}  // namespace tool
