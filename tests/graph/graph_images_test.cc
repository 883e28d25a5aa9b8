// SPDX-License-Identifier: Apache-2.0
// Checks operators that move elements between images (transposes, slices, joins, reshapes), and
// products of two activations.
#include <algorithm>
#include <cstring>
#include <thread>

#include "engines/graph/refused.h"
#include "graph/graph_case.h"

namespace octet_test {
namespace {

using Shape = std::vector<int64_t>;

// The elements at these places of a dense tensor: places(indices of the output) -> of the input.
template <typename Place>
Bytes moved(const Bytes& in, const Shape& from, const Shape& to, size_t element,
            const Place& place) {
  size_t count = 1;
  for (const int64_t size : to) count *= (size_t)size;
  Bytes out(count * element);
  Shape at(to.size(), 0);
  for (size_t i = 0; i < count; ++i) {
    size_t rest = i, offset = 0;
    for (size_t axis = to.size(); axis-- > 0; rest /= (size_t)to[axis])
      at[axis] = (int64_t)(rest % (size_t)to[axis]);
    const Shape source = place(at);
    for (size_t axis = 0; axis < from.size(); ++axis)
      offset = offset * (size_t)from[axis] + (size_t)source[axis];
    std::memcpy(&out[i * element], &in[offset * element], element);
  }
  return out;
}

ProgramOptions threads(size_t concurrency, octet_network_goal goal) {
  ProgramOptions options;
  options.concurrency = concurrency, options.goal = goal;
  return options;
}

TEST(GraphImages, Transposes) {
  const struct {
    Shape shape, permutation;
  } cases[] = {{{2, 3, 4}, {1, 0, 2}},       {{2, 3, 4}, {2, 1, 0}}, {{3, 4, 5, 2}, {2, 0, 1, 3}},
               {{3, 4, 5, 2}, {3, 2, 1, 0}}, {{5, 7}, {1, 0}},       {{7}, {0}}};
  for (const auto& [shape, permutation] : cases)
    for (const bool first : {false, true})
      for (const octet_type type : {OCTET_S8, OCTET_F32}) {
        GraphCase c;
        c.g.channels_first = first;
        Shape to;
        for (const int64_t axis : permutation) to.push_back(shape[(size_t)axis]);
        const int x = c.input(shape, type), y = c.tensor(to, type);
        c.op(Kind::kTranspose, {x}, y).permutation = permutation;
        c.g.outputs = {y};
        const size_t element = type == OCTET_F32 ? 4 : 1;
        const Bytes in = c.draw(c.count(x) * element);
        const Shape& axes = permutation;
        EXPECT_EQ(run(*created(c.g), c.g, {in}),
                  moved(in, shape, to, element, [&](const Shape& at) {
                    Shape source(at.size());
                    for (size_t i = 0; i < at.size(); ++i) source[(size_t)axes[i]] = at[i];
                    return source;
                  }));
      }
}

TEST(GraphImages, Slices) {
  const struct {
    Shape shape, begins, to;
  } cases[] = {{{5, 4}, {2, 0}, {3, 4}},
               {{5, 4}, {1, 1}, {2, 2}},
               {{4, 3, 5}, {3, 1, 0}, {1, 2, 5}},
               {{4, 3, 5, 6}, {1, 0, 2, 3}, {2, 3, 2, 3}}};
  for (const auto& [shape, begins, to] : cases)
    for (const bool first : {false, true}) {
      GraphCase c;
      c.g.channels_first = first;
      const int x = c.input(shape, OCTET_U8, 0.1f), y = c.tensor(to, OCTET_U8, 0.1f);
      c.op(Kind::kSlice, {x}, y).begins = begins;
      c.g.outputs = {y};
      const Bytes in = c.draw(c.count(x));
      const Shape& from = begins;
      EXPECT_EQ(run(*created(c.g), c.g, {in}), moved(in, shape, to, 1, [&](Shape at) {
                  for (size_t i = 0; i < at.size(); ++i) at[i] += from[i];
                  return at;
                }));
    }
}

// Without the axes of which a slice leaves one element, and from where it begins to the ends.
TEST(GraphImages, SlicesWithoutAxes) {
  const struct {
    Shape shape, begins, sizes, to;
  } cases[] = {{{5, 4}, {2, 0}, {1, 4}, {4}},
               {{5, 4}, {2, 3}, {1, 1}, {}},
               {{3, 7, 5}, {0, 6, 0}, {3, 1, 5}, {3, 5}},
               {{3, 7, 5}, {1, 2, 1}, {2, 3, 1}, {2, 3}},
               {{2, 3, 4, 5}, {1, 0, 2, 1}, {1, 3, 1, 4}, {3, 4}}};
  for (const auto& [shape, begins, sizes, to] : cases)
    for (const bool first : {false, true})
      for (const octet_type type : {OCTET_S8, OCTET_S16}) {
        GraphCase c;
        c.g.channels_first = first;
        const int x = c.input(shape, type, 0.1f), y = c.tensor(to, type, 0.1f);
        octet::graph::Op& op = c.op(Kind::kSlice, {x}, y);
        op.begins = begins, op.sizes = sizes;
        c.g.outputs = {y};
        const size_t element = type == OCTET_S16 ? 2 : 1;
        const Bytes in = c.draw(c.count(x) * element);
        const Shape& from = begins;
        EXPECT_EQ(run(*created(c.g), c.g, {in}), moved(in, shape, sizes, element, [&](Shape at) {
                    for (size_t i = 0; i < at.size(); ++i) at[i] += from[i];
                    return at;
                  }));
        const auto says = [&](const char* words) {
          const std::string why = octet::graph::would(c.g)[0];
          EXPECT_NE(why.find(words), std::string::npos) << why;
        };
        op.begins[0] = shape[0];
        says("ends behind its input along axis 0");
        op.begins[0] = begins[0], op.sizes.back() += 1;
        if (begins.back() + sizes.back() < shape.back()) says("has not the elements of its slice");
        op.sizes.pop_back();
        says("differ in rank");
      }
}

// In parts along every axis, with it and without; a part that nothing reads is not computed.
TEST(GraphImages, Splits) {
  const Shape shape = {4, 3, 5, 6};
  for (const bool first : {false, true})
    for (const octet_type type : {OCTET_U8, OCTET_S16})
      for (int axis = 0; axis < 4; ++axis)
        for (const bool lacks_axis : {false, true}) {
          GraphCase c;
          c.g.channels_first = first;
          const int x = c.input(shape, type, 0.1f);
          const size_t element = type == OCTET_S16 ? 2 : 1;
          const Bytes in = c.draw(c.count(x) * element);
          std::vector<int> parts;
          Bytes want;
          for (int64_t at = 0; at < shape[(size_t)axis];) {
            const int64_t size = lacks_axis || at ? 1 : shape[(size_t)axis] - 1;
            Shape part = shape;
            part[(size_t)axis] = size;
            const Bytes moves = moved(in, shape, part, element, [&](Shape place) {
              place[(size_t)axis] += at;
              return place;
            });
            if (lacks_axis) part.erase(part.begin() + axis);
            parts.push_back(c.tensor(part, type, 0.1f));
            if (parts.size() == 2) {  // which nothing reads
              at += size;
              continue;
            }
            want.insert(want.end(), moves.begin(), moves.end());
            c.g.outputs.push_back(parts.back());
            at += size;
          }
          octet::graph::Op& op = c.op(Kind::kSplit, {x}, x);
          op.outputs = parts, op.axis = axis % 2 ? axis - 4 : axis;
          EXPECT_EQ(run(*created(c.g), c.g, {in}), want) << axis << first << lacks_axis;
        }
}

// More inputs than an op of a network takes, one of them with another scale; of a convolution.
TEST(GraphImages, Joins) {
  for (const size_t inputs : {2, 4, 5, 9})
    for (const bool first : {false, true}) {
      GraphCase c;
      c.g.channels_first = first;
      std::vector<int> all;
      std::vector<Bytes> in;
      Bytes expected;
      int64_t images = 0;
      for (size_t i = 0; i < inputs; ++i) {
        const auto n = (int64_t)(i % 3 + 1);
        all.push_back(c.input({n, 3, 2, 3}, OCTET_S8, i == 1 ? 0.2f : 0.1f));
        in.push_back(c.draw(c.count(all.back())));
        images += n;
        for (const uint8_t byte : in.back())
          expected.push_back(i == 1 ? (uint8_t)std::clamp(2 * (int8_t)byte, -128, 127) : byte);
      }
      const int y = c.tensor({images, 3, 2, 3}, OCTET_S8, 0.1f);
      c.op(Kind::kConcatenate, all, y).axis = 0;
      c.g.outputs = {y};
      EXPECT_EQ(run(*created(c.g), c.g, in), expected);
      // A convolution that lets bytes pass reads what was joined.
      Bytes one(9);
      for (size_t i = 0; i < 3; ++i) one[i * 4] = 1;
      const int last = c.tensor({images, 3, 2, 3}, OCTET_S8, 0.1f);
      Op& conv = c.op(Kind::kConvolution, {y, c.constant({3, 1, 1, 3}, OCTET_S8, one, 1)}, last);
      conv.order = OCTET_OHWI;
      c.g.outputs = {last};
      for (const octet_network_goal goal : {OCTET_NETWORK_LAYERS, OCTET_NETWORK_MEMORY})
        EXPECT_EQ(run(*created(c.g, threads(2, goal)), c.g, in), expected);
    }
}

// ---- products of two activations

struct PairCase {
  Shape x, w;
  bool kn;
};

// The rounded products by the definition, in float mode or in TensorFlow Lite's.
Bytes multiplied(const GraphCase& c, const Op& op, const Bytes& x, const Bytes& w) {
  const Tensor &a = c.g.tensors[(size_t)op.inputs[0]], &b = c.g.tensors[(size_t)op.inputs[1]],
               &y = c.g.tensors[(size_t)op.outputs[0]];
  const size_t rank = a.shape.size(), m = (size_t)a.shape[rank - 2], k = (size_t)a.shape[rank - 1],
               n = (size_t)y.shape[rank - 1], matrices = x.size() / m / k;
  const size_t step = w.size() == n * k ? 0 : n * k;
  Bytes out;
  for (size_t i = 0; i < matrices * m; ++i)
    for (size_t j = 0; j < n; ++j) {
      int32_t acc = 0;
      for (size_t t = 0; t < k; ++t) {
        const size_t at = i / m * step + (op.weights_kn ? t * n + j : j * k + t);
        acc += (value(a.type, x[i * k + t]) - a.zero_points[0]) *
               (value(b.type, w[at]) - b.zero_points[0]);
      }
      int32_t rounded = 0;
      // XNNPACK leaves a right operand with a zero point to LiteRT's own kernel
      if (c.g.arithmetic == Arithmetic::kTflite ||
          (c.g.arithmetic == Arithmetic::kXnnpack && b.zero_points[0] != 0))
        rounded = tflite_rescale(acc, (double)a.scales[0] * b.scales[0] / y.scales[0]);
      else
        rounded = (int32_t)std::nearbyint((float)acc * (a.scales[0] * b.scales[0] / y.scales[0]));
      out.push_back((uint8_t)std::clamp(rounded + y.zero_points[0], y.type == OCTET_S8 ? -128 : 0,
                                        y.type == OCTET_S8 ? 127 : 255));
    }
  return out;
}

TEST(GraphImages, ProductsOfTwoActivations) {
  const PairCase cases[] = {{{3, 5}, {7, 5}, false},      {{3, 5}, {5, 7}, true},
                            {{2, 6, 9}, {2, 9, 4}, true}, {{2, 3, 17, 33}, {2, 3, 20, 33}, false},
                            {{2, 3, 4, 8}, {8, 5}, true}, {{2, 3, 4, 8}, {1, 1, 6, 8}, false}};
  for (const PairCase& p : cases)
    for (const Arithmetic arithmetic :
         {Arithmetic::kTflite, Arithmetic::kXnnpack, Arithmetic::kOnnxruntime})
      for (const octet_type type : {OCTET_S8, OCTET_U8})
        for (const bool first : {false, true}) {
          GraphCase c;
          c.g.arithmetic = arithmetic, c.g.channels_first = first;
          const int zero = type == OCTET_S8 ? -3 : 125;
          const int x = c.input(p.x, type, 0.02f, zero);
          const int w = c.input(p.w, type, 0.01f, p.kn ? zero + 7 : 0);
          Shape made = p.x;
          made.back() = p.w[p.w.size() - (p.kn ? 1 : 2)];
          const int y = c.tensor(made, type, 0.031f, zero - 5);
          c.op(Kind::kProduct, {x, w}, y).weights_kn = p.kn;
          c.g.outputs = {y};
          const std::vector<Bytes> in = {c.draw(c.count(x)), c.draw(c.count(w))};
          EXPECT_EQ(run(*created(c.g), c.g, in), multiplied(c, c.g.ops[0], in[0], in[1]));
        }
}

// Bytes by a product, a transposition of the heads before the rows, and a table; by the definition.
struct Attention {
  GraphCase c;
  int x = -1, y = -1;
  static constexpr int64_t kBatch = 2, kRows = 10, kHeads = 3, kDepth = 8;

