// SPDX-License-Identifier: Apache-2.0
// Checks the way from accumulators to outputs: every output type, activation, residual and table,
// in all requantization modes, on every kernel's epilogue.
#include <octet/helpers.h>

#include <algorithm>
#include <cmath>

#include "support/gemm_case.h"
#include "support/reference.h"

namespace octet_test {
namespace {

class Epilogue : public EachKernel {
 protected:
  GemmCase base(octet_type dst) const {
    GemmCase c;
    c.kernel = kernel().name;
    c.m = kernel().mr + 1u, c.n = kernel().nr + 3u, c.k = kernel().rhs_layout.kr + 1u;
    c.lhs = types_of(kernel()).front().lhs, c.rhs = types_of(kernel()).front().rhs;
    c.dst = dst;
    return c;
  }
  // Checks every data set; the residual, if any, also aliases dst.
  void check_all(GemmCase c) {
    for (const Data data :
         {Data::kRandom, Data::kLeastLeast, Data::kLeastMost, Data::kMostLeast, Data::kMostMost}) {
      c.data = data;
      c.residual_is_dst = false;
      check(c);
      if (HasFatalFailure()) return;
      if (!c.residual) continue;
      c.residual_is_dst = true;
      check(c);
      if (HasFatalFailure()) return;
    }
  }
};
OCTET_FOR_EACH_KERNEL(Epilogue);

constexpr octet_activation kActivations[] = {OCTET_ACTIVATION_NONE, OCTET_ACTIVATION_RELU,
                                             OCTET_ACTIVATION_RELU6, OCTET_ACTIVATION_CLAMP,
                                             OCTET_ACTIVATION_RELU_N1_TO_1};

TEST_P(Epilogue, Accumulators) { check_all(base(OCTET_S32)); }

TEST_P(Epilogue, Floats) {
  for (const octet_activation activation : kActivations)
    for (const bool per_channel : {true, false})
      for (const bool bias_f32 : {false, true}) {
        GemmCase c = base(OCTET_F32);
        c.activation = activation;
        c.per_channel = per_channel;
        c.bias_f32 = bias_f32;
        c.bias = !bias_f32;
        check_all(c);
      }
}

TEST_P(Epilogue, Bytes) {
  for (const octet_type dst : {OCTET_U8, OCTET_S8})
    for (const octet_requant requant : {OCTET_REQUANT_FLOAT, OCTET_REQUANT_TFLITE})
      for (const octet_activation activation : kActivations)
        for (const bool per_channel : {true, false})
          for (const bool lut : {false, true})
            for (const octet_type residual : {kNoResidual, OCTET_U8, OCTET_S8}) {
              GemmCase c = base(dst);
              c.requant = requant;
              c.activation = activation;
              c.per_channel = per_channel;
              c.lut = lut;
              c.residual = residual;
              c.padded = per_channel;
              check_all(c);
              if (HasFatalFailure()) return;
            }
}

TEST_P(Epilogue, BytesInDouble) {
  for (const octet_type dst : {OCTET_U8, OCTET_S8})
    for (const octet_activation activation : kActivations)
      for (const bool per_channel : {true, false})
        for (const bool lut : {false, true}) {
          GemmCase c = base(dst);
          c.requant = OCTET_REQUANT_DOUBLE;
          c.activation = activation;
          c.per_channel = c.padded = per_channel;
          c.lut = lut;
          check_all(c);
          if (HasFatalFailure()) return;
        }
}

// The product and the sum have an activation each, with bounds of their own.
TEST_P(Epilogue, ActivationsOfTheProduct) {
  for (const octet_type dst : {OCTET_U8, OCTET_S8})
    for (const octet_requant requant : {OCTET_REQUANT_FLOAT, OCTET_REQUANT_TFLITE})
      for (const octet_activation product : kActivations)
        for (const octet_activation activation : {OCTET_ACTIVATION_NONE, OCTET_ACTIVATION_RELU6})
          for (const octet_type residual : {OCTET_U8, OCTET_S8}) {
            GemmCase c = base(dst);
            c.requant = requant;
            c.product_activation = product;
            c.activation = activation;
            c.residual = residual;
            c.per_channel = residual == OCTET_U8;
            check_all(c);
            if (HasFatalFailure()) return;
          }
}

// A 1 x n product of zeros, so that the bias is the accumulator: any accumulator can be sent
// through the epilogue.
class Accumulators {
 public:
  explicit Accumulators(const std::vector<int32_t>& values)
      : values_(values), zeros_(values.size(), 0) {
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = OCTET_S8, rhs.n = values.size(), rhs.k = 1, rhs.data = zeros_.data();
    size_t bytes = 0;
    EXPECT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, nullptr), OCTET_OK);
    blob_ = Guarded(bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, blob_.data(), bytes, nullptr), OCTET_OK);
    desc.m_max = 1, desc.n = values.size(), desc.k = 1, desc.lhs_type = OCTET_U8,
    desc.rhs_type = OCTET_S8;
    desc.packed = blob_.data(), desc.packed_bytes = bytes, desc.epilogue.bias = values_.data();
  }
  // Fills dst; false if the object could not be made.
  octet_status run(void* dst, octet_error* error) {
    octet_gemm* gemm = nullptr;
    if (const octet_status status = octet_gemm_create(&desc, &gemm, error)) return status;
    size_t bytes = 0;
    octet_gemm_workspace(gemm, 1, 1, &bytes, nullptr);
    const Guarded workspace(bytes + 1, Side::kFront, OCTET_ALIGNMENT);
    octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
    const uint8_t lhs = 1;
    args.m = 1, args.lhs = &lhs, args.dst = dst, args.residual = residual,
    args.workspace = workspace.data(), args.workspace_bytes = bytes;
    const octet_status status = octet_gemm_run(gemm, &args, error);
    octet_gemm_destroy(gemm);
    return status;
  }
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  const void* residual = nullptr;

 private:
  std::vector<int32_t> values_;
  std::vector<uint8_t> zeros_;
  Guarded blob_;
};

