// SPDX-License-Identifier: Apache-2.0
// Checks whole programs: products, functions, fusion, batches, kept weights.
#include <algorithm>
#include <cstring>
#include <functional>
#include <thread>

#include "engines/graph/fuse.h"
#include "graph/graph_case.h"
#include "support/guarded.h"

namespace octet_test {
namespace {

constexpr float kIn = 0.05f, kWeights = 0.01f, kOut = 0.11f;

// A 3x3 convolution of 2x6x5x4 to 8 channels, SAME.
struct OneConv : GraphCase {
  int x, w, b, y;
  explicit OneConv(Arithmetic arithmetic) {
    g.arithmetic = arithmetic;
    x = input({2, 6, 5, 4}, OCTET_S8, kIn, 3);
    w = weights({8, 3, 3, 4}, kWeights), b = bias(8);
    g.tensors[(size_t)b].scales = {kIn * kWeights};
    y = tensor({2, 6, 5, 8}, OCTET_S8, kOut, -5);
    Op& conv = op(Kind::kConvolution, {x, w, b}, y);
    conv.window.padding = Padding::kSame;
    conv.clamp.activation = Activation::kRelu6;
    g.outputs = {y};
  }
  Image accumulators(const Bytes& in) const {
    return convolve(image_of(in, OCTET_S8, 2, 6, 5, 4), 3, (const int8_t*)g.tensors[(size_t)w].data,
                    (const int32_t*)g.tensors[(size_t)b].data, 8, 3, 1, 1);
  }
};

TEST(Graph, ConvolutionInEachArithmetic) {
  for (const Arithmetic arithmetic : {Arithmetic::kTflite, Arithmetic::kXnnpack,
                                      Arithmetic::kOnnxruntime, Arithmetic::kStandard}) {
    OneConv c(arithmetic);
    const Bytes in = c.draw(c.count(c.x));
    const Image acc = c.accumulators(in);
    const Bytes out = run(*created(c.g), c.g, {in});
    ASSERT_EQ(out.size(), acc.values.size());
    const float scale = kIn * kWeights / kOut;
    const auto most = (int32_t)std::nearbyint(6 / kOut) - 5;
    for (size_t i = 0; i < out.size(); ++i) {
      const int32_t steps =
          arithmetic == Arithmetic::kTflite
              ? tflite_rescale(acc.values[i], (double)kIn * (double)kWeights / (double)kOut)
              : (int32_t)std::nearbyint((float)acc.values[i] * scale);
      ASSERT_EQ((int8_t)out[i], std::clamp(steps - 5, -5, most)) << i;
    }
  }
}

// Factors of 1/128: halves go away from zero, and what two roundings would make a half does not.
TEST(Graph, ProductRoundedOnceInDouble) {
  GraphCase c;
  const int x = c.input({8, 1}, OCTET_S8, 0.5f, 3), w = c.weights({300, 1}, 0.5f), b = c.bias(300);
  const int y = c.tensor({8, 300}, OCTET_S8, 32, 5);
  c.op(Kind::kProduct, {x, w, b}, y).in_double = true;
  c.g.outputs = {y};
  const Bytes in = c.draw(8), out = run(*created(c.g), c.g, {in});
  const auto* const weights = (const int8_t*)c.g.tensors[(size_t)w].data;
  const auto* const bias = (const int32_t*)c.g.tensors[(size_t)b].data;
  size_t halves = 0, twice = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const int32_t acc = ((int8_t)in[i / 300] - 3) * weights[i % 300] + bias[i % 300];
    const auto steps = (int32_t)std::round(acc / 128.0);
    ASSERT_EQ((int8_t)out[i], std::clamp(steps + 5, -128, 127)) << i;
    halves += std::abs(acc) % 128 == 64, twice += tflite_rescale(acc, 1 / 128.0) != steps;
  }
  EXPECT_GT(halves, 0u);
  EXPECT_GT(twice, 0u);
}

TEST(Graph, ProductsInDoubleTakeNoResidual) {
  for (const bool in_double : {false, true}) {
    GraphCase c;
    const int x = c.input({8, 4}, OCTET_S8, 0.5f, 3), r = c.input({8, 5}, OCTET_S8, 30, 1);
    const int y = c.tensor({8, 5}, OCTET_S8, 32, 5), sum = c.tensor({8, 5}, OCTET_S8, 50, -7);
    c.op(Kind::kProduct, {x, c.weights({5, 4}, 0.5f), c.bias(5)}, y).in_double = in_double;
    c.op(Kind::kAdd, {y, r}, sum);
    c.g.outputs = {sum};
    EXPECT_EQ(created(c.g)->fused(), in_double ? 0u : 1u);
  }
}

TEST(Graph, ProductOfRowsAndOfImages) {
  for (const bool images : {false, true}) {
    GraphCase c;
    c.g.arithmetic = Arithmetic::kStandard;
    const int x = c.input({3, 2, 2, 4}, OCTET_U8, 0.5f, 7);
    const int64_t k = images ? 16 : 4;
    const int w = c.weights({k, 6}, 0.25f);
    const int y = images ? c.tensor({3, 6}, OCTET_S32) : c.tensor({3, 2, 2, 6}, OCTET_S32);
    c.op(Kind::kProduct, {x, w}, y).weights_kn = true;
    c.g.outputs = {y};
    const Bytes in = c.draw(48), out = run(*created(c.g), c.g, {in});
    const auto* weights = (const int8_t*)c.g.tensors[(size_t)w].data;
    for (size_t row = 0; row < 48 / (size_t)k; ++row)
      for (size_t n = 0; n < 6; ++n) {
        int32_t acc = 0, got = 0;
        for (size_t i = 0; i < (size_t)k; ++i)
          acc += (in[row * (size_t)k + i] - 7) * weights[i * 6 + n];
        std::memcpy(&got, &out[(row * 6 + n) * 4], 4);
        ASSERT_EQ(got, acc);
      }
  }
}

// x -> conv a -> ADD(conv b of x) -> maximum of windows, TFLite.
struct Block : GraphCase {
  Block() {
    const int x = input({2, 6, 5, 8}, OCTET_S8, 0.04f, -9);
    const int a = tensor({2, 6, 5, 8}, OCTET_S8, 0.07f, 11);
    const int sum = tensor({2, 6, 5, 8}, OCTET_S8, 0.09f, 2);
    const int y = tensor({2, 3, 2, 8}, OCTET_S8, 0.09f, 2);
    op(Kind::kConvolution, {x, weights({8, 3, 3, 8}), bias(8)}, a).window.padding = Padding::kSame;
    g.ops[0].clamp.activation = Activation::kRelu;
    op(Kind::kAdd, {x, a}, sum).clamp.activation = Activation::kRelu6;
    Op& pool = op(Kind::kMaxPool, {sum}, y);
    pool.window.kernel_h = pool.window.kernel_w = pool.window.stride_h = pool.window.stride_w = 2;
    g.outputs = {y};
  }
};

TEST(Graph, ResidualFusionKeepsBytes) {
  for (const size_t first : {0, 1}) {
    Block c;
    std::swap(c.g.ops[1].inputs[0], c.g.ops[1].inputs[first]);
    ProgramOptions unfused;
    unfused.fuse = false;
    const auto a = created(c.g), b = created(c.g, unfused);
    EXPECT_EQ(a->fused(), 1u);
    EXPECT_EQ(b->fused(), 0u);
    const Bytes in = c.draw(480);
    EXPECT_EQ(run(*a, c.g, {in}), run(*b, c.g, {in}));
  }
}

TEST(Graph, LaterOfTwoConvolutionsTakesTheAddition) {
  for (const octet_type type : {OCTET_S8, OCTET_U8}) {
    GraphCase c;
    const int32_t zero = type == OCTET_U8 ? 128 : 0;
    const auto image = [&](float scale, int32_t z) {
      return c.tensor({1, 5, 4, 8}, type, scale, z + zero);
    };
    const int x = c.input({1, 5, 4, 8}, type, 0.05f, zero - 3);
    const int a = image(0.05f, 20), b = image(0.06f, 7), y = image(0.08f, -5);
    for (const int made : {a, b}) {
      Op& conv = c.op(Kind::kConvolution, {x, c.weights({8, 3, 3, 8}, 0.004f, type)}, made);
      conv.window.padding = Padding::kSame;
    }
    c.op(Kind::kAdd, {a, b}, y);
    c.g.outputs = {y};
    EXPECT_EQ(fuse(c.g).ops.at(1).made_of, (std::vector<size_t>{1, 2}));
    ProgramOptions unfused;
    unfused.fuse = false;
    const Bytes in = c.draw(160);
    EXPECT_EQ(run(*created(c.g), c.g, {in}), run(*created(c.g, unfused), c.g, {in}));
  }
}

TEST(Graph, NoFusionOfWhatIsReadElsewhere) {
  Block c;
  c.g.outputs.push_back(c.g.ops[0].outputs[0]);
  EXPECT_EQ(created(c.g)->fused(), 0u);
}

TEST(Graph, PaddingAndTablesBecomePartOfConvolutions) {
  GraphCase c;
  const int x = c.input({1, 5, 5, 4}, OCTET_U8, 0.1f, 13);
  const int padded = c.tensor({1, 8, 7, 4}, OCTET_U8, 0.1f, 13);
  const int made = c.tensor({1, 6, 5, 8}, OCTET_U8, 0.2f, 40);
  const int y = c.tensor({1, 6, 5, 8}, OCTET_U8, 0.3f, 100);
  Op& pad = c.op(Kind::kPad, {x}, padded);
  pad.window.top = 1, pad.window.bottom = 2, pad.window.left = pad.window.right = 1;
  c.op(Kind::kConvolution, {padded, c.weights({8, 3, 3, 4}, 0.01f, OCTET_U8), c.bias(8)}, made)
      .window.padding = Padding::kValid;
  c.op(Kind::kQuantize, {made}, y).clamp.activation = Activation::kRelu;
  c.g.outputs = {y};
  ProgramOptions unfused;
  unfused.fuse = false;
  const auto a = created(c.g), b = created(c.g, unfused);
  EXPECT_EQ(a->fused(), 2u);
  EXPECT_EQ(a->explain().size(), 1u);
  const Bytes in = c.draw(100), out = run(*a, c.g, {in});
  EXPECT_EQ(out, run(*b, c.g, {in}));
  EXPECT_NE(out, Bytes(out.size(), out[0]));
  const Graph fused = fuse(c.g);
  EXPECT_EQ(fused.ops[0].made_of, (std::vector<size_t>{0, 1, 2}));
}

TEST(Graph, FewerImages) {
  Block c;
  const auto program = created(c.g);
  const Bytes in = c.draw(480), all = run(*program, c.g, {in});
  const Bytes one = run(*program, c.g, {in}, 1, 2);
  EXPECT_EQ(one, Bytes(all.begin(), all.begin() + (std::ptrdiff_t)(all.size() / 2)));
  octet_error error = {};
  ProgramArguments a;
  a.batch = 3;
  EXPECT_EQ(program->run(a, &error), OCTET_SIZE_ABOVE_MAXIMUM);
  EXPECT_NE(strstr(error.message, "created for 2"), nullptr) << error.message;
}

TEST(Graph, AnotherSizePacksNothing) {
  Block c;
  const auto weights = std::make_shared<PackedWeights>();
  created(c.g, {}, weights);
  EXPECT_EQ(weights->packed(), 1u);
  for (Tensor& t : c.g.tensors)
    if (t.shape.size() == 4 && !t.constant) t.shape[0] = 1, t.shape[1] *= 2;
  const auto larger = created(c.g, {}, weights);
  EXPECT_EQ(weights->packed(), 1u);
  run(*larger, c.g, {c.draw(480)});
  c.g.ops[0].inputs[1] = c.weights({8, 3, 3, 8});
  created(c.g, {}, weights);
  EXPECT_EQ(weights->packed(), 2u);
}

TEST(Graph, WeightsAreKnownByTheirContent) {
  OneConv c(Arithmetic::kTflite);
  const auto weights = std::make_shared<PackedWeights>();
  const Bytes in = c.draw(c.count(c.x)), before = run(*created(c.g, {}, weights), c.g, {in});
  Bytes& data = c.data[0];
  const Bytes original = data;
  for (uint8_t& byte : data) byte = (uint8_t)(byte ^ 0x55);
  const Bytes after = run(*created(c.g, {}, weights), c.g, {in});
  EXPECT_EQ(after, run(*created(c.g), c.g, {in}));
  EXPECT_NE(after, before);
  EXPECT_EQ(weights->packed(), 2u);
  c.g.tensors[(size_t)c.w].data = original.data();  // elsewhere
  EXPECT_EQ(run(*created(c.g, {}, weights), c.g, {in}), before);
  EXPECT_EQ(weights->packed(), 2u);
  // Two highest bits of s16 values would cancel in a product without a shift.
  data = original;
  data[7] ^= 0x80, data[15] ^= 0x80;
  c.g.tensors[(size_t)c.w].data = data.data();
  EXPECT_EQ(run(*created(c.g, {}, weights), c.g, {in}), run(*created(c.g), c.g, {in}));
  EXPECT_EQ(weights->packed(), 3u);
}

// Nothing behind the weights is read, and each array counts.
TEST(Graph, WeightsInScaleBlocksAreKnownByAllArrays) {
  constexpr size_t kColumns = 3, kBlocks = 2, kDepth = 32;
  const Guarded data(std::vector<uint8_t>(kColumns * kBlocks * kDepth / 2, 0x5a), Side::kBack);
  std::vector<float> scales(kColumns * kBlocks, 1);
  std::vector<int32_t> zeros(kColumns * kBlocks, 7);
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_U4, rhs.order = OCTET_NK, rhs.n = kColumns, rhs.k = kBlocks * kDepth;
  rhs.data = data.data(), rhs.scales = scales.data(), rhs.zero_points = zeros.data();
  rhs.scale_block = kDepth, rhs.scale_type = OCTET_F32, rhs.zero_point_count = zeros.size();
  PackedWeights weights;
  weights.get(rhs, OCTET_ISA_AUTO), weights.get(rhs, OCTET_ISA_AUTO);
  EXPECT_EQ(weights.packed(), 1u);
  scales.back() = 2, weights.get(rhs, OCTET_ISA_AUTO);
  EXPECT_EQ(weights.packed(), 2u);
  zeros.back() = 8, weights.get(rhs, OCTET_ISA_AUTO);
  EXPECT_EQ(weights.packed(), 3u);
  rhs.scale_block = 2 * kDepth, rhs.zero_point_count = kColumns, weights.get(rhs, OCTET_ISA_AUTO);
  EXPECT_EQ(weights.packed(), 4u);
}

TEST(Graph, ThreadsShareAProgram) {
  Block c;
  const auto program = created(c.g);
  const Bytes in = c.draw(480), expected = run(*program, c.g, {in});
  std::vector<std::thread> threads;
  std::vector<Bytes> got(8);
  for (size_t i = 0; i < got.size(); ++i)
    threads.emplace_back([&, i] {
      for (int n = 0; n < 20; ++n) got[i] = run(*program, c.g, {in}, i % 2 ? 2 : 0, 2);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Bytes& bytes : got) EXPECT_EQ(bytes, expected);
}

TEST(Graph, OperatorsInAnyOrder) {
  Block c;
  const Bytes in = c.draw(480), expected = run(*created(c.g), c.g, {in});
  std::swap(c.g.ops[0], c.g.ops[2]);
  EXPECT_EQ(run(*created(c.g), c.g, {in}), expected);
}

// One operator of one input, of u8 with scale 1 and zero point 0 on either side.
Bytes computed(
    Arithmetic arithmetic, Kind kind, std::vector<int64_t> in, std::vector<int64_t> out,
    const Bytes& bytes, const std::function<void(Op*)>& change = [](Op*) {}) {
  GraphCase c;
  c.g.arithmetic = arithmetic;
  const int x = c.input(std::move(in), OCTET_U8, 1), y = c.tensor(std::move(out), OCTET_U8, 1);
  change(&c.op(kind, {x}, y));
  c.g.outputs = {y};
  return run(*created(c.g), c.g, {bytes});
}

TEST(Graph, ImageFunctions) {
  const Arithmetic standard = Arithmetic::kStandard;
  const Bytes four = {1, 2, 4, 7};
  EXPECT_EQ(computed(standard, Kind::kMaxPool, {1, 2, 2, 1}, {1, 1, 2, 1}, four,
                     [](Op* op) { op->window.kernel_h = 2; }),
            (Bytes{4, 7}));
  EXPECT_EQ(computed(Arithmetic::kTflite, Kind::kAveragePool, {1, 2, 2, 1}, {1, 1, 1, 1}, four,
                     [](Op* op) { op->window.kernel_h = op->window.kernel_w = 2; }),
            (Bytes{4}));
  EXPECT_EQ(computed(Arithmetic::kTflite, Kind::kMean, {1, 2, 2, 1}, {1, 1}, four), (Bytes{4}));
  EXPECT_EQ(computed(standard, Kind::kMean, {1, 2, 2, 1}, {1, 1}, {1, 2, 4, 8}), (Bytes{4}));
  EXPECT_EQ(computed(standard, Kind::kMean, {2, 2, 2, 2}, {2, 2},
                     {0, 9, 1, 9, 2, 9, 3, 8, 7, 0, 7, 0, 7, 0, 9, 1}),
            (Bytes{2, 9, 8, 0}));
  EXPECT_EQ(computed(standard, Kind::kPad, {1, 1, 2, 2}, {1, 2, 3, 2}, four,
                     [](Op* op) { op->window.top = op->window.left = 1; }),
            (Bytes{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 7}));
  EXPECT_EQ(computed(standard, Kind::kSlice, {1, 2, 2}, {1, 1, 2}, four,
                     [](Op* op) {
                       op->begins = {0, 1, 0};
                     }),
            (Bytes{4, 7}));
  EXPECT_EQ(computed(standard, Kind::kResizeNearest, {1, 1, 2, 2}, {1, 1, 4, 2}, four),
            (Bytes{1, 2, 1, 2, 4, 7, 4, 7}));
  EXPECT_EQ(computed(standard, Kind::kResizeBilinear, {1, 1, 2, 2}, {1, 1, 3, 2}, {2, 4, 6, 8},
                     [](Op* op) { op->coordinates = OCTET_COORDINATES_ALIGN_CORNERS; }),
            (Bytes{2, 4, 4, 6, 6, 8}));
}

// The largest of all bytes after RELU6.
int32_t largest(Arithmetic arithmetic, Kind kind, float scale, int32_t zero) {
  GraphCase c;
  c.g.arithmetic = arithmetic;
  const int x = c.input({1, 1, 256, 1}, OCTET_S8, scale, zero);
  const int y = c.tensor({1, 1, 256, 1}, OCTET_S8, scale, zero);
  c.op(kind, {x}, y).clamp.activation = Activation::kRelu6;
  c.g.outputs = {y};
  Bytes in;
  for (int i = 0; i < 256; ++i) in.push_back((uint8_t)i);
  int32_t most = -128;
  for (const uint8_t byte : run(*created(c.g), c.g, {in}))
    most = std::max(most, value(OCTET_S8, byte));
  return most;
}

// 6 is 1.5 or 2.5 steps. LiteRT 2.3 gives these bytes; XNNPACK has no average pool and no RELU6.
TEST(Graph, HalvesOfBounds) {
  const Arithmetic tflite = Arithmetic::kTflite, xnnpack = Arithmetic::kXnnpack;
  EXPECT_EQ(largest(tflite, Kind::kMaxPool, 4, 1), 3);
  EXPECT_EQ(largest(xnnpack, Kind::kMaxPool, 4, 1), 2);
  EXPECT_EQ(largest(Arithmetic::kStandard, Kind::kMaxPool, 4, 1), 3);
  EXPECT_EQ(largest(tflite, Kind::kMaxPool, 2.4f, 0), 3);
  EXPECT_EQ(largest(xnnpack, Kind::kMaxPool, 2.4f, 0), 2);
  EXPECT_EQ(largest(xnnpack, Kind::kMaxPool, 2.4f, 1), 4);
  EXPECT_EQ(largest(Arithmetic::kStandard, Kind::kMaxPool, 2.4f, 1), 3);
  for (const Kind kind : {Kind::kAveragePool, Kind::kActivation})
    EXPECT_EQ(largest(xnnpack, kind, 4, 1), 3);
}

TEST(Graph, QuantizedFloats) {
  const auto quantized = [](Arithmetic arithmetic, const std::vector<float>& reals) {
    GraphCase c;
    c.g.arithmetic = arithmetic;
    const auto n = (int64_t)reals.size();
    const int x = c.input({1, n}, OCTET_F32), y = c.tensor({1, n}, OCTET_S8, 0.3f, 3);
    c.op(Kind::kQuantize, {x}, y);
    c.g.outputs = {y};
    Bytes in(reals.size() * 4);
    std::memcpy(in.data(), reals.data(), in.size());
    std::vector<int32_t> bytes;
    for (const uint8_t byte : run(*created(c.g), c.g, {in})) bytes.push_back((int8_t)byte);
    return bytes;
  };
  // LiteRT 2.3's bytes on x86.
  const std::vector<float> reals = {0.45f, 0.15f, -0.75f,      -0.45f, 2,     100,
                                    0,     1.05f, -3.7500002f, -2.25f, 2.25f, 3.7500002f};
  EXPECT_EQ(quantized(Arithmetic::kTflite, reals),
            (std::vector<int32_t>{4, 4, 0, 2, 10, 127, 3, 6, -10, -4, 10, 16}));
  EXPECT_EQ(quantized(Arithmetic::kXnnpack, reals),
            (std::vector<int32_t>{4, 3, 1, 2, 10, 127, 3, 6, -10, -5, 11, 16}));
  EXPECT_EQ(quantized(Arithmetic::kXnnpack, {HUGE_VALF, -HUGE_VALF, NAN, -1e30f}),
            (std::vector<int32_t>{127, -128, 127, -128}));
}

TEST(Graph, DifferenceAndProduct) {
  for (const Kind kind : {Kind::kSubtract, Kind::kMultiply}) {
    GraphCase c;
    c.g.arithmetic = Arithmetic::kStandard;
    const int a = c.input({1, 4}, OCTET_U8, 1), b = c.input({1, 4}, OCTET_U8, 2);
    c.g.outputs = {c.tensor({1, 4}, OCTET_S8, 4, 1)};
    c.op(kind, {a, b}, c.g.outputs[0]);
    const bool minus = kind == Kind::kSubtract;
    EXPECT_EQ(run(*created(c.g), c.g, {{8, 0, 20, 255}, {2, 2, 4, 0}}),
              minus ? (Bytes{2, 0, 4, 65}) : (Bytes{9, 1, 41, 1}));
  }
}

TEST(Graph, SoftmaxOfEqualsToFloat) {
  GraphCase c;
  c.g.arithmetic = Arithmetic::kOnnxruntime;
  const int x = c.input({2, 4}, OCTET_U8, 1), y = c.tensor({2, 4}, OCTET_F32);
  c.op(Kind::kSoftmax, {x}, y);
  c.g.outputs = {y};
  const Bytes out = run(*created(c.g), c.g, {Bytes(8, 9)});
  for (size_t i = 0; i < 8; ++i) {
    float got;
    std::memcpy(&got, &out[i * 4], 4);
    EXPECT_EQ(got, 0.25f);
  }
}

TEST(Graph, RunsRefuseMissingPointers) {
  Block c;
  const auto program = created(c.g);
  octet_error error = {};
  EXPECT_EQ(program->run({}, &error), OCTET_NULL_POINTER);
  EXPECT_STREQ(error.message, "arguments.inputs[0] is null");
}

}  // namespace
}  // namespace octet_test
