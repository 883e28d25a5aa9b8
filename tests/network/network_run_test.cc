// SPDX-License-Identifier: Apache-2.0
// Checks that networks give the bytes of their objects called one by one, and that live tensors
// share no byte.
#include "operators/network/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/gemm_case.h"
#include "support/network_case.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

// How a network is created and run. All ways give the same bytes.
struct How {
  size_t concurrency = 1;
  Side side = Side::kBack;
  octet_network_goal goal = OCTET_NETWORK_LAYERS;
  std::vector<octet_network_part> parts;
  size_t cache_bytes = 0, memory_bytes = 0;
};

// A created network, its tensors and its workspace between guard pages.
class Running {
 public:
  Running(const NetworkCase& c, const std::vector<Bytes>& inputs, const How& how) : c_(c) {
    octet_network_desc desc = c.desc();
    desc.concurrency = how.concurrency;
    desc.goal = how.goal, desc.cache_bytes = how.cache_bytes, desc.memory_bytes = how.memory_bytes;
    if (!how.parts.empty()) desc.parts = how.parts.data(), desc.part_count = how.parts.size();
    octet_error error = {};
    EXPECT_EQ(octet_network_create(&desc, &network_, &error), OCTET_OK) << error.message;
    if (!network_) return;
    size_t bytes = 0;
    EXPECT_EQ(octet_network_workspace(network_, &bytes, nullptr), OCTET_OK);
    workspace_ = Guarded(bytes, how.side, OCTET_ALIGNMENT);
    if (bytes) std::memset(workspace_.data(), 0xa5, bytes);  // unwritten bytes must not matter
    pointers_.resize(c.tensors.size());
    for (size_t i = 0; i < c.tensors.size(); ++i) {
      const octet_network_tensor& t = c.tensors[i];
      if (!t.keep) continue;
      memory_[i] =
          inputs[i].empty() ? Guarded(c.bytes_of(i), how.side) : Guarded(inputs[i], how.side);
      if (!inputs[i].empty()) memory_[i].read_only();
      pointers_[i] = memory_[i].data();
    }
    args_.tensors = pointers_.data();
    args_.workspace = workspace_.data(), args_.workspace_bytes = workspace_.bytes();
    args_.parallel_for = threaded_for, args_.concurrency = how.concurrency;
  }
  ~Running() { octet_network_destroy(network_); }

  const octet_network* get() const { return network_; }
  octet_network_args& args() { return args_; }

  void expect(const std::vector<Bytes>& expected) {
    octet_error error = {};
    ASSERT_EQ(octet_network_run(network_, &args_, &error), OCTET_OK) << error.message;
    for (const auto& [i, memory] : memory_)
      EXPECT_EQ(Bytes(memory.data(), memory.data() + memory.bytes()), expected[i])
          << "tensor " << i;
  }

 private:
  const NetworkCase& c_;
  octet_network* network_ = nullptr;
  std::map<size_t, Guarded> memory_;
  Guarded workspace_;
  std::vector<void*> pointers_;
  octet_network_args args_ = OCTET_NETWORK_ARGS_INIT;
};

// ---- the arena, checked without the code that plans it

// A part runs in one step, or, image by image, in one for each image.
struct Step {
  size_t part, image;
};

std::vector<Step> steps_of(const octet_network& n) {
  std::vector<Step> steps;
  for (size_t p = 0, end; p < n.part_count; p = end) {
    for (end = p + 1; n.parts[p].by_image && end < n.part_count && n.parts[end].by_image;) ++end;
    const size_t images = n.parts[p].by_image ? n.tensors[n.ops[n.parts[p].first].output].batch : 1;
    for (size_t image = 0; image < images; ++image)
      for (size_t i = p; i < end; ++i) steps.push_back({i, image});
  }
  return steps;
}

bool uses(const octet_network& n, const octet::NetworkPart& part, size_t alias_root) {
  for (size_t i = part.first; i < part.end; ++i) {
    if (n.tensors[n.ops[i].output].alias_root == alias_root) return true;
    for (size_t k = 0; k < n.ops[i].input_count; ++k)
      if (n.tensors[n.ops[i].inputs[k]].alias_root == alias_root) return true;
  }
  return false;
}

// The steps in which an alias root, or one image of it, is live: first written to last read.
struct Life {
  size_t first = SIZE_MAX, last = 0;
};

constexpr size_t kAll = SIZE_MAX;  // images