class EpilogueTier : public EachKernel {
 protected:
  octet_error error_ = {};
};
OCTET_FOR_EACH_KERNEL(EpilogueTier);

std::vector<int32_t> interesting_accumulators() {
  std::vector<int32_t> values = {0,        INT32_MAX, INT32_MIN + 1, INT32_MIN, 16777215,
                                 16777216, 16777217,  -16777217,     33554435};
  for (int32_t v = -300; v <= 300; ++v) values.push_back(v);
  uint32_t state = 7;
  for (int i = 0; i < 400; ++i)
    values.push_back((int32_t)((state = state * 1664525u + 1013904223u) >> (i % 24)));
  return values;
}

// Ties, accumulators beyond 2^24, and scales that take the product out of int32 are rounded once,
// half to even, and clamped before converting.
TEST_P(EpilogueTier, RoundsAndSaturatesAsTheContractSays) {
  const std::vector<int32_t> values = interesting_accumulators();
  const ScopedEnvironment forced("OCTET_KERNEL", kernel().name);
  for (const float scale : {1.0f, 0.5f, 0.25f, 0.1f, 1e-7f, 3e-39f, 1.5f, 1000.0f, 2.8e14f})
    for (const octet_type dst : {OCTET_U8, OCTET_S8})
      for (const int32_t zero_point : {least(dst), most(dst), 0}) {
        Accumulators work(values);
        work.desc.dst_type = dst, work.desc.epilogue.dst_zero_point = zero_point,
        work.desc.epilogue.scales = &scale, work.desc.epilogue.scale_count = 1;
        const Guarded out(values.size(), Side::kBack);
        ASSERT_EQ(work.run(out.data(), &error_), OCTET_OK) << error_.message;
        for (size_t i = 0; i < values.size(); ++i)
          ASSERT_EQ(out.data()[i],
                    (uint8_t)requantize(values[i], scale, 0, zero_point, least(dst), most(dst)))
              << kernel().name << " acc " << values[i] << " scale " << scale << " zero point "
              << zero_point;
      }
}

