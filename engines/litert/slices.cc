// SPDX-License-Identifier: Apache-2.0
// Translates slices, splits and packs of tensors.
#include <tensorflow/lite/core/c/builtin_op_data.h>

#include <algorithm>

#include "engines/litert/node.h"

namespace octet::litert {

void slice(const Node& n) {
  n.op->begins = n.values(1);
  if ((int)n.op->begins.size() != n.rank()) n.refuse("its beginning is computed");
  n.op->inputs.resize(1);
}

// Inputs: x, begins, ends and strides of its first axes. An axis of the shrink mask has one
// element, and the output has no such axis.
void strided_slice(const Node& n) {
  const auto& p = n.params<TfLiteStridedSliceParams>();
  if (p.ellipsis_mask || p.new_axis_mask) return n.refuse("it has an ellipsis or axes of its own");
  if (p.offset) return n.refuse("its ends are counted from its beginnings");
  const std::vector<int64_t> begins = n.values(1), ends = n.values(2), strides = n.values(3);
  const auto axes = (int)begins.size();
  if (axes == 0 || axes > n.rank() || ends.size() != begins.size() ||
      strides.size() != begins.size())
    return n.refuse("its beginning, end or strides are computed");
  if (std::any_of(strides.begin(), strides.end(), [](int64_t stride) { return stride != 1; }))
    return n.refuse("its strides are not 1");
  std::vector<int64_t> sizes;
  for (int i = 0; i < n.rank(); ++i) {
    const int64_t size = n.input(0)->dims->data[i];
    const auto has = [&](int mask) { return (mask >> i & 1) != 0; };
    const auto place = [&](int64_t at) {
      return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
    };
    const int64_t begin = i >= axes || has(p.begin_mask) ? 0 : place(begins[(size_t)i]);
    const int64_t end = i >= axes || has(p.end_mask) ? size : place(ends[(size_t)i]);
    n.op->begins.push_back(begin);
    sizes.push_back(i < axes && has(p.shrink_axis_mask) ? 1 : std::max<int64_t>(end - begin, 0));
  }
  if (p.shrink_axis_mask) n.op->sizes = std::move(sizes);
  n.op->inputs.resize(1);
}

// Inputs: an axis, x.
void split(const Node& n) {
  const std::vector<int64_t> axis = n.values(0);
  if (axis.size() != 1 || n.op->inputs.size() != 2) return n.refuse("its axis is computed");
  n.op->axis = (int)axis[0];
  n.op->inputs.erase(n.op->inputs.begin());
}

// Inputs: x, sizes, which are those of the outputs, and an axis.
void split_v(const Node& n) {
  const std::vector<int64_t> axis = n.values(2);
  if (axis.size() != 1) return n.refuse("its axis is computed");
  n.op->axis = (int)axis[0];
  n.op->inputs.resize(1);
}

// LiteRT copies bytes, whatever their quantization.
void pack(const Node& n) {
  n.op->axis = n.params<TfLitePackParams>().axis;
  const TfLiteTensor& y = n.context.tensors[n.op->outputs.at(0)];
  for (int k = 0; k < (int)n.op->inputs.size(); ++k) {
    const TfLiteTensor* const x = n.input(k);
    if (!x || x->params.scale != y.params.scale || x->params.zero_point != y.params.zero_point)
      return n.refuse("an input is quantized in another way than its output");
  }
}

void unpack(const Node& n) { n.op->axis = n.params<TfLiteUnpackParams>().axis; }

}  // namespace octet::litert