Life life_of(const octet_network& n, const std::vector<Step>& steps, size_t alias_root,
             size_t image) {
  Life life;
  for (size_t s = 0; s < steps.size(); ++s)
    if ((image == kAll || steps[s].image == image) && uses(n, n.parts[steps[s].part], alias_root))
      life.first = std::min(life.first, s), life.last = std::max(life.last, s);
  return life;
}

struct Held {
  std::string name;
  Life life;
  size_t begin, end;
};

void expect_apart(const std::vector<Held>& pieces) {
  for (const Held& a : pieces)
    for (const Held& b : pieces) {
      if (&a == &b || a.life.last < b.life.first || b.life.last < a.life.first) continue;
      EXPECT_TRUE(a.end <= b.begin || b.end <= a.begin) << a.name << " meets " << b.name;
    }
}

void check_arena(const octet_network& n) {
  const std::vector<Step> steps = steps_of(n);
  std::vector<Held> pieces;
  size_t maps = 0;
  for (size_t i = 0; i < n.tensor_count; ++i) {
    const octet::NetworkTensor& t = n.tensors[i];
    const Life life = life_of(n, steps, i, kAll);
    if (t.alias_root != i || t.kept || life.first == SIZE_MAX) continue;
    const std::string name = "tensor " + std::to_string(i);
    if (!t.is_ring) {
      const size_t image = t.h * t.w * t.channels * element(t.type),
                   end = t.offset + (t.one_image ? 1 : t.batch) * image;
      for (size_t k = 0; t.one_image && k < t.batch; ++k)
        pieces.push_back({name, life_of(n, steps, i, k), t.offset, end});
      if (!t.one_image) pieces.push_back({name, life, t.offset, end});
      for (size_t s = life.first; s <= life.last && t.one_image; ++s)
        EXPECT_TRUE(n.parts[steps[s].part].by_image) << name;
      maps = std::max(maps, end);
      continue;
    }
    const octet::NetworkPart& part = n.parts[steps[life.first].part];
    EXPECT_TRUE(steps[life.first].part == steps[life.last].part) << name << ": several parts";
    for (size_t task = 0; task < part.tasks; ++task) {
      const size_t begin = part.rings + task * part.ring_bytes + t.offset,
                   end = begin + t.ring_lines * t.w * t.channels * element(t.type);
      EXPECT_LE(end, part.rings + (task + 1) * part.ring_bytes) << name;
      for (size_t s = 0; s < steps.size(); ++s)
        if (&n.parts[steps[s].part] == &part)
          pieces.push_back({name + " of task " + std::to_string(task), {s, s}, begin, end});
      maps = std::max(maps, end);
    }
  }
  for (size_t s = 0; s < steps.size(); ++s) {
    const octet::NetworkPart& part = n.parts[steps[s].part];
    for (size_t task = 0; task < part.tasks && part.scratch_bytes; ++task) {
      const size_t begin = part.scratch + task * part.scratch_bytes;
      pieces.push_back(
          {"scratch " + std::to_string(steps[s].part), {s, s}, begin, begin + part.scratch_bytes});
    }
  }
  for (const Held& piece : pieces) {
    EXPECT_EQ(piece.begin % OCTET_ALIGNMENT, 0u) << piece.name;
    EXPECT_LE(piece.end, n.workspace_bytes) << piece.name;
  }
  expect_apart(pieces);
  EXPECT_LE(maps, n.map_bytes);
  EXPECT_LT(n.map_bytes, maps + OCTET_ALIGNMENT + 1);
}

// ---- tests

TEST(Network, RandomOnesEqualTheirObjectsOneByOne) {
  for (const octet_isa isa : tiers_to_test())
    for (uint32_t seed = 0; seed < 60; ++seed) {
      NetworkCase c(seed);
      c.isa = isa, c.s16 = seed % 3 == 2;
      draw_network(&c, 2 + seed % 12);
      if (HasFailure()) return;
      const std::vector<Bytes> inputs = c.inputs(), expected = c.compute(inputs);
      for (const size_t concurrency : {1, 2, 5}) {
        SCOPED_TRACE(testing::Message()
                     << octet_isa_name(isa) << " seed " << seed << ", " << concurrency << " tasks");
        How how;
        how.concurrency = concurrency, how.side = seed % 2 ? Side::kBack : Side::kFront;
        Running running(c, inputs, how);
        if (HasFailure()) return;
        check_arena(*running.get());
        running.expect(expected);
        if (HasFailure()) return;
      }
    }
}