TEST_P(EpilogueTier, TfliteRoundsAsItsReferenceKernels) {
  std::vector<int32_t> values = interesting_accumulators();
  const ScopedEnvironment forced("OCTET_KERNEL", kernel().name);
  for (const int32_t multiplier : {0, 1 << 30, (1 << 30) + 1, 1518500250, INT32_MAX})
    for (int32_t shift = -31; shift <= 30; ++shift) {
      std::vector<int32_t> fit;  // create refuses values that a left shift would push out of int32
      const int32_t left = std::max(shift, 0), least = INT32_MIN >> left, most = INT32_MAX >> left;
      if (shift > 0) values[0] = most, values[1] = least, values[2] = least + 1;
      for (const int32_t v : values)
        if (v >= least && v <= most) fit.push_back(v);
      for (const int32_t zero_point : {-128, 127, 5}) {
        Accumulators work(fit);
        work.desc.dst_type = OCTET_S8, work.desc.epilogue.dst_zero_point = zero_point,
        work.desc.epilogue.requant = OCTET_REQUANT_TFLITE;
        work.desc.epilogue.multipliers = &multiplier, work.desc.epilogue.shifts = &shift,
        work.desc.epilogue.multiplier_count = 1;
        const Guarded out(fit.size(), Side::kBack);
        ASSERT_EQ(work.run(out.data(), &error_), OCTET_OK) << error_.message;
        for (size_t i = 0; i < fit.size(); ++i) {
          const int64_t scaled = multiply_by_quantized_multiplier(fit[i], multiplier, shift);
          ASSERT_EQ(out.data<int8_t>()[i], clamped(scaled + zero_point, -128, 127))
              << kernel().name << " acc " << fit[i] << " multiplier " << multiplier << " shift "
              << shift << " zero point " << zero_point;
        }
      }
    }
}

// Values on halves and as near to them as doubles are, and those that leave int32.
TEST_P(EpilogueTier, DoublesRoundOnceAndSaturate) {
  const std::vector<int32_t> values = interesting_accumulators();
  const ScopedEnvironment forced("OCTET_KERNEL", kernel().name);
  for (const double exact : {0.5, 0.25, 1.0, 1.5, 0x1p-24, 0.1, 0x1p-1074, 0x1p48})
    for (const double factor :
         {exact, std::nextafter(exact, 1.0), std::nextafter(exact, 0x1p-1074)})
      for (const octet_type dst : {OCTET_U8, OCTET_S8})
        for (const int32_t zero_point : {least(dst), most(dst), 0}) {
          Accumulators work(values);
          work.desc.dst_type = dst, work.desc.epilogue.dst_zero_point = zero_point,
          work.desc.epilogue.requant = OCTET_REQUANT_DOUBLE;
          work.desc.epilogue.factors = &factor, work.desc.epilogue.factor_count = 1;
          const Guarded out(values.size(), Side::kBack);
          ASSERT_EQ(work.run(out.data(), &error_), OCTET_OK) << error_.message;
          for (size_t i = 0; i < values.size(); ++i) {
            const double limited = std::clamp(values[i] * factor, -1000.0, 1000.0);
            ASSERT_EQ(out.data()[i],
                      (uint8_t)clamped((int64_t)round_half_away(limited) + zero_point, least(dst),
                                       most(dst)))
                << kernel().name << " acc " << values[i] << " factor " << factor << " zero point "
                << zero_point;
          }
        }
}

