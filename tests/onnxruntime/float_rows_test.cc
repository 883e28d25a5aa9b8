// SPDX-License-Identifier: Apache-2.0
// Holds each tier's loops over floats against their definition, written down from the headers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engines/onnxruntime/floats/loops.h"
#include "support/draw.h"
#include "support/guarded.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

using namespace octet::onnxruntime;
using Floats = std::vector<float>;

float one_nan(float x) {
  const uint32_t bits = 0x7fc00000;
  if (x == x) return x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

float sum_of(const Floats& values) {
  float sums[16] = {};
  for (size_t i = 0; i < values.size(); ++i) sums[i % 16] += values[i];
  for (const size_t half : {8, 4, 2, 1})
    for (size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  return sums[0];
}

float gelu_of(float x) {
  constexpr float p[] = {0x1.988452p-1f,  0x1.18494ap-4f,  0x1.339986p-7f,
                         0x1.67ec64p-12f, 0x1.a5fc8cp-17f, 0x1.791c38p-25f};
  constexpr float q[] = {
      1, 0x1.027ceap-2f, 0x1.d87a26p-6f, 0x1.f2511cp-10f, 0x1.36cb8p-14f, 0x1.39e69p-20f};
  const float u = x * x > 32 ? 32 : x * x;
  float above = p[5], below = q[5];
  for (int i = 4; i >= 0; --i) above = above * u + p[i], below = below * u + q[i];
  const float e = x * above / below, erf = e > 1 ? 1 : e < -1 ? -1 : e;
  return one_nan((0.5f * x) * (1 + erf));
}

float exponential(float x) {
  if (x < -87) return 0;
  const float n = (x * 0x1.715476p+0f + 12582912) - 12582912;
  const float r = (x - n * 0x1.63p-1f) - n * -0x1.bd0106p-13f;
  float sum = r * (1.0f / 5040) + 1.0f / 720;
  for (const float term : {1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f}) sum = sum * r + term;
  return std::ldexp(sum, (int)n);
}

// Any floats, most of them of a size that sums can tell.
Floats drawn(Draw* draw, size_t count) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Floats values(count);
  const bool special = draw->one_in(3);
  for (float& value : values) {
    value = ((float)draw->below(20001) - 10000) / 2000;
    if (special && draw->one_in(9))
      value = draw->any({kInfinity, -kInfinity, std::nanf(""), 1e-40f, -0.0f, 3e38f, -3e38f, 6.1f});
  }
  return values;
}

std::string bytes_differ(const float* got, const Floats& want) {
  for (size_t i = 0; i < want.size(); ++i)
    if (std::memcmp(got + i, &want[i], sizeof *got))
      return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + " instead of " +
             std::to_string(want[i]);
  return "";
}

class FloatRows : public testing::TestWithParam<octet_isa> {
 protected:
  void SetUp() override { ASSERT_TRUE(find_loops(GetParam(), &loops_)); }
  FloatLoops loops_ = {};
};
INSTANTIATE_TEST_SUITE_P(Tiers, FloatRows, testing::ValuesIn(tiers_to_test()));

TEST_P(FloatRows, NormalizesAsDefined) {
  Draw draw(1);
  for (const size_t n : {1, 2, 15, 16, 17, 31, 33, 64, 100, 384})
    for (size_t form = 0; form < 16; ++form) {
      const size_t rows = 1 + draw.below(3), padded = (n + 15) / 16 * 16;
      const bool adds = form & 1, biased = form & 2, shifts = form & 4, gives_sums = form & 8;
      const Floats x = drawn(&draw, rows * n), added = drawn(&draw, rows * n),
                   bias = drawn(&draw, n), scale = drawn(&draw, n), shift = drawn(&draw, n);
      const float epsilon = draw.any({0.0f, 1e-12f, 1e-5f});
      Floats sums, want;
      for (size_t row = 0; row < rows; ++row) {
        Floats s(x.begin() + (long)(row * n), x.begin() + (long)((row + 1) * n)), squares(n);
        for (size_t i = 0; i < n; ++i) {
          if (adds) s[i] = s[i] + added[row * n + i];
          if (biased) s[i] = s[i] + bias[i];
        }
        const float mean = sum_of(s) / (float)n;
        for (size_t i = 0; i < n; ++i) {
          sums.push_back(one_nan(s[i]));
          s[i] = s[i] - mean, squares[i] = s[i] * s[i];
        }
        const float r = 1 / std::sqrt(sum_of(squares) / (float)n + epsilon);
        for (size_t i = 0; i < n; ++i)
          want.push_back(one_nan(s[i] * r * scale[i] + (shifts ? shift[i] : -0.0f)));
      }
      for (const Side side : {Side::kBack, Side::kFront}) {
        const Guarded from(x, side), other(added, side), vector(bias, side), by(scale, side),
            to(shift, side), y(rows * n * sizeof(float), side, 4),
            total(rows * n * sizeof(float), side, 4), scratch(padded * sizeof(float), side, 4);
        NormalizedRows a = {rows,
                            n,
                            from.data<float>(),
                            nullptr,
                            nullptr,
                            nullptr,
                            by.data<float>(),
                            nullptr,
                            epsilon,
                            y.data<float>(),
                            scratch.data<float>()};
        if (adds) a.added = other.data<float>();
        if (biased) a.bias = vector.data<float>();
        if (shifts) a.shift = to.data<float>();
        if (gives_sums) a.sums = total.data<float>();
        const bool in_place = draw.one_in(2);
        if (in_place) a.output = from.data<float>();
        loops_.normalize(a);
        EXPECT_EQ(bytes_differ(a.output, want), "") << "n " << n << ", form " << form;
        if (!gives_sums) continue;
        EXPECT_EQ(bytes_differ(a.sums, sums), "") << "n " << n << ", form " << form;
      }
    }
}

TEST_P(FloatRows, ComputesGeluAsDefined) {
  Draw draw(2);
  for (const size_t n : {1, 2, 15, 16, 17, 33, 64, 1000})
    for (const bool biased : {false, true}) {
      const size_t rows = 1 + draw.below(3);
      const Floats x = drawn(&draw, rows * n), bias = drawn(&draw, n);
      Floats want;
      for (size_t i = 0; i < rows * n; ++i)
        want.push_back(gelu_of(biased ? x[i] + bias[i % n] : x[i]));
      for (const Side side : {Side::kBack, Side::kFront}) {
        const Guarded from(x, side), vector(bias, side), y(rows * n * sizeof(float), side, 4);
        const bool in_place = draw.one_in(2);
        const GeluRows a = {rows, n, from.data<float>(), biased ? vector.data<float>() : nullptr,
                            in_place ? from.data<float>() : y.data<float>()};
        loops_.gelu(a);
        EXPECT_EQ(bytes_differ(a.output, want), "") << "n " << n << ", biased " << biased;
      }
    }
}

// Every exponent and sign, and what lies near the ends of erf's range.
TEST_P(FloatRows, GeluIsNearTheExactOne) {
  Floats x;
  for (uint32_t bits = 0; bits < 0x7f800000; bits += 0x1234f) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    x.push_back(value), x.push_back(-value);
  }
  Floats y(x.size());
  loops_.gelu({1, x.size(), x.data(), nullptr, y.data()});
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = 0.5 * (double)x[i] * std::erfc(-(double)x[i] * std::sqrt(0.5));
    ASSERT_LE(std::abs((double)y[i] - exact), 2.5e-7 * std::abs((double)x[i]) + 1e-44) << x[i];
  }
}

