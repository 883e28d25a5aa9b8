// Quantizes a tensor by its range, in parallel, and runs all products that read it.
#include "engines/onnxruntime/dynamic.h"

#include <algorithm>
#include <limits>

#include "octet/helpers.h"

namespace octet::onnxruntime {
namespace {

constexpr size_t kMostPlanned = 16;
constexpr size_t kLeastElements = 16384;  // of a task that quantizes

struct Range {
  float least, most;
};

// NaN and infinity end as NaN, which octet_dynamic_quantize takes as that of any such tensor.
Range range_of(const float* x, size_t count) {
  constexpr size_t kLanes = 16;
  float least[kLanes] = {}, most[kLanes] = {}, bad[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (size_t k = 0; k < kLanes; ++k) {
      const float v = x[i + k];
      least[k] = v < least[k] ? v : least[k];
      most[k] = v > most[k] ? v : most[k];
      bad[k] += v - v;
    }
  for (; i < count; ++i)
    least[0] = std::min(least[0], x[i]), most[0] = std::max(most[0], x[i]), bad[0] += x[i] - x[i];
  for (size_t k = 1; k < kLanes; ++k)
    least[0] = std::min(least[0], least[k]), most[0] = std::max(most[0], most[k]), bad[0] += bad[k];
  if (bad[0] != 0) return {bad[0], bad[0]};
  return {least[0], most[0]};
}

template <typename Task>
void for_each(OrtKernelContext* context, size_t count, const Task& task) {
  run_tasks(
      context, count, [](void* arg, size_t i) { (*(const Task*)arg)(i); }, (void*)&task);
}

size_t count_of(const Shape& shape) {
  size_t count = 1;
  for (const int64_t size : shape) count *= (size_t)size;
  return count;
}

octet_function_tensor tensor(const void* data, size_t h, size_t w, size_t channels) {
  return {(void*)data, h, w, channels, 0, 0, 0};
}

size_t rounded(size_t bytes) {
  return (bytes + OCTET_ALIGNMENT - 1) / OCTET_ALIGNMENT * OCTET_ALIGNMENT;
}

}  // namespace

DynamicGroup::DynamicGroup(DynamicNodes nodes, std::shared_ptr<const Shared> shared)
    : nodes_(std::move(nodes)), shared_(std::move(shared)) {
  graph::Graph& g = nodes_.graph;
  std::vector<char> used(g.tensors.size());
  for (const graph::Op& op : g.ops) used[(size_t)op.inputs[1]] = 1;
  for (size_t t = 0; t < used.size(); ++t) {
    graph::Tensor& tensor = g.tensors[t];
    if (used[t] && tensor.data) {
      const auto* const data = (const uint8_t*)tensor.data;
      constants_.emplace_back(data, data + tensor.bytes);
    }
    tensor.data = used[t] && tensor.data ? constants_.back().data() : nullptr;
  }
  // Any sizes show now whether the weights can be packed. Images are of a size for all kernels.
  Shape input = g.tensors[(size_t)g.ops[0].inputs[0]].shape;
  for (size_t i = 0; i < input.size(); ++i)
    if (input[i] < 0) input[i] = i == 0 ? 1 : 64;
  if (!input.empty() && g.ops[0].kind == graph::Kind::kProduct)
    input.back() = g.tensors[(size_t)g.ops[0].inputs[1]].shape[0];
  if (!input.empty()) find(input);
}

void DynamicGroup::bind(const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
  const auto find = [&](int t, const std::vector<std::string>& names) {
    const std::string& name = nodes_.graph.tensors[(size_t)t].name;
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) graph::refuse("'", name, "' is no end of the node that was made of it");
    return (size_t)(at - names.begin());
  };
  input_ = find(nodes_.input, inputs);
  for (const DynamicProduct& product : nodes_.products)
    outputs_.push_back(find(product.output, outputs));
  if (outputs_.size() != outputs.size()) graph::refuse("the node has outputs that nothing makes");
}

graph::Object DynamicGroup::make(const DynamicProduct& product, const graph::Graph& g,
                                 size_t* bytes) const {
  graph::ProductDescription d;
  graph::describe_product(g, g.ops[product.op], &d);
  octet_epilogue& e = d.epilogue();
  e.scales = product.scales.data(), e.scale_count = product.scales.size();
  if (!product.bias.empty()) e.bias_f32 = product.bias.data();
  if (product.clamp.activation != graph::Activation::kNone) {
    e.activation = OCTET_ACTIVATION_CLAMP;
    e.clamp_min = product.clamp.least, e.clamp_max = product.clamp.most;
  }
  const auto set = [](auto* desc) {
    desc->dst_type = OCTET_F32, desc->lhs_quant = OCTET_LHS_PER_TENSOR;
  };
  graph::Object made;
  octet_error error = {};
  if (d.is_convolution) {
    set(&d.conv);
    made.blob = shared_->weights->get(d.filter, OCTET_ISA_AUTO);
    d.conv.packed = made.blob->data, d.conv.packed_bytes = made.blob->bytes;
    octet_conv2d* conv = nullptr;
    graph::check(octet_conv2d_create(&d.conv, &conv, &error), error);
    made.conv.reset(conv);
    graph::check(octet_conv2d_workspace(conv, 0, 0, 0, shared_->options.threads, bytes, &error),
                 error);
    return made;
  }
  set(&d.gemm);
  const size_t rows = d.gemm.m_max;
  made.blob = shared_->weights->get(d.rhs, OCTET_ISA_AUTO);
  d.gemm.packed = made.blob->data, d.gemm.packed_bytes = made.blob->bytes;
  octet_gemm* gemm = nullptr;
  graph::check(octet_gemm_create(&d.gemm, &gemm, &error), error);
  made.gemm.reset(gemm);
  graph::check(octet_gemm_workspace(gemm, rows, shared_->options.threads, bytes, &error), error);
  return made;
}

std::shared_ptr<const DynamicGroup::Planned> DynamicGroup::find(const Shape& input) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = planned_.find(input);
    if (found != planned_.end()) return found->second;
  }
  auto made = std::make_shared<Planned>();
  graph::Graph g = nodes_.graph;
  for (const DynamicProduct& product : nodes_.products) {
    const graph::Op& op = g.ops[product.op];
    graph::Tensor &x = g.tensors[(size_t)op.inputs[0]], &y = g.tensors[(size_t)op.outputs[0]];
    x.shape = input, x.shape_known = true;
    y.shape = nodes_.rules[product.op]({input, g.tensors[(size_t)op.inputs[1]].shape});
    if (y.shape.empty()) graph::refuse(op.name, ": an input of this rank does not fit its weights");
    y.shape_known = true;
    made->outputs.push_back(y.shape);
    if (count_of(input) == 0) continue;
    size_t bytes = 0;
    made->objects.push_back(make(product, g, &bytes));
    made->workspace_bytes = std::max(made->workspace_bytes, bytes);
    if (op.kind != graph::Kind::kConvolution) continue;
    const graph::Sizes last = graph::sizes_of(g, op.outputs[0], true);
    made->input = graph::sizes_of(g, op.inputs[0], true);
    if (!made->to_last.arguments)
      made->to_last = graph::transpose_function(OCTET_U8, made->input, OCTET_NHWC);
    made->sizes.push_back(last);
    made->from_last.push_back(graph::transpose_function(OCTET_F32, last, OCTET_NCHW));
    made->input_bytes = rounded(made->input.count());
    made->output_bytes = std::max(made->output_bytes, rounded(last.count() * sizeof(float)));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (planned_.size() == kMostPlanned) planned_.erase(planned_.begin());
  planned_[input] = made;
  return made;
}

