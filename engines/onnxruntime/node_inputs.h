// SPDX-License-Identifier: Apache-2.0
// Reads the inputs of a node that runs by itself, with a sentence about each that is not as needed.
#pragma once

#include <vector>

#include "engines/onnxruntime/group.h"

namespace octet::onnxruntime {

class NodeInputs {
 public:
  NodeInputs(const HostGraph& host, const Node& node) : host_(host), node_(node) {}

  const Node& node() const { return node_; }
  // Null: left out.
  const Value* find(size_t i) const {
    const int t = i < node_.inputs.size() ? node_.inputs[i] : -1;
    return t < 0 ? nullptr : &host_.values[(size_t)t];
  }
  bool is_constant(size_t i) const { return find(i) && find(i)->constant; }

  // These throw unless the input is a constant of this type, with so many elements.
  const Value& constant(size_t i, const char* what, ONNXTensorElementDataType type,
                        const char* type_name, int64_t count) const {
    if (!is_constant(i)) graph::refuse("its ", what, " is no constant");
    const Value& v = *find(i);
    if (v.type != type) graph::refuse("its ", what, " is not of ", type_name);
    if (v.count != (size_t)count)
      graph::refuse("its ", what, " has ", v.count, " elements instead of ", count);
    return v;
  }
  std::vector<float> floats(size_t i, const char* what, int64_t count) const {
    return constant(i, what, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, "f32", count).floats();
  }

 private:
  const HostGraph& host_;
  const Node& node_;
};

// A tensor that a work reads: of each run, or a constant, of which it has a copy.
struct End {
  End() = default;
  // value: null where it is left out. inputs: the work's, which get the tensor of a run.
  End(const Value* value, std::vector<std::string>* inputs) {
    if (!value) return;
    exists = true, constant = value->constant;
    if (!constant) {
      index = inputs->size(), inputs->push_back(value->name);
      return;
    }
    const auto* const from = (const uint8_t*)value->data;
    shape = value->shape, bytes.assign(from, from + value->bytes);
  }

  Given of(const std::vector<Given>& from) const {
    return constant ? Given{bytes.data(), shape} : from[index];
  }

  bool exists = false, constant = false;
  size_t index = 0;            // of a run's inputs
  Shape shape;                 // of a constant
  std::vector<uint8_t> bytes;  // of a constant
};

}  // namespace octet::onnxruntime