// Bounds that fall on ties, exceed the type on either side, or are beyond all integers.
TEST_P(EpilogueTier, BoundsOfActivationsInStepsOfTheOutput) {
  const struct {
    octet_activation activation;
    float dst_scale;
    int32_t zero_point;
    octet_requant requant;
    int lo, hi;
  } rows[] = {
      {OCTET_ACTIVATION_RELU_N1_TO_1, 0.4f, 10, OCTET_REQUANT_FLOAT, 8, 12},
      {OCTET_ACTIVATION_RELU_N1_TO_1, 0.4f, 10, OCTET_REQUANT_TFLITE, 7, 13},
      {OCTET_ACTIVATION_RELU_N1_TO_1, 0.4f, 1, OCTET_REQUANT_FLOAT, 0, 3},
      {OCTET_ACTIVATION_RELU_N1_TO_1, 0.4f, 254, OCTET_REQUANT_TFLITE, 251, 255},
      {OCTET_ACTIVATION_RELU_N1_TO_1, 8.0f, 10, OCTET_REQUANT_FLOAT, 10, 10},
      {OCTET_ACTIVATION_RELU_N1_TO_1, 2.0f, 10, OCTET_REQUANT_FLOAT, 10, 10},
      {OCTET_ACTIVATION_RELU_N1_TO_1, 2.0f, 10, OCTET_REQUANT_TFLITE, 9, 11},
      {OCTET_ACTIVATION_RELU_N1_TO_1, 1e-42f, 10, OCTET_REQUANT_TFLITE, 0, 255},
      {OCTET_ACTIVATION_RELU_N1_TO_1, 0.00390625f, 0, OCTET_REQUANT_FLOAT, 0, 255},
      {OCTET_ACTIVATION_RELU6, 2.4f, 10, OCTET_REQUANT_FLOAT, 10, 12},
      {OCTET_ACTIVATION_RELU6, 2.4f, 10, OCTET_REQUANT_TFLITE, 10, 13},
      {OCTET_ACTIVATION_RELU6, 1e-42f, 10, OCTET_REQUANT_FLOAT, 10, 255},
      {OCTET_ACTIVATION_RELU, 0, 10, OCTET_REQUANT_TFLITE, 10, 255},
      {OCTET_ACTIVATION_RELU6, 2.4f, 10, OCTET_REQUANT_DOUBLE, 10, 13},
      {OCTET_ACTIVATION_RELU_N1_TO_1, 2.0f, 10, OCTET_REQUANT_DOUBLE, 9, 11},
  };
  const ScopedEnvironment forced("OCTET_KERNEL", kernel().name);
  const float scale = 1;
  const int32_t multiplier = 1 << 30, shift = 1;  // 1
  const double factor = 1;
  for (const auto& row : rows) {
    Accumulators work({-1000, 1000});
    octet_epilogue& e = work.desc.epilogue;
    work.desc.dst_type = OCTET_U8;
    e.activation = row.activation, e.dst_scale = row.dst_scale, e.dst_zero_point = row.zero_point;
    e.requant = row.requant;
    if (row.requant == OCTET_REQUANT_FLOAT)
      e.scales = &scale, e.scale_count = 1;
    else if (row.requant == OCTET_REQUANT_DOUBLE)
      e.factors = &factor, e.factor_count = 1;
    else
      e.multipliers = &multiplier, e.shifts = &shift, e.multiplier_count = 1;
    uint8_t out[2];
    ASSERT_EQ(work.run(out, &error_), OCTET_OK) << error_.message;
    EXPECT_EQ(out[0], row.lo) << row.dst_scale << ' ' << row.zero_point;
    EXPECT_EQ(out[1], row.hi) << row.dst_scale << ' ' << row.zero_point;
  }
}

