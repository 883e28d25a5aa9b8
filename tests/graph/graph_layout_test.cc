// SPDX-License-Identifier: Apache-2.0
// Checks where tensors lie: reshapes, joined tensors, ends in NCHW and f32.
#include <algorithm>
#include <cstring>
#include <string>

#include "graph/graph_case.h"

namespace octet_test {
namespace {

using Shape = std::vector<int64_t>;

size_t op_count(const Graph& g) { return created(g)->description().op_count; }

TEST(GraphLayout, ReshapeMovesNothing) {
  GraphCase c;
  const int x = c.input({2, 2, 2, 4}, OCTET_S8, 0.1f);
  const int flat = c.tensor({2, 16}, OCTET_S8, 0.1f), y = c.tensor({2, 5}, OCTET_S8, 0.3f);
  const int last = c.tensor({2, 1, 1, 5}, OCTET_S8, 0.3f);
  c.op(Kind::kReshape, {x}, flat);
  c.op(Kind::kProduct, {flat, c.weights({5, 16})}, y);
  c.op(Kind::kReshape, {y}, last);
  c.g.outputs = {last};
  EXPECT_EQ(op_count(c.g), 1u);
  GraphCase direct;
  direct.op(Kind::kProduct, {direct.input({2, 16}, OCTET_S8, 0.1f), direct.weights({5, 16})},
            direct.tensor({2, 5}, OCTET_S8, 0.3f));
  direct.g.outputs = direct.g.ops[0].outputs;
  direct.g.tensors[(size_t)direct.g.ops[0].inputs[1]].data =
      c.g.tensors[(size_t)c.g.ops[1].inputs[1]].data;
  const Bytes in = c.draw(32);
  EXPECT_EQ(run(*created(c.g), c.g, {in}), run(*created(direct.g), direct.g, {in}));
}

TEST(GraphLayout, ReshapeBetweenConvolutionsCopies) {
  GraphCase c;
  const int x = c.input({1, 4, 2, 4}, OCTET_S8, 0.1f), a = c.tensor({1, 4, 2, 4}, OCTET_S8, 0.1f);
  const int r = c.tensor({1, 2, 4, 4}, OCTET_S8, 0.1f), y = c.tensor({1, 2, 4, 4}, OCTET_S8, 0.1f);
  // 1 on the diagonal, so that bytes pass through.
  Bytes one(16);
  for (size_t i = 0; i < 4; ++i) one[i * 5] = 1;
  const int w = c.constant({4, 1, 1, 4}, OCTET_S8, one, 1);
  c.op(Kind::kConvolution, {x, w}, a);
  c.op(Kind::kReshape, {a}, r);
  c.op(Kind::kConvolution, {r, w}, y);
  c.g.outputs = {y};
  EXPECT_EQ(op_count(c.g), 3u);
  const Bytes in = c.draw(32);
  EXPECT_EQ(run(*created(c.g), c.g, {in}), in);
}

// Rows of two images, as one matrix: operators on elements and products do not mind; for others the
// bytes are copied.
TEST(GraphLayout, ReshapeAcrossImages) {
  GraphCase c;
  c.g.arithmetic = Arithmetic::kStandard;
  const int x = c.input({2, 3, 8}, OCTET_S8, 0.1f), rows = c.tensor({6, 8}, OCTET_S8, 0.1f);
  const int q = c.tensor({6, 8}, OCTET_S8, 0.2f), p = c.tensor({6, 5}, OCTET_S8, 0.3f);
  const int y = c.tensor({2, 3, 5}, OCTET_S8, 0.3f), soft = c.tensor({6, 5}, OCTET_F32);
  const int w = c.weights({5, 8});
  c.op(Kind::kReshape, {x}, rows);
  c.op(Kind::kQuantize, {rows}, q);
  c.op(Kind::kProduct, {q, w}, p);
  c.op(Kind::kReshape, {p}, y);
  c.g.outputs = {y};
  GraphCase direct;
  direct.g = c.g;
  direct.g.tensors[(size_t)q].shape = {2, 3, 8};
  direct.g.ops = {c.g.ops[1], c.g.ops[2]};
  direct.g.ops[0].inputs = {x}, direct.g.ops[1].outputs = {y};
  const Bytes in = c.draw(48);
  EXPECT_EQ(run(*created(c.g), c.g, {in}), run(*created(direct.g), direct.g, {in}));
  c.op(Kind::kSoftmax, {p}, soft);
  c.g.outputs = {y, soft};
  direct.g.tensors[(size_t)p].shape = {6, 5};
  direct.g.ops = {c.g.ops[4]}, direct.g.inputs = {p}, direct.g.outputs = {soft};
  Bytes both = run(*created(c.g), c.g, {in});
  const Bytes made(both.begin(), both.begin() + 30);
  both.erase(both.begin(), both.begin() + 30);
  EXPECT_EQ(both, run(*created(direct.g), direct.g, {made}));
}

TEST(GraphLayout, OutputsThatAreInputsOrTwice) {
  GraphCase c;
  const int x = c.input({2, 3}, OCTET_U8, 0.1f), y = c.tensor({6}, OCTET_U8, 0.1f);
  c.op(Kind::kReshape, {x}, y);
  c.g.tensors[(size_t)y].shape = {2, 3, 1};
  c.g.outputs = {x, y, y};
  const Bytes in = c.draw(6);
  Bytes thrice = in;
  for (int i = 0; i < 2; ++i) thrice.insert(thrice.end(), in.begin(), in.end());
  EXPECT_EQ(run(*created(c.g), c.g, {in}), thrice);
}

// An operator that reads a slice: adds it over tensor t, and returns its output.
struct Reader {
  const char* name;
  int (*add)(GraphCase& c, int t);
};

// Tensors are of int8 or of int16, with one scale for both.
octet_type type_of(const GraphCase& c, int t) { return c.g.tensors[(size_t)t].type; }
int same(GraphCase& c, Kind kind, int t) {
  const Shape shape = c.g.tensors[(size_t)t].shape;
  const bool shares = kind == Kind::kSoftmax, s16 = type_of(c, t) == OCTET_S16;
  const int y = c.tensor(shape, type_of(c, t),
                         !shares ? 0.1f
                         : s16   ? 0x1p-15f
                                 : 0x1p-8f,
                         shares && !s16 ? -128 : 0);
  c.op(kind, {t}, y);
  return y;
}

const Reader kReaders[] = {
    {"output", [](GraphCase&, int t) { return t; }},
    {"elements", [](GraphCase& c, int t) { return same(c, Kind::kLeakyRelu, t); }},
    {"lines", [](GraphCase& c, int t) { return same(c, Kind::kMaxPool, t); }},
    {"softmax", [](GraphCase& c, int t) { return same(c, Kind::kSoftmax, t); }},
    {"sum",
     [](GraphCase& c, int t) {
       const int y = c.tensor(c.g.tensors[(size_t)t].shape, type_of(c, t), 0.1f);
       c.op(Kind::kAdd, {t, t}, y);
       return y;
     }},
    {"product",
     [](GraphCase& c, int t) {
       Shape shape = c.g.tensors[(size_t)t].shape;
       const int64_t depth = shape.back();
       shape.back() = 7;
       const int y = c.tensor(shape, type_of(c, t), 0.3f);
       c.op(Kind::kProduct, {t, c.weights({7, depth})}, y);
       return y;
     }},
    {"convolution",
     [](GraphCase& c, int t) {
       Shape shape = c.g.tensors[(size_t)t].shape;
       int64_t& channels = shape[c.g.channels_first ? 1 : 3];
       const int w = c.weights({9, 1, 1, channels});
       channels = 9;
       const int y = c.tensor(shape, type_of(c, t), 0.3f);
       c.op(Kind::kConvolution, {t, w}, y);
       return y;
     }},
    {"transposition",
     [](GraphCase& c, int t) {
       const Shape shape = c.g.tensors[(size_t)t].shape;
       const int y = c.tensor({shape[0], shape[3], shape[1], shape[2]}, type_of(c, t), 0.1f);
       c.op(Kind::kTranspose, {t}, y).permutation = {0, 3, 1, 2};
       return y;
     }},
    {"joint",
     [](GraphCase& c, int t) {
       Shape shape = c.g.tensors[(size_t)t].shape;
       shape[3] *= 2;
       const int y = c.tensor(shape, type_of(c, t), 0.1f);
       c.op(Kind::kConcatenate, {t, t}, y).axis = 3;
       return y;
     }},
    {"slice",
     [](GraphCase& c, int t) {
       Shape shape = c.g.tensors[(size_t)t].shape;
       shape[3] = 1;
       const int y = c.tensor(shape, type_of(c, t), 0.1f);
       c.op(Kind::kSlice, {t}, y).begins = {0, 0, 0, 1};
       return y;
     }},
};

// The values of `all` at [first, first + part) of an axis.
Bytes part_of(const Bytes& in, const Shape& all, size_t axis, int64_t first, int64_t part,
              size_t element) {
  Bytes out;
  for (size_t i = 0; i < in.size(); ++i) {
    int64_t rest = (int64_t)(i / element);
    for (size_t behind = all.size(); --behind > axis;) rest /= all[behind];
    const int64_t at = rest % all[axis];
    if (at >= first && at < first + part) out.push_back(in[i]);
  }
  return out;
}

// A slice gives each operator the bytes that the slice as an input of its own would, whether it
// lies in an input of the graph or in a tensor that an operator makes.
TEST(GraphLayout, SlicesOfAnyAxisForAnyReader) {
  const Shape all = {2, 4, 6, 10};
  for (const octet_type type : {OCTET_S8, OCTET_S16})
    for (const Reader& reader : kReaders)
      for (const bool first : {false, true})
        for (const bool made : {false, true})
          for (size_t axis = 0; axis < 4; ++axis) {
            GraphCase c, direct;
            c.g.channels_first = direct.g.channels_first = first;
            const int x = c.input(all, type, 0.1f);
            const int source = made ? same(c, Kind::kMaxPool, x) : x;
            Shape part = all, begins(4, 0);
            begins[axis] = 1, part[axis] = all[axis] / 2;
            const int slice = c.tensor(part, type, 0.1f);
            c.op(Kind::kSlice, {source}, slice).begins = begins;
            c.random.seed(1), direct.random.seed(1);
            c.g.outputs = {reader.add(c, slice)};
            direct.g.outputs = {reader.add(direct, direct.input(part, type, 0.1f))};
            const size_t element = type == OCTET_S16 ? 2 : 1;
            const Bytes in = c.draw(c.count(x) * element),
                        of_part = part_of(in, all, axis, 1, part[axis], element);
            EXPECT_EQ(run(*created(c.g), c.g, {in}), run(*created(direct.g), direct.g, {of_part}))
                << reader.name << " along axis " << axis << (first ? ", channels first" : "")
                << (made ? ", of an operator" : "") << ", of " << element << " bytes";
          }
}

// An unrolled LSTM reads steps of its input and gates of its sums without an op for each.
TEST(GraphLayout, SlicesAreNoOps) {
  for (const octet_type type : {OCTET_S8, OCTET_S16}) {
    GraphCase c;
    const int x = c.input({5, 16}, type, 0.1f), step = c.tensor({1, 16}, type, 0.1f);
    const int gates = c.tensor({1, 24}, type, 0.2f), gate = c.tensor({1, 8}, type, 0.2f);
    const int y = c.tensor({1, 8}, type, type == OCTET_S16 ? 0x1p-15f : 0x1p-7f);
    c.op(Kind::kSlice, {x}, step).begins = {3, 0};
    c.op(Kind::kProduct, {step, c.weights({24, 16})}, gates);
    c.op(Kind::kSlice, {gates}, gate).begins = {0, 8};
    c.op(Kind::kTanh, {gate}, y);
    c.g.outputs = {y};
    EXPECT_EQ(op_count(c.g), 2u);
    EXPECT_FALSE(created(c.g)->has_batch());
  }
}

TEST(GraphLayout, JoinedChannelsAreSlices) {
  GraphCase c;
  c.g.arithmetic = Arithmetic::kStandard;
  const int x = c.input({1, 3, 3, 4}, OCTET_S8, 0.5f), a = c.tensor({1, 3, 3, 2}, OCTET_S8, 1);
  const int y = c.tensor({1, 3, 3, 6}, OCTET_S8, 1);
  c.op(Kind::kConvolution, {x, c.weights({2, 1, 1, 4}, 0.02f)}, a);
  c.op(Kind::kConcatenate, {a, x}, y).axis = 3;
  c.g.outputs = {y};
  EXPECT_EQ(op_count(c.g), 2u);  // the convolution, and the input in its slice with y's scale
  const Bytes in = c.draw(36), out = run(*created(c.g), c.g, {in});
  const Image acc = convolve(image_of(in, OCTET_S8, 1, 3, 3, 4), 0,
                             (const int8_t*)c.g.tensors[(size_t)c.g.ops[0].inputs[1]].data,
                             (const int32_t*)nullptr, 2, 1, 1, 0);
  for (size_t p = 0; p < 9; ++p) {
    for (size_t i = 0; i < 2; ++i)
      EXPECT_EQ(
          (int8_t)out[p * 6 + i],
          std::clamp(std::nearbyint((float)acc.values[p * 2 + i] * (0.5f * 0.02f)), -128.f, 127.f));
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ((int8_t)out[p * 6 + 2 + i], std::nearbyint((float)(int8_t)in[p * 4 + i] * 0.5f));
  }
}

TEST(GraphLayout, JoinedLines) {
  GraphCase c;
  const int a = c.input({2, 1, 3, 2}, OCTET_U8, 1), b = c.input({2, 2, 3, 2}, OCTET_U8, 1);
  const int y = c.tensor({2, 3, 3, 2}, OCTET_U8, 1);
  c.op(Kind::kConcatenate, {a, b}, y).axis = 1;
  c.g.outputs = {y};
  const Bytes one = c.draw(12), two = c.draw(24);
  Bytes expected;
  for (std::ptrdiff_t i = 0; i < 2; ++i) {
    expected.insert(expected.end(), one.begin() + i * 6, one.begin() + i * 6 + 6);
    expected.insert(expected.end(), two.begin() + i * 12, two.begin() + i * 12 + 12);
  }
  EXPECT_EQ(run(*created(c.g), c.g, {one, two}), expected);
}

// Inputs that lack the axis: run by run of the elements behind it, one of each input.
TEST(GraphLayout, PackedAlongANewAxis) {
  const Shape part = {2, 3, 4, 5};
  for (size_t rank = 1; rank <= part.size(); ++rank)
    for (size_t axis = 0; axis <= rank; ++axis) {
      SCOPED_TRACE(std::to_string(axis) + " of " + std::to_string(rank));
      const Shape own(part.begin(), part.begin() + (std::ptrdiff_t)rank);
      size_t count = 1, behind = 1;
      for (size_t i = 0; i < rank; ++i)
        count *= (size_t)own[i], behind *= i < axis ? 1 : (size_t)own[i];
      Shape all = own;
      all.insert(all.begin() + (std::ptrdiff_t)axis, 3);
      GraphCase c;
      std::vector<int> inputs;
      std::vector<Bytes> in;
      for (size_t k = 0; k < 3; ++k) inputs.push_back(c.input(own, OCTET_S8, 1));
      for (size_t k = 0; k < 3; ++k) in.push_back(c.draw(count));
      const int y = c.tensor(all, OCTET_S8, 1);
      c.op(Kind::kConcatenate, inputs, y).axis = (int)axis - (int)all.size();
      c.g.outputs = {y};
      Bytes expected;
      for (size_t i = 0; i < count; i += behind)
        for (const Bytes& one : in)
          expected.insert(expected.end(), one.begin() + (std::ptrdiff_t)i,
                          one.begin() + (std::ptrdiff_t)(i + behind));
      EXPECT_EQ(run(*created(c.g), c.g, in), expected);
      c.g.channels_first = true;
      EXPECT_NE(would(c.g)[0].find("different ranks"), std::string::npos) << would(c.g)[0];
      c.g.channels_first = false, c.g.tensors[(size_t)inputs[2]].shape[rank - 1] += 1;
      EXPECT_NE(would(c.g)[0].find("does not fit its output"), std::string::npos);
      all[axis] = 1, c.g.tensors[(size_t)inputs[2]].shape = all;  // this one has the axis
      EXPECT_NE(would(c.g)[0].find("different ranks"), std::string::npos);
    }
}

Bytes channels_first(const Bytes& from, size_t batch, size_t pixels, size_t channels) {
  Bytes to(from.size());
  for (size_t b = 0; b < batch; ++b)
    for (size_t p = 0; p < pixels; ++p)
      for (size_t i = 0; i < channels; ++i)
        to[(b * channels + i) * pixels + p] = from[(b * pixels + p) * channels + i];
  return to;
}

// A convolution and an addition, in either order of channels.
struct Ordered : GraphCase {
  explicit Ordered(bool first) {
    g.arithmetic = Arithmetic::kOnnxruntime, g.channels_first = first;
    const auto shape = [&](int64_t h, int64_t w, int64_t channels) {
      return first ? std::vector<int64_t>{2, channels, h, w}
                   : std::vector<int64_t>{2, h, w, channels};
    };
    const int x = input(shape(5, 4, 3), OCTET_U8, 0.1f, 100);
    const int a = tensor(shape(5, 4, 3), OCTET_U8, 0.2f, 90);
    const int sum = tensor(shape(5, 4, 3), OCTET_U8, 0.3f, 80);
    const int y = tensor(shape(1, 1, 3), OCTET_U8, 0.1f, 70);
    const Bytes w = draw(81);
    Op& conv = op(Kind::kConvolution,
                  {x, first ? constant({3, 3, 3, 3}, OCTET_S8, channels_first(w, 3, 9, 3), 0.01f)
                            : constant({3, 3, 3, 3}, OCTET_S8, w, 0.01f)},
                  a);
    conv.order = first ? OCTET_OIHW : OCTET_OHWI;
    conv.window.top = conv.window.bottom = conv.window.left = conv.window.right = 1;
    op(Kind::kAdd, {x, a}, sum);
    op(Kind::kMean, {sum}, y);
    g.outputs = {sum, y};
  }
};

TEST(GraphLayout, EndsInNchw) {
  Ordered last(false), first(true);
  const Bytes in = last.draw(120);
  const Bytes out = run(*created(last.g), last.g, {in});
  const Bytes sum(out.begin(), out.begin() + 120), mean(out.begin() + 120, out.end());
  Bytes expected = channels_first(sum, 2, 20, 3);
  expected.insert(expected.end(), mean.begin(), mean.end());
  EXPECT_EQ(run(*created(first.g), first.g, {channels_first(in, 2, 20, 3)}), expected);
}

TEST(GraphLayout, OnePixelForAll) {
  for (const bool first : {false, true}) {
    GraphCase c;
    c.g.arithmetic = Arithmetic::kStandard;
    const int image = c.input({2, 2, 2, 3}, OCTET_U8, 1),
              pixel = c.input({2, 1, 1, 3}, OCTET_U8, 2);
    const int y = c.tensor({2, 2, 2, 3}, OCTET_U8, 4);
    c.op(Kind::kAdd, {first ? pixel : image, first ? image : pixel}, y);
    c.g.outputs = {y};
    const Bytes a = c.draw(24), b = c.draw(6), out = run(*created(c.g), c.g, {a, b});
    for (size_t i = 0; i < 24; ++i)
      EXPECT_EQ(out[i], std::nearbyint((a[i] + b[i / 12 * 3 + i % 3] * 2) / 4.)) << i;
  }
}

// Floats in N, C, H, W are quantized as they lie and turned once.
TEST(GraphLayout, FloatsInNchw) {
  GraphCase c;
  c.g.arithmetic = Arithmetic::kStandard, c.g.channels_first = true;
  const int x = c.input({1, 2, 2, 3}, OCTET_F32), q = c.tensor({1, 2, 2, 3}, OCTET_U8, 1);
  const int a = c.tensor({1, 2, 2, 3}, OCTET_U8, 1), y = c.tensor({1, 2, 2, 3}, OCTET_F32);
  c.op(Kind::kQuantize, {x}, q);
  c.op(Kind::kConvolution, {q, c.constant({2, 2, 1, 1}, OCTET_S8, {0, 1, 1, 0}, 1)}, a).order =
      OCTET_OIHW;
  c.op(Kind::kDequantize, {a}, y);
  c.g.outputs = {y};
  EXPECT_EQ(op_count(c.g), 5u);
  const float in[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  Bytes bytes(sizeof in);
  std::memcpy(bytes.data(), in, sizeof in);
  const Bytes out = run(*created(c.g), c.g, {bytes});
  for (size_t i = 0; i < 12; ++i) {
    float got;
    std::memcpy(&got, &out[i * 4], 4);
    EXPECT_EQ(got, in[(i + 6) % 12]);
  }
}

// Flattening takes the elements in the order of N, C, H, W.
TEST(GraphLayout, FlattenedNchw) {
  GraphCase c;
  c.g.arithmetic = Arithmetic::kStandard, c.g.channels_first = true;
  const int x = c.input({1, 2, 2, 2}, OCTET_S8, 1), a = c.tensor({1, 2, 2, 2}, OCTET_S8, 1);
  const int flat = c.tensor({1, 8}, OCTET_S8, 1);
  const int w = c.constant({2, 2, 1, 1}, OCTET_S8, {1, 0, 0, 1}, 1);
  c.op(Kind::kConvolution, {x, w}, a).order = OCTET_OIHW;
  c.op(Kind::kReshape, {a}, flat);
  c.g.outputs = {flat};
  const Bytes in = c.draw(8);
  EXPECT_EQ(run(*created(c.g), c.g, {in}), in);
}

TEST(GraphLayout, EndsInFloat) {
  for (const bool tflite : {false, true}) {
    GraphCase c;
    c.g.arithmetic = tflite ? Arithmetic::kTflite : Arithmetic::kStandard;
    const int x = c.input({1, 2, 2, 1}, OCTET_F32), q = c.tensor({1, 2, 2, 1}, OCTET_S8, 0.5f, 1);
    const int y = c.tensor({1, 2, 2, 1}, OCTET_F32);
    c.op(Kind::kQuantize, {x}, q);
    c.op(Kind::kDequantize, {q}, y);
    c.g.outputs = {y};
    const float in[] = {1.25f, -0.75f, 1e9f, -3}, expected[] = {tflite ? 1.5f : 1, -1, 63, -3};
    Bytes bytes(sizeof in);
    std::memcpy(bytes.data(), in, sizeof in);
    const Bytes out = run(*created(c.g), c.g, {bytes});
    for (size_t i = 0; i < 4; ++i) {
      float got;
      std::memcpy(&got, &out[i * 4], 4);
      EXPECT_EQ(got, expected[i]) << i;
    }
  }
}

// Values along the last axis where channels are the second one: as if they were written out.
TEST(GraphLayout, ValuesAlongTheLastAxis) {
  for (const Kind kind : {Kind::kAdd, Kind::kSubtract, Kind::kMultiply})
    for (const Shape& shape : {Shape{5}, Shape{1, 5}, Shape{1, 1, 5}, Shape{2, 1, 1, 5}})
      for (const bool constant : {true, false}) {
        if (!constant && shape.size() < 4) continue;
        Bytes given[2], values(30 * 8), made[2];
        for (const bool written_out : {false, true}) {
          GraphCase c;
          c.g.arithmetic = Arithmetic::kStandard, c.g.channels_first = true;
          const Shape all = {2, 3, 8, 5};
          given[0] = c.draw(240), given[1] = c.draw(shape.size() < 4 ? 5 : 10);
          for (size_t i = 0; i < values.size(); ++i)
            values[i] = given[1][(shape.size() < 4 ? 0 : i / 120 * 5) + i % 5];
          const Shape& own = written_out ? all : shape;
          const Bytes& bytes = written_out ? values : given[1];
          const int x = c.input(all, OCTET_U8, 0.03f, 120);
          const int b =
              constant ? c.constant(own, OCTET_U8, bytes, 0.02f) : c.input(own, OCTET_U8, 0.02f, 0);
          const int y = c.tensor(all, OCTET_U8, 0.05f, 99);
          c.op(kind, {x, b}, y), c.g.outputs = {y};
          ASSERT_EQ(would(c.g)[0], "");
          made[written_out] =
              run(*created(c.g), c.g,
                  constant ? std::vector<Bytes>{given[0]} : std::vector<Bytes>{given[0], bytes});
        }
        EXPECT_EQ(made[0], made[1]) << kind_name(kind) << " " << shape.size();
      }
}

}  // namespace
}  // namespace octet_test
