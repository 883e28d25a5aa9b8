// SPDX-License-Identifier: Apache-2.0
// Reads ONNX Runtime's graphs into plain structs, and turns its statuses into exceptions and back.
#pragma once

#include <onnxruntime_c_api.h>

#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "engines/graph/refused.h"

namespace octet::onnxruntime {

using Shape = std::vector<int64_t>;
size_t count_of(const Shape& shape);  // elements

// The functions of the ONNX Runtime that loaded the library: set before all else, once.
struct Host {
  const OrtApi* api = nullptr;
  const OrtEpApi* ep = nullptr;
};
extern Host host;

// Throws graph::Refused with the status's sentence, and releases the status.
void check(OrtStatus* status);

// A status with this sentence, which names Octet.
OrtStatus* failed(const char* why) noexcept;

// Runs what may throw where ONNX Runtime calls.
template <typename Function>
OrtStatus* reported(const Function& function) noexcept {
  try {
    function();
    return nullptr;
  } catch (const std::bad_alloc&) {
    return failed("there is not enough memory");
  } catch (const std::exception& exception) {
    return failed(exception.what());
  } catch (...) {
    return failed("an unknown exception");
  }
}

// A tensor of a graph. Data of constants belong to the host and last as long as the graph.
struct Value {
  std::string name;
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  bool shape_known = false;      // of a rank; a scalar that is no constant counts as unknown
  std::vector<int64_t> shape;    // below 0: unknown
  std::vector<std::string> dim;  // the name of each unknown size; may be empty
  bool constant = false;
  const void* data = nullptr;
  size_t count = 0, bytes = 0;  // of a constant

  // The values of a constant of int8, uint8, int32, int64 or f32; empty for others.
  std::vector<int64_t> integers() const;
  std::vector<float> floats() const;
};

struct Node {
  const OrtNode* node = nullptr;
  std::string op, domain, name;      // domain: empty for ONNX's own
  int version = 0;                   // of the operator set that introduced the operator
  std::vector<int> inputs, outputs;  // values; -1: left out
  std::vector<int> captured;         // values that a body inside of the node reads
  bool taken = false;                // by another provider

  // Attributes, or the default.
  std::vector<int64_t> integers(const char* attribute) const;
  int64_t integer(const char* attribute, int64_t otherwise) const;
  float number(const char* attribute, float otherwise) const;
  std::string text(const char* attribute) const;
  bool has(const char* attribute) const;
};

struct HostGraph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<int> outputs;
  std::deque<std::vector<uint8_t>> folded;  // data of constants that nodes compute
};
HostGraph read_graph(const OrtGraph* graph);

// The names of a node's inputs or outputs, in their order.
std::vector<std::string> input_names(const OrtNode* node);
std::vector<std::string> output_names(const OrtNode* node);

// The shape of a tensor of a run.
std::vector<int64_t> shape_of(const OrtValue* value);

}  // namespace octet::onnxruntime
