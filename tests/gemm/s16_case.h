// SPDX-License-Identifier: Apache-2.0
// A product of s16 values by weights of 8 bits: drawn operands, and the outputs that DESIGN.md's
// contract gives for them, in 64-bit integers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/draw.h"
#include "support/gemm_case.h"
#include "support/reference.h"
#include "support/upper_halves.h"

namespace octet_test {

enum class Bias { kNone, kS32, kS64, kHuge };  // kHuge: accumulators of 2^38 and more

struct S16Case {
  size_t m = 1, n = 1, k = 1, batch = 1, matrices = 1;
  octet_type dst = OCTET_S16;
  octet_requant requant = OCTET_REQUANT_TFLITE;
  octet_rhs_order order = OCTET_NK;
  octet_sparsity sparsity = OCTET_SPARSE_NONE;
  octet_activation activation = OCTET_ACTIVATION_NONE;
  Bias bias = Bias::kNone;
  bool extreme = false;  // operands at the ends of their types
  bool padded = false;   // rows with gaps
  size_t concurrency = 1;
  uint32_t seed = 1;
};

inline std::ostream& operator<<(std::ostream& out, const S16Case& c) {
  return out << c.m << "x" << c.n << "x" << c.k << " batch " << c.batch << " matrices "
             << c.matrices << " dst " << octet_type_name(c.dst) << " requant " << c.requant
             << " order " << c.order << " sparsity " << c.sparsity << " activation " << c.activation
             << " bias " << (int)c.bias << " extreme " << c.extreme << " padded " << c.padded
             << " tasks " << c.concurrency << " seed " << c.seed;
}

class S16Product {
 public:
  explicit S16Product(const S16Case& c) : c_(c), draw_(c.seed) {
    make_operands();
    make_epilogue();
    compute();
  }

  // Packs for a tier, runs on it, by the named kernel or by the one that is chosen, and compares
  // all bytes. Returns the kernel's name.
  std::string check_on(octet_isa isa, const char* kernel = nullptr) const {
    SCOPED_TRACE(std::string(octet_isa_name(isa)) + (kernel ? kernel : ""));
    octet_error error = {};
    size_t bytes = 0;
    // A kernel may want another format than its tier
    const ScopedEnvironment forced("OCTET_KERNEL", kernel);
    const octet_isa packs = kernel ? OCTET_ISA_AUTO : isa;
    EXPECT_EQ(octet_pack_size(&rhs_, packs, &bytes, &error), OCTET_OK) << error.message;
    const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
    EXPECT_EQ(octet_pack(&rhs_, packs, blob.data(), bytes, &error), OCTET_OK) << error.message;
    blob.read_only();
    octet_gemm_desc desc = desc_;
    desc.packed = blob.data(), desc.packed_bytes = bytes, desc.max_isa = isa;
    desc.kernel = kernel;
    octet_gemm* gemm = nullptr;
    EXPECT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
    if (!gemm) return "";
    const std::string name = octet_gemm_kernel(gemm, c_.m);
    EXPECT_EQ(name.find("unknown"), name.npos);
    run(gemm);
    octet_gemm_destroy(gemm);
    return name;
  }

  const octet_rhs_desc& rhs() const { return rhs_; }
  const octet_gemm_desc& desc() const { return desc_; }

 private:
  size_t lhs_stride() const { return c_.k + (c_.padded ? 5 : 0); }
  size_t dst_stride() const { return c_.n + (c_.padded ? 3 : 0); }

  void run(const octet_gemm* gemm) const {
    octet_error error = {};
    size_t bytes = 0;
    EXPECT_EQ(octet_gemm_workspace(gemm, c_.m, c_.concurrency, &bytes, &error), OCTET_OK);
    const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
    const size_t element = c_.dst == OCTET_F32 ? 4 : 2,
                 count = (c_.batch * c_.m - 1) * dst_stride() + c_.n;
    const Guarded dst(count * element, Side::kBack, element);
    octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
    args.m = c_.m, args.batch = c_.batch;
    args.lhs = lhs_.data(), args.lhs_stride = lhs_stride();
    args.dst = dst.data(), args.dst_stride = dst_stride();
    args.workspace = workspace.data(), args.workspace_bytes = bytes;
    args.concurrency = c_.concurrency;
    if (c_.concurrency > 1) args.parallel_for = threaded_for;
    const octet_status status = octet_gemm_run(gemm, &args, &error);
    const bool in_use = upper_halves_in_use();
    ASSERT_EQ(status, OCTET_OK) << error.message;
    EXPECT_FALSE(in_use);
    size_t wrong = 0;  // at most 3 are shown
    for (size_t i = 0; i < c_.batch * c_.m; ++i)
      for (size_t j = 0; j < dst_stride() && i * dst_stride() + j < count; ++j) {
        uint32_t got = 0, want = element == 4 ? 0xa5a5a5a5 : 0xa5a5;  // Guarded::kUntouched
        std::memcpy(&got, dst.data() + (i * dst_stride() + j) * element, element);
        if (j < c_.n) want = expected_[i * c_.n + j];
        if (got != want && ++wrong <= 3)
          ADD_FAILURE() << "row " << i << ", column " << j << ": " << std::hex << got
                        << " instead of " << want;
      }
  }

