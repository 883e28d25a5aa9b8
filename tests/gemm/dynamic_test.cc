// SPDX-License-Identifier: Apache-2.0
// Checks activations whose zero point and scale come with the run, and f32 activations quantized on
// the fly.
#include <cmath>
#include <limits>

#include "support/gemm_case.h"
#include "support/reference.h"

namespace octet_test {
namespace {

class Dynamic : public EachKernel {};
OCTET_FOR_EACH_KERNEL(Dynamic);

TEST(DynamicLhs, OneByOnePerRow) {
  GemmCase c;
  c.lhs_quant = OCTET_LHS_PER_ROW;
  check(c);
}

TEST_P(Dynamic, ZeroPointsAndScalesOfTheRun) {
  uint32_t turn = 0;
  for (const octet_lhs_quant quant : {OCTET_LHS_PER_TENSOR, OCTET_LHS_PER_ROW})
    for (const octet_type dst : {OCTET_S32, OCTET_F32, OCTET_U8, OCTET_S8})
      for (const ZeroPoints zero_points :
           {ZeroPoints::kNone, ZeroPoints::kTensor, ZeroPoints::kChannel})
        for (const Types types : types_of(kernel()))
          for (const size_t m : {size_t{1}, size_t{kernel().mr}, 2 * size_t{kernel().mr} + 1}) {
            GemmCase c;
            c.kernel = kernel().name;
            c.m = m, c.n = turn % 2 ? kernel().nr + 1u : kernel().nr,
            c.k = depths(kernel())[turn % 6];
            c.batch = 1 + turn % 2;
            c.lhs = types.lhs, c.rhs = types.rhs, c.dst = dst;
            c.lhs_quant = quant, c.rhs_zero_points = zero_points;
            c.residual = dst == OCTET_S8 ? OCTET_U8 : kNoResidual;
            c.runtime_rhs = turn % 5 == 4 && takes_any_weights(kernel());
            c.data = (Data)(turn % 5);
            c.concurrency = 1 + turn % 4;
            c.seed = ++turn;
            check(c);
            if (HasFatalFailure()) return;
          }
}

TEST_P(Dynamic, FloatActivations) {
  uint32_t turn = 0;
  for (const octet_lhs_quant quant : {OCTET_LHS_SYMMETRIC, OCTET_LHS_ASYMMETRIC})
    for (const octet_type rhs : {OCTET_S8, OCTET_U8, OCTET_S4, OCTET_U4})
      for (const ZeroPoints zero_points :
           {ZeroPoints::kNone, ZeroPoints::kTensor, ZeroPoints::kChannel})
        for (const size_t m : {size_t{1}, kernel().mr + size_t{1}})
          for (const size_t k : depths(kernel())) {
            GemmCase c;
            c.kernel = kernel().name;
            c.m = m, c.n = turn % 2 ? kernel().nr + 1u : 7u, c.k = k;
            c.lhs = OCTET_F32, c.rhs = rhs, c.dst = OCTET_F32;
            // Symmetric rows arrive at the kernel as s8, asymmetric ones as u8.
            if (!serves(kernel(), {quant == OCTET_LHS_SYMMETRIC ? OCTET_S8 : OCTET_U8, rhs}))
              continue;
            c.lhs_quant = quant, c.rhs_zero_points = zero_points;
            c.bias_f32 = turn % 3 == 0;
            c.bias = turn % 4 == 0;
            c.activation = turn % 7 == 0 ? OCTET_ACTIVATION_RELU : OCTET_ACTIVATION_NONE;
            c.padded = turn % 2;
            c.concurrency = 1 + turn % 3;
            c.runtime_rhs = turn % 5 == 1 && takes_any_weights(kernel());
            c.seed = ++turn;
            check(c);
            if (HasFatalFailure()) return;
          }
}

// ---- one row, value by value

class QuantizeRow : public EachKernel {
 protected:
  // All rows have the same length; three more floats follow each but the last.
  void expect_rows(const std::vector<std::vector<float>>& rows, const char* what) {
    const size_t depth = rows[0].size(), stride = depth + 3;
    std::vector<float> values((rows.size() - 1) * stride + depth);
    for (size_t i = 0; i < rows.size(); ++i)
      std::copy(rows[i].begin(), rows[i].end(), values.begin() + i * stride);
    for (const Side side : {Side::kBack, Side::kFront})
      for (const bool asymmetric : {false, true}) {
        const Guarded in(values, side), out((rows.size() - 1) * stride + depth, side);
        std::vector<float> scales(rows.size());
        std::vector<int32_t> zero_points(rows.size());
        octet::ops_of(kernel().tier_id)
            .quantize_rows({in.data<float>(), stride, rows.size(), depth}, asymmetric, out.data(),
                           stride, scales.data(), zero_points.data());
        for (size_t i = 0; i < rows.size(); ++i)
          expect_row(rows[i], asymmetric, {scales[i], zero_points[i]}, out.data() + i * stride,
                     what);
      }
  }
  void expect_row(const std::vector<float>& row, const char* what) { expect_rows({row}, what); }