  int heads(int from, Shape permutation) {
    const int product = c.tensor({kBatch, kRows, kHeads * kDepth}, OCTET_S8, 0.1f);
    c.op(Kind::kProduct, {from, c.weights({kHeads * kDepth, kHeads * kDepth})}, product);
    const int split = c.tensor({kBatch, kRows, kHeads, kDepth}, OCTET_S8, 0.1f);
    c.op(Kind::kReshape, {product}, split);
    Shape shape;
    for (const int64_t axis : permutation)
      shape.push_back(c.g.tensors[(size_t)split].shape[(size_t)axis]);
    const int turned = c.tensor(shape, OCTET_S8, 0.1f);
    c.op(Kind::kTranspose, {split}, turned).permutation = std::move(permutation);
    return turned;
  }

  explicit Attention(bool rows_are_images) {
    x = c.input({kBatch, kRows, kHeads * kDepth}, OCTET_S8, 0.02f);
    int from = x;
    if (rows_are_images) {  // as exporters fold axes for a product
      from = c.tensor({kBatch * kRows, kHeads * kDepth}, OCTET_S8, 0.02f);
      c.op(Kind::kReshape, {x}, from);
      const int back = c.tensor({kBatch, kRows, kHeads * kDepth}, OCTET_S8, 0.02f);
      c.op(Kind::kReshape, {from}, back);
      from = back;
    }
    const int q = heads(from, {0, 2, 1, 3}), k = heads(from, {0, 2, 3, 1}),
              v = heads(from, {0, 2, 1, 3});
    const int scores = c.tensor({kBatch, kHeads, kRows, kRows}, OCTET_S8, 0.05f);
    c.op(Kind::kProduct, {q, k}, scores).weights_kn = true;
    const int weights = c.tensor({kBatch, kHeads, kRows, kRows}, OCTET_S8, 1 / 256.f, -128);
    c.op(Kind::kSoftmax, {scores}, weights);
    const int read = c.tensor({kBatch, kHeads, kRows, kDepth}, OCTET_S8, 0.1f);
    c.op(Kind::kProduct, {weights, v}, read).weights_kn = true;
    const int turned = c.tensor({kBatch, kRows, kHeads, kDepth}, OCTET_S8, 0.1f);
    c.op(Kind::kTranspose, {read}, turned).permutation = {0, 2, 1, 3};
    const int joined = c.tensor({kBatch, kRows, kHeads * kDepth}, OCTET_S8, 0.1f);
    c.op(Kind::kReshape, {turned}, joined);
    y = c.tensor({kBatch, kRows, kHeads * kDepth}, OCTET_S8, 0.1f);
    c.op(Kind::kProduct, {joined, c.weights({kHeads * kDepth, kHeads * kDepth})}, y);
    c.g.outputs = {y};
  }
};

// One network has the bytes of its operators run as a network each.
TEST(GraphImages, AttentionIsOneNetwork) {
  for (const bool rows_are_images : {false, true}) {
    Attention a(rows_are_images);
    const Bytes in = a.c.draw(a.c.count(a.x));
    std::vector<Bytes> tensors(a.c.g.tensors.size());
    tensors[(size_t)a.x] = in;
    for (const Op& op : a.c.g.ops) {
      Graph one = a.c.g;
      one.ops = {op}, one.inputs.clear(), one.outputs = op.outputs;
      std::vector<Bytes> inputs;
      for (const int t : op.inputs)
        if (!one.tensors[(size_t)t].constant)
          one.inputs.push_back(t), inputs.push_back(tensors[(size_t)t]);
      tensors[(size_t)op.outputs[0]] = run(*created(one), one, inputs);
    }
    const Bytes& expected = tensors[(size_t)a.y];
    EXPECT_GT(std::count_if(expected.begin(), expected.end(), [](uint8_t b) { return b != 0; }),
              100);
    for (const size_t concurrency : {1, 2})
      for (const octet_network_goal goal :
           {OCTET_NETWORK_TIME, OCTET_NETWORK_LAYERS, OCTET_NETWORK_TRAFFIC, OCTET_NETWORK_MEMORY})
        EXPECT_EQ(run(*created(a.c.g, threads(concurrency, goal)), a.c.g, {in}), expected);
  }
}

TEST(GraphImages, ThreadsShareAnAttention) {
  Attention a(false);
  const std::unique_ptr<Program> program = created(a.c.g);
  const Bytes in = a.c.draw(a.c.count(a.x)), expected = run(*program, a.c.g, {in});
  std::vector<Bytes> made(8);
  std::vector<std::thread> all;
  for (Bytes& bytes : made)
    all.emplace_back([&] {
      for (int i = 0; i < 5; ++i) bytes = run(*program, a.c.g, {in});
    });
  for (std::thread& thread : all) thread.join();
  for (const Bytes& bytes : made) EXPECT_EQ(bytes, expected);
}

// A function's status ends the runs in progress, and no later one.
TEST(GraphImages, AFunctionThatFails) {
  octet::graph::RunMemory memory(64, 2);
  const auto status = [&] {
    octet_error error = {};
    return octet::graph::guarded(&error, [&] { memory.check_runs(); });
  };
  memory.begin(2), memory.begin(1);
  EXPECT_EQ(status(), OCTET_OK);
  memory.fail({OCTET_ACCUMULATOR_OVERFLOW, "the first"});
  memory.fail({OCTET_OVERLAP, "the second"});
  EXPECT_EQ(status(), OCTET_ACCUMULATOR_OVERFLOW);
  memory.end(2);
  EXPECT_EQ(status(), OCTET_ACCUMULATOR_OVERFLOW);
  memory.end(1);
  memory.begin(1);
  EXPECT_EQ(status(), OCTET_OK);
  memory.end(1);
}

TEST(GraphImages, PairsThatDoNotFit) {
  const auto refusal = [](const Shape& x, const Shape& w, const Shape& y, const auto& change) {
    GraphCase c;
    const int a = c.input(x, OCTET_S8, 0.1f), b = c.input(w, OCTET_S8, 0.1f);
    Op& op = c.op(Kind::kProduct, {a, b}, c.tensor(y, OCTET_S8, 0.1f));
    op.weights_kn = true;
    change(&c, &op);
    c.g.outputs = {op.outputs[0]};
    return would(c.g)[0];
  };
  const auto nothing = [](GraphCase*, Op*) {};
  EXPECT_EQ(refusal({2, 3}, {3, 4}, {2, 4}, nothing), "");
  EXPECT_NE(refusal({2, 3}, {4, 3}, {2, 4}, nothing).find("rows of 3 elements"), std::string::npos);
  EXPECT_NE(refusal({3}, {3, 4}, {4}, nothing).find("no matrices"), std::string::npos);
  EXPECT_NE(refusal({2, 3}, {3, 4}, {8}, nothing).find("another rank"), std::string::npos);
  EXPECT_NE(refusal({2, 3}, {3, 4}, {2, 5}, nothing).find("another shape"), std::string::npos);
  EXPECT_NE(refusal({4, 2, 3}, {2, 3, 4}, {4, 2, 4}, nothing).find("broadcasting"),
            std::string::npos);
  EXPECT_NE(refusal({2, 3}, {3, 0}, {2, 0}, nothing).find("no elements"), std::string::npos);
  EXPECT_NE(refusal({2, 140000}, {140000, 2}, {2, 2}, nothing), "");  // sums that leave int32
  const auto least = [](GraphCase* c, Op* op) {
    c->g.tensors[(size_t)op->inputs[1]].zero_points = {-128};
  };
  EXPECT_EQ(refusal({2, 33000}, {33000, 2}, {2, 2}, least), "");
  EXPECT_NE(refusal({2, 33100}, {33100, 2}, {2, 2}, least).find("may leave int32"),
            std::string::npos);
  const auto residual = [](GraphCase* c, Op* op) {
    op->inputs = {op->inputs[0], op->inputs[1], -1, c->input({2, 4}, OCTET_S8, 0.1f)};
  };
  EXPECT_NE(refusal({2, 3}, {3, 4}, {2, 4}, residual).find("takes no residual"), std::string::npos);
  const auto channels = [](GraphCase* c, Op* op) {
    c->g.tensors[(size_t)op->inputs[1]].scales.assign(4, 0.1f);
    c->g.tensors[(size_t)op->inputs[1]].zero_points.assign(4, 0);
  };
  EXPECT_NE(refusal({2, 3}, {3, 4}, {2, 4}, channels).find("a scale for each channel"),
            std::string::npos);
}

// Sums of whole halves are exact in any order. tests/onnxruntime compares others.
TEST(GraphImages, MeansOfPlanesInFloats) {
  for (const int64_t images : {1, 3})
    for (const int64_t width : {1, 3, 7, 16}) {
      GraphCase c;
      c.g.arithmetic = Arithmetic::kOnnxruntime, c.g.channels_first = true;
      const int x = c.input({images, 5, 3, width}, OCTET_U8, 0.5f, 128);
      const int y = c.tensor({images, 5}, OCTET_S8, 0.25f, -9);
      c.op(Kind::kMean, {x}, y).in_floats = true;
      c.g.outputs = {y};
      const Bytes in = c.draw(c.count(x));
      const size_t pixels = (size_t)width * 3;
      Bytes expected;
      for (size_t plane = 0; plane < in.size() / pixels; ++plane) {
        float sum = 0;
        for (size_t i = 0; i < pixels; ++i)
          sum += (float)((int)in[plane * pixels + i] - 128) * 0.5f;
        const float steps = std::nearbyint(sum / (float)pixels / 0.25f) - 9;
        expected.push_back((uint8_t)std::clamp((int)steps, -128, 127));
      }
      const std::unique_ptr<Program> program = created(c.g);
      EXPECT_EQ(run(*program, c.g, {in}), expected);
      c.g.tensors[(size_t)y].scales.clear();
      EXPECT_NE(would(c.g)[0].find("is not of 8 bits with one scale"), std::string::npos);
      c.g.tensors[(size_t)y].scales = {0.25f}, c.g.tensors[(size_t)y].shape = {images, 5, 3, 1};
      EXPECT_NE(would(c.g)[0].find("not one pixel for each image"), std::string::npos);
    }
}

}  // namespace
}  // namespace octet_test
