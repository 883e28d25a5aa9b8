// SPDX-License-Identifier: Apache-2.0
// Checks the quantizers of octet/quantized_weights.h: weights that 4 bits hold, the rounding of
// scales, the refusal of bad input. With quantized_weights.py also the readers beside other tools.
#include <cstdlib>
#include <cstring>

#include "packing/quantized_weights.h"
#include "support/refused.h"
#include "support/vectors.h"

namespace octet_test {
namespace {

// ---- f32 weights --------------------------------------------------------------------------------

octet_status quantize(const std::vector<float>& values, Weights* w, octet_error* error) {
  const Guarded from(values, Side::kBack);
  return octet_quantize_weights(from.data<float>(), w->n, w->k, w->block, w->type, w->data.data(),
                                w->scale_type, w->scales.data(),
                                w->type == OCTET_U4 ? w->zeros.data() : nullptr, error);
}

// Weights that are multiples of a power of two and reach both ends come back, and so does their
// product.
TEST(QuantizeWeights, KeepWhatFourBitsHold) {
  Draw draw(5);
  for (const octet_type type : {OCTET_S4, OCTET_U4})
    for (const octet_type scale_type : {OCTET_F16, OCTET_F32})
      for (const size_t block : {32, 128}) {
        if (block == 128 && scale_type == OCTET_F16) continue;
        SCOPED_TRACE(std::string(octet_type_name(type)) + " " + octet_type_name(scale_type));
        Weights w(type, scale_type, 5, 128, block);
        std::vector<int32_t> want, zeros(w.zeros.size());
        std::vector<float> values;
        for (size_t i = 0; i < w.n * w.k; ++i) {
          int32_t& zero = zeros[i / block];
          if (type == OCTET_U4 && i % block == 0) zero = (int32_t)draw.below(16);
          const int32_t lo = type == OCTET_U4 ? 0 : -7, hi = lo + (type == OCTET_U4 ? 15 : 14);
          want.push_back(i % block == 1   ? lo
                         : i % block == 2 ? hi
                                          : lo + (int32_t)draw.below((size_t)(hi - lo + 1)));
          values.push_back((float)(want.back() - zero) * power(-(int)(i / block % 4), false));
        }
        octet_error error = {};
        ASSERT_EQ(quantize(values, &w, &error), OCTET_OK) << error.message;
        EXPECT_EQ(w.zeros, zeros);
        for (size_t i = 0; i < want.size(); ++i) ASSERT_EQ(w.at(0, i), want[i]) << i;
        expect_product(w, values, &draw);
      }
}

TEST(QuantizeWeights, RoundScalesAndWeightsToEven) {
  struct OneBlock {
    float most;  // of a symmetric block
    uint16_t scale;
  };
  for (const OneBlock& c : {
           OneBlock{7.0f, kHalfOne},
           {7 * (1 + 0x1p-11f), kHalfOne},  // a tie between 0x3c00 and 0x3c01
           {7 * (1 + 0x1p-11f + 0x1p-20f), 0x3c01},
           {7 * (1 + 3 * 0x1p-11f), 0x3c02},  // a tie
           {7 * 65504.0f, 0x7bff},
           {7 * 65519.0f, 0x7bff},
           {7 * 0x1p-14f, 0x0400},
           {7 * 0x1.8p-15f, 0x0300},
           {7 * 0x1.ffep-15f, 0x0400},  // a tie below the numbers with an exponent
           {7 * 0x1.8p-24f, 0x0002},    // a tie
           {7 * 0x1.4p-24f, 0x0001},
           {7 * 0x1p-25f, kHalfOne},  // 0 by a tie
           {0.0f, kHalfOne},
       })
    for (const float sign : {1.0f, -1.0f}) {
      SCOPED_TRACE(c.most * sign);
      Weights w(OCTET_S4, OCTET_F16, 1, 3, 3);
      ASSERT_EQ(quantize({0.0f, c.most * sign, 0.0f}, &w, nullptr), OCTET_OK);
      EXPECT_EQ(w.scales.data<uint16_t>()[0], c.scale);
      if (c.most > 1e-4f || c.scale == kHalfOne) {  // else the rounding of the scale is coarse
        EXPECT_EQ(w.at(0, 1), c.scale == kHalfOne && c.most < 1 ? 0 : 7 * (int)sign);
      }
      EXPECT_EQ(w.data.data()[1], 0) << "the half without a weight is 0";
    }
  // By the rounded scale, 1, these are 3.5 and a little more; by the exact one less.
  Weights w(OCTET_S4, OCTET_F16, 1, 6, 6);
  ASSERT_EQ(
      quantize({7 * (1 + 0x1p-12f), 3.5f * (1 + 0x1p-13f), 2.5f, -2.5f, 1.5f, -3.5f}, &w, nullptr),
      OCTET_OK);
  const int32_t want[] = {7, 4, 2, -2, 2, -4};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(w.at(0, i), want[i]) << i;
}

TEST(QuantizeWeights, TakeTinyBlocksForZeros) {
  for (const float least : {0x1p-100f, 0x1.fffffep-101f, 0x1p-149f}) {
    Weights w(OCTET_U4, OCTET_F32, 1, 2, 2);
    ASSERT_EQ(quantize({-15 * least, 0}, &w, nullptr), OCTET_OK);
    const bool tiny = least < 0x1p-100f;
    EXPECT_EQ(w.scales.data<float>()[0], tiny ? 1 : least);
    EXPECT_EQ(w.zeros[0], tiny ? 0 : 15);
    EXPECT_EQ(w.at(0, 0), 0);
  }
}

// A scale that f16 rounds down leaves weights beyond 4 bits.
TEST(QuantizeWeights, Saturate) {
  for (const octet_type type : {OCTET_S4, OCTET_U4})
    for (const float sign : {1.0f, -1.0f}) {
      Weights w(type, OCTET_F16, 1, 2, 2);
      const int most = type == OCTET_U4 ? 15 : 7;
      ASSERT_EQ(quantize({sign * (float)most * 0x1.6p-24f, 0}, &w, nullptr), OCTET_OK);
      EXPECT_EQ(w.scales.data<uint16_t>()[0], 1);
      if (type == OCTET_U4) {
        EXPECT_EQ(w.zeros[0], sign < 0 ? 15 : 0);
        EXPECT_EQ(w.at(0, 0), sign < 0 ? 0 : 15);
      } else {
        EXPECT_EQ(w.at(0, 0), sign < 0 ? -8 : 7);
      }
    }
}

TEST(QuantizeWeights, RefuseBadInput) {
  Weights w(OCTET_U4, OCTET_F32, 3, 64, 32);
  std::vector<float> values(3 * 64, 1.0f);
  struct Call {
    const float* values;
    size_t n = 3, k = 64, block = 32;
    octet_type type = OCTET_U4, scale_type = OCTET_F32;
    uint8_t* weights;
    void* scales;
    int32_t* zeros;
  };
  const auto refuses = [&](octet_status status, const char* name, auto spoil) {
    Call c;
    c.values = values.data(), c.weights = w.data.data();
    c.scales = w.scales.data(), c.zeros = w.zeros.data();
    spoil(c);
    expect_refused(status, name, [&](octet_error* error) {
      return octet_quantize_weights(c.values, c.n, c.k, c.block, c.type, c.weights, c.scale_type,
                                    c.scales, c.zeros, error);
    });
    EXPECT_EQ(w.data_bytes(), Bytes(w.data.bytes(), Guarded::kUntouched));
    EXPECT_EQ(w.scale_bytes(), Bytes(w.scales.bytes(), Guarded::kUntouched));
    EXPECT_EQ(w.zeros, std::vector<int32_t>(6));
  };
  for (const int bad : {0, 1, 2, 7})
    refuses(OCTET_UNKNOWN_ENUM, "type", [&](Call& c) { set_raw(&c.type, bad); });
  for (const int bad : {0, 3, 5})
    refuses(OCTET_UNKNOWN_ENUM, "scale_type", [&](Call& c) { set_raw(&c.scale_type, bad); });
  refuses(OCTET_BAD_SIZE, "n is 0", [](Call& c) { c.n = 0; });
  refuses(OCTET_BAD_SIZE, "k is 0", [](Call& c) { c.k = 0; });
  refuses(OCTET_BAD_SIZE, "block = 0", [](Call& c) { c.block = 0; });
  refuses(OCTET_BAD_SIZE, "block = 48", [](Call& c) { c.block = 48; });
  refuses(OCTET_BAD_SIZE, "n = ", [](Call& c) { c.n = SIZE_MAX / 64 + 1; });
  refuses(OCTET_BAD_SIZE, "n = ", [](Call& c) { c.n = PTRDIFF_MAX / 256 + 1; });
  refuses(OCTET_NULL_POINTER, "values", [](Call& c) { c.values = nullptr; });
  refuses(OCTET_NULL_POINTER, "weights", [](Call& c) { c.weights = nullptr; });
  refuses(OCTET_NULL_POINTER, "scales", [](Call& c) { c.scales = nullptr; });
  refuses(OCTET_NULL_POINTER, "zero_points", [](Call& c) { c.zeros = nullptr; });
  refuses(OCTET_BAD_ZERO_POINT, "zero_points", [](Call& c) { c.type = OCTET_S4; });
  refuses(OCTET_MISALIGNED, "values",
          [](Call& c) { c.values = (float*)((uintptr_t)c.values + 2); });
  refuses(OCTET_MISALIGNED, "scales", [&](Call& c) { c.scales = w.scales.data() - 2; });
  // Beside the arrays of w are pages without any other array
  refuses(OCTET_OVERLAP, "weights overlaps values",
          [&](Call& c) { c.values = w.data.data<float>() + 23; });
  refuses(OCTET_OVERLAP, "scales overlaps values",
          [&](Call& c) { c.values = w.scales.data<float>() + 5; });
  for (const int from : {-5, 5})
    refuses(OCTET_OVERLAP, "zero_points overlaps scales",
            [&](Call& c) { c.zeros = w.scales.data<int32_t>() + from; });
  for (const float bad : {NAN, INFINITY, -INFINITY, 0x1p52f}) {
    values[70] = bad;
    refuses(OCTET_BAD_SCALE, "values[64...95]", [](Call&) {});
  }
  values[70] = 15 * 65520.0f;  // f16 ends at 65504
  refuses(OCTET_BAD_SCALE, "values[64...95]", [](Call& c) { c.scale_type = OCTET_F16; });
}

// ---- other tools --------------------------------------------------------------------------------

void check_case(const Case& c) {
  const auto tensor = [&](const char* name) { return c.tensors.at(name); };
  const auto guarded = [&](const char* name) { return Guarded(tensor(name).bytes, Side::kBack); };
  const Tensor sizes_tensor = tensor("sizes");
  const int32_t* const sizes = sizes_tensor.data<int32_t>();
  const auto size = [&](size_t i) { return (size_t)sizes[i]; };
  const auto expect = [&](const Weights& w) {
    EXPECT_EQ(w.data_bytes(), tensor("weights").bytes);
    EXPECT_EQ(
        w.scale_bytes(),
        tensor(w.scale_type == OCTET_F32 && c.find("scales_f32") ? "scales_f32" : "scales").bytes);
    EXPECT_EQ(std::memcmp(w.zeros.data(), tensor("zero_points").bytes.data(), 4 * w.zeros.size()),
              0);
  };
  octet_error error = {};
  if (c.name == "q4_0") {
    const Guarded blocks = guarded("blocks");
    Weights w(OCTET_U4, OCTET_F16, size(0), size(1), 32), f32(OCTET_U4, OCTET_F32, 8, 8, 8);
    ASSERT_EQ(octet_import_q4_0(blocks.data(), w.n, w.k, w.data.data(), w.scales.data<uint16_t>(),
                                &error),
              OCTET_OK)
        << error.message;
    const Tensor values = tensor("values");
    for (size_t i = 0; i < w.n * w.k; ++i) {
      const uint16_t half = w.scales.data<uint16_t>()[i / 32];
      const int exponent = half >> 10 & 31, mantissa = (half & 1023) + (exponent ? 1024 : 0);
      const float scale =
          std::ldexp((float)(half >> 15 ? -mantissa : mantissa), (exponent ? exponent : 1) - 25);
      ASSERT_EQ((float)(w.at(0, i) - 8) * scale, values.data<float>()[i]) << i;
    }
  } else if (c.name == "dequantize") {
    const Guarded blocks = guarded("blocks");
    Guarded values(size(1) * size(2) * sizeof(float), Side::kBack, sizeof(float));
    ASSERT_EQ(octet_dequantize_gguf((octet_gguf_type)sizes[0], blocks.data(), size(1), size(2),
                                    values.data<float>(), &error),
              OCTET_OK)
        << error.message;
    EXPECT_EQ(std::memcmp(values.data(), tensor("values").bytes.data(), values.bytes()), 0);
    expect_imported((octet_gguf_type)sizes[0], blocks, size(1), size(2), values.data<float>());
  } else if (c.name == "qweight") {
    const Guarded qweight = guarded("qweight"), qzeros = guarded("qzeros"),
                  scales = guarded("from_scales"), g_idx = guarded("g_idx");
    octet_qweight from = {(octet_qweight_layout)sizes[0],
                          size(1),
                          size(2),
                          size(3),
                          qweight.data<int32_t>(),
                          qzeros.data<int32_t>(),
                          scales.data<uint16_t>(),
                          g_idx.data<int32_t>()};
    if (from.layout == OCTET_QWEIGHT_AWQ) from.g_idx = nullptr;
    for (const octet_type scale_type : {OCTET_F16, OCTET_F32}) {
      Weights w(OCTET_U4, scale_type, from.n, from.k, from.group);
      import(from, &w);
      expect(w);
    }
  } else if (c.name == "quantize") {
    Weights w((octet_type)sizes[3], (octet_type)sizes[4], size(0), size(1), size(2));
    const Tensor values = tensor("values");
    ASSERT_EQ(quantize({values.data<float>(), values.data<float>() + values.size()}, &w, &error),
              OCTET_OK)
        << error.message;
    expect(w);
  } else {
    ASSERT_EQ(c.name, "zero_points");
    const Guarded packed = guarded("packed");
    Guarded zeros(size(0) * size(1) * 4, Side::kBack, 4);
    ASSERT_EQ(
        octet_unpack_zero_points(packed.data(), size(0), size(1), zeros.data<int32_t>(), &error),
        OCTET_OK)
        << error.message;
    EXPECT_EQ(std::memcmp(zeros.data(), tensor("zero_points").bytes.data(), zeros.bytes()), 0);
  }
}

TEST(QuantizedWeights, AsInPython) {
  const char* const path = std::getenv("OCTET_QUANTIZED_WEIGHTS");
  if (!path) GTEST_SKIP() << "packing/quantized_weights.py says where the weights are";
  const std::vector<Case> cases = VectorFile::read(path);
  EXPECT_EQ(cases.size(), 47u);
  for (size_t i = 0; i < cases.size() && !testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE(cases[i].name + ", case " + std::to_string(i));
    check_case(cases[i]);
  }
}

}  // namespace
}  // namespace octet_test
