// SPDX-License-Identifier: Apache-2.0
// Checks that int8 which is stored as uint8 gives the bytes of int8.
#include "graph/graph_case.h"

namespace octet_test {
namespace {

constexpr Arithmetic kAll[] = {Arithmetic::kTflite, Arithmetic::kXnnpack, Arithmetic::kOnnxruntime,
                               Arithmetic::kStandard};

size_t unsigned_tensors(const Program& program) {
  const octet_network_desc d = program.description();
  size_t count = 0;
  for (size_t i = 0; i < d.tensor_count; ++i) count += d.tensors[i].type == OCTET_U8;
  return count;
}

// Runs the graph with and without, not fused and fused. Returns how many tensors of the fused one
// are stored as uint8.
size_t compare(GraphCase& c) {
  size_t count = 0;
  const Bytes in = c.draw(c.count(c.g.inputs[0]));
  for (const bool fused : {false, true}) {
    ProgramOptions options;
    options.fuse = fused, options.store_unsigned = false;
    const auto as_int8 = created(c.g, options);
    options.store_unsigned = true;
    const auto stored = created(c.g, options);
    if (!as_int8 || !stored) return 0;
    EXPECT_EQ(unsigned_tensors(*as_int8), 0u);
    EXPECT_EQ(run(*stored, c.g, {in}), run(*as_int8, c.g, {in}));
    count = unsigned_tensors(*stored);
  }
  return count;
}

struct Chain : GraphCase {
  int last;
  explicit Chain(Arithmetic arithmetic) {
    g.arithmetic = arithmetic;
    last = input({1, 9, 8, 8}, OCTET_S8, 0.05f, 3);
  }
  int image(float scale, int32_t zero, int64_t h = 9, int64_t w = 8, int64_t channels = 8) {
    return tensor({1, h, w, channels}, OCTET_S8, scale, zero);
  }
  Op& convolve(int x, int y, float scale = 0.05f) {
    const int64_t in = g.tensors[(size_t)x].shape[3], out = g.tensors[(size_t)y].shape[3];
    const int w = weights({out, 3, 3, in}), b = bias((size_t)out);
    g.tensors[(size_t)b].scales = {scale * 0.01f};
    Op& made = op(Kind::kConvolution, {x, w, b}, y);
    made.window.padding = Padding::kSame;
    return made;
  }
};

// A residual, a table, and what moves bytes.
TEST(GraphStored, GivesTheBytesOfInt8) {
  for (const Arithmetic arithmetic : kAll) {
    SCOPED_TRACE((int)arithmetic);
    Chain c(arithmetic);
    const int a = c.image(0.07f, -11), b = c.image(0.07f, -11), looked = c.image(1 / 256.f, -128),
              sum = c.image(0.09f, 5), joined = c.image(0.09f, 5, 9, 8, 16),
              most = c.image(0.09f, 5, 9, 8, 16), padded = c.image(0.09f, 5, 11, 10, 16),
              nearest = c.image(0.09f, 5, 22, 20, 16), y = c.image(0.2f, -7, 22, 20, 5);
    c.convolve(c.last, a).clamp.activation = Activation::kRelu6;
    c.convolve(a, b, 0.07f);
    c.op(Kind::kLogistic, {b}, looked);
    c.op(Kind::kAdd, {a, looked}, sum).clamp = {Activation::kClip, -3, 9};
    c.op(Kind::kConcatenate, {sum, sum}, joined).axis = 3;
    Op& pool = c.op(Kind::kMaxPool, {joined}, most);
    pool.window.kernel_h = pool.window.kernel_w = 3;
    pool.window.padding = Padding::kSame;
    Op& pad = c.op(Kind::kPad, {most}, padded);
    pad.window.top = pad.window.bottom = pad.window.left = pad.window.right = 1;
    c.op(Kind::kResizeNearest, {padded}, nearest);
    c.convolve(nearest, y, 0.09f).clamp.activation = Activation::kRelu;
    c.g.outputs = {y};
    // ONNX's arithmetic and ONNX Runtime's add floats with zero points in them
    const bool adds = arithmetic == Arithmetic::kTflite || arithmetic == Arithmetic::kXnnpack;
    EXPECT_EQ(compare(c) > 1, adds);
  }
}

TEST(GraphStored, ResidualsOfEachKind) {
  for (const Arithmetic arithmetic : kAll) {
    SCOPED_TRACE((int)arithmetic);
    Chain c(arithmetic);
    const int a = c.image(0.07f, -11), b = c.image(0.08f, 9), sum = c.image(0.09f, 5),
              y = c.image(0.2f, -7);
    c.convolve(c.last, a);
    if (arithmetic == Arithmetic::kTflite || arithmetic == Arithmetic::kXnnpack) {
      c.convolve(a, b, 0.07f).clamp.activation = Activation::kRelu6;
      c.op(Kind::kAdd, {b, a}, sum).clamp.activation = Activation::kRelu;
    } else {
      Op& both = c.convolve(a, sum, 0.07f);
      both.inputs.push_back(a);
      both.product_clamp.activation = Activation::kRelu6;
    }
    c.convolve(sum, y, 0.09f);
    c.g.outputs = {y};
    EXPECT_EQ(compare(c), arithmetic == Arithmetic::kXnnpack ? 3u : 2u);
  }
}

// Averages round halves by their sign, and nothing is stored where no product gains by it, nor at
// the ends, nor where the only byte of an activation is the least.
TEST(GraphStored, StaysInt8WhereSignsMatter) {
  Chain c(Arithmetic::kTflite);
  const int a = c.image(0.07f, -11), mean = c.image(0.07f, -11), y = c.image(0.2f, -7);
  c.convolve(c.last, a);
  Op& pool = c.op(Kind::kAveragePool, {a}, mean);
  pool.window.kernel_h = pool.window.kernel_w = 2;
  pool.window.padding = Padding::kSame;
  c.convolve(mean, y, 0.07f);
  c.g.outputs = {y};
  EXPECT_EQ(compare(c), 0u);

  Chain least(Arithmetic::kTflite);
  const int low = least.image(0.01f, 0), out = least.image(0.2f, -7);
  least.convolve(least.last, low).clamp = {Activation::kClip, -9, -8};
  least.convolve(low, out, 0.01f);
  least.g.outputs = {out};
  EXPECT_EQ(compare(least), 0u);
}

}  // namespace
}  // namespace octet_test
