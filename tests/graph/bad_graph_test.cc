// SPDX-License-Identifier: Apache-2.0
// Checks the sentences for malformed graphs, and for operators that are refused.
#include <cmath>
#include <limits>
#include <random>

#include "engines/graph/match_qdq.h"
#include "graph/good_graph.h"
#include "support/refused.h"

namespace octet_test {
namespace {

void expect(octet_status status, const char* words, const std::function<void(Good*)>& change) {
  Good good;
  change(&good);
  std::unique_ptr<Program> program;
  expect_refused(status, words, [&](octet_error* error) {
    return Program::create(good.g, {}, nullptr, &program, error);
  });
  EXPECT_EQ(program, nullptr);
}

TEST(BadGraph, TheGoodOne) {
  Good good;
  for (const std::string& why : would(good.g)) EXPECT_EQ(why, "");
  run(*created(good.g), good.g, {good.draw(64)});
}

TEST(BadGraph, Indices) {
  const auto bad = [](const char* words, const std::function<void(Good*)>& change) {
    expect(OCTET_BAD_NETWORK, words, change);
  };
  bad("an input of op1 is tensor 99, but there are 7", [](Good* c) { c->g.ops[1].inputs[0] = 99; });
  bad("an output of op0 is tensor -1", [](Good* c) { c->g.ops[0].outputs[0] = -1; });
  bad("an input of op0 is tensor -2", [](Good* c) { c->g.ops[0].inputs[2] = -2; });
  bad("an input of the graph is tensor 7", [](Good* c) { c->g.inputs[0] = 7; });
  bad("an output of the graph is tensor 1000000", [](Good* c) { c->g.outputs = {1000000}; });
  bad("an output of the graph is tensor 1 ('t1'), a constant",
      [](Good* c) { c->g.outputs.push_back(c->w); });
  bad("op0 makes no tensor", [](Good* c) { c->g.ops[0].outputs.clear(); });
  bad("the product of op2", [](Good* c) { c->g.ops[2].between = 50; });
  bad("the quantization of op2", [](Good* c) { c->g.ops[2].quantized_as = 50; });
}

TEST(BadGraph, MakersAndCircles) {
  const auto bad = [](const char* words, const std::function<void(Good*)>& change) {
    expect(OCTET_BAD_NETWORK, words, change);
  };
  bad("op1 reads tensor 0 ('t0'), which nothing makes",
      [](Good* c) { c->g.inputs.clear(), c->g.ops[0].inputs[0] = c->sum; });
  bad("tensor 3 ('t3') is made twice, the second time by op1",
      [](Good* c) { c->g.ops[1].outputs[0] = c->a; });
  bad("tensor 0 ('t0') is made twice", [](Good* c) { c->g.ops[1].outputs[0] = c->x; });
  bad("op1 makes tensor 1 ('t1'), a constant", [](Good* c) { c->g.ops[1].outputs[0] = c->w; });
  bad("op0 needs its own result: a circle", [](Good* c) { c->g.ops[0].inputs[0] = c->sum; });
  bad("op1 needs its own result: a circle", [](Good* c) { c->g.ops[1].inputs[1] = c->sum; });
}

TEST(BadGraph, NumbersOutOfRange) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float scale : {nan, 0.f, -1.f, HUGE_VALF, 1e30f})
    expect(OCTET_BAD_SCALE, "tensor 3 ('t3') has the scale",
           [&](Good* c) { c->t(c->a).scales = {scale}; });
  expect(OCTET_BAD_ZERO_POINT, "the zero point 128, which is outside",
         [](Good* c) { c->t(c->x).zero_points = {128}; });
  expect(OCTET_BAD_ZERO_POINT, "has 3 zero points and 1 scales", [](Good* c) {
    c->t(c->w).zero_points = {0, 0, 0};
  });
  expect(OCTET_BAD_ZERO_POINT, "the zero point 8, which is outside",
         [](Good* c) { c->t(c->w).type = OCTET_S4, c->t(c->w).zero_points = {8}; });
  expect(OCTET_UNSUPPORTED, "is of 4 bits, but no constant",
         [](Good* c) { c->t(c->a).type = OCTET_S4; });
  expect(OCTET_BAD_SIZE, "is a constant of 71 bytes, but its shape takes 72",
         [](Good* c) { c->t(c->w).type = OCTET_U4, c->t(c->w).bytes = 71; });
  expect(OCTET_UNKNOWN_ENUM, "has the type 77", [](Good* c) { set_raw(&c->t(c->a).type, 77); });
  expect(OCTET_BAD_SIZE, "is a constant of 143 bytes, but its shape takes 144",
         [](Good* c) { c->t(c->w).bytes = 143; });
  expect(OCTET_BAD_SIZE, "is a constant of 15 bytes, but its shape takes 16",
         [](Good* c) { c->t(c->b).bytes = 15; });
  expect(OCTET_BAD_SIZE, "take more bytes than size_t holds", [](Good* c) {
    c->t(c->x).shape = {INT64_MAX, INT64_MAX, 4, 4};
  });
  expect(OCTET_BAD_SIZE, "take more bytes than size_t holds", [](Good* c) {
    c->t(c->y).shape = {1, INT64_MAX / 2};
  });
  expect(OCTET_NULL_POINTER, "op0: the data of its weights is null",
         [](Good* c) { c->t(c->w).data = nullptr; });
  expect(OCTET_NULL_POINTER, "op0: the data of its bias is null",
         [](Good* c) { c->t(c->b).data = nullptr; });
  expect(OCTET_BAD_SIZE, "op1 has a table of 3 bytes", [](Good* c) {
    c->g.ops[1].table = {1, 2, 3};
  });
}

