// Checks the translation of nodes that files may have, but that end LiteRT before a delegate does.
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

// One LSTM, of the tensors that are not left out: x, weights, biases, states, and the cells' output
// behind them.
struct LstmNode {
  static constexpr int kX = 0, kY = 20, kHidden = 21;
  std::array<TfLiteTensor, 22> tensors = {};
  Ints shape{{2, 4}}, inputs{std::vector<int>(20, -1)}, outputs{{kY}},
      intermediates{{kHidden, kHidden, kHidden, kHidden, kHidden}};
  TfLiteLSTMParams one = {};
  TfLiteUnidirectionalSequenceLSTMParams sequence = {};
  TfLiteNode node = {};
  TfLiteRegistration registration = {};

  explicit LstmNode(bool is_sequence) {
    for (TfLiteTensor& t : tensors) t.type = kTfLiteInt8, t.dims = shape.get();
    for (int i = 0; i < 20; ++i) inputs.words[(size_t)i + 1] = i >= 9 && i < 12 ? -1 : i;
    one.activation = sequence.activation = kTfLiteActTanh;
    node.builtin_data = is_sequence ? (void*)&sequence : &one;
    registration.builtin_code =
        is_sequence ? kTfLiteBuiltinUnidirectionalSequenceLstm : kTfLiteBuiltinLstm;
  }

  octet::graph::Op translated() {
    node.inputs = inputs.get(), node.outputs = outputs.get();
    node.intermediates = intermediates.get();
    TfLiteContext context = {};
    context.tensors = tensors.data(), context.tensors_size = tensors.size();
    context.impl_ = this;
    context.GetNodeAndRegistration = [](TfLiteContext* c, int, TfLiteNode** to,
                                        TfLiteRegistration** as) {
      auto& own = *(LstmNode*)c->impl_;
      *to = &own.node, *as = &own.registration;
      return kTfLiteOk;
    };
    return octet::litert::translate(&context, {0}, {}).ops[0];
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

}  // namespace
}  // namespace octet_test
