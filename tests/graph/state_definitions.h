// SPDX-License-Identifier: Apache-2.0
// Defines layers with a state as TensorFlow Lite publishes them: plain scalar integers, with every
// saturation and rounding where its fixed-point numbers have them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "graph/graph_case.h"

namespace octet_test {

// ---- gemmlowp's fixed-point words: `bits` integer bits beside the sign

inline int64_t clamp_to(int64_t x, int64_t least, int64_t most) {
  return x < least ? least : x > most ? most : x;
}
inline int64_t word(int64_t x) { return clamp_to(x, -32768, 32767); }

// x / 2^n with halves away from zero.
inline int64_t divide_by_power(int64_t x, int n) {
  const int64_t magnitude = ((x < 0 ? -x : x) * 2 + ((int64_t)1 << n)) / ((int64_t)2 << n);
  return x < 0 ? -magnitude : magnitude;
}

struct Word {
  int64_t raw;
  int bits;
};
inline Word constant(double value, int bits) {
  return {word(std::llround(std::ldexp(value, 15 - bits))), bits};
}
// Of a real 1, which a word without integer bits does not hold.
inline Word one(int bits) { return constant(1, bits); }
inline Word operator*(Word a, Word b) {
  return {word((int64_t)std::floor(std::ldexp((double)(a.raw * b.raw), -15) + 0.5)),
          a.bits + b.bits};
}
inline Word operator+(Word a, Word b) { return {word(a.raw + b.raw), a.bits}; }
inline Word operator-(Word a, Word b) { return {word(a.raw - b.raw), a.bits}; }
inline Word times_power(Word a, int n) {
  return {n < 0 ? divide_by_power(a.raw, -n) : word(a.raw * ((int64_t)1 << n)), a.bits};
}
inline Word rescale(Word a, int bits) { return {times_power(a, a.bits - bits).raw, bits}; }

inline Word defined_exponential(Word a) {
  if (a.raw == 0) return one(0);
  if (a.bits > 5 && std::ldexp((double)a.raw, a.bits - 15) < -32) return {0, 0};
  const int64_t quarter = (int64_t)1 << (13 - a.bits);
  int64_t rest = a.raw % quarter;  // from -1/4 on, below 0
  rest = (rest < 0 ? rest + quarter : rest) - quarter;
  const Word x = rescale({rest, a.bits}, 0) + constant(0.125, 0);
  const Word x2 = x * x, x3 = x2 * x, x4 = x2 * x2;
  const Word sum = times_power((times_power(x4, -2) + x3) * constant(1. / 3, 0) + x2, -1);
  const Word middle = constant(std::exp(-0.125), 0);
  Word y = middle + middle * (x + sum);
  int64_t quarters = (rest - a.raw) / quarter;
  for (int k = -2; k <= 4; ++k, quarters /= 2)
    if (k < a.bits && quarters % 2) y = y * constant(std::exp(-std::ldexp(1, k)), 0);
  return y;
}

// 2 / (1 + a).
inline Word defined_reciprocal(Word a) {
  const Word half = {(a.raw + one(0).raw + 1) / 2, 0};
  Word x = constant(48. / 17, 2) + half * constant(-32. / 17, 2);
  for (int i = 0; i < 3; ++i) x = x + rescale(x * (one(2) - half * x), 2);
  return x;
}

inline int64_t defined_sigmoid(int64_t raw) {
  if (raw == 0) return 1 << 14;
  Word half = defined_reciprocal(defined_exponential({raw < 0 ? raw : -raw, 3}));
  half.bits = 1;
  const int64_t positive = rescale(half, 0).raw;
  return raw > 0 ? positive : one(0).raw - positive;
}

inline int64_t defined_tanh(int64_t raw, int bits) {
  if (raw == 0) return 0;
  const Word x = defined_reciprocal(defined_exponential({raw < 0 ? raw : -raw, bits + 1}));
  const int64_t positive = rescale(x - one(2), 0).raw;
  return raw > 0 ? positive : -positive;
}

// ---- the layers

struct Quantized {
  float scale = 1;
  int32_t zero = 0;
};

// Weights of n rows, each with k values.
struct Matrix {
  std::vector<int8_t> values;
  float scale = 1;
  size_t k = 1;

  int64_t dot(size_t row, const int8_t* x, int32_t zero) const {
    int64_t sum = 0;
    for (size_t i = 0; i < k; ++i) sum += (int64_t)values[row * k + i] * (x[i] - zero);
    return sum;
  }
};

struct LstmModel {
  size_t batch = 1, steps = 1, depth = 1, cells = 1, outputs = 1;
  bool coupled = false, projected = false, time_major = false;
  int cell_bits = 4;
  float cell_clip = 0, projection_clip = 0;
  Quantized x, state, hidden;
  // Of the input, forget, cell and output gate.
  Matrix of_x[4], of_state[4], projection;
  std::vector<int32_t> biases[4], projection_bias;

