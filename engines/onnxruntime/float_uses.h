// SPDX-License-Identifier: Apache-2.0
// Reads the neighbours of nodes on f32 that belong to no unit yet.
#pragma once

#include <cmath>
#include <set>
#include <vector>

#include "engines/onnxruntime/host/whole.h"

namespace octet::onnxruntime {

constexpr auto kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;

class FloatUses : protected NodeUses {
 protected:
  // taken: nodes that units stand for. Nodes that compute sizes only do not count as readers.
  FloatUses(const HostGraph& host, const Known& known, const std::set<size_t>& taken)
      : NodeUses(host, &known.nodes), known_(known), taken_(taken) {}

  const Value* find(size_t i, size_t k) const {
    return input(i, k) < 0 ? nullptr : &value(input(i, k));
  }
  const Value* result(size_t i, size_t k = 0) const {
    return k < node(i).outputs.size() && node(i).outputs[k] >= 0 ? &value(node(i).outputs[k])
                                                                 : nullptr;
  }
  bool is_free(size_t i) const { return !taken_.count(i); }
  // As NodeUses::only_maker, of a node that nothing else stands for.
  int before(int t, const char* op) const {
    const int found = only_maker(t, op);
    return found >= 0 && is_free((size_t)found) ? found : -1;
  }
  static void need_float(const Value* v, const char* what) {
    if (!v || v->type != kFloat) graph::refuse("its ", what, " is not of f32");
  }
  static void need_vector(const Value* v, const char* what) {
    need_float(v, what);
    if (v->shape.size() != 1) graph::refuse("its ", what, " is not known to be a vector");
  }
  // Whether a tensor is a constant of one number, and which.
  bool number(int t, double* to) const {
    if (!is_constant(t) || value(t).type != kFloat || value(t).count != 1) return false;
    *to = value(t).floats()[0];
    return true;
  }
  bool is_number(int t, double wanted) const {
    double found = 0;
    return number(t, &found) && std::abs(found - wanted) <= 1e-6 * std::abs(wanted);
  }
  // Sizes as far as they are known, numbers or not.
  const std::vector<Size>& sizes_of(const Value& of) const {
    return known_.values[(size_t)(&of - host_.values.data())].shape;
  }

  const Known& known_;
  std::set<size_t> taken_;
};

}  // namespace octet::onnxruntime
