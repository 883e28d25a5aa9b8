// SPDX-License-Identifier: Apache-2.0
// Checks the shapes of operators of floats, and cuts their rows into tasks.
#include "engines/onnxruntime/float_works.h"

#include <algorithm>

namespace octet::onnxruntime {
namespace {

constexpr size_t kFew = 1 << 13;  // elements that are not worth another task

// Calls run(task, first row, last row) for all rows, each task on a thread.
template <typename Run>
void run_rows(OrtKernelContext* context, size_t tasks, size_t rows, const Run& run) {
  struct Work {
    size_t tasks, rows;
    const Run& run;
  } work = {tasks, rows, run};
  const auto task = [](void* arg, size_t i) {
    const Work& w = *(const Work*)arg;
    w.run(i, w.rows * i / w.tasks, w.rows * (i + 1) / w.tasks);
  };
  if (tasks > 1) return run_tasks(context, tasks, task, &work);
  task(&work, 0);
}

size_t count_tasks(size_t threads, size_t rows, size_t n) {
  return std::max<size_t>(1, std::min({threads, rows, rows * n / kFew}));
}

// The shape of two tensors' sum, whose sizes of 1 repeat.
Shape sum_shape(Shape a, Shape b, const std::string& name) {
  if (a.size() < b.size()) std::swap(a, b);
  b.insert(b.begin(), a.size() - b.size(), 1);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == 1) a[i] = b[i];
    if (b[i] != 1 && b[i] != a[i])
      graph::refuse("the shape of '", name, "' fits no other tensor's");
  }
  return a;
}

bool is_vector(const Shape& shape, int64_t n) { return shape.size() == 1 && shape[0] == n; }

// The tensor with this shape, whose sizes of 1 repeat in it: itself, or a copy in `to`.
const float* spread(const Given& from, const Shape& shape, float* to) {
  if (from.shape == shape) return (const float*)from.data;
  std::vector<size_t> strides(shape.size()), at(shape.size());
  size_t stride = 1, behind = shape.size() - from.shape.size();
  for (size_t i = from.shape.size(); i-- > 0; stride *= (size_t)from.shape[i])
    strides[behind + i] = from.shape[i] == 1 ? 0 : stride;
  size_t offset = 0;
  for (size_t i = 0, count = count_of(shape); i < count; ++i) {
    to[i] = ((const float*)from.data)[offset];
    for (size_t axis = shape.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++at[axis] < (size_t)shape[axis]) break;
      offset -= at[axis] * strides[axis], at[axis] = 0;
    }
  }
  return to;
}

}  // namespace

void attend(OrtKernelContext* context, const HeadTasks& tasks, float* scratch) {
  run_rows(context, tasks.count(), tasks.count(),
           [&](size_t task, size_t, size_t) { tasks.run(scratch, task); });
}

// ---- normalization

Normalization::Normalization(const Ends& ends, float epsilon, size_t threads)
    : epsilon_(epsilon), threads_(threads), gives_sum_(ends.sum != nullptr) {
  x_ = End(ends.x, &inputs), added_ = End(ends.added, &inputs), bias_ = End(ends.bias, &inputs);
  scale_ = End(ends.scale, &inputs), shift_ = End(ends.shift, &inputs);
  outputs = {ends.y->name};
  if (ends.sum) outputs.push_back(ends.sum->name);
}

std::vector<Shape> Normalization::shapes(const std::vector<Shape>& given) {
  Shape y = x_.constant ? x_.shape : given[x_.index];
  if (added_.exists)
    y = sum_shape(y, added_.constant ? added_.shape : given[added_.index], outputs[0]);
  for (const End* const end : {&bias_, &scale_, &shift_})
    if (end->exists &&
        (y.empty() || !is_vector(end->constant ? end->shape : given[end->index], y.back())))
      graph::refuse("'", outputs[0], "' has a scale or a bias that is no vector of its last axis");
  return std::vector<Shape>(outputs.size(), y);
}

void Normalization::run(OrtKernelContext* context, const std::vector<Given>& from,
                        const std::vector<void*>& to) {
  const Given x = x_.of(from), added = added_.exists ? added_.of(from) : Given{};
  const Shape shape = added_.exists ? sum_shape(x.shape, added.shape, outputs[0]) : x.shape;
  const size_t count = count_of(shape);
  if (count == 0) return;
  const auto vector = [&](const End& end) {
    return end.exists ? (const float*)end.of(from).data : nullptr;
  };
  NormalizedRows all = {};
  all.n = (size_t)shape.back(), all.rows = count / all.n, all.epsilon = epsilon_;
  all.bias = vector(bias_), all.scale = vector(scale_), all.shift = vector(shift_);
  const size_t tasks = count_tasks(threads_, all.rows, all.n);
  const size_t scratch = graph::aligned(all.n * sizeof(float)) / sizeof(float);
  const size_t copied = graph::aligned(count * sizeof(float)) / sizeof(float);
  const size_t copies = (x.shape != shape) + (added_.exists && added.shape != shape);
  memory_.use((tasks * scratch + copies * copied) * sizeof(float), [&](void* memory) {
    float* const copy = (float*)memory + tasks * scratch;
    all.x = spread(x, shape, copy);
    if (added_.exists) all.added = spread(added, shape, all.x == copy ? copy + copied : copy);
    run_rows(context, tasks, all.rows, [&](size_t task, size_t first, size_t last) {
      NormalizedRows a = all;
      a.rows = last - first, a.scratch = (float*)memory + task * scratch;
      a.x += first * a.n, a.output = (float*)to[0] + first * a.n;
      if (a.added) a.added += first * a.n;
      if (gives_sum_) a.sums = (float*)to[1] + first * a.n;
      loops_.normalize(a);
    });
  });
}

