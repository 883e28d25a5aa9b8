// SPDX-License-Identifier: Apache-2.0
// Runs an interpreter's FULLY_CONNECTED kernel on four sums that tell how it rounds.
#include "engines/litert/rounds_twice.h"

#include <tensorflow/lite/builtin_ops.h>
#include <tensorflow/lite/core/c/builtin_op_data.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>

namespace octet::litert {
namespace {

// Sums, and sums / 8 rounded twice: Q31 / 4 of (sum + 1) / 2. One rounding gives 0, 1, -1, -2;
// optimized kernels on x86 give 0, 1, 0, -1.
constexpr int kUnits = 4;
constexpr int32_t kSums[kUnits] = {3, 11, -4, -12};
constexpr int8_t kTwice[kUnits] = {1, 2, -1, -2};

// LiteRT's structs may grow at their ends: what a later one has is zero.
template <typename Struct>
struct Growing {
  Struct known = {};
  char more[256] = {};
};

// An array of LiteRT's, which LiteRT frees by free().
template <typename Array, typename T>
Array* array_of(std::initializer_list<T> values) {
  auto* const array = (Array*)std::malloc(sizeof(Array) + values.size() * sizeof(T));
  if (!array) throw std::bad_alloc();
  array->size = (int)values.size();
  std::copy(values.begin(), values.end(), array->data);  // a list may be empty: no memcpy
  return array;
}

// Four tensors of the interpreter's that no node of it has: x, weights, bias and y. Like scratch
// tensors of kernels they stay; they are empty again afterwards.
class Tensors {
 public:
  explicit Tensors(TfLiteContext* context) : context_(context) {
    if (context->AddTensors(context, kCount, &first_) != kTfLiteOk) first_ = -1;
  }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;
  ~Tensors() {
    for (int i = 0; first_ >= 0 && i < kCount; ++i) {
      TfLiteTensor& t = context_->tensors[first_ + i];
      std::free(t.dims);
      if (auto* const q = (TfLiteAffineQuantization*)t.quantization.params) {
        std::free(q->scale), std::free(q->zero_point), std::free(q);
      }
      t = {};
      t.buffer_handle = kTfLiteNullBufferHandle;
    }
  }

  int at(int i) const { return first_ + i; }
  bool there() const { return first_ >= 0; }

  // data is borrowed. kTfLiteCustom: nobody frees it, and it is no constant, whose packed form an
  // optimized kernel might keep.
  template <typename T, size_t kSize>
  void set(int i, TfLiteType type, T (&data)[kSize], std::initializer_list<int> dims, float scale) {
    TfLiteTensor& t = context_->tensors[at(i)];
    t.type = type;
    t.data.data = (void*)data, t.bytes = sizeof data;
    t.allocation_type = kTfLiteCustom;
    t.params = {scale, 0};
    t.dims = array_of<TfLiteIntArray>(dims);
    auto* const q = (TfLiteAffineQuantization*)std::calloc(1, sizeof(TfLiteAffineQuantization));
    if (!q) throw std::bad_alloc();
    t.quantization = {kTfLiteAffineQuantization, q};
    q->scale = array_of<TfLiteFloatArray>({scale});
    q->zero_point = array_of<TfLiteIntArray>({0});
  }

 private:
  static constexpr int kCount = 4;
  TfLiteContext* const context_;
  int first_ = -1;
};

bool rounds_twice(TfLiteContext* context, const TfLiteRegistration& kernel) {
  if (!kernel.init || !kernel.prepare || !kernel.invoke || !kernel.free) return false;
  int8_t x[1] = {}, weights[kUnits] = {}, y[kUnits] = {};
  int32_t bias[kUnits];
  std::memcpy(bias, kSums, sizeof bias);
  Tensors tensors(context);
  if (!tensors.there()) return false;
  tensors.set(0, kTfLiteInt8, x, {1, 1}, 0.5f);
  tensors.set(1, kTfLiteInt8, weights, {kUnits, 1}, 0.5f);
  tensors.set(2, kTfLiteInt32, bias, {kUnits}, 0.25f);
  tensors.set(3, kTfLiteInt8, y, {1, kUnits}, 2);

  Growing<TfLiteFullyConnectedParams> params;  // no activation, the default format of weights
  Growing<TfLiteNode> node;
  using Array = std::unique_ptr<TfLiteIntArray, void (*)(void*)>;
  const Array inputs(array_of<TfLiteIntArray>({tensors.at(0), tensors.at(1), tensors.at(2)}),
                     std::free),
      outputs(array_of<TfLiteIntArray>({tensors.at(3)}), std::free),
      none(array_of<TfLiteIntArray>(std::initializer_list<int>{}), std::free);
  node.known.inputs = inputs.get(), node.known.outputs = outputs.get();
  node.known.intermediates = node.known.temporaries = none.get();
  node.known.builtin_data = &params;
  node.known.user_data = kernel.init(context, (const char*)&params, 0);
  const bool ran = kernel.prepare(context, &node.known) == kTfLiteOk &&
                   kernel.invoke(context, &node.known) == kTfLiteOk;
  kernel.free(context, node.known.user_data);
  return ran && std::memcmp(y, kTwice, sizeof y) == 0;
}

}  // namespace

bool rounds_twice(TfLiteContext* context, const std::vector<int>& nodes) {
  for (const int index : nodes) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* kernel = nullptr;
    if (context->GetNodeAndRegistration(context, index, &node, &kernel) == kTfLiteOk &&
        kernel->builtin_code == kTfLiteBuiltinFullyConnected)
      return rounds_twice(context, *kernel);
  }
  return false;
}

}  // namespace octet::litert
