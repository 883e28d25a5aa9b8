// SPDX-License-Identifier: Apache-2.0
// Checks operators of tensors of 16 bits: TensorFlow Lite's 16x8.
#include <functional>
#include <set>

#include "graph/graph_case.h"
#include "support/reference.h"

namespace octet_test {
namespace {

using Shape = std::vector<int64_t>;
using S16 = std::vector<int32_t>;

std::string refusal(const GraphCase& c) {
  for (const std::string& why : would(c.g))
    if (!why.empty()) return why;
  return "";
}

Bytes bytes_of(const S16& s16) {
  Bytes bytes;
  for (const int32_t word : s16)
    bytes.push_back((uint8_t)word), bytes.push_back((uint8_t)(word >> 8));
  return bytes;
}
S16 s16_of(const Bytes& bytes) { return image_of(bytes, OCTET_S16, 1, 1, 1, 1).values; }

// TensorFlow Lite's 16x8: a convolution and a product of its pixels, with biases of 64 bits.
TEST(GraphS16, ConvolutionAndProduct) {
  GraphCase c;
  const float scales[] = {0.001f, 0.01f, 0.004f, 0.002f};  // x, weights, a, y
  const int x = c.input({2, 6, 7, 5}, OCTET_S16, scales[0]), w = c.weights({9, 3, 3, 5}, scales[1]),
            v = c.weights({4, 9}, scales[1]), b = c.bias_of_64_bits(9), d = c.bias_of_64_bits(4),
            a = c.tensor({2, 6, 7, 9}, OCTET_S16, scales[2]),
            y = c.tensor({2, 6, 7, 4}, OCTET_S16, scales[3]);
  c.op(Kind::kConvolution, {x, w, b}, a).window.padding = Padding::kSame;
  c.op(Kind::kProduct, {a, v, d}, y).clamp = {Activation::kRelu};
  c.g.outputs = {a, y};
  for (const std::string& why : would(c.g)) EXPECT_EQ(why, "");
  const auto data = [&](int t) { return c.g.tensors[(size_t)t].data; };
  const Bytes in = c.draw(2 * 6 * 7 * 5 * 2);
  const auto rounded = [](Image acc, float x_scale, float w_scale, float y_scale, int32_t least) {
    int32_t multiplier, shift;
    // TFLite multiplies in double, of a product with one scale of weights in float: the same here
    quantize_multiplier((double)x_scale * (double)w_scale / (double)y_scale, &multiplier, &shift);
    for (int32_t& value : acc.values)
      value = (int32_t)clamped(multiply_s16(value, multiplier, shift), least, 32767);
    return acc;
  };
  const Image made = rounded(convolve(image_of(in, OCTET_S16, 2, 6, 7, 5), 0,
                                      (const int8_t*)data(w), (const int64_t*)data(b), 9, 3, 1, 1),
                             scales[0], scales[1], scales[2], -32768),
              last = rounded(
                  convolve(made, 0, (const int8_t*)data(v), (const int64_t*)data(d), 4, 1, 1, 0),
                  scales[2], scales[1], scales[3], 0);
  const Bytes got = run(*created(c.g), c.g, {in});
  std::vector<int32_t> want = made.values;
  want.insert(want.end(), last.values.begin(), last.values.end());
  EXPECT_EQ(image_of(got, OCTET_S16, 1, 1, 1, 1).values, want);
  EXPECT_GT(std::set<int32_t>(want.begin(), want.end()).size(), 300u);
}

TEST(GraphS16, RefusedProducts) {
  const auto why = [](const std::function<void(GraphCase*)>& change) {
    GraphCase c;
    const int x = c.input({1, 4}, OCTET_S16, 0.1f), w = c.weights({3, 4}), b = c.bias_of_64_bits(3),
              y = c.tensor({1, 3}, OCTET_S16, 0.2f);
    c.op(Kind::kProduct, {x, w, b}, y);
    c.g.outputs = {y};
    change(&c);
    return would(c.g)[0];
  };
  EXPECT_EQ(why([](GraphCase*) {}), "");
  const auto says = [&](const char* text, const std::function<void(GraphCase*)>& change) {
    const std::string said = why(change);
    EXPECT_NE(said.find(text), said.npos) << text << ": " << said;
  };
  says("has the zero point 1; with 16 bits",
       [](GraphCase* c) { c->g.tensors[0].zero_points[0] = 1; });
  says("has the zero point 2; with 16 bits",
       [](GraphCase* c) { c->g.tensors[1].zero_points[0] = 2; });
  says("no constant of int8", [](GraphCase* c) { c->g.tensors[1].type = OCTET_U8; });
  says("but not its output", [](GraphCase* c) { c->g.tensors[3].type = OCTET_S8; });
  says("only TFLite's arithmetic", [](GraphCase* c) { c->g.arithmetic = Arithmetic::kStandard; });
  says("too few bytes", [](GraphCase* c) { c->g.tensors[2].bytes = 23; });
  says("it needs one of int64", [](GraphCase* c) { c->g.ops[0].inputs[2] = c->bias(3); });
  says("is not of int32", [](GraphCase* c) { c->g.tensors[2].int64 = false; });
  says("shifts by", [](GraphCase* c) { c->g.tensors[3].scales[0] = 1e-6f; });
  says("a type that a product of 8 bits does not make", [](GraphCase* c) {
    c->g.arithmetic = Arithmetic::kStandard, c->g.tensors[0].type = OCTET_S8;
  });
}

// Functions of 16 bits refuse other arithmetics, zero points, types beside each other.
TEST(GraphS16, RefusedFunctions) {
  const auto says = [](const char* text, const std::function<void(GraphCase*)>& change) {
    GraphCase c;
    const int x = c.input({1, 2, 2, 4}, OCTET_S16, 0.1f),
              y = c.tensor({1, 2, 2, 4}, OCTET_S16, 0.1f);
    c.op(Kind::kAdd, {x, x}, y);
    c.g.outputs = {y};
    change(&c);
    const std::string why = refusal(c);
    EXPECT_NE(why.find(text), why.npos) << text << ": " << why;
  };
  for (const Kind kind : {Kind::kAdd, Kind::kSubtract, Kind::kMultiply})
    says("OCTET_ARITHMETIC_TFLITE only",
         [&](GraphCase* c) { c->g.arithmetic = Arithmetic::kStandard, c->g.ops[0].kind = kind; });
  for (const Kind kind : {Kind::kTanh, Kind::kActivation, Kind::kAveragePool, Kind::kLeakyRelu,
                          Kind::kSoftmax, Kind::kResizeBilinear})
    says("OCTET_ARITHMETIC_TFLITE only", [&](GraphCase* c) {
      c->g.arithmetic = Arithmetic::kXnnpack, c->g.ops[0].kind = kind;
      c->g.ops[0].inputs = {0};
    });
  says("of OCTET_S16 it must be 0", [](GraphCase* c) { c->g.tensors[0].zero_points = {1}; });
  for (const octet_type type : {OCTET_S8, OCTET_F32})
    says("to the same type, nor from 8 bits to f32", [type](GraphCase* c) {
      c->g.ops[0].kind = Kind::kSoftmax, c->g.ops[0].inputs = {0}, c->g.tensors[1].type = type;
    });
  says("types differ", [](GraphCase* c) { c->g.tensors[1].type = OCTET_S8; });
  says("not of 8 or 16 bits with one scale", [](GraphCase* c) { c->g.tensors[1].scales.clear(); });
  says("of different types", [](GraphCase* c) {
    c->g.ops[0].kind = Kind::kMaxPool, c->g.ops[0].inputs = {0}, c->g.tensors[1].type = OCTET_S8;
  });
  says("16 bits are joined as they are", [](GraphCase* c) {
    c->g.ops[0].kind = Kind::kConcatenate, c->g.ops[0].inputs = {0}, c->g.ops[0].axis = 3;
    c->g.tensors[1].scales = {0.2f};
  });
  // Operators that LiteRT has not of 16 bits, or that Octet has not yet
  const std::pair<Kind, const char*> kinds[] = {
      {Kind::kHardSwish, "which TensorFlow Lite has of 8 bits only"},
      {Kind::kFloats, "its tensors are of 16 bits; division, erf and GELU are tables of 8 bits"}};
  for (const auto& [kind, why] : kinds)
    says(why, [kind = kind](GraphCase* c) {
      c->g.ops[0].kind = kind, c->g.ops[0].inputs = {0};
      c->g.ops[0].steps = {{FloatStep::kErf}};
    });
  says("its tensors are of 16 bits", [](GraphCase* c) {
    c->g.ops[0].kind = Kind::kFloats, c->g.ops[0].inputs = {0}, c->g.tensors[1].type = OCTET_S8;
    c->g.ops[0].steps = {{FloatStep::kErf}};
  });
  says("is OCTET_U8", [](GraphCase* c) {
    c->g.ops[0].kind = Kind::kQuantize, c->g.ops[0].inputs = {0}, c->g.tensors[1].type = OCTET_U8;
  });
}

// Operators that move elements put s16 where they put f32.
TEST(GraphS16, Moves) {
  const std::pair<Kind, Shape> moves[] = {{Kind::kReshape, {2, 6, 4, 4}},
                                          {Kind::kTranspose, {2, 4, 3, 8}},
                                          {Kind::kDepthToSpace, {2, 6, 8, 2}},
                                          {Kind::kSpaceToDepth, {2, 3, 2, 32}}};
  for (const auto& [kind, made] : moves) {
    SCOPED_TRACE(kind_name(kind));
    const bool to_depth = kind == Kind::kSpaceToDepth;
    const Shape given = to_depth ? Shape{2, 6, 4, 8} : Shape{2, 3, 4, 8};
    std::vector<uint32_t> values[2];
    for (const bool s16 : {false, true}) {
      GraphCase c;
      const octet_type type = s16 ? OCTET_S16 : OCTET_F32;
      const int x = c.input(given, type, s16 ? 0.1f : 0), y = c.tensor(made, type, s16 ? 0.1f : 0);
      Op& op = c.op(kind, {x}, y);
      op.block = 2, op.permutation = {0, 2, 1, 3};
      c.g.outputs = {y};
      ASSERT_EQ(refusal(c), "");
      Bytes in;
      for (size_t i = 0; i < c.count(x); ++i)
        for (size_t b = 0; b < (s16 ? 2 : 4); ++b) in.push_back((uint8_t)(i >> 8 * b));
      const Bytes out = run(*created(c.g), c.g, {in});
      for (size_t i = 0; i < out.size(); i += s16 ? 2 : 4)
        values[s16].push_back((uint32_t)(out[i] | out[i + 1] << 8));
    }
    EXPECT_EQ(values[0], values[1]);
  }
}

// ---- functions, of numbers that they give exactly

constexpr float kScale = 0x1p-10f;

// The output of one operator, of tensors with kScale; b: a second input, a constant.
S16 computed(Kind kind, const Shape& in, const Shape& out, const S16& x, const S16& b = {},
             const std::function<void(GraphCase*)>& change = {}) {
  GraphCase c;
  const int from = c.input(in, OCTET_S16, kScale), to = c.tensor(out, OCTET_S16, kScale);
  std::vector<int> inputs = {from};
  if (!b.empty()) inputs.push_back(c.constant({(int64_t)b.size()}, OCTET_S16, bytes_of(b), kScale));
  c.op(kind, inputs, to);
  c.g.outputs = {to};
  if (change) change(&c);
  EXPECT_EQ(refusal(c), "") << kind_name(kind);
  return s16_of(run(*created(c.g), c.g, {bytes_of(x)}));
}

TEST(GraphS16, FunctionsOfTwoTensors) {
  const Shape shape = {1, 1, 2, 2};
  const S16 x = {1000, -30000, 30000, 7}, b = {300, -3000};
  EXPECT_EQ(computed(Kind::kAdd, shape, shape, x, b), (S16{1300, -32768, 30300, -2993}));
  EXPECT_EQ(computed(Kind::kSubtract, shape, shape, x, b), (S16{700, -27000, 29700, 3007}));
  EXPECT_EQ(computed(Kind::kMultiply, shape, shape, x, {2048, -1024}),
            (S16{2000, 30000, 32767, -7}));
  EXPECT_EQ(computed(Kind::kAdd, shape, shape, x, b,
                     [](GraphCase* c) { c->g.ops[0].clamp.activation = Activation::kRelu6; }),
            (S16{1300, 0, 6144, 0}));
  // The constant is the minuend, and one pixel for both.
  EXPECT_EQ(computed(Kind::kSubtract, shape, shape, x, b,
                     [](GraphCase* c) { std::swap(c->g.ops[0].inputs[0], c->g.ops[0].inputs[1]); }),
            (S16{-700, 27000, -29700, -3007}));
}

TEST(GraphS16, FunctionsOfOneValue) {
  const Shape shape = {1, 1, 2, 3};
  const S16 x = {0, 32767, -32768, 400, -400, 7000};
  EXPECT_EQ(computed(Kind::kActivation, shape, shape, x, {},
                     [](GraphCase* c) { c->g.ops[0].clamp.activation = Activation::kRelu; }),
            (S16{0, 32767, 0, 400, 0, 7000}));
  EXPECT_EQ(computed(Kind::kActivation, shape, shape, x, {},
                     [](GraphCase* c) { c->g.ops[0].clamp.activation = Activation::kRelu6; }),
            (S16{0, 6144, 0, 400, 0, 6144}));
  EXPECT_EQ(computed(Kind::kLeakyRelu, shape, shape, x, {},
                     [](GraphCase* c) { c->g.ops[0].alpha = 0.25f; }),
            (S16{0, 32767, -8192, 400, -100, 7000}));
  EXPECT_EQ(computed(Kind::kQuantize, shape, shape, x, {},
                     [](GraphCase* c) { c->g.tensors[1].scales = {kScale / 4}; }),
            (S16{0, 32767, -32768, 1600, -1600, 28000}));
  const auto to_shares = [](GraphCase* c) { c->g.tensors[1].scales = {0x1p-15f}; };
  EXPECT_EQ(computed(Kind::kLogistic, {1, 3}, {1, 3}, {0, 32767, -32768}, {}, to_shares),
            (S16{16384, 32767, 1}));
  EXPECT_EQ(computed(Kind::kTanh, {1, 3}, {1, 3}, {0, 32767, -32768}, {}, to_shares),
            (S16{0, 32767, -32767}));
  // exp(-10) and less are nearly nothing; a quarter each
  EXPECT_EQ(computed(Kind::kSoftmax, {2, 4}, {2, 4}, {7, 7, 7, 7, 32767, -32768, -1, -32768}, {},
                     [](GraphCase* c) { c->g.tensors[1].scales = {0x1p-15f}; }),
            (S16{8192, 8192, 8192, 8192, 32761, 2, 2, 2}));
}

TEST(GraphS16, WindowsAndPlaces) {
  const S16 x = {1000, -30000, 30000, 7, 2000, -20000, 10000, 9};  // two lines of two pixels
  const Shape shape = {1, 2, 2, 2};
  const auto tall = [](GraphCase* c) { c->g.ops[0].window.kernel_h = 2; };
  EXPECT_EQ(computed(Kind::kMaxPool, shape, {1, 1, 2, 2}, x, {}, tall),
            (S16{2000, -20000, 30000, 9}));
  EXPECT_EQ(computed(Kind::kAveragePool, shape, {1, 1, 2, 2}, x, {}, tall),
            (S16{1500, -25000, 20000, 8}));
  EXPECT_EQ(computed(Kind::kMean, shape, {1, 2}, x), (S16{10750, -12496}));
  EXPECT_EQ(computed(Kind::kPad, {1, 1, 2, 2}, {1, 2, 3, 2}, {1, 2, 300, -400}, {},
                     [](GraphCase* c) { c->g.ops[0].window.top = c->g.ops[0].window.left = 1; }),
            (S16{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 300, -400}));
  EXPECT_EQ(computed(Kind::kSlice, {2, 2, 2}, {1, 2, 1}, x, {},
                     [](GraphCase* c) {
                       c->g.ops[0].begins = {1, 0, 1};
                     }),
            (S16{-20000, 9}));
  EXPECT_EQ(computed(Kind::kResizeNearest, {1, 1, 2, 2}, {1, 1, 4, 2}, {1, 2, 300, -400}),
            (S16{1, 2, 1, 2, 300, -400, 300, -400}));
  // Half-way and behind the last pixel, halves away from 0
  EXPECT_EQ(computed(Kind::kResizeBilinear, {1, 1, 2, 2}, {1, 1, 4, 2}, {1, -2, 300, -401}),
            (S16{1, -2, 151, -202, 300, -401, 300, -401}));
}

// Along channels, lines and images, of one input twice: the second one of a network's inputs is
// read as it lies.
TEST(GraphS16, Joins) {
  const S16 x = {1000, -30000, 30000, 7};
  const auto joined = [&](int axis, const Shape& out) {
    return computed(Kind::kConcatenate, {1, 2, 1, 2}, out, x, {}, [&](GraphCase* c) {
      c->g.ops[0].inputs = {0, 0}, c->g.ops[0].axis = axis;
    });
  };
  const S16 twice = {1000, -30000, 30000, 7, 1000, -30000, 30000, 7};
  EXPECT_EQ(joined(0, {2, 2, 1, 2}), twice);
  EXPECT_EQ(joined(1, {1, 4, 1, 2}), twice);
  EXPECT_EQ(joined(3, {1, 2, 1, 4}), (S16{1000, -30000, 1000, -30000, 30000, 7, 30000, 7}));
}

TEST(GraphS16, BordersToBytesAndFloats) {
  GraphCase c;
  const int x = c.input({1, 4}, OCTET_F32), s16 = c.tensor({1, 4}, OCTET_S16, kScale),
            bytes = c.tensor({1, 4}, OCTET_S8, kScale * 256, 3), y = c.tensor({1, 4}, OCTET_F32);
  c.op(Kind::kQuantize, {x}, s16);
  c.op(Kind::kQuantize, {s16}, bytes);
  c.op(Kind::kDequantize, {s16}, y);
  c.g.outputs = {s16, bytes, y};
  ASSERT_EQ(refusal(c), "");
  const float in[] = {1.5f * kScale, -1.5f * kScale, 30000 * kScale, -99};
  Bytes given(sizeof in), wanted = bytes_of(S16{2, -2, 30000, -32768});
  std::memcpy(given.data(), in, sizeof in);
  for (const int byte : {3, 3, 3 + 117, -125}) wanted.push_back((uint8_t)byte);
  const float out[] = {2 * kScale, -2 * kScale, 30000 * kScale, -32768 * kScale};
  wanted.insert(wanted.end(), (const uint8_t*)out, (const uint8_t*)out + sizeof out);
  EXPECT_EQ(run(*created(c.g), c.g, {given}), wanted);
}

// A convolution takes PAD as its own padding, but no ADD as a residual and no QUANTIZE as a table:
// the bytes are those of operators that outputs of the graph keep apart.
TEST(GraphS16, Fusion) {
  for (const bool apart : {false, true}) {
    GraphCase c;
    const int x = c.input({1, 5, 6, 4}, OCTET_S16, 3e-4f),
              p = c.tensor({1, 7, 8, 4}, OCTET_S16, 3e-4f),
              a = c.tensor({1, 5, 6, 4}, OCTET_S16, 4e-4f),
              sum = c.tensor({1, 5, 6, 4}, OCTET_S16, 5e-4f),
              y = c.tensor({1, 5, 6, 4}, OCTET_S8, 0.1f, 4);
    Op& pad = c.op(Kind::kPad, {x}, p);
    pad.window.top = pad.window.bottom = pad.window.left = pad.window.right = 1;
    c.op(Kind::kConvolution, {p, c.weights({4, 3, 3, 4}, 0.01f), c.bias_of_64_bits(4)}, a)
        .window.padding = Padding::kValid;
    c.op(Kind::kAdd, {a, x}, sum);
    c.op(Kind::kQuantize, {sum}, y);
    c.g.outputs = {y};
    if (apart) c.g.outputs = {y, p, a, sum};
    ASSERT_EQ(refusal(c), "");
    const auto program = created(c.g);
    EXPECT_EQ(program->explain().size(), apart ? 4u : 3u);
    static Bytes first;
    Bytes out = run(*program, c.g, {c.draw(5 * 6 * 4 * 2)});
    out.resize(5 * 6 * 4);
    if (!apart) first = out;
    EXPECT_EQ(out, first);
    EXPECT_GT(std::set<uint8_t>(out.begin(), out.end()).size(), 50u);
  }
}

}  // namespace
}  // namespace octet_test