// A chain of equal tensors needs two of them, however long it is.
TEST(Network, TensorsShareMemory) {
  NetworkCase c(1);
  octet_conv2d_shape s = kernel3(16);
  size_t at = c.tensor(1, 8, 8, 16);
  for (int i = 0; i < 7; ++i) at = c.conv(at, s);
  c.keep_ends();
  const std::vector<Bytes> inputs = c.inputs();
  Running running(c, inputs, {});
  octet_network_explanation e = OCTET_NETWORK_EXPLANATION_INIT;
  ASSERT_EQ(octet_network_explain(running.get(), 0, &e, nullptr), OCTET_OK);
  EXPECT_EQ(e.map_bytes, 2u * 8 * 8 * 16);
  EXPECT_EQ(e.separate_bytes, 6u * 8 * 8 * 16);
  EXPECT_EQ(e.kept_bytes, 2u * 8 * 8 * 16);
  EXPECT_GE(e.workspace_bytes, e.map_bytes + e.scratch_bytes);
}

// A tensor that was written by slices is read as a whole, and slices of a whole tensor are read.
TEST(Network, ConcatenationAndSplitCostNothing) {
  NetworkCase c(2);
  octet_conv2d_shape s = kernel3(12);
  const size_t input = c.tensor(2, 7, 5, 6), whole = c.tensor(2, 7, 5, 20);
  c.conv(input, s, NetworkCase::kNone, c.slice(whole, 8, 12));
  s.out_channels = 8;
  c.conv(input, s, NetworkCase::kNone, c.slice(whole, 0, 8));
  c.conv(whole, s);
  c.conv(c.slice(whole, 3, 11), s);
  c.keep_ends();
  const std::vector<Bytes> inputs = c.inputs();
  Running running(c, inputs, {});
  EXPECT_EQ(running.get()->map_bytes, 1408u);  // 2 * 7 * 5 * 20, aligned
  running.expect(c.compute(inputs));
}

TEST(Network, RunsOftenAndAnywhere) {
  NetworkCase c(5);
  draw_network(&c, 9);
  const std::vector<Bytes> inputs = c.inputs(), expected = c.compute(inputs);
  How how;
  how.concurrency = 3;
  Running running(c, inputs, how);
  for (size_t concurrency : {3, 1, 2}) {
    running.args().concurrency = concurrency;
    std::memset(running.args().workspace, (int)concurrency, running.args().workspace_bytes);
    running.expect(expected);
  }
  running.args().parallel_for = nullptr;
  running.expect(expected);
}

// ---- chains

// As in DenseNet, convolutions read the slices that others wrote of the tensor that they write.
TEST(Network, GrowsATensorSliceBySlice) {
  NetworkCase c(11);
  octet_conv2d_shape s = kernel3(10);
  const size_t input = c.tensor(2, 9, 6, 5), whole = c.tensor(2, 9, 6, 40);
  c.conv(input, s, NetworkCase::kNone, c.slice(whole, 0, 10));
  for (size_t at = 10; at < 40; at += 10)
    c.conv(c.slice(whole, 0, at), s, NetworkCase::kNone, c.slice(whole, at, 10));
  c.conv(whole, s);
  for (const int keep : {0, 1}) {
    c.tensors[whole].keep = keep;
    c.keep_ends();
    const std::vector<Bytes> inputs = c.inputs(), expected = c.compute(inputs);
    for (const size_t concurrency : {1, 3})
      for (const size_t band : {0, 1, 2, 5, 9}) {
        How how;
        how.concurrency = concurrency;
        if (band) how.parts = {{0, 5, band}};
        SCOPED_TRACE(testing::Message() << concurrency << " tasks, band " << band);
        Running running(c, inputs, how);
        if (HasFailure()) return;
        check_arena(*running.get());
        running.expect(expected);
      }
  }
}