 private:
  static void expect_row(const std::vector<float>& row, bool asymmetric, octet::RowQuant got,
                         const uint8_t* out, const char* what) {
    const QuantizedRow want = asymmetric ? quantize_asymmetric(row.data(), row.size())
                                         : quantize_symmetric(row.data(), row.size());
    ASSERT_EQ(std::isnan(got.scale), std::isnan(want.scale)) << what;
    ASSERT_TRUE(std::isnan(want.scale) || got.scale == want.scale) << what;
    ASSERT_EQ(got.zero_point, want.zero_point) << what;
    for (size_t i = 0; i < row.size(); ++i)
      ASSERT_EQ(out[i], (uint8_t)want.values[i])
          << what << (asymmetric ? " asymmetric" : " symmetric") << " [" << i << "] of " << row[i];
  }
};
OCTET_FOR_EACH_KERNEL(QuantizeRow);

TEST_P(QuantizeRow, SpecialRows) {
  constexpr float kInf = std::numeric_limits<float>::infinity(),
                  kNan = std::numeric_limits<float>::quiet_NaN(),
                  kMax = std::numeric_limits<float>::max(),
                  kMin = std::numeric_limits<float>::min(),
                  kDenormal = std::numeric_limits<float>::denorm_min();
  expect_row({1}, "one");
  expect_row({-1}, "minus one");
  expect_row({0, 0, 0}, "zeros");
  expect_row({-0.0f, -0.0f}, "negative zeros");
  expect_row({-0.0f, 5, -0.0f}, "negative zeros and five");
  expect_row({-0.0f, -5, 0}, "zeros and minus five");
  expect_row({kDenormal, -kDenormal, kMin}, "denormals");
  expect_row({kDenormal, 1}, "a denormal and one");
  expect_row({0x1p-100f}, "just above the threshold");
  expect_row({0x1.fffffep-101f}, "just below the threshold");
  expect_row({-0x1p-101f, 0x1p-101f}, "a range at the threshold");
  expect_row({kMax, 1, -1}, "largest");
  expect_row({kMax, -kMax}, "a range that overflows");
  expect_row({kMax, -kMax / 4}, "a range that overflows by a little");
  expect_row({kMax / 2, -kMax / 2}, "the largest range");
  expect_row({1, kNan, 2}, "NaN");
  expect_row({-kNan, 1}, "negative NaN");
  expect_row({kInf}, "infinity");
  expect_row({1, -kInf}, "minus infinity");
  expect_row({3, 4, 5}, "all positive");
  expect_row({-3, -4, -5}, "all negative");
}

TEST_P(QuantizeRow, TiesAndLengths) {
  for (const size_t length : {1, 2, 15, 16, 17, 63, 64, 65, 300}) {
    std::vector<float> ties, ramp;
    for (size_t i = 0; i < length; ++i) {
      ties.push_back(((float)(i % 255) - 127) * 0.5f);
      ramp.push_back(std::ldexp((float)(i % 13) - 5.3f, (int)(i % 40) - 30));
    }
    ties[0] = 127;  // scale 1: the halves are ties
    expect_row(ties, "ties");
    expect_row(ramp, "ramp");
    for (size_t at = 0; at < length; ++at) {
      std::vector<float> bad = ties;
      bad[at] = std::numeric_limits<float>::quiet_NaN();
      expect_row(bad, "NaN somewhere");
      if (HasFatalFailure()) return;
    }
  }
}

// Quotients within a few steps of a float of half an integer, which multiplications by 1 / scale
// may round to the other side.
TEST_P(QuantizeRow, NearlyTies) {
  constexpr size_t kRows = 4;
  uint32_t turn = 0;
  for (const size_t length : {70, 130, 521})
    for (size_t times = 0; times < 12; ++times) {
      std::vector<std::vector<float>> rows(kRows, std::vector<float>(length));
      for (std::vector<float>& row : rows) {
        const float largest = 1 + (float)(turn++ * 2654435761u % 1000003) / 1000003,
                    scale = largest / (turn % 2 ? 127 : 255);
        for (size_t i = 0; i < length; ++i) {
          row[i] = ((float)(i * 37 % 253) - 126 + 0.5f) * scale;
          const float to = i % 3 ? 1e9f : -1e9f;
          for (size_t step = 0; step < i % 7; ++step) row[i] = std::nextafter(row[i], to);
        }
        row[turn % length] = turn % 2 ? largest : largest / 2;
        row[(turn + 9) % length] = -largest / 2;
      }
      expect_rows(rows, "nearly ties");
      if (HasFatalFailure()) return;
    }
}

// In a whole product a bad row becomes a row of NaN, and only that row; a row of zeros gives the
// bias.
TEST(DynamicRows, ABadRowStaysAlone) {
  GemmCase c;
  c.m = 7, c.n = 21, c.k = 19;
  c.lhs = c.dst = OCTET_F32;
  c.bias = false;
  for (const octet_lhs_quant quant : {OCTET_LHS_SYMMETRIC, OCTET_LHS_ASYMMETRIC}) {
    c.lhs_quant = quant;
    Gemm gemm(c);
    ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
    ASSERT_EQ(gemm.run(), OCTET_OK);
    const std::vector<uint8_t> clean = gemm.dst_bytes();
    std::vector<float> lhs((const float*)gemm.args().lhs,
                           (const float*)gemm.args().lhs + c.m * c.k);
    lhs[2 * c.k + 5] = std::numeric_limits<float>::quiet_NaN();
    lhs[4 * c.k + 18] = -std::numeric_limits<float>::infinity();
    for (size_t k = 0; k < c.k; ++k) lhs[5 * c.k + k] = 1e-38f;
    gemm.args().lhs = lhs.data();
    ASSERT_EQ(gemm.run(), OCTET_OK);
    const std::vector<uint8_t> got = gemm.dst_bytes();
    for (size_t i = 0; i < c.m; ++i)
      for (size_t j = 0; j < c.n; ++j) {
        float value, before;
        std::memcpy(&value, &got[(i * c.n + j) * 4], 4);
        std::memcpy(&before, &clean[(i * c.n + j) * 4], 4);
        uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        if (i == 2 || i == 4)
          EXPECT_EQ(bits, 0x7fc00000u) << i << ' ' << j;
        else
          EXPECT_EQ(value, i == 5 ? 0 : before) << i << ' ' << j;
      }
  }
}

// A row scale times a column's scale may leave float: 0 times that is a NaN that CPUs sign as they
// like. Only these rows take more steps.
TEST(DynamicRows, ScalesThatLeaveFloatGiveOneNan) {
  constexpr size_t kM = 3, kN = 40, kK = 4;
  const float rows[kM][kK] = {{1, 2, 3, 4}, {3e38f, -3e38f, 1e37f, 0}, {1e30f, -1e30f, 0, 0}};
  const std::vector<int8_t> weights(kN * kK, 0);
  const float scale = 1 << 20;
  for (const octet_isa isa : tiers_to_test()) {
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = OCTET_S8, rhs.order = OCTET_NK, rhs.n = kN, rhs.k = kK, rhs.data = weights.data();
    octet_error error = {};
    size_t bytes = 0;
    ASSERT_EQ(octet_pack_size(&rhs, isa, &bytes, &error), OCTET_OK) << error.message;
    const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
    ASSERT_EQ(octet_pack(&rhs, isa, blob.data(), bytes, &error), OCTET_OK) << error.message;
    octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
    desc.m_max = kM, desc.n = kN, desc.k = kK, desc.max_isa = isa;
    desc.lhs_type = desc.dst_type = OCTET_F32, desc.rhs_type = OCTET_S8;
    desc.lhs_quant = OCTET_LHS_SYMMETRIC;
    desc.packed = blob.data(), desc.packed_bytes = bytes;
    desc.epilogue.scales = &scale, desc.epilogue.scale_count = 1;
    octet_gemm* gemm = nullptr;
    ASSERT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
    ASSERT_EQ(octet_gemm_workspace(gemm, kM, 1, &bytes, &error), OCTET_OK) << error.message;
    const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
    for (size_t row = 0; row < kM; ++row) {
      uint32_t dst[kN];
      octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
      args.m = 1, args.lhs = rows[row], args.dst = dst;
      args.workspace = workspace.data(), args.workspace_bytes = bytes;
      ASSERT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
      for (const uint32_t bits : dst)
        EXPECT_EQ(bits, row == 1 ? 0x7fc00000u : 0u) << octet_isa_name(isa) << ", row " << row;
    }
    octet_gemm_destroy(gemm);
  }
}

}  // namespace
}  // namespace octet_test
