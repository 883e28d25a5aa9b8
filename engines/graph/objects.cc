// SPDX-License-Identifier: Apache-2.0
// Packs and creates convolutions and products.
#include "engines/graph/objects.h"

#include <deque>

#include "engines/graph/check.h"
#include "engines/graph/refused.h"

namespace octet::graph {
namespace {

void create(ProductDescription* d, const ProgramOptions& options, PackedWeights* weights,
            Object* to) {
  octet_error error = {};
  to->filter = d->filter;
  to->filter.zero_points = nullptr, to->filter.zero_point_count = 0;
  if (d->is_convolution) {
    to->blob =
        options.outline ? outline_of(d->filter, options.isa) : weights->get(d->filter, options.isa);
    d->conv.max_isa = options.isa, d->conv.machine = options.machine;
    d->conv.packed = to->blob->data, d->conv.packed_bytes = to->blob->bytes;
    octet_conv2d* conv = nullptr;
    check(octet_conv2d_create(&d->conv, &conv, &error), error);
    to->conv.reset(conv);
    return;
  }
  if (d->is_pair) {
    to->function = pair_function(*d, options.isa, &to->memory);
    return;
  }
  to->blob = options.outline ? outline_of(d->rhs, options.isa) : weights->get(d->rhs, options.isa);
  octet_conv2d_shape& shape = to->filter.shape = OCTET_CONV2D_SHAPE_INIT;
  shape.in_h_max = d->gemm.m_max, shape.in_w_max = shape.kernel_h = shape.kernel_w = 1;
  shape.in_channels = d->gemm.k, shape.out_channels = d->gemm.n;
  to->filter.type = d->rhs.type;
  d->gemm.max_isa = options.isa, d->gemm.machine = options.machine;
  d->gemm.packed = to->blob->data, d->gemm.packed_bytes = to->blob->bytes;
  octet_gemm* gemm = nullptr;
  check(octet_gemm_create(&d->gemm, &gemm, &error), error);
  to->gemm.reset(gemm);
}

}  // namespace

std::vector<Object> make_objects(const Graph& graph, const PlacedGraph& placed,
                                 const ProgramOptions& options, PackedWeights* weights) {
  std::deque<ProductDescription> descriptions(placed.ops.size());
  std::vector<octet_filter_desc*> filters;
  size_t i = 0;
  try {
    for (i = 0; i < placed.ops.size(); ++i) {
      if (!placed.ops[i].is_product) continue;
      const Op& op = graph.ops[placed.ops[i].op];
      const Tensor& tensor = graph.tensors[(size_t)op.inputs[1]];
      if (tensor.constant && !tensor.data && !options.outline)
        throw Refused(OCTET_NULL_POINTER, "the data of its weights is null");
      const int bias = input_of(op, 2);
      if (bias >= 0 && !graph.tensors[(size_t)bias].data && !options.outline)
        throw Refused(OCTET_NULL_POINTER, "the data of its bias is null");
      descriptions[i].by_rows = options.algorithm == OCTET_CONV_AUTO;
      describe_product(graph, op, &descriptions[i]);
      describe_stored(graph, op, &descriptions[i]);
      octet_filter_desc& filter = descriptions[i].filter;
      filter.machine = options.machine, filter.algorithm = options.algorithm;
      if (options.algorithm != OCTET_CONV_AUTO) filter.accuracy = OCTET_ACCURACY_APPROXIMATE;
      if (op.kind == Kind::kConvolution) filters.push_back(&filter);
    }
    octet_error error = {};
    if (options.weights_max != SIZE_MAX && !filters.empty())
      check(octet_conv2d_limit_packed(filters.data(), filters.size(), options.isa,
                                      options.weights_max, nullptr, &error),
            error);
    std::vector<Object> objects(placed.ops.size());
    for (i = 0; i < placed.ops.size(); ++i) {
      objects[i].function = placed.ops[i].function;
      if (placed.ops[i].is_product) create(&descriptions[i], options, weights, &objects[i]);
      if (placed.ops[i].has_state)
        make_state_layer(graph, graph.ops[placed.ops[i].op], options.isa, weights, &objects[i]);
    }
    return objects;
  } catch (const Refused& refused) {
    if (i == placed.ops.size()) throw;
    throw Refused(refused.status(), join(op_name(graph, placed.ops[i].op), ": ", refused.why()));
  }
}

std::vector<octet_network_op> network_ops(const PlacedGraph& placed,
                                          const std::vector<Object>& objects) {
  std::vector<octet_network_op> ops(objects.size());
  for (size_t i = 0; i < objects.size(); ++i) {
    octet_network_op& op = ops[i] = {};
    op.conv2d = objects[i].conv.get(), op.gemm = objects[i].gemm.get();
    if (!op.conv2d && !op.gemm) op.function = &objects[i].function.lines;
    for (const size_t input : placed.ops[i].inputs) op.inputs[op.input_count++] = input;
    op.output = placed.ops[i].output;
  }
  return ops;
}

}  // namespace octet::graph