// With two tasks both would write the lines that one needs of the other's.
TEST(Network, OneTaskReadsTheTensorThatItsChainEndsIn) {
  NetworkCase c(12);
  octet_conv2d_shape s = kernel3(10);
  const size_t input = c.tensor(1, 9, 6, 5), whole = c.tensor(1, 9, 6, 20);
  c.conv(input, s, NetworkCase::kNone, c.slice(whole, 0, 10));
  c.conv(c.slice(whole, 0, 10), s, NetworkCase::kNone, c.slice(whole, 10, 10));
  c.keep_ends();
  const std::vector<Bytes> inputs = c.inputs(), expected = c.compute(inputs);
  How how;
  how.concurrency = 3;
  how.parts = {{0, 2, 2}};
  Running running(c, inputs, how);
  if (HasFailure()) return;
  octet_network_explanation e = OCTET_NETWORK_EXPLANATION_INIT;
  ASSERT_EQ(octet_network_explain(running.get(), 0, &e, nullptr), OCTET_OK);
  EXPECT_EQ(e.tasks, 1u);
  running.expect(expected);
}

TEST(Network, OneTaskWritesATensorThatOthersRead) {
  NetworkCase c(13);
  octet_conv2d_shape s = kernel3(8);
  const size_t inner = c.conv(c.tensor(1, 9, 6, 5), s), last = c.conv(inner, s);
  for (const bool read : {false, true}) {
    if (read) c.add(inner, last);
    c.keep_ends();
    const std::vector<Bytes> inputs = c.inputs(), expected = c.compute(inputs);
    How how;
    how.concurrency = 3;
    how.parts = {{0, 2, 2}};
    if (read) how.parts.push_back({2, 3, 0});
    Running running(c, inputs, how);
    if (HasFailure()) return;
    octet_network_explanation e = OCTET_NETWORK_EXPLANATION_INIT;
    ASSERT_EQ(octet_network_explain(running.get(), 0, &e, nullptr), OCTET_OK);
    EXPECT_EQ(e.tasks, read ? 1u : 3u);
    running.expect(expected);
  }
}

// An op none of whose lines is read has no work and no memory. Checks chains with it, forced ones
// and the planner's.
void expect_chains(NetworkCase* c, bool rings) {
  c->keep_ends();
  const std::vector<Bytes> inputs = c->inputs(), expected = c->compute(inputs);
  for (const size_t concurrency : {1, 3})
    for (const size_t band : {1, 2}) {
      How how;
      how.concurrency = concurrency;
      how.parts = {{0, c->ops.size(), band}};
      Running running(*c, inputs, how);
      if (testing::Test::HasFailure()) return;
      octet_network_explanation e = OCTET_NETWORK_EXPLANATION_INIT;
      ASSERT_EQ(octet_network_explain(running.get(), 0, &e, nullptr), OCTET_OK);
      EXPECT_EQ(e.ring_bytes != 0, rings);
      check_arena(*running.get());
      running.expect(expected);
    }
  for (const octet_network_goal goal :
       {OCTET_NETWORK_TIME, OCTET_NETWORK_TRAFFIC, OCTET_NETWORK_MEMORY, OCTET_NETWORK_LAYERS}) {
    How how;
    how.goal = goal, how.cache_bytes = 4096;
    Running(*c, inputs, how).expect(expected);
  }
}

TEST(Network, AConvolutionReadsPaddingOnly) {
  for (int algorithm = 0; algorithm <= OCTET_CONV_GROUPED; ++algorithm) {
    if (algorithm == OCTET_CONV_WINOGRAD_2X2_INT8) continue;
    SCOPED_TRACE(octet_conv_algorithm_name((octet_conv_algorithm)algorithm));
    NetworkCase c(14);
    octet_conv2d_shape first = kernel3(8);
    if (algorithm == OCTET_CONV_DEPTHWISE) first.groups = 8;
    const size_t inner = c.conv(c.tensor(1, 4, 4, 8), first, NetworkCase::kNone, NetworkCase::kNew,
                                (octet_conv_algorithm)algorithm);
    octet_conv2d_shape second = OCTET_CONV2D_SHAPE_INIT;
    second.kernel_h = second.kernel_w = 1, second.out_channels = 8;
    second.pad_top = 7, second.stride_h = 12;
    c.conv(inner, second);
    expect_chains(&c, false);
  }
}

TEST(Network, AProductAndAFunctionAreReadInPaddingOnly) {
  NetworkCase c(15);
  c.pool(c.pool(c.gemm(c.tensor(1, 4, 4, 8), 8), 3, 1, 1), 1, 20, 7);
  expect_chains(&c, false);
}