// The operator `at` is refused with these words, and no other.
void refused(size_t at, const char* words, const std::function<void(Good*)>& change) {
  Good good;
  change(&good);
  const std::vector<std::string> why = would(good.g);
  for (size_t i = 0; i < why.size(); ++i) {
    if (i == at)
      EXPECT_NE(why[i].find(words), std::string::npos) << "'" << why[i] << "' is not " << words;
    else
      EXPECT_EQ(why[i], "");
  }
  std::unique_ptr<Program> program;
  expect_refused(OCTET_UNSUPPORTED, words, [&](octet_error* error) {
    return Program::create(good.g, {}, nullptr, &program, error);
  });
}

// Operators that stay with the engine turn no others down.
TEST(BadGraph, ForeignOperators) {
  refused(3, "it would need an operator 'other'", [](Good* c) {
    const int unknown = c->tensor({4}, (octet_type)0, -3, 1000);
    const int index = c->tensor({4}, OCTET_S32, -1, 77);
    c->op(Kind::kOther, {c->x, unknown, index}, c->y).outputs.clear();
    c->g.inputs.push_back(unknown), c->g.inputs.push_back(index);
  });
  refused(3, "the interpreter does not have it", [](Good* c) {
    Op& op = c->op(Kind::kAdd, {c->x, c->y}, c->y);
    op.outputs.clear(), op.refused = "the interpreter does not have it";
  });
  Good good;
  for (const Kind kind : {Kind::kQuantize, Kind::kDequantize, Kind::kActivation}) {
    Op& op = good.op(kind, {good.y}, good.y);
    op.outputs.clear(), op.refused = "no";
  }
  EXPECT_EQ(match_qdq(good.g).ops.size(), 6u);
  expect(OCTET_BAD_SCALE, "tensor 2 ('t2') has the scale",
         [](Good* c) { c->t(c->b).scales = {-1}; });
}

