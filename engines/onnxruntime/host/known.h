// SPDX-License-Identifier: Apache-2.0
// Finds, before a run, products of sizes that only runs have, and small tensors made of such sizes:
// exporters write the shapes of Reshapes as Shape, Gather, Unsqueeze and Concat.
#pragma once

#include <vector>

#include "engines/onnxruntime/host/host.h"

namespace octet::onnxruntime {

// A number, or a number times sizes of a run.
struct Size {
  int64_t factor = 0;
  std::vector<int> names;  // of sizes that only a run has, in ascending order; one may be repeated
  bool operator==(const Size& other) const {
    return factor == other.factor && names == other.names;
  }
};

struct KnownValue {
  bool has_shape = false, has_elements = false;
  std::vector<Size> shape;
  std::vector<Size> elements;  // of a small tensor of integers
  std::vector<float> numbers;  // of a small tensor of f32; empty: unknown
};

struct Known {
  std::vector<KnownValue> values;
  // Of each node: 1 if it computes nothing but elements that are known here.
  std::vector<char> nodes;
};

// Looks at all nodes. Tensors whose elements are numbers become constants of the graph, and shapes
// that the host does not know get their ranks and the sizes that are numbers.
Known find_known(HostGraph* host);

}  // namespace octet::onnxruntime
