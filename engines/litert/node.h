// SPDX-License-Identifier: Apache-2.0
// One node of LiteRT's graph, as its translation reads it, and the operator that it fills.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engines/litert/translate.h"

namespace octet::litert {

// A node, the interpreter that it belongs to, and the operator that a translation fills.
struct Node {
  const TfLiteContext& context;
  const TfLiteNode& node;
  const Rounding& rounding;
  graph::Op* op;

  template <typename Params>
  const Params& params() const {
    return *(const Params*)node.builtin_data;
  }
  const TfLiteTensor* input(int k) const {
    const TfLiteIntArray& inputs = *node.inputs;
    return k < inputs.size && inputs.data[k] >= 0 ? &context.tensors[inputs.data[k]] : nullptr;
  }
  int rank() const { return input(0) && input(0)->dims ? input(0)->dims->size : 0; }
  // The values of a constant vector of int32; empty where input k is something else.
  std::vector<int64_t> values(int k) const {
    const TfLiteTensor* const t = input(k);
    if (!t || t->type != kTfLiteInt32 || t->allocation_type != kTfLiteMmapRo || !t->data.i32)
      return {};
    return {t->data.i32, t->data.i32 + t->bytes / sizeof(int32_t)};
  }
  void refuse(std::string why) const { op->refused = std::move(why); }
  // Refuses operands that XNNPACK does not take.
  void refuse_own_kernel(const std::string& operand) const {
    if (rounding.arithmetic == graph::Arithmetic::kXnnpack)
      refuse(operand +
             ": XNNPACK leaves it to LiteRT's own kernel, which rounds in a way of its own");
  }
};

// Translations of operators that take parts of their input, or join inputs to a new axis.
void pack(const Node& node);
void slice(const Node& node);
void strided_slice(const Node& node);
void split(const Node& node);
void split_v(const Node& node);
void unpack(const Node& node);

}  // namespace octet::litert