// A slice that no op reads is written after another that was read.
TEST(Network, ABranchLeadsNowhere) {
  NetworkCase c(16);
  const size_t input = c.tensor(1, 12, 5, 16), whole = c.tensor(1, 12, 5, 32),
               a = c.slice(whole, 0, 16), b = c.slice(whole, 16, 16);
  c.conv(input, kernel3(16), NetworkCase::kNone, a);
  const size_t last = c.tensor(1, 12, 5, 16);
  c.conv(a, kernel3(16), NetworkCase::kNone, last);
  c.conv(last, kernel3(16), NetworkCase::kNone, b);
  c.add(last, last);
  expect_chains(&c, true);
}

// Cuts all ops into random chains, but none that refuse_chain refuses.
std::vector<octet_network_part> draw_parts(const octet_network& n, Draw* draw, size_t band) {
  std::vector<octet_network_part> parts;
  for (size_t at = 0; at < n.op_count;) {
    size_t end = at + 1 + draw->below(n.op_count - at);
    if (draw->one_in(3)) end = n.op_count;
    while (end > at + 1 && octet::refuse_chain(n, at, end)) --end;
    const bool chain = !octet::refuse_chain(n, at, end);
    parts.push_back({at, end, chain ? band ? band : n.tensors[n.ops[end - 1].output].h : 0});
    at = end;
  }
  return parts;
}

std::string described(const std::vector<octet_network_part>& parts) {
  std::string text;
  for (const octet_network_part& p : parts)
    text += " [" + std::to_string(p.first_op) + ", " + std::to_string(p.end_op) + ") by " +
            std::to_string(p.band_lines & ~OCTET_NETWORK_BY_IMAGE) +
            (p.band_lines & OCTET_NETWORK_BY_IMAGE ? " by image" : "");
  return text;
}

// Images run one by one, together, and one by one again, in chains and in layers.
TEST(Network, ImageByImageEqualsLayers) {
  size_t by_image = 0, one_image = 0, less = 0;
  for (const octet_isa isa : tiers_to_test())
    for (uint32_t seed = 400; seed < 480; ++seed) {
      NetworkCase c(seed);
      c.isa = isa, c.s16 = seed % 3 == 2;
      c.batch = 2 + seed % 3;
      draw_network(&c, 2 + seed % 12);
      if (HasFailure()) return;
      const std::vector<Bytes> inputs = c.inputs(), expected = c.compute(inputs);
      const Running layers(c, inputs, {});
      for (const size_t band : {1, 3, 4, 0}) {
        How how;
        how.concurrency = 1 + (seed + band) % 3;
        how.side = band % 2 ? Side::kBack : Side::kFront;
        how.parts = draw_parts(*layers.get(), &c.draw, band);
        const bool all = seed % 4 == 0;
        for (octet_network_part& part : how.parts) {
          bool by_lines = false;
          for (size_t i = part.first_op; i < part.end_op; ++i)
            by_lines |= octet::by_lines_only(*layers.get(), i);
          if (!by_lines && c.draw.one_in(3)) part.band_lines = 0;
          if (all || c.draw.one_in(2)) part.band_lines |= OCTET_NETWORK_BY_IMAGE;
        }
        SCOPED_TRACE(testing::Message() << octet_isa_name(isa) << " seed " << seed << ", "
                                        << how.concurrency << " tasks," << described(how.parts));
        Running running(c, inputs, how);
        if (HasFailure()) return;
        check_arena(*running.get());
        for (size_t p = 0; p < running.get()->part_count; ++p) {
          octet_network_explanation e = OCTET_NETWORK_EXPLANATION_INIT;
          ASSERT_EQ(octet_network_explain(running.get(), p, &e, nullptr), OCTET_OK);
          EXPECT_EQ(e.part.band_lines, how.parts[p].band_lines);
          by_image += running.get()->parts[p].by_image;
        }
        for (size_t i = 0; i < running.get()->tensor_count; ++i)
          one_image += running.get()->tensors[i].one_image;
        less += running.get()->map_bytes < layers.get()->map_bytes;
        running.expect(expected);
        if (HasFailure()) return;
      }
    }
  EXPECT_GT(by_image, 200u);
  EXPECT_GT(one_image, 100u);
  EXPECT_GT(less, 50u);
}

