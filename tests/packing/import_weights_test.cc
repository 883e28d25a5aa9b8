// SPDX-License-Identifier: Apache-2.0
// Checks the readers of octet/quantized_weights.h: layouts beside their definition, products beside
// those of the dequantized weights where both are exact, and the refusal of bad input.
#include <cstring>
#include <type_traits>

#include "packing/quantized_weights.h"
#include "support/refused.h"

namespace octet_test {
namespace {

constexpr uint16_t kHalfInfinity = 0x7c00, kHalfNan = 0x7e00;

// ---- GGUF ---------------------------------------------------------------------------------------

TEST(ImportQ4, HasTheLayoutAndTheProduct) {
  Draw draw(1);
  Weights w(OCTET_U4, OCTET_F16, 5, 128, 32);
  std::vector<float> values;
  std::vector<uint16_t> scales;
  Bytes blocks;
  for (size_t b = 0; b < w.n * 4; ++b) {
    const int exponent = -(int)draw.below(4);
    const bool negative = draw.one_in(2);
    scales.push_back(half_power(exponent, negative));
    uint32_t q[32];
    for (uint32_t& each : q) {
      each = (uint32_t)draw.below(16);
      values.push_back(((float)each - 8) * power(exponent, negative));
    }
    blocks.push_back((uint8_t)scales.back()), blocks.push_back((uint8_t)(scales.back() >> 8));
    for (size_t j = 0; j < 16; ++j) blocks.push_back((uint8_t)(q[j] | q[j + 16] << 4));
  }
  const Guarded from(blocks, Side::kBack);
  octet_error error = {};
  ASSERT_EQ(
      octet_import_q4_0(from.data(), w.n, w.k, w.data.data(), w.scales.data<uint16_t>(), &error),
      OCTET_OK)
      << error.message;
  EXPECT_EQ(std::memcmp(w.scales.data(), scales.data(), w.scales.bytes()), 0);
  w.zeros = {8};
  expect_product(w, values, &draw);
}

TEST(ImportQ4, RefusesBadInput) {
  Guarded blocks(6 * 18, Side::kBack), weights(96, Side::kBack), scales(12, Side::kBack, 2);
  const auto refuses = [&](octet_status status, const char* name, size_t n, size_t k,
                           const void* from, uint8_t* to, uint16_t* by) {
    expect_refused(status, name, [&](octet_error* error) {
      return octet_import_q4_0(from, n, k, to, by, error);
    });
  };
  std::memset(blocks.data(), 0, blocks.bytes());
  uint16_t* const by = scales.data<uint16_t>();
  refuses(OCTET_BAD_SIZE, "n is 0", 0, 64, blocks.data(), weights.data(), by);
  refuses(OCTET_BAD_SIZE, "k is 0", 3, 0, blocks.data(), weights.data(), by);
  refuses(OCTET_BAD_SIZE, "k = 48", 3, 48, blocks.data(), weights.data(), by);
  refuses(OCTET_BAD_SIZE, "n = ", SIZE_MAX / 32, 64, blocks.data(), weights.data(), by);
  refuses(OCTET_BAD_SIZE, "n = ", PTRDIFF_MAX / 128, 64, blocks.data(), weights.data(), by);
  refuses(OCTET_NULL_POINTER, "blocks", 3, 64, nullptr, weights.data(), by);
  refuses(OCTET_NULL_POINTER, "weights", 3, 64, blocks.data(), nullptr, by);
  refuses(OCTET_NULL_POINTER, "scales", 3, 64, blocks.data(), weights.data(), nullptr);
  refuses(OCTET_MISALIGNED, "scales", 3, 64, blocks.data(), weights.data(),
          (uint16_t*)(scales.data() - 1));
  refuses(OCTET_OVERLAP, "weights overlaps blocks", 3, 64, blocks.data(),
          blocks.data() + blocks.bytes() - 1, by);
  refuses(OCTET_OVERLAP, "scales overlaps blocks", 3, 64, blocks.data(), weights.data(),
          blocks.data<uint16_t>());
  refuses(OCTET_OVERLAP, "scales overlaps weights", 3, 64, blocks.data(), weights.data(),
          weights.data<uint16_t>() + 47);
  refuses(OCTET_OVERLAP, "scales overlaps weights", 3, 64, blocks.data(), scales.data() + 11, by);
  for (const uint16_t bad : {kHalfInfinity, kHalfNan, (uint16_t)0xfc00}) {
    std::memcpy(blocks.data() + 5 * 18, &bad, 2);
    refuses(OCTET_BAD_SCALE, "blocks[5], of row 2", 3, 64, blocks.data(), weights.data(), by);
  }
  EXPECT_EQ(weights.data()[0], Guarded::kUntouched);
  EXPECT_EQ(scales.data()[0], Guarded::kUntouched);
}

// Blocks of small numbers, so that all values are exact, then the way to weights of 4 bits.
TEST(DequantizeGguf, HasTheLayout) {
  constexpr size_t kRows = 3, kDepth = 64;
  for (const octet_gguf_type type : {OCTET_GGUF_Q4_0, OCTET_GGUF_Q4_1, OCTET_GGUF_Q8_0}) {
    Draw draw((uint32_t)type);
    std::vector<float> expected;
    Bytes blocks;
    for (size_t b = 0; b < kRows * kDepth / 32; ++b) {
      const int exponent = -(int)draw.below(4);
      const bool negative = draw.one_in(2), below = draw.one_in(2);
      const auto put = [&](uint16_t half) {
        blocks.push_back((uint8_t)half), blocks.push_back((uint8_t)(half >> 8));
      };
      put(half_power(exponent, negative));
      if (type == OCTET_GGUF_Q4_1) put(half_power(2, below));
      uint32_t q[32];
      for (uint32_t& each : q) {
        each = (uint32_t)draw.below(type == OCTET_GGUF_Q8_0 ? 256 : 16);
        const float number = type == OCTET_GGUF_Q8_0   ? (float)(int8_t)each
                             : type == OCTET_GGUF_Q4_0 ? (float)each - 8
                                                       : (float)each;
        expected.push_back(number * power(exponent, negative) +
                           (type == OCTET_GGUF_Q4_1 ? power(2, below) : 0));
      }
      for (size_t j = 0; j < (type == OCTET_GGUF_Q8_0 ? 32u : 16u); ++j)
        blocks.push_back((uint8_t)(type == OCTET_GGUF_Q8_0 ? q[j] : q[j] | q[j + 16] << 4));
    }
    const Guarded from(blocks, Side::kBack);
    Guarded to(kRows * kDepth * sizeof(float), Side::kBack, sizeof(float));
    octet_error error = {};
    ASSERT_EQ(octet_dequantize_gguf(type, from.data(), kRows, kDepth, to.data<float>(), &error),
              OCTET_OK)
        << error.message;
    const float* const values = to.data<float>();
    EXPECT_EQ(std::vector<float>(values, values + kRows * kDepth), expected);
    expect_imported(type, from, kRows, kDepth, values);
  }
}

TEST(ImportGguf, RefusesBadInput) {
  Guarded blocks(6 * 34, Side::kBack), weights(6 * 32, Side::kBack), scales(12, Side::kBack, 2),
      minimums(12, Side::kBack, 2);
  std::memset(blocks.data(), 0, blocks.bytes());
  uint16_t *const to = scales.data<uint16_t>(), *const other = minimums.data<uint16_t>();
  const auto refuses = [&](octet_status status, const char* name, octet_gguf_type type, size_t k,
                           void* values, uint16_t* to_minimums) {
    expect_refused(status, name, [&](octet_error* error) {
      return octet_import_gguf(type, blocks.data(), 3, k, values, to, to_minimums, error);
    });
  };
  void* const values = weights.data();
  refuses(OCTET_UNKNOWN_ENUM, "type is 6", (octet_gguf_type)6, 64, values, nullptr);
  refuses(OCTET_BAD_SIZE, "k = 48", OCTET_GGUF_Q8_0, 48, values, nullptr);
  refuses(OCTET_NULL_POINTER, "weights", OCTET_GGUF_Q8_0, 64, nullptr, nullptr);
  refuses(OCTET_NULL_POINTER, "minimums", OCTET_GGUF_Q4_1, 64, values, nullptr);
  refuses(OCTET_UNSUPPORTED, "minimums", OCTET_GGUF_Q8_0, 64, values, other);
  refuses(OCTET_OVERLAP, "scales overlaps weights", OCTET_GGUF_Q8_0, 64, scales.data(), nullptr);
  std::memcpy(blocks.data() + 5 * 34, &kHalfNan, 2);
  refuses(OCTET_BAD_SCALE, "blocks[5], of row 2, has a scale", OCTET_GGUF_Q8_0, 64, values,
          nullptr);
  EXPECT_EQ(weights.data()[0], Guarded::kUntouched);
}

TEST(DequantizeGguf, RefusesBadInput) {
  Guarded blocks(6 * 20, Side::kBack), values(6 * 32 * 4, Side::kBack, 4);
  const auto refuses = [&](octet_status status, const char* name, octet_gguf_type type, size_t n,
                           size_t k, const void* from, float* to) {
    expect_refused(status, name, [&](octet_error* error) {
      return octet_dequantize_gguf(type, from, n, k, to, error);
    });
  };
  std::memset(blocks.data(), 0, blocks.bytes());
  float* const to = values.data<float>();
  const void* const from = blocks.data();
  refuses(OCTET_UNKNOWN_ENUM, "type is 6", (octet_gguf_type)6, 3, 64, from, to);  // Q5_0
  refuses(OCTET_BAD_SIZE, "n is 0", OCTET_GGUF_Q4_1, 0, 64, from, to);
  refuses(OCTET_BAD_SIZE, "k = 48", OCTET_GGUF_Q4_1, 3, 48, from, to);
  refuses(OCTET_BAD_SIZE, "n = ", OCTET_GGUF_Q8_0, SIZE_MAX / 32, 64, from, to);
  refuses(OCTET_NULL_POINTER, "blocks", OCTET_GGUF_Q4_1, 3, 64, nullptr, to);
  refuses(OCTET_NULL_POINTER, "values", OCTET_GGUF_Q4_1, 3, 64, from, nullptr);
  refuses(OCTET_MISALIGNED, "values", OCTET_GGUF_Q4_1, 3, 64, from, (float*)(values.data() - 2));
  refuses(OCTET_OVERLAP, "values overlaps blocks", OCTET_GGUF_Q4_1, 3, 64, values.data() + 4, to);
  for (const uint16_t bad : {kHalfInfinity, kHalfNan, (uint16_t)0xfc00}) {
    std::memset(blocks.data(), 0, blocks.bytes());
    std::memcpy(blocks.data() + 5 * 20, &bad, 2);
    refuses(OCTET_BAD_SCALE, "blocks[5], of row 2, has a scale", OCTET_GGUF_Q4_1, 3, 64, from, to);
    std::memset(blocks.data(), 0, blocks.bytes());
    std::memcpy(blocks.data() + 4 * 20 + 2, &bad, 2);
    refuses(OCTET_BAD_SCALE, "blocks[4], of row 2, has a minimum", OCTET_GGUF_Q4_1, 3, 64, from,
            to);
  }
  EXPECT_EQ(values.data()[0], Guarded::kUntouched);
}

// ---- GPTQ, AWQ ----------------------------------------------------------------------------------

// Tensors of a layer and the weights that they stand for.
struct Layer {
  Layer(octet_qweight_layout layout, size_t n, size_t k, size_t group, Draw* draw)
      : qweight(n * k / 8), qzeros(n * (k / group) / 8), g_idx(k), scales(n * (k / group)) {
    const size_t kAwq[] = {0, 2, 4, 6, 1, 3, 5, 7};
    const auto put = [&](std::vector<int32_t>& to, size_t word, size_t place, uint32_t q) {
      to[word] = (int32_t)((uint32_t)to[word] | q << 4 * place);
    };
    const auto place = [&](size_t column) {
      size_t i = column % 8;
      if (layout == OCTET_QWEIGHT_AWQ)
        for (i = 0; kAwq[i] != column % 8;) ++i;
      return i;
    };
    for (size_t i = 0; i < n; ++i)
      for (size_t d = 0; d < k; ++d) {
        if (d % group == 0) {
          const bool v1 = layout == OCTET_QWEIGHT_GPTQ;
          zeros.push_back((int32_t)draw->below(v1 ? 15 : 16) + v1);
          put(qzeros, d / group * (n / 8) + i / 8, place(i), (uint32_t)zeros.back() - v1);
          exponent = -(int)draw->below(4);
          negative = group < k && draw->one_in(2);
          scales[d / group * n + i] = half_power(exponent, negative);
        }
        const uint32_t q = (uint32_t)draw->below(16);
        weights.push_back((int32_t)q);
        values.push_back(((float)q - (float)zeros.back()) * power(exponent, negative));
        if (layout == OCTET_QWEIGHT_AWQ)
          put(qweight, d * (n / 8) + i / 8, place(i), q);
        else
          put(qweight, d / 8 * n + i, d % 8, q);
      }
    for (size_t d = 0; d < k; ++d) g_idx[d] = (int32_t)(d / group);
    from = {layout,
            n,
            k,
            group,
            qweight.data(),
            qzeros.data(),
            scales.data(),
            layout == OCTET_QWEIGHT_AWQ ? nullptr : g_idx.data()};
  }
  std::vector<int32_t> qweight, qzeros, g_idx, weights, zeros;
  std::vector<uint16_t> scales;
  std::vector<float> values;
  octet_qweight from;
  int exponent = 0;
  bool negative = false;
};

TEST(ImportQweight, HasTheLayoutsAndTheProduct) {
  Draw draw(2);
  for (const auto layout : {OCTET_QWEIGHT_GPTQ, OCTET_QWEIGHT_GPTQ_V2, OCTET_QWEIGHT_AWQ})
    for (const size_t group : {32, 128})  // the last is one scale per column
      for (const octet_type scale_type : {OCTET_F32, OCTET_F16}) {
        if (group == 128 && scale_type == OCTET_F16) continue;  // an epilogue has f32
        const Layer layer(layout, 24, 128, group, &draw);
        Weights w(OCTET_U4, scale_type, 24, 128, group);
        import(layer.from, &w);
        EXPECT_EQ(w.zeros, layer.zeros);
        for (size_t i = 0; i < w.n * w.k; ++i) ASSERT_EQ(w.at(0, i), layer.weights[i]) << i;
        expect_product(w, layer.values, &draw);
      }
}

// k is a multiple of the group alone, and arrays that are only read may be one.
TEST(ImportQweight, TakesAnyDepthOfAwq) {
  Draw draw(6);
  Layer layer(OCTET_QWEIGHT_AWQ, 8, 33, 3, &draw);
  Weights w(OCTET_U4, OCTET_F16, 8, 33, 3);
  import(layer.from, &w);
  EXPECT_EQ(w.zeros, layer.zeros);
  for (size_t i = 0; i < w.n * w.k; ++i) ASSERT_EQ(w.at(0, i), layer.weights[i]) << i;
  layer.from.qzeros = layer.from.qweight;
  import(layer.from, &w);
}

TEST(ImportQweight, MakesEveryScaleF32) {
  Draw draw(3);
  Layer layer(OCTET_QWEIGHT_GPTQ_V2, 0x8000, 8, 8, &draw);
  Weights w(OCTET_U4, OCTET_F32, 0x8000, 8, 8);
  for (size_t i = 0; i < w.n; ++i)  // the infinities and NaNs become numbers of their magnitude
    layer.scales[i] = (uint16_t)((i & 0x7fff) >= kHalfInfinity ? i & 0x83ff : i);
  for (const uint16_t sign : {0, 0x8000}) {
    for (uint16_t& each : layer.scales) each = (uint16_t)(each | sign);
    import(layer.from, &w);
    for (size_t i = 0; i < w.n; ++i) {
      const int half = layer.scales[i], exponent = half >> 10 & 31, mantissa = half & 1023;
      const float magnitude =
          std::ldexp((float)(mantissa + (exponent ? 1024 : 0)), (exponent ? exponent : 1) - 25);
      ASSERT_EQ(w.scales.data<float>()[i], sign ? -magnitude : magnitude) << i;
    }
  }
}

// A call that each test spoils: it touches no output.
struct BadQweight : testing::Test {
  struct Call {
    octet_qweight from;
    uint8_t* weights;
    octet_type scale_type;
    void* scales;
    int32_t* zeros;
  };
  template <typename Spoil>
  void refuses(octet_status status, const char* name, Spoil spoil) {
    Call c = {layer.from, w.data.data(), OCTET_F16, w.scales.data(), w.zeros.data()};
    spoil(c);
    expect_refused(status, name, [&](octet_error* error) {
      return octet_import_qweight(&c.from, c.weights, c.scale_type, c.scales, c.zeros, error);
    });
    EXPECT_EQ(w.data_bytes(), Bytes(w.data.bytes(), Guarded::kUntouched));
    EXPECT_EQ(w.scale_bytes(), Bytes(w.scales.bytes(), Guarded::kUntouched));
    EXPECT_EQ(w.zeros, std::vector<int32_t>(32));
  }
  Draw draw{4};
  Layer layer{OCTET_QWEIGHT_GPTQ, 16, 64, 32, &draw};
  Weights w{OCTET_U4, OCTET_F16, 16, 64, 32};
};

TEST_F(BadQweight, IsRefused) {
  expect_refused(OCTET_NULL_POINTER, "from", [&](octet_error* error) {
    return octet_import_qweight(nullptr, w.data.data(), OCTET_F16, w.scales.data(), w.zeros.data(),
                                error);
  });
  for (const int bad : {-1, 3})
    refuses(OCTET_UNKNOWN_ENUM, "from.layout", [&](Call& c) { set_raw(&c.from.layout, bad); });
  for (const int bad : {0, 3})
    refuses(OCTET_UNKNOWN_ENUM, "scale_type", [&](Call& c) { set_raw(&c.scale_type, bad); });
  refuses(OCTET_BAD_SIZE, "from.n is 0", [](Call& c) { c.from.n = 0; });
  refuses(OCTET_BAD_SIZE, "from.k is 0", [](Call& c) { c.from.k = 0; });
  refuses(OCTET_BAD_SIZE, "from.group = 0", [](Call& c) { c.from.group = 0; });
  refuses(OCTET_BAD_SIZE, "from.group = 48", [](Call& c) { c.from.group = 48; });
  refuses(OCTET_BAD_SIZE, "from.n = ", [](Call& c) { c.from.n = SIZE_MAX / 8; });
  refuses(OCTET_BAD_SIZE, "from.n = 12", [](Call& c) { c.from.n = 12; });
  refuses(OCTET_BAD_SIZE, "from.k = 36", [](Call& c) { c.from.k = c.from.group = 36; });
  refuses(OCTET_UNSUPPORTED, "from.g_idx", [](Call& c) { c.from.layout = OCTET_QWEIGHT_AWQ; });
  refuses(OCTET_NULL_POINTER, "from.qweight", [](Call& c) { c.from.qweight = nullptr; });
  refuses(OCTET_NULL_POINTER, "from.qzeros", [](Call& c) { c.from.qzeros = nullptr; });
  refuses(OCTET_NULL_POINTER, "from.scales", [](Call& c) { c.from.scales = nullptr; });
  refuses(OCTET_NULL_POINTER, "weights", [](Call& c) { c.weights = nullptr; });
  refuses(OCTET_NULL_POINTER, "scales", [](Call& c) { c.scales = nullptr; });
  refuses(OCTET_NULL_POINTER, "zero_points", [](Call& c) { c.zeros = nullptr; });
  const auto move = [](auto& pointer, size_t bytes) {
    using Pointer = std::remove_reference_t<decltype(pointer)>;
    pointer = (Pointer)((uintptr_t)pointer + bytes);
  };
  refuses(OCTET_MISALIGNED, "from.qweight", [&](Call& c) { move(c.from.qweight, 2); });
  refuses(OCTET_MISALIGNED, "from.qzeros", [&](Call& c) { move(c.from.qzeros, 1); });
  refuses(OCTET_MISALIGNED, "from.scales", [&](Call& c) { move(c.from.scales, 1); });
  refuses(OCTET_MISALIGNED, "from.g_idx", [&](Call& c) { move(c.from.g_idx, 2); });
  refuses(OCTET_MISALIGNED, "scales", [&](Call& c) { c.scales = w.scales.data() - 1; });
  refuses(OCTET_MISALIGNED, "scales",
          [&](Call& c) { c.scale_type = OCTET_F32, move(c.scales, 2); });
  refuses(OCTET_MISALIGNED, "zero_points", [&](Call& c) { move(c.zeros, 2); });
  layer.g_idx[33] = 0;
  refuses(OCTET_UNSUPPORTED, "from.g_idx[33] is 0, not 1", [](Call&) {});
  layer.g_idx[33] = 1, layer.g_idx[0] = -1;
  refuses(OCTET_UNSUPPORTED, "from.g_idx[0] is -1, not 0", [](Call&) {});
  layer.g_idx[0] = 0;
  for (const uint16_t bad : {kHalfInfinity, kHalfNan, (uint16_t)0xffff}) {
    layer.scales[31] = bad;
    refuses(OCTET_BAD_SCALE, "from.scales[31], of group 1 and column 15", [](Call&) {});
  }
  layer.scales[31] = kHalfOne;
  layer.qzeros[3] |= 0xf0;
  refuses(OCTET_BAD_ZERO_POINT, "zero point 16 in group 1, column 9", [](Call&) {});
}

// The arrays of w end at pages that nothing may touch, so an array that begins in one of them meets
// no other one.
TEST_F(BadQweight, Overlap) {
  refuses(OCTET_OVERLAP, "weights overlaps from.qweight",
          [&](Call& c) { c.from.qweight = w.data.data<int32_t>() + 127; });
  refuses(OCTET_OVERLAP, "weights overlaps from.qzeros",
          [&](Call& c) { c.from.qzeros = w.data.data<int32_t>() + 127; });
  refuses(OCTET_OVERLAP, "scales overlaps from.scales",
          [&](Call& c) { c.from.scales = w.scales.data<uint16_t>() + 31; });
  refuses(OCTET_OVERLAP, "zero_points overlaps scales",
          [&](Call& c) { c.zeros = w.scales.data<int32_t>() + 15; });
  refuses(OCTET_OVERLAP, "scales overlaps weights",
          [&](Call& c) { c.weights = w.scales.data() + 63; });
  Guarded one(sizeof(int32_t), Side::kBack);
  refuses(OCTET_OVERLAP, "from.g_idx overlaps zero_points",
          [&](Call& c) { c.from.g_idx = c.zeros = one.data<int32_t>(); });
}

// ---- ONNX Runtime -------------------------------------------------------------------------------

TEST(UnpackZeroPoints, RowsBeginAtBytes) {
  const uint8_t packed[] = {0x21, 0xf3, 0x54, 0x06};
  std::vector<int32_t> zeros(6);
  ASSERT_EQ(octet_unpack_zero_points(packed, 2, 3, zeros.data(), nullptr), OCTET_OK);
  EXPECT_EQ(zeros, (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  const auto refuses = [&](octet_status status, const char* name, const uint8_t* from, size_t n,
                           size_t blocks, int32_t* to) {
    expect_refused(status, name, [&](octet_error* error) {
      return octet_unpack_zero_points(from, n, blocks, to, error);
    });
  };
  refuses(OCTET_BAD_SIZE, "n is 0", packed, 0, 3, zeros.data());
  refuses(OCTET_BAD_SIZE, "blocks is 0", packed, 2, 0, zeros.data());
  refuses(OCTET_BAD_SIZE, "n = ", packed, SIZE_MAX, 3, zeros.data());
  refuses(OCTET_NULL_POINTER, "packed", nullptr, 2, 3, zeros.data());
  refuses(OCTET_NULL_POINTER, "zero_points", packed, 2, 3, nullptr);
  refuses(OCTET_MISALIGNED, "zero_points", packed, 2, 3, (int32_t*)((uintptr_t)zeros.data() + 2));
  refuses(OCTET_OVERLAP, "zero_points overlaps packed", (const uint8_t*)(zeros.data() + 5), 2, 3,
          zeros.data());
}

}  // namespace
}  // namespace octet_test