  void make_operands() {
    const size_t rows = c_.batch * c_.m, count = (rows - 1) * lhs_stride() + c_.k;
    std::vector<int16_t> s16(count);
    for (int16_t& x : s16)
      x = (int16_t)(c_.extreme ? (int)draw_.any<size_t>({0, 65535, 255, 256, 32768 + 255}) - 32768
                               : (int)draw_.below(65536) - 32768);
    lhs_ = Guarded(s16, Side::kBack);
    std::vector<int8_t> weights(c_.matrices * c_.n * c_.k);
    const bool one_sign = c_.extreme && draw_.one_in(2);
    for (size_t i = 0; i < weights.size(); ++i) {
      weights[i] = (int8_t)(c_.extreme ? one_sign || draw_.one_in(2) ? -128 : 127
                                       : (int)draw_.below(256) - 128);
      if (c_.sparsity && i % c_.k % 4 > 1) weights[i] = 0;  // stored N x K
    }
    weights_ = Guarded(weights, Side::kBack);
    rhs_ = OCTET_RHS_DESC_INIT;
    rhs_.type = OCTET_S8, rhs_.order = c_.order, rhs_.n = c_.n, rhs_.k = c_.k;
    rhs_.batch = c_.matrices, rhs_.data = weights_.data(), rhs_.sparsity = c_.sparsity;
  }

  int64_t weight(size_t matrix, size_t k, size_t n) const {
    const int8_t* const of = (const int8_t*)weights_.data() + matrix * c_.n * c_.k;
    return c_.order == OCTET_NK ? of[n * c_.k + k] : of[k * c_.n + n];
  }

  void make_epilogue() {
    desc_ = OCTET_GEMM_DESC_INIT;
    desc_.m_max = c_.m, desc_.n = c_.n, desc_.k = c_.k, desc_.batch_max = c_.batch;
    desc_.lhs_type = OCTET_S16, desc_.rhs_type = OCTET_S8, desc_.dst_type = c_.dst;
    octet_epilogue& e = desc_.epilogue;
    e.requant = c_.requant;
    const size_t count = draw_.one_in(2) ? c_.n : 1;
    // The base fills the output's range, or all is small, and many sums are halves
    const double reach = (double)c_.k * 32768 * (c_.extreme ? 128 : 20),
                 base = draw_.one_in(4) ? 0.5 : std::min(30000 / reach, 100.0);
    for (size_t n = 0; n < count; ++n) {
      const double factor = base / (double)(1 + draw_.below(3));
      int32_t multiplier, shift;
      quantize_multiplier(factor, &multiplier, &shift);
      if (draw_.one_in(4))
        multiplier = draw_.any({0, 1 << 30, 0x7fffffff, 0x7fff0000, 0x7ffeffff, 0x40008000});
      if (draw_.one_in(8)) shift = draw_.any({7, 0, -1, -31});
      multipliers_.push_back(multiplier);
      shifts_.push_back(shift);
      scales_.push_back((float)factor);
      factors_.push_back(factor);
    }
    if (c_.requant == OCTET_REQUANT_TFLITE) {
      e.multipliers = multipliers_.data(), e.shifts = shifts_.data();
      e.multiplier_count = count;
    } else if (c_.requant == OCTET_REQUANT_DOUBLE) {
      e.factors = factors_.data(), e.factor_count = count;
    } else {
      e.scales = scales_.data(), e.scale_count = count;
    }
    for (size_t n = 0; n < c_.n; ++n) {
      const int64_t any = (int64_t)draw_.below(1u << 31) * 2 - (int64_t{1} << 31);
      bias_s32_.push_back((int32_t)any);
      bias_s64_.push_back(c_.bias == Bias::kHuge ? any * (1 << 14) : any * 8);
      bias_f32_.push_back((float)any / 1e7f);
    }
    if (c_.bias == Bias::kHuge) bias_s64_[0] = (int64_t{1} << 46) + 1;
    if (c_.bias == Bias::kS32) e.bias = bias_s32_.data();
    if (c_.bias == Bias::kS64 || c_.bias == Bias::kHuge) e.bias_s64 = bias_s64_.data();
    if (c_.dst == OCTET_F32 && c_.bias != Bias::kNone) e.bias_f32 = bias_f32_.data();
    e.activation = c_.activation;
    e.clamp_min = -1234, e.clamp_max = 23456;
    e.dst_scale = draw_.any({1 / 4096.0f, 6 / 32767.0f, 1e-9f, 0.7f});
  }

  void compute() {
    const int16_t* const lhs = lhs_.data<int16_t>();
    for (size_t i = 0; i < c_.batch * c_.m; ++i)
      for (size_t n = 0; n < c_.n; ++n) {
        int64_t acc = desc_.epilogue.bias       ? bias_s32_[n]
                      : desc_.epilogue.bias_s64 ? bias_s64_[n]
                                                : 0;
        const size_t matrix = c_.matrices > 1 ? i / c_.m : 0;
        for (size_t k = 0; k < c_.k; ++k) acc += lhs[i * lhs_stride() + k] * weight(matrix, k, n);
        EXPECT_LT(std::abs(acc), int64_t{1} << 53);
        expected_.push_back(expected_output(desc_, n, nullptr, (double)acc, 0));
      }
  }

  S16Case c_;
  Draw draw_;
  std::vector<int32_t> multipliers_, shifts_, bias_s32_;
  std::vector<int64_t> bias_s64_;
  std::vector<float> scales_, bias_f32_;
  std::vector<double> factors_;
  std::vector<uint32_t> expected_;
  Guarded lhs_, weights_;
  octet_rhs_desc rhs_;
  octet_gemm_desc desc_;
};

}  // namespace octet_test