DynamicGroup::Quantized DynamicGroup::quantize(OrtKernelContext* context, const float* from,
                                               size_t count, uint8_t* to) const {
  Quantized q = {to, 0, 0};
  octet_error error = {};
  const size_t tasks =
      std::min(shared_->options.threads, std::max<size_t>(1, count / kLeastElements));
  if (tasks == 1) {
    graph::check(octet_dynamic_quantize(OCTET_LHS_ASYMMETRIC, from, count, to, &q.scale,
                                        &q.zero_point, &error),
                 error);
    return q;
  }
  const auto begin = [&](size_t task) { return count / tasks * task; };
  const auto size = [&](size_t task) {
    return (task + 1 == tasks ? count : begin(task + 1)) - begin(task);
  };
  std::vector<Range> ranges(tasks);
  for_each(context, tasks, [&](size_t i) { ranges[i] = range_of(from + begin(i), size(i)); });
  // The tensor's scale is that of its two ends.
  std::vector<float> ends;
  for (const Range& range : ranges) ends.push_back(range.least), ends.push_back(range.most);
  std::vector<uint8_t> unused(ends.size());
  graph::check(octet_dynamic_quantize(OCTET_LHS_ASYMMETRIC, ends.data(), ends.size(), unused.data(),
                                      &q.scale, &q.zero_point, &error),
               error);
  const bool is_number = q.scale > 0;
  for_each(context, tasks, [&](size_t i) {
    uint8_t* const part = to + begin(i);
    if (!is_number || octet_quantize(from + begin(i), size(i), q.scale, q.zero_point, OCTET_U8,
                                     part, nullptr) != OCTET_OK)
      std::fill(part, part + size(i), 0);
  });
  return q;
}

