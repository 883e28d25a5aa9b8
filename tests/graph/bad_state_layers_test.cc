// SPDX-License-Identifier: Apache-2.0
// Checks the sentences for layers with a state that are refused.
#include <functional>

#include "graph/state_case.h"
#include "support/refused.h"

namespace octet_test {
namespace {

LstmModel small() {
  LstmModel m;
  m.batch = 2, m.steps = 3, m.depth = 4, m.cells = 8, m.outputs = 5, m.projected = true;
  return m;
}

// The small graph after a change, by would and by Program::create: both refuse it.
template <typename Case>
void expect_why(Case good, const std::string& words, const std::function<void(Case*)>& change) {
  change(&good);
  const std::vector<std::string> why = would(good.g);
  EXPECT_NE(why[0].find(words), std::string::npos) << why[0] << "\nwithout: " << words;
  std::unique_ptr<Program> program;
  octet_error error = {};
  EXPECT_NE(Program::create(good.g, {}, nullptr, &program, &error), OCTET_OK) << words;
  EXPECT_NE(std::string(error.message).find(words), std::string::npos) << error.message;
}

struct Lstm : LstmCase {
  Lstm() : LstmCase(small()) {}
  Tensor& input(size_t i) { return g.tensors[(size_t)g.ops[0].inputs[i]]; }
  Tensor& output() { return g.tensors[(size_t)g.ops[0].outputs[0]]; }
  int& index(size_t i) { return g.ops[0].inputs[i]; }
};
void lstm(const std::string& words, const std::function<void(Lstm*)>& change) {
  expect_why<Lstm>(Lstm(), words, change);
}

struct Svdf : SvdfCase {
  Svdf() : SvdfCase({2, 4, 3, 2, 5, {}, {}, 1, 1, {}, {}, {}}) {}
  Tensor& input(size_t i) { return g.tensors[(size_t)g.ops[0].inputs[i]]; }
  Tensor& output() { return g.tensors[(size_t)g.ops[0].outputs[0]]; }
};
void svdf(const std::string& words, const std::function<void(Svdf*)>& change) {
  expect_why<Svdf>(Svdf(), words, change);
}

TEST(BadStateLayers, TheGoodOnes) {
  EXPECT_EQ(would(Lstm().g)[0], "");
  EXPECT_EQ(would(Svdf().g)[0], "");
  for (Arithmetic arithmetic : {Arithmetic::kXnnpack, Arithmetic::kOnnxruntime}) {
    Lstm c;
    c.g.arithmetic = arithmetic;
    EXPECT_EQ(would(c.g)[0].empty(), arithmetic == Arithmetic::kXnnpack);
  }
}

TEST(BadStateLayers, QuestionsNeedNoData) {
  Lstm c;
  for (Tensor& t : c.g.tensors) t.data = nullptr;
  EXPECT_EQ(would(c.g)[0], "");
  std::unique_ptr<Program> program;
  expect_refused(
      OCTET_NULL_POINTER, "op0: the data of its weights or of a bias is null",
      [&](octet_error* error) { return Program::create(c.g, {}, nullptr, &program, error); });
}

TEST(BadStateLayers, OperandsOfLstm) {
  lstm("only TFLite's arithmetic has a layer with a state",
       [](Lstm* c) { c->g.arithmetic = Arithmetic::kStandard; });
  lstm("it has 16 inputs, not 17", [](Lstm* c) { c->g.ops[0].inputs.pop_back(); });
  lstm("it has 2 outputs, not 1",
       [](Lstm* c) { c->g.ops[0].outputs.push_back(c->tensor({1}, OCTET_S8, 1)); });
  lstm("'t0') is not of int8; quantize the layer in full",
       [](Lstm* c) { c->input(0).type = OCTET_S16; });
  lstm("is not of int8; quantize the layer in full", [](Lstm* c) { c->output().type = OCTET_S16; });
  lstm("is of rank 4, not 3", [](Lstm* c) { c->input(0).shape = {1, 2, 3, 4}; });
  lstm("is of rank 1, not 3", [](Lstm* c) { c->input(0).shape = {4}; });
  lstm("has no elements", [](Lstm* c) { c->input(0).shape = {2, 0, 4}; });
  lstm("are not known", [](Lstm* c) { c->input(0).shape = {2, -1, 4}; });
  lstm("has 2 scales; it needs one", [](Lstm* c) { c->input(0).scales = {1, 2}; });
  lstm("are 8 x 4, not 8 x 3", [](Lstm* c) { c->input(0).shape = {2, 3, 3}; });
  lstm("have a zero point; it must be 0", [](Lstm* c) { c->input(6).zero_points = {1}; });
  lstm("has 8 scales; it needs one", [](Lstm* c) {
    c->input(6).scales = std::vector<float>(8, 0.1f), c->input(6).zero_points = {};
  });
  lstm("are not of int8, as a layer in full integers",
       [](Lstm* c) { c->input(6).type = OCTET_U8; });
  lstm("its input 7 is left out", [](Lstm* c) { c->index(7) = -1; });
  lstm("is not of int32", [](Lstm* c) { c->input(10).type = OCTET_F32; });
  lstm("does not have 8 values", [](Lstm* c) { c->input(10).shape = {4}; });
  lstm("does not have 5 elements for each step", [](Lstm* c) { c->output().shape = {2, 3, 4}; });
}

TEST(BadStateLayers, FormsOfLstm) {
  lstm("it has some of its input gate's weights and bias", [](Lstm* c) { c->index(1) = -1; });
  lstm("it has some of its input gate's weights and bias", [](Lstm* c) { c->index(9) = -1; });
  lstm("it has the bias of a projection, but not its weights", [](Lstm* c) { c->index(13) = -1; });
  lstm("it has 8 cells and 5 outputs, and no projection",
       [](Lstm* c) { c->index(13) = c->index(14) = -1; });
  lstm("the tensor of its cells' outputs is left out", [](Lstm* c) { c->g.ops[0].hidden = -1; });
  lstm("the cells' output of op0 is tensor 1000", [](Lstm* c) { c->g.ops[0].hidden = 1000; });
  lstm("its cells' outputs are not of int8", [](Lstm* c) {
    Tensor& hidden = c->g.tensors[(size_t)c->g.ops[0].hidden];
    hidden.type = OCTET_S32, hidden.zero_points = {INT32_MAX};
  });
  lstm("its cells' outputs have 0 scales",
       [](Lstm* c) { c->g.tensors[(size_t)c->g.ops[0].hidden].scales.clear(); });
  lstm("the scale of its cells' outputs is below 2^-30",
       [](Lstm* c) { c->g.tensors[(size_t)c->g.ops[0].hidden].scales = {0x1p-32f}; });
  lstm("it has a fused activation",
       [](Lstm* c) { c->g.ops[0].clamp.activation = Activation::kRelu; });
  for (const float scale : {0x1.1p-11f, 0x1p-16f, 0x1p-8f})
    lstm("which is no power of two from 2^-15 to 2^-9",
         [=](Lstm* c) { c->input(16).scales = {scale}; });
  for (const float clip : {-1.f, NAN})
    lstm("which is below 0", [=](Lstm* c) { c->g.ops[0].cell_clip = clip; });
}

TEST(BadStateLayers, States) {
  lstm("is no variable that keeps its values", [](Lstm* c) { c->input(15).variable = false; });
  lstm("is a constant and a variable", [](Lstm* c) { c->input(4).variable = true; });
  lstm("is a variable, the state of a layer", [](Lstm* c) { c->input(0).variable = true; });
  lstm("is not of int16", [](Lstm* c) { c->input(16).type = OCTET_S8; });
  lstm("does not have 16 values", [](Lstm* c) { c->input(16).shape = {8}; });
  lstm("its cell state has a zero point", [](Lstm* c) { c->input(16).zero_points = {1}; });
  lstm("is read 2 times; it needs its own", [](Lstm* c) {
    const int y = c->tensor({2, 3, 5}, OCTET_S8, 1);
    c->g.outputs.push_back(y);
    c->op(Kind::kLstm, c->g.ops[0].inputs, y);
  });
  lstm("an output of the graph is tensor", [](Lstm* c) { c->g.outputs.push_back(c->index(15)); });
  lstm("op1 makes tensor", [](Lstm* c) {
    c->g.inputs.erase(c->g.inputs.begin() + 1);
    c->op(Kind::kReshape, {c->index(0)}, c->index(15));
  });
  Lstm c;
  const int y = c.tensor({2, 5}, OCTET_S8, 1);
  c.g.outputs.push_back(y);
  c.op(Kind::kReshape, {c.index(15)}, y);
  EXPECT_NE(would(c.g)[1].find("a variable, which only a layer with a state does"),
            std::string::npos);
}

TEST(BadStateLayers, FormsOfSvdf) {
  svdf("it has 4 inputs, not 5", [](Svdf* c) { c->g.ops[0].inputs.pop_back(); });
  svdf("its rank 4 does not divide its 6 filters", [](Svdf* c) { c->g.ops[0].rank = 4; });
  svdf("its rank 0 does not divide", [](Svdf* c) { c->g.ops[0].rank = 0; });
  svdf("its activation is not RELU",
       [](Svdf* c) { c->g.ops[0].clamp.activation = Activation::kNone; });
  svdf("are not of int16, as a layer in full integers",
       [](Svdf* c) { c->input(2).type = OCTET_S8; });
  svdf("does not have 60 values", [](Svdf* c) { c->input(4).shape = {2, 29}; });
  svdf("its state has a zero point", [](Svdf* c) { c->input(4).zero_points = {3}; });
  svdf("does not have 2 x 3 elements", [](Svdf* c) { c->output().shape = {2, 4}; });
  svdf("is below that of state times weights", [](Svdf* c) { c->output().scales = {1e-12f}; });
}

// Refusals that depend on the weights.
TEST(BadStateLayers, SumsThatShiftsTakeOutOfInt32) {
  std::unique_ptr<Program> program;
  const auto overflows = [&](const Graph& g) {
    expect_refused(
        OCTET_ACCUMULATOR_OVERFLOW, "which could take them out of int32",
        [&](octet_error* error) { return Program::create(g, {}, nullptr, &program, error); });
    EXPECT_EQ(program, nullptr);
  };
  Lstm of_input, of_state;
  of_input.input(3).scales = {1000}, overflows(of_input.g);
  of_state.input(7).scales = {10000}, overflows(of_state.g);
  Svdf of_feature;
  of_feature.input(1).scales = {1e5f}, overflows(of_feature.g);
}

}  // namespace
}  // namespace octet_test