// Real numbers: a product of -2 or 9 of the output's steps, and a residual of 1 step.
TEST_P(EpilogueTier, ResidualsAfterTheActivationOfTheProduct) {
  const struct {
    octet_requant requant;
    octet_activation activation;
    float scale, min, max;  // of dst in float mode, of the intermediate tensor in TFLite mode
    int lo, hi;
  } rows[] = {
      {OCTET_REQUANT_FLOAT, OCTET_ACTIVATION_NONE, 0, 0, 0, -1, 10},
      {OCTET_REQUANT_FLOAT, OCTET_ACTIVATION_RELU, 0, 0, 0, 1, 10},
      {OCTET_REQUANT_FLOAT, OCTET_ACTIVATION_RELU6, 1, 0, 0, 1, 7},
      // 2.4 + 1 is rounded once, after the sum
      {OCTET_REQUANT_FLOAT, OCTET_ACTIVATION_RELU6, 2.5f, 0, 0, 1, 3},
      {OCTET_REQUANT_FLOAT, OCTET_ACTIVATION_RELU_N1_TO_1, 0.625f, 0, 0, -1, 3},  // 1.6
      {OCTET_REQUANT_FLOAT, OCTET_ACTIVATION_CLAMP, 0, -0.75f, 4.625f, 0, 6},
      {OCTET_REQUANT_TFLITE, OCTET_ACTIVATION_NONE, 0, 0, 0, -1, 10},
      {OCTET_REQUANT_TFLITE, OCTET_ACTIVATION_RELU, 0, 0, 0, 1, 10},
      {OCTET_REQUANT_TFLITE, OCTET_ACTIVATION_RELU6, 1, 0, 0, 1, 7},
      {OCTET_REQUANT_TFLITE, OCTET_ACTIVATION_RELU6, 2.4f, 0, 0, 1, 4},  // 2.5 is rounded first
      {OCTET_REQUANT_TFLITE, OCTET_ACTIVATION_RELU_N1_TO_1, 2, 0, 0, 0, 2},
      {OCTET_REQUANT_TFLITE, OCTET_ACTIVATION_CLAMP, 0, 19, 24, 0, 5},
  };
  const ScopedEnvironment forced("OCTET_KERNEL", kernel().name);
  const float scale = 1;
  const int32_t multiplier = 1 << 30, shift = 1;  // 1
  const int8_t residual[2] = {1, 1};
  for (const auto& row : rows) {
    Accumulators work({-2, 9});
    octet_epilogue& e = work.desc.epilogue;
    work.desc.dst_type = OCTET_S8;
    work.residual = residual;
    e.requant = row.requant;
    e.product_activation = row.activation;
    e.product_clamp_min = row.min, e.product_clamp_max = row.max;
    e.residual.type = OCTET_S8;
    if (row.requant == OCTET_REQUANT_FLOAT) {
      e.scales = &scale, e.scale_count = 1;
      e.dst_scale = row.scale, e.residual.scale = 1;
    } else {
      e.multipliers = &multiplier, e.shifts = &shift, e.multiplier_count = 1;
      e.product_scale = row.scale, e.residual.intermediate_zero_point = 20;
      ASSERT_EQ(octet_tflite_add(1, 1, 1, &e.residual, &error_), OCTET_OK) << error_.message;
    }
    int8_t out[2];
    ASSERT_EQ(work.run(out, &error_), OCTET_OK) << error_.message;
    EXPECT_EQ(out[0], row.lo) << row.requant << ' ' << row.activation << ' ' << row.scale;
    EXPECT_EQ(out[1], row.hi) << row.requant << ' ' << row.activation << ' ' << row.scale;
  }
}

TEST_P(EpilogueTier, FloatsKeepNanAndInfinityOfTheBias) {
  const std::vector<int32_t> values = {1, -1, 0, 7, 2, 3};
  const uint32_t nans[] = {0xffc00000, 0x7fc12345};  // a sign and a payload must not get through
  float signed_nan, payload_nan;
  std::memcpy(&signed_nan, &nans[0], 4);
  std::memcpy(&payload_nan, &nans[1], 4);
  const float scale = 1, bias[] = {NAN, INFINITY, -INFINITY, -0.5f, signed_nan, payload_nan};
  const ScopedEnvironment forced("OCTET_KERNEL", kernel().name);
  Accumulators work(values);
  work.desc.dst_type = OCTET_F32, work.desc.epilogue.scales = &scale,
  work.desc.epilogue.scale_count = 1, work.desc.epilogue.bias_f32 = bias,
  work.desc.epilogue.activation = OCTET_ACTIVATION_RELU6;
  float out[6];
  ASSERT_EQ(work.run(out, &error_), OCTET_OK) << error_.message;
  for (const size_t i : {0, 4, 5}) {
    uint32_t bits;
    std::memcpy(&bits, &out[i], 4);
    EXPECT_EQ(bits, 0x7fc00000u) << kernel().name << ' ' << i;
  }
  EXPECT_EQ(out[1], 6);
  EXPECT_EQ(out[2], 0);
  EXPECT_EQ(out[3], 6);
}

}  // namespace
}  // namespace octet_test