void DynamicGroup::transpose(const graph::Function& function, const graph::Sizes& last,
                             bool to_last, const void* from, void* to,
                             OrtKernelContext* context) const {
  // Channels first are lines of pixels of one channel.
  octet_function_args args = OCTET_FUNCTION_ARGS_INIT;
  args.batch = last.batch;
  args.inputs[0] = to_last ? tensor(from, last.channels, last.h * last.w, 1)
                           : tensor(from, last.h, last.w, last.channels);
  args.output = to_last ? tensor(to, last.h, last.w, last.channels)
                        : tensor(to, last.channels, last.h * last.w, 1);
  lend(context, shared_->options.threads, &args);
  octet_error error = {};
  graph::check(octet_function_run((const octet_function*)function.arguments.get(), &args, &error),
               error);
}

void DynamicGroup::run_matrix(const graph::Object& object, const Shape& input, const Quantized& x,
                              void* to, uint8_t* workspace, size_t bytes,
                              OrtKernelContext* context) const {
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.lhs = x.data, args.dst = to, args.m = count_of(input) / (size_t)input.back();
  args.lhs_scales = &x.scale, args.lhs_zero_points = &x.zero_point;
  args.workspace = workspace, args.workspace_bytes = bytes;
  lend(context, shared_->options.threads, &args);
  octet_error error = {};
  graph::check(octet_gemm_run(object.gemm.get(), &args, &error), error);
}

void DynamicGroup::run_convolution(const Planned& planned, size_t index, const Quantized& x,
                                   void* to, uint8_t* workspace, OrtKernelContext* context) const {
  const size_t batch = planned.input.batch;
  const std::vector<float> scales(batch, x.scale);
  const std::vector<int32_t> zero_points(batch, x.zero_point);
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  args.lhs = x.data, args.dst = workspace;
  args.lhs_scales = scales.data(), args.lhs_zero_points = zero_points.data();
  args.workspace = workspace + planned.output_bytes;
  args.workspace_bytes = planned.workspace_bytes;
  lend(context, shared_->options.threads, &args);
  octet_error error = {};
  graph::check(octet_conv2d_run(planned.objects[index].conv.get(), &args, &error), error);
  transpose(planned.from_last[index], planned.sizes[index], false, workspace, to, context);
}

void DynamicGroup::run(OrtKernelContext* context) {
  const OrtValue* value = nullptr;
  const void* from = nullptr;
  check(host.api->KernelContext_GetInput(context, input_, &value));
  check(host.api->GetTensorData(value, &from));
  const Shape input = shape_of(value);
  const std::shared_ptr<const Planned> planned = find(input);
  std::vector<void*> to(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    OrtValue* made = nullptr;
    const Shape& shape = planned->outputs[i];
    check(
        host.api->KernelContext_GetOutput(context, outputs_[i], shape.data(), shape.size(), &made));
    check(host.api->GetTensorMutableData(made, &to[i]));
  }
  if (planned->objects.empty()) return;
  const size_t count = count_of(input);
  graph::Blob all(rounded(count) + planned->input_bytes + planned->output_bytes +
                  planned->workspace_bytes);
  uint8_t* rest = (uint8_t*)all.data + rounded(count);
  Quantized x = quantize(context, (const float*)from, count, (uint8_t*)all.data);
  if (planned->to_last.arguments) {
    transpose(planned->to_last, planned->input, true, x.data, rest, context);
    x.data = rest, rest += planned->input_bytes;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (planned->objects[i].conv)
      run_convolution(*planned, i, x, to[i], rest, context);
    else
      run_matrix(planned->objects[i], input, x, to[i], rest, planned->workspace_bytes, context);
  }
}

}  // namespace octet::onnxruntime
