// SPDX-License-Identifier: Apache-2.0
// Runs functions of the library on tensors in guarded memory, with strides of any size.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "octet/functions.h"
#include "support/guarded.h"

namespace octet_test {

using Bytes = std::vector<uint8_t>;

struct DestroyFunction {
  void operator()(octet_function* f) const { octet_function_destroy(f); }
};
using Function = std::unique_ptr<octet_function, DestroyFunction>;

// create: octet_add_create or its like.
template <typename Desc>
Function make(octet_status (*create)(const Desc*, octet_function**, octet_error*),
              const Desc& desc) {
  octet_function* f = nullptr;
  octet_error error = {};
  EXPECT_EQ(create(&desc, &f, &error), OCTET_OK) << error.message;
  return Function(f);
}

// Dense batch x h x w x channels elements.
struct Tensor {
  size_t batch, h, w, channels;
  size_t element = 1;  // bytes
  Bytes bytes = Bytes(batch * h * w * channels * element);
};

// Element i of a tensor of 8 or 16 bits.
inline int32_t value_at(const Bytes& bytes, octet_type type, size_t i) {
  if (type != OCTET_S16) return type == OCTET_S8 ? (int8_t)bytes[i] : (int32_t)bytes[i];
  return (int16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
}
inline void push_value(int32_t value, octet_type type, Bytes* bytes) {
  bytes->push_back((uint8_t)value);
  if (type == OCTET_S16) bytes->push_back((uint8_t)(value >> 8));
}
inline size_t bytes_of(octet_type type) {
  return type == OCTET_F32 ? 4 : type == OCTET_S16 ? 2 : 1;
}

// Words of all sizes, those at the ends and beside 0 among them.
inline Bytes some_s16(size_t count, uint32_t seed) {
  Bytes words;
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    const int32_t word = (int16_t)(seed >> 16);
    const int32_t ends[] = {-32768, -32767, -1, 0, 1, 32766, 32767};
    push_value(i % 5 == 0 ? ends[(seed >> 8) % 7] : word >> (seed >> 4) % 12, OCTET_S16, &words);
  }
  return words;
}

// How a tensor lies in memory: bytes after each pixel, line and image.
struct Gaps {
  size_t pixel = 0, line = 0, image = 0;
};

// A tensor in memory that ends at a guard page, or begins after one.
class Placed {
 public:
  Placed(const Tensor& t, const Gaps& gaps, Side side) : t_(t) {
    args_.h = t.h, args_.w = t.w, args_.channels = t.channels;
    args_.pixel = t.channels * t.element + gaps.pixel;
    args_.line = t.w * args_.pixel + gaps.line;
    args_.image = t.h * args_.line + gaps.image;
    const size_t bytes = (t.batch - 1) * args_.image + (t.h - 1) * args_.line +
                         (t.w - 1) * args_.pixel + t.channels * t.element;
    memory_ = Guarded(bytes, side, t.element);
    args_.data = memory_.data();
    each([&](uint8_t* to, size_t at, size_t n) { std::copy_n(t_.bytes.data() + at, n, to); });
    before_.assign(memory_.data(), memory_.data() + bytes);
  }
  const octet_function_tensor& args() const { return args_; }
  // The tensor's bytes; those between must be as they were.
  Bytes read() {
    Bytes made(t_.bytes.size());
    each([&](uint8_t* from, size_t at, size_t n) {
      std::copy_n(from, n, made.data() + at);
      std::copy_n(before_.data() + (from - memory_.data()), n, from);
    });
    EXPECT_EQ(Bytes(memory_.data(), memory_.data() + memory_.bytes()), before_);
    return made;
  }

 private:
  template <typename Visit>
  void each(const Visit& visit) {
    const size_t n = t_.channels * t_.element;
    size_t at = 0;
    for (size_t b = 0; b < t_.batch; ++b)
      for (size_t y = 0; y < t_.h; ++y)
        for (size_t x = 0; x < t_.w; ++x, at += n)
          visit(memory_.data() + b * args_.image + y * args_.line + x * args_.pixel, at, n);
  }
  Tensor t_;
  octet_function_tensor args_ = {};
  Guarded memory_;
  Bytes before_;
};

// Runs its tasks one after the other, the last first.
inline void backwards_for(void*, size_t count, void (*fn)(void* arg, size_t index), void* arg) {
  while (count-- > 0) fn(arg, count);
}

struct HowToRun {
  Gaps inputs, output;
  Side side = Side::kBack;
  size_t concurrency = 1;
};

// The output of a plain call.
inline Bytes run(const Function& f, const std::vector<Tensor>& inputs, const Tensor& output,
                 const HowToRun& how = {}) {
  octet_function_args args = OCTET_FUNCTION_ARGS_INIT;
  args.batch = output.batch;
  args.parallel_for = backwards_for, args.concurrency = how.concurrency;
  std::vector<std::unique_ptr<Placed>> placed;
  for (size_t i = 0; i < inputs.size(); ++i) {
    placed.push_back(std::make_unique<Placed>(inputs[i], how.inputs, how.side));
    args.inputs[i] = placed[i]->args();
  }
  Placed out(output, how.output, how.side);
  args.output = out.args();
  octet_error error = {};
  EXPECT_EQ(octet_function_run(f.get(), &args, &error), OCTET_OK) << error.message;
  return out.read();
}

}  // namespace octet_test