// ---- GELU

GeluWork::GeluWork(const Value& x, const Value* bias, const Value& y, size_t threads)
    : threads_(threads), x_(&x, &inputs), bias_(bias, &inputs) {
  outputs = {y.name};
}

std::vector<Shape> GeluWork::shapes(const std::vector<Shape>& given) {
  const Shape& x = given[0];
  if (bias_.exists &&
      (x.empty() || !is_vector(bias_.constant ? bias_.shape : given[bias_.index], x.back())))
    graph::refuse("'", outputs[0], "' has a bias that is no vector of its last axis");
  return {x};
}

void GeluWork::run(OrtKernelContext* context, const std::vector<Given>& from,
                   const std::vector<void*>& to) {
  const size_t count = count_of(from[0].shape);
  if (count == 0) return;
  GeluRows all = {};
  all.n = from[0].shape.empty() ? 1 : (size_t)from[0].shape.back(), all.rows = count / all.n;
  all.x = (const float*)from[0].data, all.output = (float*)to[0];
  if (bias_.exists) all.bias = (const float*)bias_.of(from).data;
  run_rows(context, count_tasks(threads_, all.rows, all.n), all.rows,
           [&](size_t, size_t first, size_t last) {
             GeluRows a = all;
             a.rows = last - first, a.x += first * a.n, a.output += first * a.n;
             loops_.gelu(a);
           });
}

// ---- attention

HeadsWork::HeadsWork(const Ends& ends, size_t heads, size_t depth, float scale, size_t threads)
    : heads_(heads),
      depth_(depth),
      scale_(scale),
      threads_(threads),
      queries_(ends.queries, &inputs),
      keys_(ends.keys, &inputs),
      values_(ends.values, &inputs),
      mask_(ends.mask, &inputs) {
  outputs = {ends.y->name};
}

std::vector<Shape> HeadsWork::shapes(const std::vector<Shape>& given) {
  const Shape& x = given[0];
  if (x.size() != 3 || x[2] != (int64_t)(heads_ * depth_) || given[keys_.index] != x ||
      given[values_.index] != x)
    graph::refuse("queries, keys and values of '", outputs[0], "' have not one shape of ", heads_,
                  " heads of ", depth_, " elements");
  if (!mask_.exists) return {x};
  Shape mask = mask_.constant ? mask_.shape : given[mask_.index];
  mask.insert(mask.begin(), 4 - std::min<size_t>(mask.size(), 4), 1);
  if (mask.size() != 4 || (mask[0] != 1 && mask[0] != x[0]) || mask[1] != 1 ||
      (mask[2] != 1 && mask[2] != x[1]) || (mask[3] != 1 && mask[3] != x[1]))
    graph::refuse("the mask of '", outputs[0], "' has no shape of one");
  return {x};
}

void HeadsWork::run(OrtKernelContext* context, const std::vector<Given>& from,
                    const std::vector<void*>& to) {
  const Given x = queries_.of(from);
  if (count_of(x.shape) == 0) return;
  Heads heads = {};
  heads.images = (size_t)x.shape[0], heads.tokens = (size_t)x.shape[1];
  heads.heads = heads_, heads.depth = depth_, heads.stride = heads_ * depth_;
  heads.queries = (const float*)x.data, heads.keys = (const float*)keys_.of(from).data;
  heads.values = (const float*)values_.of(from).data;
  heads.scale = scale_, heads.output = (float*)to[0];
  std::vector<float> repeated;  // a mask with one value for all tokens
  if (mask_.exists) {
    const Given mask = mask_.of(from);
    Shape shape = mask.shape;
    shape.insert(shape.begin(), 4 - shape.size(), 1);
    const size_t queries = (size_t)shape[2];
    heads.mask.form = TokenMask::kAdded, heads.mask.added = (const float*)mask.data;
    if (shape[3] == 1 && heads.tokens != 1) {
      for (size_t i = 0, n = count_of(shape); i < n; ++i)
        repeated.insert(repeated.end(), heads.tokens, heads.mask.added[i]);
      heads.mask.added = repeated.data();
    }
    heads.mask.query_stride = queries == 1 ? 0 : heads.tokens;
    heads.mask.image_stride = shape[0] == 1 ? 0 : queries * heads.tokens;
  }
  const HeadTasks tasks(heads, attend_, threads_);
  memory_.use(tasks.scratch_bytes(),
              [&](void* scratch) { attend(context, tasks, (float*)scratch); });
}

}  // namespace octet::onnxruntime