  int64_t gate(int g, size_t cell, const int8_t* in, const int8_t* out) const {
    const float by_x = of_x[g].scale * x.scale / 0x1p-12f;
    const float by_state = of_state[g].scale * state.scale / 0x1p-12f;
    const int64_t first =
        word(tflite_rescale((int32_t)(of_x[g].dot(cell, in, x.zero) + biases[g][cell]), by_x));
    return word(first + tflite_rescale((int32_t)of_state[g].dot(cell, out, state.zero), by_state));
  }

  // One image's step.
  void step(const int8_t* in, int8_t* out, int16_t* cell_state) const {
    std::vector<int8_t> made(cells);
    for (size_t c = 0; c < cells; ++c) {
      const int64_t forget = defined_sigmoid(gate(1, c, in, out));
      const int64_t input = coupled ? 32767 - forget : defined_sigmoid(gate(0, c, in, out));
      const int64_t candidate = defined_tanh(gate(2, c, in, out), 3);
      int64_t cell = word(divide_by_power(forget * cell_state[c], 15) +
                          divide_by_power(input * candidate, 15 + cell_bits));
      const auto clip = (int64_t)std::min(cell_clip * std::ldexp(1.f, 15 - cell_bits), 32767.f);
      if (clip) cell = clamp_to(cell, -clip, clip);
      cell_state[c] = (int16_t)cell;
      const int64_t gated = defined_sigmoid(gate(3, c, in, out)) * defined_tanh(cell, cell_bits);
      const int64_t value = tflite_rescale((int32_t)gated, (float)(0x1p-30 / hidden.scale));
      made[c] = (int8_t)clamp_to(projected ? value - hidden.zero : value + hidden.zero, -128, 127);
    }
    for (size_t o = 0; o < outputs; ++o) {
      out[o] = made[o < cells ? o : 0];
      if (!projected) continue;
      const int64_t sum = projection.dot(o, made.data(), -hidden.zero) +
                          (projection_bias.empty() ? 0 : projection_bias[o]);
      const float by = projection.scale * hidden.scale / state.scale;
      int64_t value = clamp_to(tflite_rescale((int32_t)sum, by) + state.zero, -128, 127);
      const auto clip = (int64_t)std::min(projection_clip / state.scale, 127.f);
      if (clip) value = clamp_to(value, -clip, clip);
      out[o] = (int8_t)value;
    }
  }

  std::vector<int8_t> run(const std::vector<int8_t>& in, std::vector<int8_t>* out_state,
                          std::vector<int16_t>* cell_state) const {
    std::vector<int8_t> y(batch * steps * outputs);
    for (size_t b = 0; b < batch; ++b)
      for (size_t t = 0; t < steps; ++t) {
        const size_t row = time_major ? t * batch + b : b * steps + t;
        int8_t* const out = &(*out_state)[b * outputs];
        // All gates of a step read the outputs of the step before
        std::vector<int8_t> next(out, out + outputs);
        step(&in[row * depth], next.data(), &(*cell_state)[b * cells]);
        std::copy(next.begin(), next.end(), out);
        std::copy(next.begin(), next.end(), &y[row * outputs]);
      }
    return y;
  }
};

struct SvdfModel {
  size_t batch = 1, depth = 1, units = 1, rank = 1, memory = 1;
  Quantized x, y;
  float state_scale = 1, time_scale = 1;
  Matrix feature;
  std::vector<int16_t> time;
  std::vector<int32_t> bias;

  std::vector<int8_t> run(const std::vector<int8_t>& in, std::vector<int16_t>* state) const {
    std::vector<int8_t> out(batch * units);
    const size_t filters = units * rank;
    for (size_t b = 0; b < batch; ++b)
      for (size_t u = 0; u < units; ++u) {
        uint32_t sum = bias.empty() ? 0 : (uint32_t)bias[u];
        for (size_t f = u * rank; f < (u + 1) * rank; ++f) {
          int16_t* const kept = &(*state)[(b * filters + f) * memory];
          const int64_t dot = feature.dot(f, &in[b * depth], x.zero);
          kept[memory - 1] =
              (int16_t)word(tflite_rescale((int32_t)dot, x.scale * feature.scale / state_scale));
          // TensorFlow Lite adds in int32, which wraps around
          for (size_t m = 0; m < memory; ++m)
            sum += (uint32_t)((int64_t)time[f * memory + m] * kept[m]);
          for (size_t m = 0; m + 1 < memory; ++m) kept[m] = kept[m + 1];
          kept[memory - 1] = 0;
        }
        const int64_t value = tflite_rescale((int32_t)sum, state_scale * time_scale / y.scale);
        out[b * units + u] = (int8_t)clamp_to(value + y.zero, -128, 127);
      }
    return out;
  }
};

}  // namespace octet_test
