// Reads the inputs of a node that runs by itself, with a sentence about each that is not as needed.
#pragma once

#include <vector>

#include "engines/onnxruntime/host.h"

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

}  // namespace octet::onnxruntime
