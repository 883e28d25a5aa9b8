// SPDX-License-Identifier: Apache-2.0
// Translates operators that move elements and change none.
#include "engines/onnxruntime/place_nodes.h"

#include <algorithm>
#include <numeric>

namespace octet::onnxruntime {

using graph::Kind;

namespace {

// How a Reshape's output follows from its input's sizes: each axis has a number, or is the input's
// axis `copied`, or (one axis at most) the number of elements that is left.
struct Axis {
  enum Kind { kNumber, kCopied, kLeft } kind;
  int64_t number = 0;
  size_t copied = 0;
};
// Throws graph::Refused if the input does not show the sizes.
std::vector<Axis> axes_of_reshape(const KnownValue& input, const KnownValue& shape,
                                  bool keeps_zeros) {
  if (!shape.has_elements) graph::refuse("its shape is computed; it needs a constant, or sizes");
  std::vector<Axis> axes;
  bool left = false;
  for (size_t i = 0; i < shape.elements.size(); ++i) {
    const Size& size = shape.elements[i];
    if (size == Size{0, {}} && !keeps_zeros) {
      axes.push_back({Axis::kCopied, 0, i});
    } else if (size.names.empty() && size.factor >= 0) {
      axes.push_back({Axis::kNumber, size.factor, 0});
    } else {
      const auto same = std::find(input.shape.begin(), input.shape.end(), size);
      if (input.has_shape && same != input.shape.end()) {
        axes.push_back({Axis::kCopied, 0, (size_t)(same - input.shape.begin())});
      } else {
        if (left) graph::refuse("its shape is computed of sizes that its input does not have");
        axes.push_back({Axis::kLeft}), left = true;
      }
    }
  }
  return axes;
}

std::vector<int64_t> axes_of(const Form& f) {
  return f.node().version < 13 ? f.node().integers("axes") : f.integers(1);
}

// The size of blocks, or 0 after a refusal.
int64_t read_block(const Form& f) {
  const int64_t block = f.node().integer("blocksize", 0);
  if (block <= 0 || block > (1 << 14) || f.rank(0) != 4) {
    f.refuse("it is not of rank 4 with blocks of 1 to 2^14 pixels");
    return 0;
  }
  f.op().block = (size_t)block;
  return block;
}

}  // namespace

void concat(const Form& f) { f.concatenate(f.node().inputs); }

void reshape(const Form& f) {
  f.take(Kind::kReshape, {f.input(0)});
  if (f.input(1) < 0) return f.refuse("it has no shape");
  const std::vector<Axis> axes =
      axes_of_reshape(f.known(0), f.known(1), f.node().integer("allowzero", 0) != 0);
  f.rule([axes](const std::vector<Shape>& inputs) {
    const Shape& x = inputs[0];
    Shape to;
    int64_t known = 1, all = 1;
    for (const int64_t size : x) all *= size;
    for (const Axis& axis : axes) {
      if (axis.kind == Axis::kCopied && axis.copied >= x.size()) return Shape();
      to.push_back(axis.kind == Axis::kNumber ? axis.number
                   : axis.kind == Axis::kLeft ? -1
                                              : x[axis.copied]);
      if (to.back() >= 0) known *= to.back();
    }
    for (int64_t& size : to)
      if (size < 0) size = known ? all / known : 0;
    return to;
  });
}

void flatten(const Form& f) {
  const int64_t axis = f.node().integer("axis", 1), most = (int64_t)f.rank(0);
  if (axis < -most || axis > most) return f.refuse("it has no such axis");
  f.take(Kind::kReshape, {f.input(0)});
  f.rule([axis](const std::vector<Shape>& inputs) {
    const Shape& x = inputs[0];
    const int64_t at = axis < 0 ? axis + (int64_t)x.size() : axis;
    Shape to = {1, 1};
    for (size_t i = 0; i < x.size(); ++i) to[(int64_t)i < at ? 0 : 1] *= x[i];
    return to;
  });
}

void squeeze(const Form& f) {
  const std::vector<int64_t> axes = axes_of(f);
  f.take(Kind::kReshape, {f.input(0)});
  if (axes.empty() && f.input(1) >= 0) return f.refuse("its axes are computed; it needs constants");
  f.rule([axes](const std::vector<Shape>& inputs) {
    const int64_t rank = (int64_t)inputs[0].size();
    const auto goes = [&](int64_t i) {
      if (axes.empty()) return inputs[0][(size_t)i] == 1;
      return std::any_of(axes.begin(), axes.end(),
                         [&](int64_t a) { return a == i || a + rank == i; });
    };
    Shape to;
    for (int64_t i = 0; i < rank; ++i)
      if (!goes(i)) to.push_back(inputs[0][(size_t)i]);
    return to;
  });
}

void unsqueeze(const Form& f) {
  const std::vector<int64_t> axes = axes_of(f);
  f.take(Kind::kReshape, {f.input(0)});
  if (axes.empty()) return f.refuse("its axes are computed; it needs constants");
  f.rule([axes](const std::vector<Shape>& inputs) {
    const int64_t rank = (int64_t)(inputs[0].size() + axes.size());
    Shape to;
    size_t next = 0;
    for (int64_t i = 0; i < rank; ++i) {
      const bool is_new =
          std::any_of(axes.begin(), axes.end(), [&](int64_t a) { return a == i || a + rank == i; });
      if (!is_new && next >= inputs[0].size()) return Shape();
      to.push_back(is_new ? 1 : inputs[0][next++]);
    }
    return to;
  });
}

void identity(const Form& f) { f.take(Kind::kReshape, {f.input(0)}); }

void transpose(const Form& f) {
  std::vector<int64_t> order = f.node().integers("perm");
  if (order.empty()) {
    order.resize(f.rank(0));
    std::iota(order.rbegin(), order.rend(), 0);
  }
  f.op().permutation = order;
  f.take(Kind::kTranspose, {f.input(0)});
  f.rule([order](const std::vector<Shape>& inputs) {
    Shape to;
    for (const int64_t axis : order) {
      if (axis < 0 || (size_t)axis >= inputs[0].size()) return Shape();
      to.push_back(inputs[0][(size_t)axis]);
    }
    return to;
  });
}

void depth_to_space(const Form& f) {
  const std::string mode = f.node().text("mode");
  if (!mode.empty() && mode != "DCR" && mode != "CRD")
    return f.refuse("its mode is '" + mode + "', neither DCR nor CRD");
  const int64_t block = read_block(f);
  f.op().pixels_together = mode == "CRD";
  f.take(Kind::kDepthToSpace, {f.input(0)});
  f.rule([block](const std::vector<Shape>& inputs) {
    const Shape& x = inputs[0];
    if (x.size() != 4) return Shape();
    return Shape{x[0], x[1] / (block * block), x[2] * block, x[3] * block};
  });
}

void space_to_depth(const Form& f) {
  const int64_t block = read_block(f);
  f.take(Kind::kSpaceToDepth, {f.input(0)});
  f.rule([block](const std::vector<Shape>& inputs) {
    const Shape& x = inputs[0];
    if (x.size() != 4) return Shape();
    return Shape{x[0], x[1] * block * block, x[2] / block, x[3] / block};
  });
}

// Inputs: x, starts, ends, axes, steps.
void slice(const Form& f) {
  const std::vector<int64_t> starts = f.integers(1), ends = f.integers(2), axes = f.integers(3),
                             steps = f.integers(4);
  const Shape x = f.tensor(f.input(0)).shape;
  if (!f.tensor(f.input(0)).shape_known) return f.refuse("the sizes of its input are not known");
  if (starts.empty() || ends.size() != starts.size() ||
      (f.input(3) >= 0 && axes.size() != starts.size()) ||
      (f.input(4) >= 0 && steps.size() != starts.size()) ||
      std::any_of(steps.begin(), steps.end(), [](int64_t step) { return step != 1; }))
    return f.refuse("its beginnings or ends are computed, or its steps are not 1");
  std::vector<int64_t> begins(x.size()), sizes(x.size(), -1);
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t axis = axes.empty() ? (int64_t)i : axes[i];
    if (axis < 0) axis += (int64_t)x.size();
    if (axis < 0 || axis >= (int64_t)x.size())
      return f.refuse("its axes are not those of its input");
    const int64_t size = x[(size_t)axis];
    if (size < 0) return f.refuse("the sizes of its input are not known");
    if (sizes[(size_t)axis] >= 0) return f.refuse("it names an axis twice");
    const auto place = [&](int64_t at) {
      return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
    };
    begins[(size_t)axis] = place(starts[i]);
    sizes[(size_t)axis] = std::max<int64_t>(0, place(ends[i]) - begins[(size_t)axis]);
  }
  f.op().begins = begins;
  f.take(Kind::kSlice, {f.input(0)});
  f.rule([sizes](const std::vector<Shape>& inputs) {
    Shape to = inputs[0];
    if (to.size() != sizes.size()) return Shape();
    for (size_t i = 0; i < to.size(); ++i)
      if (sizes[i] >= 0) to[i] = sizes[i];
    return to;
  });
}

