// SPDX-License-Identifier: Apache-2.0
// Checks every count of a network, of the machine that it is planned for and of the model of
// traffic, near the end of size_t and where 32 bits end: see large_counts_test.cc.
#include "api/large_counts.h"

namespace octet_test {
namespace {

void fill(void*, const octet_network_call* call) {
  for (size_t y = call->first; y < call->end; ++y)
    std::memset(octet_network_line(&call->output, y), 7, call->output.w * call->output.channels);
}

// 0: input; 1, 2: two slices of 3, written by a convolution and a function; 4: a product of 3.
struct Graph : Memory {
  Layer layer{OCTET_CONV_DIRECT};
  Product product{true};
  octet_conv2d* conv = nullptr;
  octet_gemm* gemm = nullptr;
  octet_network_function function = {fill, nullptr, 2, 1, 1, 1};
  std::vector<octet_network_tensor> tensors;
  std::vector<octet_network_op> ops;
  std::vector<octet_network_part> parts = {{0, 2, 2}, {2, 3, 0}};
  octet_network_desc desc = OCTET_NETWORK_DESC_INIT;
  octet_network_args args = OCTET_NETWORK_ARGS_INIT;
  std::vector<void*> memory;
  size_t index = 0;

  explicit Graph(octet_network_goal goal) {
    layer.desc.epilogue.residual = {};
    product.desc.epilogue.residual = {};
    product.desc.m_max = kSide * kSide;
    EXPECT_EQ(octet_conv2d_create(&layer.desc, &conv, nullptr), OCTET_OK);
    EXPECT_EQ(octet_gemm_create(&product.desc, &gemm, nullptr), OCTET_OK);
    const octet_network_tensor t = {1, kSide, kSide, kChannels, OCTET_U8, 0, 0, 0, 0, 0};
    tensors = {t, t, t, t, t};
    tensors[0].keep = tensors[4].keep = 1, tensors[3].channels = 2 * kChannels;
    tensors[1].slice = tensors[2].slice = 1, tensors[1].parent = tensors[2].parent = 3;
    tensors[2].first_channel = kChannels;
    ops = {{conv, nullptr, nullptr, {0}, 1, 1},
           {nullptr, nullptr, &function, {0, 1}, 2, 2},
           {nullptr, gemm, nullptr, {3}, 1, 4}};
    desc.tensors = tensors.data(), desc.tensor_count = tensors.size();
    desc.ops = ops.data(), desc.op_count = ops.size(), desc.concurrency = 2, desc.goal = goal;
    desc.allocator = small_memory();
    memory = {lhs.data(), nullptr, nullptr, nullptr, dst.data()};
    args.tensors = memory.data(), args.workspace = scratch.data();
    args.workspace_bytes = kScratch, args.parallel_for = in_turn, args.concurrency = 2;
  }
  ~Graph() {
    octet_conv2d_destroy(conv);
    octet_gemm_destroy(gemm);
  }
  octet_status use(bool has_memory, octet_error* error) const {
    octet_network* network = nullptr;
    octet_status status = octet_network_create(&desc, &network, error);
    size_t bytes = 0;
    octet_network_explanation e = OCTET_NETWORK_EXPLANATION_INIT;
    if (status == OCTET_OK) status = octet_network_workspace(network, &bytes, error);
    if (status == OCTET_OK) status = octet_network_explain(network, index, &e, error);
    if (status == OCTET_OK && has_memory) status = octet_network_run(network, &args, error);
    const Traffic traffic;
    if (status == OCTET_OK && has_memory)
      status = octet_traffic_network(traffic.get, network, &args, error);
    octet_network_destroy(network);
    return status;
  }
};

TEST(LargeCounts, OfNetworks) {
  for (const octet_network_goal goal :
       {OCTET_NETWORK_TIME, OCTET_NETWORK_TRAFFIC, OCTET_NETWORK_MEMORY, OCTET_NETWORK_LAYERS})
    for (const bool given : {false, true}) {
      Graph g(goal);
      std::vector<Count> counts = {{"concurrency", &g.desc.concurrency},
                                   {"cache_bytes", &g.desc.cache_bytes},
                                   {"memory_bytes", &g.desc.memory_bytes},
                                   {"part_count", &g.desc.part_count},
                                   {"tensor_count", &g.desc.tensor_count, true},
                                   {"op_count", &g.desc.op_count, true},
                                   {"function.kernel_h", &g.function.kernel_h},
                                   {"function.stride_h", &g.function.stride_h},
                                   {"function.repeat_h", &g.function.repeat_h},
                                   {"function.pad_top", &g.function.pad_top},
                                   {"index", &g.index},
                                   {"args.workspace_bytes", &g.args.workspace_bytes},
                                   {"args.concurrency", &g.args.concurrency}};
      for (octet_network_tensor& t : g.tensors)
        counts.insert(counts.end(), {{"batch", &t.batch, true},
                                     {"h", &t.h, true},
                                     {"w", &t.w, true},
                                     {"channels", &t.channels, true},
                                     {"parent", &t.parent},
                                     {"first_channel", &t.first_channel}});
      for (octet_network_op& op : g.ops)
        counts.insert(counts.end(), {{"inputs[0]", &op.inputs[0]},
                                     {"input_count", &op.input_count},
                                     {"output", &op.output}});
      if (given) {
        g.desc.parts = g.parts.data(), g.desc.part_count = g.parts.size();
        for (octet_network_part& part : g.parts)
          counts.insert(counts.end(), {{"first_op", &part.first_op},
                                       {"end_op", &part.end_op},
                                       {"band_lines", &part.band_lines}});
      }
      try_counts(counts,
                 {{"use", [&](bool has_memory, octet_error* e) { return g.use(has_memory, e); }}});
    }
}

// A network may have more tasks than lines, for few lines and for the most lines.
TEST(LargeCounts, OfTasksOfANetwork) {
  octet_network_function function = {fill, nullptr, 3, 1, 1, 1};
  Memory m;
  // Three tensors have to fit in size_t together
  for (const size_t lines : {size_t{7}, size_t{1} << (sizeof(size_t) > 4 ? 31 : 27)})
    for (const octet_network_goal goal :
         {OCTET_NETWORK_TIME, OCTET_NETWORK_TRAFFIC, OCTET_NETWORK_MEMORY, OCTET_NETWORK_LAYERS})
      for (const size_t band : {size_t{0}, size_t{1}, size_t{5}, size_t{1} << 31})
        for (const size_t tasks : kHuge) {
          SCOPED_TRACE(testing::Message() << lines << " lines, " << tasks << " tasks, goal " << goal
                                          << ", bands of " << band);
          octet_network_tensor t[3] = {};
          for (octet_network_tensor& tensor : t) {
            tensor.batch = tensor.w = tensor.channels = 1, tensor.h = lines;
            tensor.type = OCTET_U8, tensor.keep = &tensor != &t[1];
          }
          const octet_network_op ops[] = {{nullptr, nullptr, &function, {0}, 1, 1},
                                          {nullptr, nullptr, &function, {1}, 1, 2}};
          const octet_network_part part = {0, 2, band};
          octet_network_desc desc = OCTET_NETWORK_DESC_INIT;
          desc.tensors = t, desc.tensor_count = 3, desc.ops = ops, desc.op_count = 2;
          desc.concurrency = tasks, desc.goal = goal, desc.allocator = small_memory();
          if (band) desc.parts = &part, desc.part_count = 1;
          octet_network* network = nullptr;
          octet_error error = {};
          ASSERT_EQ(octet_network_create(&desc, &network, &error), OCTET_OK) << error.message;
          size_t bytes = 0;
          EXPECT_EQ(octet_network_workspace(network, &bytes, &error), OCTET_OK) << error.message;
          void* const memory[] = {m.lhs.data(), nullptr, m.dst.data()};
          octet_network_args args = OCTET_NETWORK_ARGS_INIT;
          args.tensors = memory, args.workspace = m.scratch.data(), args.workspace_bytes = bytes;
          args.parallel_for = in_turn, args.concurrency = tasks;
          if (lines == 7) {
            EXPECT_EQ(octet_network_run(network, &args, &error), OCTET_OK) << error.message;
          }
          octet_network_destroy(network);
        }
}

TEST(LargeCounts, OfMachines) {
  octet_machine machine = OCTET_MACHINE_INIT;
  machine.l2_bytes = 1 << 20, machine.l3_bytes = 1 << 22;
  Product p(true);
  Layer l(OCTET_CONV_AUTO);
  Graph g(OCTET_NETWORK_TIME);
  p.desc.machine = l.filter.machine = g.desc.machine = &machine;
  size_t bytes = 0;
  try_counts({{"l2_bytes", &machine.l2_bytes}, {"l3_bytes", &machine.l3_bytes}},
             {{"gemm", [&](bool has_memory, octet_error* e) { return p.use(has_memory, e); }},
              {"network", [&](bool has_memory, octet_error* e) { return g.use(has_memory, e); }},
              {"conv2d", [&](bool, octet_error* e) {
                 return octet_conv2d_pack_size(&l.filter, OCTET_ISA_AUTO, &bytes, e);
               }}});
}

TEST(LargeCounts, OfTraffic) {
  Traffic traffic;
  octet_traffic_options& o = traffic.options;
  size_t index = 0, bytes = 64;
  const auto create = [&](bool, octet_error* e) {
    octet_traffic* other = nullptr;
    const octet_status status = octet_traffic_create(&o, &other, e);
    octet_traffic_destroy(other);
    return status;
  };
  o.layers = 4, o.l1_bytes = 1024;
  try_counts({{"cache_bytes", &o.cache_bytes}, {"layers", &o.layers}, {"l1_bytes", &o.l1_bytes}},
             {{"create", create}}, false);
  octet_layer_traffic layer = OCTET_LAYER_TRAFFIC_INIT;
  try_counts(
      {{"index", &index}},
      {{"begin", [&](bool, octet_error* e) { return octet_traffic_begin(traffic.get, index, e); }},
       {"get",
        [&](bool, octet_error* e) { return octet_traffic_get(traffic.get, index, &layer, e); }}});
  // The walk goes line by line, so it is left out where memory could be so large
  try_counts({{"bytes", &bytes, true}},
             {{"touch", [&](bool has_memory, octet_error* e) {
                 return has_memory
                            ? octet_traffic_touch(traffic.get, &o, bytes, OCTET_OPERAND_INPUT, 0, e)
                            : OCTET_OK;
               }}});
}

}  // namespace
}  // namespace octet_test