TEST(Network, ChainsEqualLayers) {
  size_t rings = 0, sliced = 0;
  for (const octet_isa isa : tiers_to_test())
    for (uint32_t seed = 100; seed < 160; ++seed) {
      NetworkCase c(seed);
      c.isa = isa, c.s16 = seed % 3 == 2;
      draw_network(&c, 2 + seed % 12);
      if (HasFailure()) return;
      const std::vector<Bytes> inputs = c.inputs(), expected = c.compute(inputs);
      const Running layers(c, inputs, {});
      for (const size_t band : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0}) {
        How how;
        how.concurrency = 1 + (seed + band) % 4;
        how.side = band % 2 ? Side::kBack : Side::kFront;
        how.parts = draw_parts(*layers.get(), &c.draw, band);
        SCOPED_TRACE(testing::Message() << octet_isa_name(isa) << " seed " << seed << ", "
                                        << how.concurrency << " tasks," << described(how.parts));
        Running running(c, inputs, how);
        if (HasFailure()) return;
        check_arena(*running.get());
        for (size_t i = 0; i < running.get()->tensor_count; ++i)
          rings += running.get()->tensors[i].is_ring;
        for (size_t p = 0; p < running.get()->part_count; ++p)
          sliced += running.get()->parts[p].tasks > 1;
        running.expect(expected);
        if (HasFailure()) return;
      }
    }
  EXPECT_GT(rings, 1000u);
  EXPECT_GT(sliced, 100u);
}

// Every goal and cache gives the same bytes.
TEST(Network, GoalsGiveTheSameBytes) {
  for (uint32_t seed = 200; seed < 230; ++seed) {
    NetworkCase c(seed);
    if (seed % 2) c.batch = 2 + seed % 5;
    draw_network(&c, 3 + seed % 11);
    if (HasFailure()) return;
    const std::vector<Bytes> inputs = c.inputs(), expected = c.compute(inputs);
    for (const octet_network_goal goal :
         {OCTET_NETWORK_TIME, OCTET_NETWORK_TRAFFIC, OCTET_NETWORK_MEMORY, OCTET_NETWORK_LAYERS})
      for (const size_t cache : {0, 1000, 20000}) {
        How how;
        how.goal = goal, how.cache_bytes = cache, how.concurrency = 1 + seed % 3;
        SCOPED_TRACE(testing::Message()
                     << "seed " << seed << " goal " << goal << " cache " << cache);
        Running running(c, inputs, how);
        if (HasFailure()) return;
        check_arena(*running.get());
        running.expect(expected);
        if (HasFailure()) return;
      }
  }
}

// Plans fit the smallest memory and any size between it and layer by layer; one byte less is
// refused, and the message has the smallest size.
TEST(Network, WithinMemory) {
  size_t less = 0, chosen = 0;
  for (uint32_t seed = 300; seed < 320; ++seed) {
    NetworkCase c(seed);
    draw_network(&c, 3 + seed % 11);
    if (HasFailure()) return;
    const std::vector<Bytes> inputs = c.inputs(), expected = c.compute(inputs);
    const Running layers(c, inputs, {});
    How how;
    how.goal = OCTET_NETWORK_MEMORY;
    const Running smallest(c, inputs, how);
    const size_t least = smallest.get()->map_bytes, most = layers.get()->map_bytes;
    EXPECT_LE(least, most) << "seed " << seed;
    less += least < most;
    for (size_t memory = most; least && memory >= least; memory -= (most - least) / 3 + 1) {
      how.memory_bytes = memory;
      Running running(c, inputs, how);
      if (HasFailure()) return;
      EXPECT_LE(running.get()->map_bytes, memory) << "seed " << seed;
      chosen += running.get()->map_bytes > least;  // spare memory is used for time
      check_arena(*running.get());
      running.expect(expected);
    }
    if (least < 2) continue;
    octet_network_desc desc = c.desc();
    desc.goal = OCTET_NETWORK_MEMORY, desc.memory_bytes = 1;
    octet_network* network = nullptr;
    octet_error error = {};
    EXPECT_EQ(octet_network_create(&desc, &network, &error), OCTET_BAD_SIZE);
    const std::string message = error.message, words = "need at least ";
    const size_t at = message.find(words);
    ASSERT_NE(at, std::string::npos) << message;
    desc.memory_bytes = std::stoul(message.substr(at + words.size()));
    EXPECT_LE(desc.memory_bytes, most);
    EXPECT_EQ(octet_network_create(&desc, &network, &error), OCTET_OK) << error.message;
    octet_network_destroy(network);
  }
  EXPECT_GT(less, 10u);
  EXPECT_GT(chosen, 10u);
}

}  // namespace
}  // namespace octet_test