// Inputs: x, the sizes of the parts. Without sizes parts are alike, the last one may be smaller.
void split(const Form& f) {
  const auto& outputs = f.node().outputs;
  if (std::count_if(outputs.begin(), outputs.end(), [](int t) { return t < 0; }))
    return f.refuse("one of its outputs is left out");
  const std::vector<int64_t> given =
      f.node().version < 13 ? f.node().integers("split") : f.integers(1);
  if (given.empty() ? f.input(1) >= 0 : given.size() != outputs.size())
    return f.refuse("the sizes of its parts are computed; it needs a constant for each output");
  const int64_t axis = f.op().axis = f.read_axis(f.input(0), 0);
  f.take(Kind::kSplit, {f.input(0)});
  std::vector<ShapeRule> rules;
  for (size_t k = 0; k < outputs.size(); ++k)
    rules.emplace_back(
        [axis, given, k, count = (int64_t)outputs.size()](const std::vector<Shape>& inputs) {
          Shape to = inputs[0];
          const int64_t at = axis < 0 ? axis + (int64_t)to.size() : axis;
          if (at < 0 || at >= (int64_t)to.size()) return Shape();
          int64_t& size = to[(size_t)at];
          const int64_t part = (size + count - 1) / count;
          size = given.empty() ? std::clamp<int64_t>(size - part * (int64_t)k, 0, part) : given[k];
          return to;
        });
  f.rules(std::move(rules));
}

}  // namespace octet::onnxruntime
