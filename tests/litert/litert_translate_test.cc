// SPDX-License-Identifier: Apache-2.0
// Checks the translation of single nodes that a file may have, but at which LiteRT fails before it
// asks a delegate.
#include "engines/litert/translate.h"

#include <gtest/gtest.h>
#include <tensorflow/lite/builtin_ops.h>
#include <tensorflow/lite/core/c/builtin_op_data.h>

#include <array>
#include <cstring>
#include <vector>

namespace octet_test {
namespace {

// An array of LiteRT's in words of its own.
struct Ints {
  explicit Ints(const std::vector<int>& values) : words{(int)values.size()} {
    words.insert(words.end(), values.begin(), values.end());
  }
  TfLiteIntArray* get() { return (TfLiteIntArray*)words.data(); }
  std::vector<int> words;
};

// The operator of the one node of an interpreter with these tensors.
template <typename Tensors>
octet::graph::Op translated_alone(Tensors* tensors, TfLiteNode* node, int builtin_code,
                                  const char* custom_name = nullptr) {
  struct Alone {
    TfLiteNode* node;
    TfLiteRegistration registration;
  } alone = {node, {}};
  alone.registration.builtin_code = builtin_code;
  alone.registration.custom_name = custom_name;
  TfLiteContext context = {};
  context.tensors = tensors->data(), context.tensors_size = tensors->size();
  context.impl_ = &alone;
  context.GetNodeAndRegistration = [](TfLiteContext* c, int, TfLiteNode** to,
                                      TfLiteRegistration** as) {
    auto& own = *(Alone*)c->impl_;
    *to = own.node, *as = &own.registration;
    return kTfLiteOk;
  };
  return octet::litert::translate(&context, {0}, {}).ops[0];
}

// One LSTM, of the tensors that are not left out: x, weights, biases, states, and the cells' output
// behind them.
struct LstmNode {
  static constexpr int kY = 20, kHidden = 21;
  std::array<TfLiteTensor, 22> tensors = {};
  Ints shape{{2, 4}}, inputs{std::vector<int>(20, -1)}, outputs{{kY}},
      intermediates{{kHidden, kHidden, kHidden, kHidden, kHidden}};
  TfLiteLSTMParams one = {};
  TfLiteUnidirectionalSequenceLSTMParams sequence = {};
  TfLiteNode node = {};
  bool is_sequence;

  explicit LstmNode(bool sequence_of_steps) : is_sequence(sequence_of_steps) {
    for (TfLiteTensor& t : tensors) t.type = kTfLiteInt8, t.dims = shape.get();
    for (int i = 0; i < 20; ++i) inputs.words[(size_t)i + 1] = i >= 9 && i < 12 ? -1 : i;
    one.activation = sequence.activation = kTfLiteActTanh;
    node.builtin_data = is_sequence ? (void*)&sequence : &one;
  }