TEST(BadGraph, RefusedProducts) {
  refused(0, "its weights tensor 1 ('t1') are computed; a convolution needs",
          [](Good* c) { c->t(c->w).constant = false, c->g.inputs.push_back(c->w); });
  refused(0, "its bias tensor 2 ('t2') is computed",
          [](Good* c) { c->t(c->b).constant = false, c->g.inputs.push_back(c->b); });
  refused(0, "its bias has 3 values, and it has 4 channels",
          [](Good* c) { c->t(c->b).shape = {3}; });
  refused(0, "has no scale: XNNPACK leaves it to LiteRT's own kernel",
          [](Good* c) { c->g.arithmetic = Arithmetic::kXnnpack; });
  refused(0, "is not of int32; quantize it", [](Good* c) { c->t(c->b).type = OCTET_F32; });
  refused(0, "its weights have 2 scales, and it has 4 channels", [](Good* c) {
    c->t(c->w).scales = {1, 1};
  });
  refused(0, "not of 8 bits; quantize the operator", [](Good* c) {
    c->t(c->w).type = OCTET_F32, c->t(c->w).bytes = 1000, c->t(c->w).data = nullptr;
  });
  refused(0, "its output is said to be 1x4x4x4, but it makes 1x2x2x4",
          [](Good* c) { c->g.ops[0].window.padding = Padding::kValid; });
  refused(0, "has 0 groups", [](Good* c) { c->g.ops[0].groups = 0; });
  refused(0, "its input has 4 channels, but its weights are for 8",
          [](Good* c) { c->g.ops[0].groups = 2; });
  refused(0, "not of rank 3 or 4", [](Good* c) { c->t(c->w).shape = {4, 36}; });
  refused(0, "of different types, which TFLite's arithmetic does not have",
          [](Good* c) { c->t(c->w).type = OCTET_U8; });
  refused(2, "rows of 63 elements, which are neither", [](Good* c) {
    c->t(c->g.ops[2].inputs[1]).shape = {6, 63};
  });
  refused(2, "its output has 7 elements, but it makes 1 rows of 6", [](Good* c) {
    c->t(c->y).shape = {1, 7};
  });
  refused(0, "its residual tensor 7 ('t7') is a constant", [](Good* c) {
    c->g.arithmetic = Arithmetic::kStandard;
    c->t(c->b).scales.clear();
    c->g.ops[0].inputs.push_back(c->constant({1, 4, 4, 4}, OCTET_S8, Bytes(64), 0.5f));
  });
  refused(2, "has 0 inputs; it needs weights", [](Good* c) { c->g.ops[2].inputs.clear(); });
  refused(2, "the engine said no", [](Good* c) { c->g.ops[2].refused = "the engine said no"; });
}

TEST(BadGraph, RefusedFunctions) {
  refused(1, "it is not from 8 bits to", [](Good* c) { c->g.ops[1].kind = Kind::kTanh; });
  refused(1, "it would need an operator 'other'", [](Good* c) { c->g.ops[1].kind = Kind::kOther; });
  refused(1, "it has 1 inputs, not 2", [](Good* c) { c->g.ops[1].inputs.pop_back(); });
  refused(1, "one of its inputs is left out", [](Good* c) { c->g.ops[1].inputs[0] = -1; });
  refused(1, "have nothing between them", [](Good* c) {
    c->g.ops[1].clamp = {Activation::kClip, 3, 2};
  });
  // The tables of byte types without scales are known without one, but for bounds in real values.
  for (const Activation activation :
       {Activation::kRelu6, Activation::kReluN1To1, Activation::kClip})
    refused(0, "its output has no scale", [=](Good* c) {
      c->g.ops[1].kind = Kind::kActivation, c->g.ops[1].inputs = {c->a};
      c->g.ops[1].clamp = {activation, 0, 1};
      c->g.ops[2].kind = Kind::kReshape, c->g.ops[2].inputs = {c->sum};
      c->t(c->y).shape = {1, 64};
      c->t(c->a).scales.clear(), c->t(c->sum).scales.clear();
      c->t(c->a).zero_points.clear(), c->t(c->sum).zero_points.clear();
      c->g.ops.erase(c->g.ops.begin());
      c->g.inputs = {c->a};
    });
  // The sum has a scale of 13: 6 of RELU6 is nearest to 0.
  const auto all_zeros = [](Good* c) {
    c->g.ops[1].clamp.activation = Activation::kRelu6;
    c->t(c->sum).scales = {13}, c->t(c->sum).zero_points = {0};
  };
  refused(1, "leaves nothing but the byte 0", all_zeros);
  refused(1, "leaves nothing but the byte 0", [&](Good* c) {
    all_zeros(c);
    c->g.ops[1].kind = Kind::kMaxPool, c->g.ops[1].inputs = {c->a};
    c->t(c->a).scales = {13}, c->t(c->a).zero_points = {0};
  });
  refused(1, "its inputs have different shapes; it would need to broadcast", [](Good* c) {
    const int row = c->input({1, 1, 1, 64}, OCTET_S8, 1);
    c->g.ops[1].inputs[0] = row;
  });
  refused(1, "its windows do not fit", [](Good* c) {
    c->g.ops[1].kind = Kind::kMaxPool, c->g.ops[1].inputs = {c->a};
    c->t(c->sum).scales = c->t(c->a).scales;
    c->g.ops[1].window.kernel_h = 9, c->g.ops[1].window.kernel_w = 1;
  });
  refused(1, "quantized differently",
          [](Good* c) { c->g.ops[1].kind = Kind::kMaxPool, c->g.ops[1].inputs = {c->a}; });
}

