// SPDX-License-Identifier: Apache-2.0
// Checks types, shapes, scales and zero points of the operands of layers with a state.
#include "engines/graph/recurrent/operands.h"

#include <algorithm>

#include "engines/graph/refused.h"
#include "engines/graph/sizes.h"

namespace octet::graph::recurrent {
namespace {

void need_one_scale(const Tensor& t, const std::string& name) {
  if (t.scales.size() != 1) refuse(name, " has ", t.scales.size(), " scales; it needs one");
}

}  // namespace

Operands::Operands(const Graph& graph, const Op& op, size_t inputs) : graph_(graph), op_(op) {
  if (without_xnnpack(graph.arithmetic) != Arithmetic::kTflite)
    refuse("only TFLite's arithmetic has a layer with a state");
  if (op.inputs.size() != inputs) refuse("it has ", op.inputs.size(), " inputs, not ", inputs);
  if (op.outputs.size() != 1) refuse("it has ", op.outputs.size(), " outputs, not 1");
  if (input(0).constant) refuse("its input ", name(0), " is a constant; fold it beforehand");
  if (input(0).variable) refuse("its input ", name(0), " is a variable, the state of a layer");
  const std::string made = tensor_name(graph, op.outputs[0]);
  for (const auto& [tensor, what] : {std::pair{&input(0), name(0)}, {&output(), made}}) {
    if (tensor->type != OCTET_S8)
      refuse(what, " is not of int8; quantize the layer in full to integers");
    need_one_scale(*tensor, what);
  }
}

const Tensor& Operands::input(size_t i) const {
  if (op_.inputs[i] < 0) refuse("its input ", i, " is left out");
  return graph_.tensors[(size_t)op_.inputs[i]];
}

size_t Operands::size(size_t i, size_t rank, size_t axis) const {
  const Tensor& t = input(i);
  if (!known_sizes(t)) refuse("the sizes of ", name(i), " are not known");
  if (t.shape.size() != rank) refuse(name(i), " is of rank ", t.shape.size(), ", not ", rank);
  if (element_count(t) == 0) refuse(name(i), " has no elements");
  return (size_t)t.shape[axis];
}

const Tensor& Operands::weights(size_t i, octet_type type, size_t rows, size_t columns) const {
  const Tensor& t = input(i);
  if (!t.constant) refuse("its weights ", name(i), " are computed; they have to be a constant");
  if (t.type != type)
    refuse("its weights ", name(i), " are not of ", type == OCTET_S8 ? "int8" : "int16",
           ", as a layer in full integers has them");
  if (size(i, 2, 0) != rows || size(i, 2, 1) != columns)
    refuse("its weights ", name(i), " are ", t.shape[0], " x ", t.shape[1], ", not ", rows, " x ",
           columns);
  need_one_scale(t, name(i));
  if (zero_of(t) != 0) refuse("its weights ", name(i), " have a zero point; it must be 0");
  return t;
}

const Tensor& Operands::bias(size_t i, size_t n) const {
  const Tensor& t = input(i);
  if (!t.constant) refuse("its bias ", name(i), " is computed; it has to be a constant");
  if (t.type != OCTET_S32) refuse("its bias ", name(i), " is not of int32");
  if (!known_sizes(t) || element_count(t) != n)
    refuse("its bias ", name(i), " does not have ", n, " values");
  return t;
}

const Tensor& Operands::state(size_t i, octet_type type, size_t n) const {
  const Tensor& t = input(i);
  if (t.constant || !t.variable)
    refuse("its state ", name(i), " is no variable that keeps its values between runs");
  if (t.type != type)
    refuse("its state ", name(i), " is not of ", type == OCTET_S8 ? "int8" : "int16");
  if (!known_sizes(t) || element_count(t) != n)
    refuse("its state ", name(i), " does not have ", n, " values");
  need_one_scale(t, name(i));
  size_t readers = 0;
  for (const Op& op : graph_.ops)
    readers += (size_t)std::count(op.inputs.begin(), op.inputs.end(), op_.inputs[i]);
  if (readers != 1) refuse("its state ", name(i), " is read ", readers, " times; it needs its own");
  return t;
}

Rescale rescale_of(double factor) {
  Rescale by;
  octet_error error = {};
  check(octet_quantize_multiplier(factor, &by.multiplier, &by.shift, &error), error);
  return by;
}

}  // namespace octet::graph::recurrent