  octet::graph::Op translated() {
    node.inputs = inputs.get(), node.outputs = outputs.get();
    node.intermediates = intermediates.get();
    return translated_alone(
        &tensors, &node,
        is_sequence ? kTfLiteBuiltinUnidirectionalSequenceLstm : kTfLiteBuiltinLstm);
  }
};

TEST(LitertTranslate, CellsOutput) {
  for (const bool is_sequence : {false, true}) {
    LstmNode good(is_sequence);
    EXPECT_EQ(good.translated().refused, "");
    EXPECT_EQ(good.translated().hidden, LstmNode::kHidden);
    for (const int tensor : {22, 1000, INT32_MAX, -1, INT32_MIN}) {
      LstmNode bad(is_sequence);
      bad.intermediates.words[5] = tensor;
      const octet::graph::Op op = bad.translated();
      EXPECT_EQ(op.refused, "the tensor of its cells' outputs is not there") << tensor;
      EXPECT_EQ(op.hidden, -1);
    }
  }
}

// Which of three axes are steps, an LSTM of one step does not say.
TEST(LitertTranslate, LstmOfOneStepTakesAMatrix) {
  for (const std::vector<int>& shape : {std::vector<int>{4}, {2, 3, 4}}) {
    LstmNode one(false), sequence(true);
    one.shape = sequence.shape = Ints(shape);
    for (LstmNode* node : {&one, &sequence})
      for (TfLiteTensor& t : node->tensors) t.dims = node->shape.get();
    EXPECT_EQ(one.translated().refused, "its input is no matrix");
    EXPECT_EQ(sequence.translated().refused, "");
  }
}

TEST(LitertTranslate, NamesOperatorsThatOctetHasNot) {
  LstmNode any(false);
  const auto name = [&](int code, const char* custom_name = nullptr) {
    any.node.inputs = any.inputs.get(), any.node.outputs = any.outputs.get();
    const octet::graph::Op op = translated_alone(&any.tensors, &any.node, code, custom_name);
    EXPECT_EQ(op.refused, "Octet has no such operator");
    return op.name;
  };
  EXPECT_EQ(name(kTfLiteBuiltinFloor), "operators[0] (FLOOR)");
  EXPECT_EQ(name(kTfLiteBuiltinRightShift), "operators[0] (RIGHT_SHIFT)");
  EXPECT_EQ(name(kTfLiteBuiltinCustom, "Mine"), "operators[0] (custom operator 'Mine')");
  EXPECT_EQ(name(kTfLiteBuiltinCustom), "operators[0] (CUSTOM)");
  for (const int code : {100000, -1})
    EXPECT_EQ(name(code), "operators[0] (builtin operator " + std::to_string(code) + ")");
}

// A SPLIT, SPLIT_V or UNPACK, whose axis is a constant or not.
TEST(LitertTranslate, Splits) {
  for (const int code : {kTfLiteBuiltinSplit, kTfLiteBuiltinSplitV, kTfLiteBuiltinUnpack})
    for (const bool computed : {false, true}) {
      std::array<TfLiteTensor, 5> tensors = {};
      Ints shape({2, 9, 5}), outputs({3, 4}),
          inputs(code == kTfLiteBuiltinSplit    ? std::vector<int>{2, 0}
                 : code == kTfLiteBuiltinSplitV ? std::vector<int>{0, 1, 2}
                                                : std::vector<int>{0});
      for (TfLiteTensor& t : tensors) t.type = kTfLiteInt8, t.dims = shape.get();
      int32_t axis = -2;
      tensors[2].type = kTfLiteInt32, tensors[2].data.i32 = &axis, tensors[2].bytes = sizeof axis;
      tensors[2].allocation_type = computed ? kTfLiteArenaRw : kTfLiteMmapRo;
      TfLiteUnpackParams params = {2, axis};
      TfLiteNode node = {};
      node.inputs = inputs.get(), node.outputs = outputs.get(), node.builtin_data = &params;
      const octet::graph::Op op = translated_alone(&tensors, &node, code);
      const bool refused = computed && code != kTfLiteBuiltinUnpack;
      EXPECT_EQ(op.refused, refused ? "its axis is computed" : "") << code;
      EXPECT_EQ(op.kind, octet::graph::Kind::kSplit);
      if (refused) continue;
      EXPECT_EQ(op.axis, -2);
      EXPECT_EQ(op.inputs, std::vector<int>{0});
      EXPECT_EQ(op.outputs, (std::vector<int>{3, 4}));
    }
}

// A STRIDED_SLICE of a tensor of 2 x 9 x 5, with constants for its beginning, end and strides.
struct StridedSlice {
  std::array<TfLiteTensor, 5> tensors = {};
  Ints shape{{2, 9, 5}}, inputs{{0, 1, 2, 3}}, outputs{{4}};
  std::vector<int32_t> begins, ends, strides;
  TfLiteStridedSliceParams params = {};
  TfLiteNode node = {};

  StridedSlice(std::vector<int32_t> b, std::vector<int32_t> e)
      : begins(std::move(b)), ends(std::move(e)), strides(begins.size(), 1) {}