TEST(BadGraph, RefusedShapes) {
  const auto reshape = [](std::vector<int64_t> shape) {
    return [shape](Good* c) {
      c->g.ops[1].kind = Kind::kReshape, c->g.ops[1].inputs = {c->a};
      c->t(c->sum).shape = shape;
      c->g.ops.pop_back(), c->g.outputs = {c->sum};
    };
  };
  refused(1, "different types or numbers of elements", reshape({1, 64, 2}));
  refused(1, "has no elements", [](Good* c) {
    c->g.ops[1].kind = Kind::kReshape, c->g.ops[1].inputs = {c->a};
    c->t(c->sum).shape = {1, 0};
    c->g.ops.pop_back(), c->g.outputs = {c->sum};
  });
  const auto join = [](int axis, int64_t h) {
    return [=](Good* c) {
      c->g.ops[1].kind = Kind::kConcatenate, c->g.ops[1].axis = axis;
      c->t(c->sum).shape = {1, h, 4, 4};
      c->g.ops.pop_back(), c->g.outputs = {c->sum};
    };
  };
  refused(1, "its inputs have 2 along axis 0, its output 1", join(0, 4));
  refused(1, "it would need another axis", join(4, 4));
  refused(1, "its inputs have 8 along axis 1, its output 9", join(1, 9));
  Good unknown;
  unknown.t(unknown.x).shape[1] = -1;
  const std::vector<std::string> why = would(unknown.g);
  EXPECT_EQ(why[0], "op0: the sizes of tensor 0 ('t0') are not known");
  EXPECT_NE(why[1], "");
  EXPECT_EQ(why[2], "");
}

TEST(BadGraph, QuestionsNeedNoWeights) {
  Good good;
  for (Tensor& t : good.g.tensors) t.data = nullptr;
  for (const std::string& why : would(good.g)) EXPECT_EQ(why, "");
}

TEST(BadGraph, QuestionsAboutHugeWeights) {
  Good good;
  for (Tensor& t : good.g.tensors) t.data = nullptr;
  const int64_t n = (int64_t)1 << 40;
  good.t(good.w).shape = {n, 3, 3, 4}, good.t(good.b).shape = {n};
  good.t(good.a).shape = good.t(good.sum).shape = {1, 4, 4, n};
  const std::vector<std::string> why = would(good.g);
  EXPECT_EQ(why.size(), 3u);
  EXPECT_NE(why[1], "");  // the other addend is small
}

TEST(BadGraph, ABadGraphIsRefusedAsAWhole) {
  Good good;
  good.g.ops[0].inputs[0] = good.sum;
  for (const std::string& why : would(good.g)) EXPECT_EQ(why, "op0 needs its own result: a circle");
  EXPECT_ANY_THROW(match_qdq(good.g));
}

TEST(BadGraph, AccumulatorsThatLeaveInt32) {
  expect(OCTET_ACCUMULATOR_OVERFLOW, "op2: ", [](Good* c) {
    c->g.arithmetic = Arithmetic::kStandard;
    c->t(c->y).type = OCTET_S32;
    Bytes largest(24, 0xff);
    for (size_t i = 3; i < 24; i += 4) largest[i] = 0x7f;
    c->g.ops[2].inputs.push_back(c->constant({6}, OCTET_S32, largest));
  });
}

