// SPDX-License-Identifier: Apache-2.0
// Builds small graphs with random data, and computes their expected outputs by the definition.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <random>

#include "engines/graph/program.h"
#include "engines/graph/would.h"

namespace octet_test {

using namespace octet::graph;
using Bytes = std::vector<uint8_t>;

struct GraphCase {
  Graph g;
  std::deque<Bytes> data;
  std::mt19937 random{7};

  int tensor(std::vector<int64_t> shape, octet_type type, float scale = 0, int32_t zero = 0) {
    Tensor t;
    t.name = "t" + std::to_string(g.tensors.size());
    t.shape = std::move(shape), t.type = type;
    if (scale != 0) t.scales = {scale}, t.zero_points = {zero};
    g.tensors.push_back(std::move(t));
    return (int)g.tensors.size() - 1;
  }
  int input(std::vector<int64_t> shape, octet_type type, float scale = 0, int32_t zero = 0) {
    g.inputs.push_back(tensor(std::move(shape), type, scale, zero));
    return g.inputs.back();
  }
  size_t count(int t) const {
    size_t n = 1;
    for (const int64_t size : g.tensors[(size_t)t].shape) n *= (size_t)size;
    return n;
  }
  int constant(std::vector<int64_t> shape, octet_type type, Bytes bytes, float scale = 0) {
    const int t = tensor(std::move(shape), type, scale);
    data.push_back(std::move(bytes));
    Tensor& tensor = g.tensors[(size_t)t];
    tensor.constant = true, tensor.data = data.back().data(), tensor.bytes = data.back().size();
    return t;
  }
  Bytes draw(size_t n) {
    Bytes bytes(n);
    for (uint8_t& byte : bytes) byte = (uint8_t)random();
    return bytes;
  }
  int weights(std::vector<int64_t> shape, float scale = 0.01f, octet_type type = OCTET_S8) {
    size_t n = 1;
    for (const int64_t size : shape) n *= (size_t)size;
    const int t = constant(std::move(shape), type, draw(n), scale);
    g.tensors[(size_t)t].zero_points = {type == OCTET_U8 ? 128 : 0};
    return t;
  }
  int bias_of_64_bits(size_t n) {
    Bytes bytes(n * 8);
    for (size_t i = 0; i < n; ++i) {
      const int64_t value = (int64_t)(random() % 2000000) - 1000000;
      std::memcpy(&bytes[i * 8], &value, 8);
    }
    const int t = constant({(int64_t)n}, (octet_type)0, std::move(bytes));
    g.tensors[(size_t)t].int64 = true;
    return t;
  }
  int bias(size_t n) {
    Bytes bytes(n * 4);
    for (size_t i = 0; i < n; ++i) {
      const int32_t value = (int32_t)(random() % 2000) - 1000;
      std::memcpy(&bytes[i * 4], &value, 4);
    }
    return constant({(int64_t)n}, OCTET_S32, std::move(bytes));
  }
  Op& op(Kind kind, std::vector<int> inputs, int output) {
    Op op;
    op.kind = kind;
    op.name = "op" + std::to_string(g.ops.size());
    op.inputs = std::move(inputs), op.outputs = {output};
    g.ops.push_back(std::move(op));
    return g.ops.back();
  }
};

// ---- the definition, of tensors in NHWC

struct Image {
  size_t b, h, w, c;
  std::vector<int32_t> values;
  int32_t at(size_t n, size_t y, size_t x, size_t i) const {
    return values[((n * h + y) * w + x) * c + i];
  }
};

inline Image image_of(const Bytes& bytes, octet_type type, size_t b, size_t h, size_t w, size_t c) {
  Image image = {b, h, w, c, {}};
  for (size_t i = 0; type == OCTET_S16 && i < bytes.size(); i += 2)
    image.values.push_back((int16_t)(bytes[i] | bytes[i + 1] << 8));
  if (type != OCTET_S16)
    for (const uint8_t byte : bytes) image.values.push_back(type == OCTET_S8 ? (int8_t)byte : byte);
  return image;
}

inline int32_t value(octet_type type, uint8_t byte) {
  return type == OCTET_S8 ? (int8_t)byte : byte;
}

// x * multiplier as TensorFlow Lite's reference kernels do it.
inline int32_t tflite_rescale(int32_t x, double factor) {
  int shift = 0;
  const double q = std::frexp(factor, &shift);
  auto multiplier = (int64_t)std::round(q * 2147483648.);
  if (multiplier == ((int64_t)1 << 31)) multiplier /= 2, ++shift;
  const int64_t product = (int64_t)x * ((int64_t)1 << std::max(shift, 0)) * multiplier;
  const int64_t high = (product + ((int64_t)1 << 30)) >> 31;
  const int right = std::max(-shift, 0);
  const double scaled = (double)high / std::pow(2., right);
  return (int32_t)std::round(scaled);
}

// The accumulators of a convolution with weights in OHWI of one group, in int32 or, of s16 values,
// in int64 (which here do not leave int32).
template <typename Bias>
Image convolve(const Image& x, int32_t zero, const int8_t* weights, const Bias* bias, size_t n,
               size_t kernel, size_t stride, size_t pad) {
  Image y = {
      x.b, (x.h + 2 * pad - kernel) / stride + 1, (x.w + 2 * pad - kernel) / stride + 1, n, {}};
  for (size_t b = 0; b < y.b; ++b)
    for (size_t oy = 0; oy < y.h; ++oy)
      for (size_t ox = 0; ox < y.w; ++ox)
        for (size_t o = 0; o < n; ++o) {
          Bias acc = bias ? bias[o] : 0;
          for (size_t ky = 0; ky < kernel; ++ky)
            for (size_t kx = 0; kx < kernel; ++kx) {
              const size_t iy = oy * stride + ky - pad, ix = ox * stride + kx - pad;
              if (iy >= x.h || ix >= x.w) continue;
              for (size_t i = 0; i < x.c; ++i)
                acc += (x.at(b, iy, ix, i) - zero) *
                       weights[((o * kernel + ky) * kernel + kx) * x.c + i];
            }
          y.values.push_back((int32_t)acc);
        }
  return y;
}

// ---- programs

inline std::unique_ptr<Program> created(const Graph& g, const ProgramOptions& options = {},
                                        std::shared_ptr<PackedWeights> weights = nullptr) {
  std::unique_ptr<Program> program;
  octet_error error = {};
  EXPECT_EQ(Program::create(g, options, std::move(weights), &program, &error), OCTET_OK)
      << error.message;
  return program;
}

inline size_t bytes_of(const Graph& g, int t) {
  const Tensor& tensor = g.tensors[(size_t)t];
  size_t n = tensor.type == OCTET_S8 || tensor.type == OCTET_U8 ? 1
             : tensor.type == OCTET_S16                         ? 2
                                                                : 4;
  for (const int64_t size : tensor.shape) n *= (size_t)size;
  return n;
}

// The bytes of all outputs, one after the other, of the first `batch` images of `all`.
inline Bytes run(const Program& program, const Graph& g, const std::vector<Bytes>& inputs,
                 size_t batch = 0, size_t all = 1) {
  std::vector<const void*> in;
  for (const Bytes& bytes : inputs) in.push_back(bytes.data());
  std::vector<Bytes> outputs;
  std::vector<void*> out;
  for (const int t : g.outputs)
    outputs.emplace_back(bytes_of(g, t) / (batch ? all : 1) * (batch ? batch : 1));
  for (Bytes& bytes : outputs) out.push_back(bytes.data());
  ProgramArguments a;
  a.inputs = in.data(), a.outputs = out.data(), a.batch = batch;
  octet_error error = {};
  EXPECT_EQ(program.run(a, &error), OCTET_OK) << error.message;
  Bytes together;
  for (const Bytes& bytes : outputs) together.insert(together.end(), bytes.begin(), bytes.end());
  return together;
}

}  // namespace octet_test