  octet::graph::Op translated() {
    std::vector<int32_t>* const constants[] = {&begins, &ends, &strides};
    for (TfLiteTensor& t : tensors) t.type = kTfLiteInt8, t.dims = shape.get();
    for (size_t i = 0; i < 3; ++i) {
      TfLiteTensor& t = tensors[i + 1];
      t.type = kTfLiteInt32, t.data.i32 = constants[i]->data();
      t.bytes = constants[i]->size() * sizeof(int32_t);
      t.allocation_type = (int)i == computed ? kTfLiteArenaRw : kTfLiteMmapRo;
    }
    node.inputs = inputs.get(), node.outputs = outputs.get(), node.builtin_data = &params;
    return translated_alone(&tensors, &node, kTfLiteBuiltinStridedSlice);
  }
  int computed = -1;  // the constant that is none
};

TEST(LitertTranslate, StridedSlices) {
  using Places = std::vector<int64_t>;
  StridedSlice ends({-1, 2}, {INT32_MAX, -3});
  octet::graph::Op op = ends.translated();
  EXPECT_EQ(op.refused, "");
  EXPECT_EQ(op.kind, octet::graph::Kind::kSlice);
  EXPECT_EQ(op.inputs, std::vector<int>{0});
  EXPECT_EQ(op.begins, (Places{1, 2, 0}));
  EXPECT_EQ(op.sizes, Places());  // the output's shape
  StridedSlice masks({1, -2, INT32_MIN}, {1, 0, 3});
  masks.params.begin_mask = 1, masks.params.end_mask = 1, masks.params.shrink_axis_mask = 2;
  op = masks.translated();
  EXPECT_EQ(op.refused, "");
  EXPECT_EQ(op.begins, (Places{0, 7, 0}));
  EXPECT_EQ(op.sizes, (Places{2, 1, 3}));
  StridedSlice none({0, 5, 0}, {2, 4, 5});  // ends before it begins
  none.params.shrink_axis_mask = 1;
  EXPECT_EQ(none.translated().sizes, (Places{1, 0, 5}));
}

TEST(LitertTranslate, RefusesOtherStridedSlices) {
  const auto refused = [](const auto& change) {
    StridedSlice bad({0, 1, 2}, {1, 2, 3});
    change(&bad);
    return bad.translated().refused;
  };
  EXPECT_EQ(refused([](StridedSlice* s) { s->strides[2] = 2; }), "its strides are not 1");
  EXPECT_EQ(refused([](StridedSlice* s) { s->strides[0] = -1; }), "its strides are not 1");
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(refused([&](StridedSlice* s) { s->computed = i; }),
              "its beginning, end or strides are computed");
  EXPECT_EQ(refused([](StridedSlice* s) { s->ends.pop_back(); }),
            "its beginning, end or strides are computed");
  EXPECT_EQ(refused([](StridedSlice* s) {
              s->shape = Ints({2, 9});
            }),
            "its beginning, end or strides are computed");
  EXPECT_EQ(refused([](StridedSlice* s) { s->params.ellipsis_mask = 1; }),
            "it has an ellipsis or axes of its own");
  EXPECT_EQ(refused([](StridedSlice* s) { s->params.new_axis_mask = 1; }),
            "it has an ellipsis or axes of its own");
  EXPECT_EQ(refused([](StridedSlice* s) { s->params.offset = true; }),
            "its ends are counted from its beginnings");
}

// Where a model asks for it, LiteRT adds 16 bits whose scales are powers of two by shifts, which
// give other results than its general sum but where all scales are one.
TEST(LitertTranslate, SumsOfPowersOfTwo) {
  const auto refused = [](bool difference, bool asked, std::array<float, 3> scales,
                          TfLiteType type = kTfLiteInt16) {
    std::array<TfLiteTensor, 3> tensors = {};
    Ints shape{{2, 4}}, inputs{{0, 1}}, outputs{{2}};
    for (size_t i = 0; i < 3; ++i)
      tensors[i].type = type, tensors[i].dims = shape.get(), tensors[i].params.scale = scales[i];
    TfLiteAddParams add = {};
    TfLiteSubParams sub = {};
    add.pot_scale_int16 = sub.pot_scale_int16 = asked;
    TfLiteNode node = {};
    node.inputs = inputs.get(), node.outputs = outputs.get();
    node.builtin_data = difference ? (void*)&sub : &add;
    return translated_alone(&tensors, &node, difference ? kTfLiteBuiltinSub : kTfLiteBuiltinAdd)
        .refused;
  };
  for (const bool difference : {false, true}) {
    for (const std::array<float, 3> scales :
         {std::array<float, 3>{0x1p-12f, 0x1p-11f, 0x1p-11f}, {0x1p-11f, 0x1p-11f, 0x1p-10f}}) {
      EXPECT_NE(refused(difference, true, scales).find("which LiteRT adds in another way"),
                std::string::npos);
      EXPECT_EQ(refused(difference, false, scales), "");
      EXPECT_EQ(refused(difference, true, scales, kTfLiteInt8), "");
    }
    EXPECT_EQ(refused(difference, true, {0x1p-11f, 0x1p-11f, 0x1p-11f}), "");
    EXPECT_EQ(refused(difference, true, {0x1p-12f, 0x1.8p-11f, 0x1p-11f}), "");
  }
}

}  // namespace
}  // namespace octet_test
