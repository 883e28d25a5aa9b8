// SPDX-License-Identifier: Apache-2.0
// Checks operators that move elements, and operands that are constants.
#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "graph/graph_case.h"
#include "support/nibbles.h"
#include "support/reference.h"

namespace octet_test {
namespace {

using Shape = std::vector<int64_t>;

std::string refusal(const GraphCase& c) {
  for (const std::string& why : would(c.g))
    if (!why.empty()) return why;
  return "";
}

// x + constant, or constant * x; the constant has `shape`, the tensors {2, 3, 5, 4} or, channels
// first, {2, 4, 3, 5}.
struct WithConstant : GraphCase {
  Bytes data;
  WithConstant(Kind kind, const Shape& shape, bool channels_first, bool constant_is_first) {
    g.arithmetic = Arithmetic::kXnnpack;
    g.channels_first = channels_first;
    const Shape of_images = channels_first ? Shape{2, 4, 3, 5} : Shape{2, 3, 5, 4};
    const int x = input(of_images, OCTET_S8, 0.05f, 3), y = tensor(of_images, OCTET_S8, 0.1f, -5);
    size_t n = 1;
    for (const int64_t size : shape) n *= (size_t)size;
    data = draw(n);
    const int k = constant(shape, OCTET_S8, data, 0.07f);
    op(kind, constant_is_first ? std::vector<int>{k, x} : std::vector<int>{x, k}, y);
    g.outputs = {y};
  }
};

// The constant as an input of the graph, with all elements: index gives the constant's element of
// each of the tensors' places, counted in the graph's order.
template <typename Index>
void compare(Kind kind, const Shape& shape, bool channels_first, const Index& index) {
  for (const bool first : {false, true}) {
    WithConstant c(kind, shape, channels_first, first);
    GraphCase all;
    all.g = c.g;
    Tensor& k = all.g.tensors[2];
    k.constant = false, k.data = nullptr, k.shape = all.g.tensors[0].shape;
    all.g.inputs.push_back(2);
    Bytes expanded;
    for (size_t i = 0; i < c.count(0); ++i) expanded.push_back(c.data[index(i)]);
    const Bytes in = c.draw(c.count(0));
    const auto program = created(c.g);
    const Bytes out = run(*program, c.g, {in});
    EXPECT_EQ(out, run(*created(all.g), all.g, {in, expanded}));
    const Bytes one = run(*program, c.g, {in}, 1, 2);
    EXPECT_EQ(one, Bytes(out.begin(), out.begin() + (ptrdiff_t)one.size()));
  }
}

TEST(GraphOperators, ConstantOperands) {
  const auto scalar = [](size_t) { return 0; };
  for (const bool first : {false, true}) {
    compare(Kind::kAdd, {}, first, scalar);
    compare(Kind::kMultiply, {1}, first, scalar);
    compare(Kind::kAdd, {1, 1, 1, 1}, first, scalar);
    const Shape whole = first ? Shape{4, 3, 5} : Shape{3, 5, 4};
    compare(Kind::kSubtract, whole, first, [](size_t i) { return i % 60; });
  }
  compare(Kind::kAdd, {4}, false, [](size_t i) { return i % 4; });
  compare(Kind::kMultiply, {1, 1, 4}, false, [](size_t i) { return i % 4; });
  compare(Kind::kMultiply, {4, 1, 1}, true, [](size_t i) { return i / 15 % 4; });
  compare(Kind::kAdd, {2, 3, 5, 4}, false, [](size_t i) { return i; });
}

// An odd number of weights: the last byte's high half is none.
TEST(GraphOperators, WeightsOfFourBits) {
  for (const Arithmetic arithmetic : {Arithmetic::kTflite, Arithmetic::kStandard}) {
    std::vector<Bytes> outputs;
    for (const octet_type type : {OCTET_S8, OCTET_S4}) {
      GraphCase c;
      c.g.arithmetic = arithmetic;
      const auto weights = [&](std::vector<int64_t> shape) {
        const int w = c.weights(std::move(shape), 0.02f);
        Bytes& bytes = c.data.back();
        for (uint8_t& byte : bytes) byte = (uint8_t)((byte & 15) - 8);
        if (type == OCTET_S8) return w;
        Tensor& tensor = c.g.tensors[(size_t)w];
        bytes = nibbles_of(bytes);
        tensor.type = type, tensor.data = bytes.data(), tensor.bytes = bytes.size();
        return w;
      };
      const int x = c.input({2, 5, 5, 3}, OCTET_S8, 0.1f, 1),
                a = c.tensor({2, 5, 5, 7}, OCTET_S8, 0.1f),
                b = c.tensor({2, 5, 5, 7}, OCTET_S8, 0.1f), y = c.tensor({2, 9}, OCTET_S8, 0.2f);
      c.op(Kind::kConvolution, {x, weights({7, 3, 3, 3}), c.bias(7)}, a).window.padding =
          Padding::kSame;
      Op& depthwise = c.op(Kind::kConvolution, {a, weights({1, 3, 3, 7}), c.bias(7)}, b);
      depthwise.window.padding = Padding::kSame, depthwise.depthwise = true;
      c.op(Kind::kProduct, {b, weights({9, 175}), c.bias(9)}, y);
      c.g.outputs = {y};
      for (const std::string& why : would(c.g)) EXPECT_EQ(why, "");
      outputs.push_back(run(*created(c.g), c.g, {c.draw(150)}));
    }
    EXPECT_EQ(outputs[0], outputs[1]);
    EXPECT_GT(std::set<uint8_t>(outputs[0].begin(), outputs[0].end()).size(), 4u);
  }
}

// Convolutions of columns of pixels, and the same ones described as lines: in the network both are
// lines. Padding of its own on each side, strides, dilations, each order of filters.
TEST(GraphOperators, ColumnsAreLines) {
  for (const octet_filter_order order : {OCTET_OHWI, OCTET_HWIO, OCTET_OIHW, OCTET_IOHW}) {
    for (const bool depthwise : {false, true}) {
      Bytes outputs[2];
      for (const bool line : {false, true}) {
        const bool transposed = order == OCTET_IOHW && !depthwise;
        GraphCase c;
        c.g.channels_first = order == OCTET_OIHW || order == OCTET_IOHW;
        const auto shape = [&](int64_t n, int64_t length, int64_t channels) {
          Shape s = {n, length, 1, channels};
          if (line) std::swap(s[1], s[2]);
          if (c.g.channels_first) std::rotate(s.begin() + 1, s.begin() + 3, s.end());
          return s;
        };
        Shape kernel = {depthwise ? 1 : 5, 3, 1, 5};
        size_t height = 1;
        if (!depthwise && order == OCTET_HWIO) kernel = {3, 1, 5, 5}, height = 0;
        if (!depthwise && c.g.channels_first) kernel = {5, 5, 3, 1}, height = 2;
        if (line) std::swap(kernel[height], kernel[height + 1]);
        const int64_t length = transposed ? 23 : 5;
        const int x = c.input(shape(2, 11, 5), OCTET_S8, 0.1f, 3),
                  y = c.tensor(shape(2, length, 5), OCTET_S8, 0.2f, -2);
        Op& op = c.op(Kind::kConvolution, {x, c.weights(kernel), c.bias(5)}, y);
        op.order = order, op.depthwise = depthwise, op.transposed = transposed;
        Window& w = op.window;
        (line ? w.stride_w : w.stride_h) = 2;
        (line ? w.dilation_w : w.dilation_h) = 2;
        (line ? w.left : w.top) = 2, (line ? w.right : w.bottom) = 1;
        if (transposed) (line ? op.output_padding_w : op.output_padding_h) = 1;
        c.g.outputs = {y};
        const std::unique_ptr<Program> program = created(c.g);
        ASSERT_TRUE(program);
        const octet_network_desc made = program->description();
        for (size_t i = 0; i < made.op_count; ++i) {
          if (made.ops[i].conv2d) {
            EXPECT_EQ(made.tensors[made.ops[i].output].h, 1u);
          }
        }
        outputs[line] = run(*program, c.g, {c.draw(2 * 11 * 5)});
      }
      EXPECT_EQ(outputs[0], outputs[1]);
      EXPECT_GT(std::set<uint8_t>(outputs[0].begin(), outputs[0].end()).size(), 9u);
    }
  }
}

TEST(GraphOperators, ConstantsThatDoNotFit) {
  EXPECT_NE(refusal(WithConstant(Kind::kAdd, {3, 1}, true, false)).find("broadcast"),
            std::string::npos);
  EXPECT_NE(refusal(WithConstant(Kind::kAdd, {3, 5, 1}, false, true)).find("broadcast"),
            std::string::npos);
  WithConstant both(Kind::kAdd, {4}, false, false);
  both.g.ops[0].inputs = {2, 2};
  EXPECT_NE(refusal(both).find("fold it"), std::string::npos);
  WithConstant none(Kind::kAdd, {4}, false, false);
  none.g.tensors[2].data = nullptr;
  EXPECT_EQ(refusal(none), "");
  std::unique_ptr<Program> program;
  octet_error error = {};
  EXPECT_EQ(Program::create(none.g, {}, nullptr, &program, &error), OCTET_NULL_POINTER);
  EXPECT_STREQ(error.message, "op0: the data of its constant is null");
}

// A place after the other in the output, from the input by its strides.
Bytes transposed(const Bytes& in, const Shape& shape, const Shape& permutation, size_t element) {
  const size_t rank = shape.size();
  std::vector<size_t> strides(rank, element), place(rank);
  for (size_t i = rank - 1; i-- > 0;) strides[i] = strides[i + 1] * (size_t)shape[i + 1];
  Bytes out;
  for (size_t n = 0; n < in.size(); n += element) {
    size_t at = 0;
    for (size_t i = 0; i < rank; ++i) at += place[i] * strides[(size_t)permutation[i]];
    out.insert(out.end(), in.begin() + (ptrdiff_t)at, in.begin() + (ptrdiff_t)(at + element));
    for (size_t i = rank; i-- > 0 && ++place[i] == (size_t)shape[(size_t)permutation[i]];)
      place[i] = 0;
  }
  return out;
}

TEST(GraphOperators, Transpose) {
  const struct {
    Shape shape, permutation;
  } cases[] = {{{2, 3, 4, 5}, {0, 2, 1, 3}},
               {{2, 3, 4, 5}, {0, 3, 1, 2}},
               {{2, 3, 4, 5}, {0, 1, 3, 2}},
               {{2, 3, 4, 5}, {0, 1, 2, 3}},
               {{1, 3, 4, 5}, {3, 1, 0, 2}},
               {{1, 6, 7}, {1, 2, 0}},
               {{3, 7}, {0, 1}},
               {{1, 2, 3, 2, 4}, {0, 3, 1, 4, 2}},
               {{1, 1, 1}, {0, 2, 1}}};
  for (const auto& [shape, permutation] : cases)
    for (const bool first : {false, true})
      for (const octet_type type : {OCTET_U8, OCTET_F32}) {
        GraphCase c;
        c.g.channels_first = first;
        Shape to;
        for (const int64_t axis : permutation) to.push_back(shape[(size_t)axis]);
        const int x = c.input(shape, type), y = c.tensor(to, type);
        c.op(Kind::kTranspose, {x}, y).permutation = permutation;
        c.g.outputs = {y};
        const Bytes in = c.draw(bytes_of(c.g, x));
        EXPECT_EQ(run(*created(c.g), c.g, {in}),
                  transposed(in, shape, permutation, type == OCTET_F32 ? 4 : 1));
      }
}

// A convolution reads a transposition, and a transposition reads a convolution.
TEST(GraphOperators, TransposeBetweenConvolutions) {
  for (const bool first : {false, true}) {
    GraphCase c;
    c.g.channels_first = first;
    const Shape shape = first ? Shape{2, 4, 6, 5} : Shape{2, 6, 5, 4},
                turned = first ? Shape{2, 4, 5, 6} : Shape{2, 5, 6, 4};
    Bytes one(16);
    for (size_t i = 0; i < 4; ++i) one[i * 5] = 1;  // bytes pass through
    const int w = c.constant({4, 1, 1, 4}, OCTET_S8, one, 1);
    const int x = c.input(shape, OCTET_S8, 0.1f), a = c.tensor(shape, OCTET_S8, 0.1f);
    const int t = c.tensor(turned, OCTET_S8, 0.1f), y = c.tensor(turned, OCTET_S8, 0.1f);
    const Shape permutation = first ? Shape{0, 1, 3, 2} : Shape{0, 2, 1, 3};
    c.op(Kind::kConvolution, {x, w}, a);
    c.op(Kind::kTranspose, {a}, t).permutation = permutation;
    c.op(Kind::kConvolution, {t, w}, y);
    c.g.outputs = {y};
    const Bytes in = c.draw(240);
    EXPECT_EQ(run(*created(c.g), c.g, {in}), transposed(in, shape, permutation, 1));
  }
}

// A transposed convolution with stride 1 is an ordinary one by the turned kernel. Of one line or
// one column it runs with longer strides, which give the same bytes.
TEST(GraphOperators, TransposedConvolutionOfOnePixel) {
  constexpr size_t kOut = 5, kIn = 3, kKernel = 4;
  for (const Shape& size : {Shape{1, 1}, Shape{1, 6}, Shape{6, 1}, Shape{3, 2}})
    for (const size_t pad : {0, 1}) {
      GraphCase c;
      const int64_t h = size[0] + 3 - 2 * (int64_t)pad, w = size[1] + 3 - 2 * (int64_t)pad;
      const Bytes kernel = c.draw(kOut * kKernel * kKernel * kIn), in = c.draw(2 * 6 * kIn);
      Bytes outputs[2], turned = kernel;
      for (size_t o = 0; o < kOut; ++o)
        for (size_t at = 0; at < kKernel * kKernel; ++at)
          for (size_t i = 0; i < kIn; ++i)
            turned[(o * kKernel * kKernel + at) * kIn + i] =
                kernel[(o * kKernel * kKernel + kKernel * kKernel - 1 - at) * kIn + i];
      for (const bool transposed : {false, true}) {
        GraphCase one;
        const int x = one.input({2, size[0], size[1], kIn}, OCTET_S8, 0.1f, 7),
                  y = one.tensor({2, h, w, kOut}, OCTET_S8, 0.5f, -9);
        const int weights = one.constant({kOut, kKernel, kKernel, kIn}, OCTET_S8,
                                         transposed ? kernel : turned, 0.01f);
        const int b = one.bias(kOut);
        Op& op = one.op(Kind::kConvolution, {x, weights, b}, y);
        op.transposed = transposed;
        op.window.top = op.window.bottom = op.window.left = op.window.right =
            transposed ? pad : kKernel - 1 - pad;
        one.g.outputs = {y};
        outputs[transposed] =
            run(*created(one.g), one.g, {Bytes(in.begin(), in.begin() + (int)bytes_of(one.g, x))});
      }
      EXPECT_EQ(outputs[0], outputs[1]) << size[0] << " x " << size[1] << ", padding " << pad;
    }
}

TEST(GraphOperators, TransposesThatDoNotFit) {
  for (const Shape& permutation : {Shape{0, 1}, Shape{0, 1, 1}, Shape{0, 1, 3}, Shape{0, -1, 2},
                                   Shape{0, 2, 1}, Shape{1, 0, 2}}) {
    GraphCase c;
    const int x = c.input({2, 3, 4}, OCTET_S8, 0.1f), y = c.tensor({2, 3, 4}, OCTET_S8, 0.1f);
    c.op(Kind::kTranspose, {x}, y).permutation = permutation;
    c.g.outputs = {y};
    EXPECT_NE(refusal(c).find("permutation"), std::string::npos);
  }
}

TEST(GraphOperators, DepthToSpace) {
  for (const int how : {0, 1, 2, 3}) {
    const bool first = how % 2 != 0, together = how > 1;
    GraphCase c;
    c.g.channels_first = first;
    const int x = c.input(first ? Shape{2, 12, 3, 2} : Shape{2, 3, 2, 12}, OCTET_S8, 0.1f);
    const int y = c.tensor(first ? Shape{2, 3, 6, 4} : Shape{2, 6, 4, 3}, OCTET_S8, 0.1f);
    Op& op = c.op(Kind::kDepthToSpace, {x}, y);
    op.block = 2, op.pixels_together = together;
    c.g.outputs = {y};
    const Bytes in = c.draw(144), out = run(*created(c.g), c.g, {in});
    for (size_t n = 0; n < 2; ++n)
      for (size_t h = 0; h < 6; ++h)
        for (size_t w = 0; w < 4; ++w)
          for (size_t i = 0; i < 3; ++i) {
            const size_t pixel = h % 2 * 2 + w % 2,
                         channel = together ? i * 4 + pixel : pixel * 3 + i;
            const size_t from = first ? ((n * 12 + channel) * 3 + h / 2) * 2 + w / 2
                                      : ((n * 3 + h / 2) * 2 + w / 2) * 12 + channel;
            const size_t to = first ? ((n * 3 + i) * 6 + h) * 4 + w : ((n * 6 + h) * 4 + w) * 3 + i;
            ASSERT_EQ(out[to], in[from]);
          }
    if (together) continue;
    // The other way round gives the input's bytes again.
    GraphCase back;
    back.g.channels_first = first;
    const int from = back.input(c.g.tensors[(size_t)y].shape, OCTET_S8, 0.1f);
    const int to = back.tensor(c.g.tensors[(size_t)x].shape, OCTET_S8, 0.1f);
    Op& other = back.op(Kind::kSpaceToDepth, {from}, to);
    other.block = 2;
    back.g.outputs = {to};
    EXPECT_EQ(run(*created(back.g), back.g, {out}), in);
    other.block = 0;
    EXPECT_NE(refusal(back).find("blocks of 0 pixels"), std::string::npos);
    op.block = 3;
    EXPECT_NE(refusal(c).find("blocks of 3 pixels"), std::string::npos);
  }
}

// TensorFlow Lite joins u8 by one float product, XNNPACK requantizes in 8 bits after the point.
TEST(GraphOperators, RequantizationsOfEngines) {
  Bytes in(256);
  std::iota(in.begin(), in.end(), (uint8_t)0);
  for (const bool join : {true, false}) {
    GraphCase c;
    c.g.arithmetic = join ? Arithmetic::kTflite : Arithmetic::kXnnpack;
    const octet_type type = join ? OCTET_U8 : OCTET_S8;
    const int x = c.input({1, 256}, type, 0.05f, 7), y = c.tensor({1, 256}, type, 0.07f, 3);
    c.op(join ? Kind::kConcatenate : Kind::kQuantize, {x}, y).axis = 1;
    c.g.outputs = {y};
    const Bytes out = run(*created(c.g), c.g, {in});
    for (size_t i = 0; i < 256; ++i) {
      const int32_t steps = value(type, in[i]) - 7, multiplier = 183;  // 256 * 0.05 / 0.07
      const float scale = 0.05f * (1 / 0.07f);
      const double expected = join ? std::round((float)in[i] * scale + -7.f * scale) + 3
                                   : std::floor((steps * multiplier + 128) / 256.) + 3;
      ASSERT_EQ(value(type, out[i]), std::clamp(expected, join ? 0. : -128., join ? 255. : 127.));
    }
  }
}

// By itself, and as a part of a convolution.
TEST(GraphOperators, FunctionsOfOneValue) {
  const struct {
    Kind kind;
    octet_unary function;
  } functions[] = {{Kind::kLogistic, OCTET_UNARY_LOGISTIC},
                   {Kind::kTanh, OCTET_UNARY_TANH},
                   {Kind::kHardSwish, OCTET_UNARY_HARD_SWISH},
                   {Kind::kLeakyRelu, OCTET_UNARY_LEAKY_RELU}};
  const std::pair<Arithmetic, octet_arithmetic> arithmetics[] = {
      {Arithmetic::kTflite, OCTET_ARITHMETIC_TFLITE},
      {Arithmetic::kXnnpack, OCTET_ARITHMETIC_XNNPACK},
      {Arithmetic::kOnnxruntime, OCTET_ARITHMETIC_ONNXRUNTIME},
      {Arithmetic::kStandard, OCTET_ARITHMETIC_STANDARD}};
  for (const auto& [kind, function] : functions)
    for (const auto& [arithmetic, name] : arithmetics)
      for (const bool fused : {false, true}) {
        GraphCase c;
        c.g.arithmetic = arithmetic;
        const float out = 1 / 128.f;
        const int x = c.input({1, 8, 8, 4}, OCTET_S8, 0.04f, 5);
        const int y = c.tensor({1, 8, 8, 4}, OCTET_S8, out, -3);
        int from = x;
        if (fused) {
          Bytes one(16);
          for (size_t i = 0; i < 4; ++i) one[i * 5] = 1;  // bytes pass through
          from = c.tensor({1, 8, 8, 4}, OCTET_S8, 0.04f, 5);
          c.op(Kind::kConvolution, {x, c.constant({4, 1, 1, 4}, OCTET_S8, one, 1)}, from);
        }
        c.op(kind, {from}, y).alpha = kind == Kind::kLeakyRelu ? 0.2f : 7;  // of others not read
        c.g.outputs = {y};
        octet_unary_desc d = OCTET_UNARY_DESC_INIT;
        d.input = {OCTET_S8, 0.04f, 5}, d.output = {OCTET_S8, out, -3};
        d.function = function, d.arithmetic = name;
        if (kind == Kind::kLeakyRelu) d.alpha = 0.2f;
        uint8_t table[256];
        ASSERT_EQ(octet_unary_table(&d, table, nullptr), OCTET_OK);
        Bytes in(256), expected;
        std::iota(in.begin(), in.end(), (uint8_t)0);
        for (const uint8_t byte : in) expected.push_back(table[byte]);
        const auto program = created(c.g);
        EXPECT_EQ(program->explain().size(), 1u);
        EXPECT_EQ(run(*program, c.g, {in}), expected);
      }
}

// Tables before and behind a concatenation of tensors in other sizes than their parts, as detectors
// have them: copies look their bytes up, unless others read what a table gives.
TEST(GraphOperators, CopiesTakeTables) {
  for (const bool seen : {false, true})
    for (const bool behind : {false, true}) {
      GraphCase c, alone;
      std::vector<int> parts, given;
      std::vector<Bytes> in, wanted;
      Bytes all;
      for (const int64_t h : {5, 3, 2}) {
        const auto add = [&](GraphCase& to) {
          const int x = to.input({1, h, h, 12}, OCTET_S8, 0.01f * (float)h, (int32_t)h);
          const int pooled = to.tensor({1, h, h, 12}, OCTET_S8, 0.01f * (float)h, (int32_t)h);
          to.op(Kind::kMaxPool, {x}, pooled).window = {};
          return pooled;
        };
        const int a = add(c),
                  flat = c.tensor({1, h * h * 3, 4}, OCTET_S8, 0.01f * (float)h, (int32_t)h);
        c.op(Kind::kReshape, {a}, flat);
        const int q = c.tensor({1, h * h * 3, 4}, OCTET_S8, 0.07f, -9);
        c.op(Kind::kQuantize, {flat}, q);
        parts.push_back(q);
        // The same by itself
        GraphCase one;
        const int b = add(one), r = one.tensor({1, h, h, 12}, OCTET_S8, 0.07f, -9);
        one.op(Kind::kQuantize, {b}, r);
        one.g.outputs = {r};
        in.push_back(c.draw((size_t)(h * h * 12)));
        const Bytes made = run(*created(one.g), one.g, {in.back()});
        all.insert(all.end(), made.begin(), made.end());
        wanted.push_back(made);
      }
      const int joined = c.tensor({1, 114, 4}, OCTET_S8, 0.07f, -9);
      c.op(Kind::kConcatenate, parts, joined).axis = 1;
      c.g.outputs = {joined};
      if (behind) {
        const int last = c.tensor({1, 114, 4}, OCTET_S8, 0x1p-8f, -128);
        c.op(Kind::kLogistic, {joined}, last);
        const int x = alone.input({1, 114, 4}, OCTET_S8, 0.07f, -9),
                  y = alone.tensor({1, 114, 4}, OCTET_S8, 0x1p-8f, -128);
        alone.op(Kind::kLogistic, {x}, y);
        alone.g.outputs = {y}, c.g.outputs = {last};
        all = run(*created(alone.g), alone.g, {all});
      }
      if (seen) {
        c.g.outputs.push_back(parts[1]);
        all.insert(all.end(), wanted[1].begin(), wanted[1].end());
      }
      EXPECT_EQ(run(*created(c.g), c.g, in), all) << seen << behind;
      // Three pools and copies; the table that is an output is an operator of its own
      EXPECT_EQ(created(c.g)->description().op_count, seen ? 7u : 6u) << seen << behind;
    }
}

}  // namespace
}  // namespace octet_test