// Whatever is wrong with it, a graph is refused or runs.
TEST(BadGraph, ChangedAtRandom) {
  std::mt19937 random(3);
  const int64_t sizes[] = {-1, 0, 1, 2, 4, 5, 64, 1 << 20, INT64_MAX};
  const auto size = [&] { return sizes[random() % 9]; };
  size_t created_ones = 0;
  for (int round = 0; round < 3000; ++round) {
    Good c;
    for (int change = 0; change < 2; ++change) {
      Tensor& t = c.g.tensors[random() % c.g.tensors.size()];
      Op& op = c.g.ops[random() % c.g.ops.size()];
      switch (random() % 12) {
        case 0: t.type = (octet_type)(random() % 7); break;
        case 1: t.shape.resize(random() % 6, size()); break;
        case 2:
          if (!t.shape.empty()) t.shape[random() % t.shape.size()] = size();
          break;
        case 3: t.scales.assign(random() % 6, 0.5f); break;
        case 4: t.zero_points.assign(random() % 6, (int32_t)(random() % 300) - 150); break;
        case 5: op.kind = (Kind)(random() % 26); break;
        case 6: op.inputs.assign(random() % 5, (int)(random() % 9) - 1); break;
        case 7: op.outputs[0] = (int)(random() % 8); break;
        case 8: op.axis = (int)(random() % 9) - 4; break;
        case 9: op.window.stride_h = (size_t)size(), op.window.top = random() % 4; break;
        case 10: op.groups = random() % 5, op.depthwise = random() % 2; break;
        case 11:
          op.order = (octet_filter_order)(random() % 5), op.transposed = random() % 2;
          c.g.channels_first = random() % 2, c.g.arithmetic = (Arithmetic)(random() % 5);
      }
    }
    const std::vector<std::string> why = would(c.g);
    EXPECT_EQ(why.size(), c.g.ops.size());
    std::unique_ptr<Program> program;
    octet_error error = {};
    const octet_status status = Program::create(c.g, {}, nullptr, &program, &error);
    EXPECT_EQ(status == OCTET_OK, program != nullptr);
    EXPECT_EQ(status == OCTET_OK, error.message[0] == 0);
    if (!program) continue;
    ++created_ones;
    std::vector<Bytes> inputs;
    for (const int t : c.g.inputs) inputs.emplace_back(bytes_of(c.g, t), 1);
    run(*program, c.g, inputs);
  }
  EXPECT_GT(created_ones, 100u);
}

TEST(BadGraph, SplitsThatAreNone) {
  const auto why = [](int axis, std::vector<std::vector<int64_t>> parts, float scale = 0.1f) {
    GraphCase c;
    const int x = c.input({2, 6, 5}, OCTET_S8, 0.1f);
    octet::graph::Op& op = c.op(Kind::kSplit, {x}, x);
    op.axis = axis, op.outputs.clear();
    for (std::vector<int64_t>& part : parts)
      op.outputs.push_back(c.tensor(std::move(part), OCTET_S8, scale));
    c.g.outputs = op.outputs;
    return octet::graph::would(c.g)[0];
  };
  EXPECT_EQ(why(1, {{2, 4, 5}, {2, 2, 5}}), "");
  EXPECT_EQ(why(1, {{2, 4, 5}, {2, 1, 5}}), "op0: its outputs leave 1 of axis 1 of its input");
  for (const std::vector<int64_t>& second :
       {std::vector<int64_t>{2, 3, 5}, {2, 2, 4}, {2}, {1, 2, 2, 5}, {2, -1, 5}})
    EXPECT_EQ(why(-2, {{2, 4, 5}, second}),
              "op0: tensor 2 ('t2') is no part of its input along axis 1");
  for (const int axis : {3, -4})
    EXPECT_EQ(why(axis, {{2, 6, 5}}), "op0: it splits axis " + std::to_string(axis) +
                                          " of rank 3; it would need another axis");
  EXPECT_EQ(why(1, {{2, 4, 5}, {2, 2, 5}}, 0.2f),
            "op0: its input and its output are of different types, or quantized differently");
}

}  // namespace
}  // namespace octet_test