TEST_P(FloatRows, AttendsAsDefined) {
  Draw draw(3);
  for (const size_t depth : {1, 5, 16, 33})
    for (const size_t tokens : {1, 15, 16, 40}) {
      const size_t rows = 1 + draw.below(11), padded_tokens = (tokens + 15) / 16 * 16,
                   padded_depth = (depth + 15) / 16 * 16;
      Floats q = drawn(&draw, rows * depth), k(depth * padded_tokens), v(tokens * padded_depth),
             mask(padded_tokens, -std::numeric_limits<float>::infinity());
      for (float& value : q) value = value == value && std::abs(value) < 9 ? value : 1;
      for (size_t d = 0; d < depth; ++d)
        for (size_t t = 0; t < tokens; ++t) {
          k[d * padded_tokens + t] = (float)draw.below(9) / 4 - 1;
          v[t * padded_depth + d] = (float)draw.below(999) / 100 - 5;
          mask[t] = draw.one_in(4) ? -10000.0f : 0.0f;
        }
      const float scale = 0.3f;
      Floats want;
      for (size_t i = 0; i < rows; ++i) {
        Floats scores;
        for (size_t t = 0; t < tokens; ++t) {
          float sum = 0;
          for (size_t d = 0; d < depth; ++d) sum += q[i * depth + d] * k[d * padded_tokens + t];
          scores.push_back(scale * sum + mask[t]);
        }
        const float most = *std::max_element(scores.begin(), scores.end());
        for (float& score : scores) score = exponential(score - most);
        for (size_t d = 0; d < depth; ++d) {
          float sum = 0;
          for (size_t t = 0; t < tokens; ++t) sum += scores[t] * v[t * padded_depth + d];
          want.push_back(one_nan(sum / sum_of(scores)));
        }
      }
      Floats scores(rows * padded_tokens), weighted(rows * padded_depth), sums(rows);
      const Guarded queries(q, Side::kBack), keys(k, Side::kBack), values(v, Side::kBack),
          y(rows * depth * sizeof(float), Side::kBack, 4);
      AttentionRows a = {};
      a.rows = rows, a.tokens = tokens, a.depth = depth;
      a.padded_tokens = padded_tokens, a.padded_depth = padded_depth;
      a.queries = queries.data<float>(), a.query_stride = depth;
      a.keys = keys.data<float>(), a.values = values.data<float>(), a.scale = scale;
      a.masks = mask.data(), a.scores = scores.data(), a.weighted = weighted.data();
      a.sums = sums.data(), a.output = y.data<float>(), a.output_stride = depth;
      loops_.attend(a);
      EXPECT_EQ(bytes_differ(a.output, want), "") << depth << " x " << tokens << " tokens";
    }
}

}  // namespace
}  // namespace octet_test
