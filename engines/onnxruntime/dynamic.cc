// SPDX-License-Identifier: Apache-2.0
// Quantizes a tensor by its range, in parallel, and runs all products that read it.
#include "engines/onnxruntime/dynamic.h"

#include <algorithm>

#include "octet/helpers.h"

namespace octet::onnxruntime {
namespace {

octet_function_tensor tensor(const void* data, size_t h, size_t w, size_t channels) {
  return {(void*)data, h, w, channels, 0, 0, 0};
}

}  // namespace

Quantized quantize(OrtKernelContext* context, size_t threads, const float* from, size_t count,
                   uint8_t* to) {
  Quantized q = {to, 0, 0};
  octet_error error = {};
  octet_gemm_args pool = OCTET_GEMM_ARGS_INIT;
  lend(context, threads, &pool);
  graph::check(octet_dynamic_quantize_in_tasks(OCTET_LHS_ASYMMETRIC, from, count, pool.parallel_for,
                                               pool.parallel_context, pool.concurrency, to,
                                               &q.scale, &q.zero_point, &error),
               error);
  return q;
}

DynamicWork::DynamicWork(DynamicChain chain, std::shared_ptr<const Shared> shared)
    : chain_(std::move(chain)), shared_(std::move(shared)) {
  for (size_t s = 0; s + 1 < chain_.size(); ++s) {
    const std::vector<DynamicProduct>& products = chain_[s].products;
    size_t i = 0;
    while (i < products.size() && products[i].output != chain_[s + 1].input) ++i;
    if (i == products.size()) graph::refuse("a chain of products does not hang together");
    next_.push_back(i);
  }
  keep_weights();
  const std::vector<graph::Tensor>& tensors = chain_[0].graph.tensors;  // all have the host's
  inputs = {tensors[(size_t)chain_[0].input].name};
  for (size_t s = 0; s < chain_.size(); ++s)
    for (size_t i = 0; i < chain_[s].products.size(); ++i)
      if (s >= next_.size() || next_[s] != i)
        outputs.push_back(tensors[(size_t)chain_[s].products[i].output].name);
  // Any sizes show now whether the weights can be packed.
  const Shape input = assumed_input();
  if (!input.empty()) find(input);
}

void DynamicWork::keep_weights() {
  for (DynamicNodes& nodes : chain_) {
    std::vector<char> used(nodes.graph.tensors.size());
    for (const graph::Op& op : nodes.graph.ops) used[(size_t)op.inputs[1]] = 1;
    for (size_t t = 0; t < used.size(); ++t) {
      graph::Tensor& tensor = nodes.graph.tensors[t];
      if (used[t] && tensor.data) {
        const auto* const data = (const uint8_t*)tensor.data;
        constants_.emplace_back(data, data + tensor.bytes);
      }
      tensor.data = used[t] && tensor.data ? constants_.back().data() : nullptr;
    }
  }
}

Shape DynamicWork::assumed_input() const {
  const graph::Graph& g = chain_[0].graph;
  Shape input = g.tensors[(size_t)g.ops[0].inputs[0]].shape;
  for (size_t i = 0; i < input.size(); ++i)
    if (input[i] < 0) input[i] = i == 0 ? 1 : 64;
  if (!input.empty() && g.ops[0].kind == graph::Kind::kProduct)
    input.back() = g.tensors[(size_t)g.ops[0].inputs[1]].shape[0];
  return input;
}

// ---- for one shape

DynamicWork::Product DynamicWork::make(const DynamicProduct& product, const graph::Graph& g,
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
  const size_t threads = shared_->options.threads;
  const auto set = [](auto* desc, const graph::Blob& blob) {
    desc->dst_type = OCTET_F32, desc->lhs_quant = OCTET_LHS_PER_TENSOR;
    desc->packed = blob.data, desc->packed_bytes = blob.bytes;
  };
  Product made;
  graph::Object& to = made.object;
  octet_error error = {};
  if (d.is_convolution) {
    to.blob = shared_->weights->get(d.filter, OCTET_ISA_AUTO);
    set(&d.conv, *to.blob);
    octet_conv2d* conv = nullptr;
    graph::check(octet_conv2d_create(&d.conv, &conv, &error), error);
    to.conv.reset(conv);
    graph::check(octet_conv2d_workspace(conv, 0, 0, 0, threads, bytes, &error), error);
  } else {
    to.blob = shared_->weights->get(d.rhs, OCTET_ISA_AUTO);
    set(&d.gemm, *to.blob);
    octet_gemm* gemm = nullptr;
    graph::check(octet_gemm_create(&d.gemm, &gemm, &error), error);
    to.gemm.reset(gemm);
    graph::check(octet_gemm_workspace(gemm, d.gemm.m_max, threads, bytes, &error), error);
  }
  return made;
}

DynamicWork::Stage DynamicWork::plan_stage(size_t index, const Shape& input,
                                           Planned* planned) const {
  const DynamicNodes& nodes = chain_[index];
  Stage stage;
  stage.input = input;
  planned->quantized = std::max(planned->quantized, graph::aligned(count_of(input)));
  graph::Graph g = nodes.graph;
  for (size_t i = 0; i < nodes.products.size(); ++i) {
    const graph::Op& op = g.ops[nodes.products[i].op];
    graph::Tensor &x = g.tensors[(size_t)op.inputs[0]], &y = g.tensors[(size_t)op.outputs[0]];
    x.shape = input, x.shape_known = true;
    const Shape shape = nodes.rules[i][0]({input, g.tensors[(size_t)op.inputs[1]].shape});
    if (shape.empty()) graph::refuse(op.name, ": its input does not fit its weights");
    y.shape = shape, y.shape_known = true;
    const bool inside = index < next_.size() && next_[index] == i;
    if (!inside) planned->outputs.push_back(shape);
    if (count_of(input) == 0) {
      stage.products.push_back({{}, shape, {}, {}});
      continue;
    }
    size_t bytes = 0;
    Product made = make(nodes.products[i], g, &bytes);
    made.shape = shape;
    planned->workspace = std::max(planned->workspace, bytes);
    const size_t floats = graph::aligned(count_of(shape) * sizeof(float));
    if (inside) planned->between = std::max(planned->between, floats);
    if (made.object.conv) {
      stage.last = graph::sizes_of(g, op.inputs[0], true);
      made.last = graph::sizes_of(g, op.outputs[0], true);
      if (!inside) {
        made.from_last = graph::transpose_function(OCTET_F32, made.last, OCTET_NCHW);
        planned->staged = std::max(planned->staged, floats);
      }
      if (index == 0 && !stage.to_last.arguments) {
        stage.to_last = graph::transpose_function(OCTET_U8, stage.last, OCTET_NHWC);
        planned->moved = graph::aligned(count_of(input));
      }
    }
    stage.products.push_back(std::move(made));
  }
  return stage;
}

std::shared_ptr<const DynamicWork::Planned> DynamicWork::plan(const Shape& input) const {
  auto made = std::make_shared<Planned>();
  Shape next = input;
  for (size_t s = 0; s < chain_.size(); ++s) {
    Stage stage = plan_stage(s, next, made.get());
    if (s < next_.size()) next = stage.products[next_[s]].shape;
    if (count_of(input) != 0) made->stages.push_back(std::move(stage));
  }
  return made;
}

std::shared_ptr<const DynamicWork::Planned> DynamicWork::find(const Shape& input) {
  return planned_.find(input, [&] { return plan(input); });
}

// ---- runs

void DynamicWork::transpose(const graph::Function& function, const graph::Sizes& last, bool to_last,
                            const void* from, void* to, OrtKernelContext* context) const {
  // Channels first are lines of pixels of one channel.
  const auto images = [&](const void* data, bool are_last) {
    return are_last ? tensor(data, last.h, last.w, last.channels)
                    : tensor(data, last.channels, last.h * last.w, 1);
  };
  octet_function_args args = OCTET_FUNCTION_ARGS_INIT;
  args.batch = last.batch;
  args.inputs[0] = images(from, !to_last), args.output = images(to, to_last);
  lend(context, shared_->options.threads, &args);
  octet_error error = {};
  graph::check(octet_function_run((const octet_function*)function.arguments.get(), &args, &error),
               error);
}

void DynamicWork::run_product(const Stage& stage, const Product& product, const Quantized& x,
                              void* to, const Places& memory, size_t bytes,
                              OrtKernelContext* context) const {
  const auto set = [&](auto* args) {
    args->lhs = x.data, args->dst = to;
    args->workspace = memory.workspace, args->workspace_bytes = bytes;
    lend(context, shared_->options.threads, args);
  };
  octet_error error = {};
  if (product.object.gemm) {
    octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
    set(&args);
    args.m = count_of(stage.input) / (size_t)stage.input.back();
    args.lhs_scales = &x.scale, args.lhs_zero_points = &x.zero_point;
    return graph::check(octet_gemm_run(product.object.gemm.get(), &args, &error), error);
  }
  const std::vector<float> scales(stage.last.batch, x.scale);
  const std::vector<int32_t> zero_points(stage.last.batch, x.zero_point);
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  set(&args);
  args.lhs_scales = scales.data(), args.lhs_zero_points = zero_points.data();
  if (product.from_last.arguments) args.dst = memory.staged;
  graph::check(octet_conv2d_run(product.object.conv.get(), &args, &error), error);
  if (product.from_last.arguments)
    transpose(product.from_last, product.last, false, memory.staged, to, context);
}

void DynamicWork::run_stages(const Planned& planned, const void* from, const std::vector<void*>& to,
                             const Places& memory, OrtKernelContext* context) const {
  size_t output = 0;
  for (size_t s = 0; s < planned.stages.size(); ++s) {
    const Stage& stage = planned.stages[s];
    Quantized x = quantize(context, shared_->options.threads, (const float*)from,
                           count_of(stage.input), memory.quantized);
    if (stage.to_last.arguments) {
      transpose(stage.to_last, stage.last, true, x.data, memory.moved, context);
      x.data = memory.moved;
    }
    // The floats that the next stage reads may lie where this stage's did: these are quantized.
    for (size_t i = 0; i < stage.products.size(); ++i) {
      const bool inside = s < next_.size() && next_[s] == i;
      run_product(stage, stage.products[i], x, inside ? memory.between : to[output++], memory,
                  planned.workspace, context);
    }
    from = memory.between;
  }
}

std::vector<Shape> DynamicWork::shapes(const std::vector<Shape>& given) {
  return find(given[0])->outputs;
}

void DynamicWork::run(OrtKernelContext* context, const std::vector<Given>& from,
                      const std::vector<void*>& to) {
  const std::shared_ptr<const Planned> planned = find(from[0].shape);
  if (planned->stages.empty()) return;
  const Planned& p = *planned;
  const size_t bytes = p.quantized + p.moved + p.between + p.staged + p.workspace;
  memory_.use(bytes, [&](void* all) {
    Places memory = {};
    memory.quantized = (uint8_t*)all;
    memory.moved = memory.quantized + p.quantized, memory.between = memory.moved + p.moved;
    memory.staged = memory.between + p.between, memory.workspace = memory.staged + p.staged;
    run_stages(p, from[0].data, to, memory, context);
  });
}

}  // namespace octet::onnxruntime
