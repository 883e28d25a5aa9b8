// SPDX-License-Identifier: Apache-2.0
// A product by weights in scale blocks: drawn operands, and the outputs that DESIGN.md's contract
// gives for them.
#pragma once

#include <algorithm>
#include <cmath>

#include "dispatch/tables/scale_block_kernels.h"
#include "support/draw.h"
#include "support/gemm_case.h"
#include "support/reference.h"

namespace octet_test {

enum class Zeros { kNone, kTensor, kChannel, kBlock };

struct BlockCase {
  size_t m = 1, n = 1, blocks = 1, depth = 32, batch = 1, matrices = 1;
  octet_type type = OCTET_U4, scale_type = OCTET_F16, lhs = OCTET_S8, dst = OCTET_F32;
  octet_rhs_order order = OCTET_NK;
  Zeros zeros = Zeros::kNone;
  octet_lhs_quant quant = OCTET_LHS_STATIC;
  int32_t lhs_zero_point = 0;
  bool bias = false, clamps = false, residual = false, per_channel = false, minimums = false;
  size_t concurrency = 1;
  uint32_t seed = 1;
  size_t k() const { return blocks * depth; }
};

inline std::ostream& operator<<(std::ostream& out, const BlockCase& c) {
  return out << c.m << "x" << c.n << "x" << c.blocks << "*" << c.depth << " batch " << c.batch
             << " matrices " << c.matrices << " " << octet_type_name(c.type) << " "
             << octet_type_name(c.scale_type) << " lhs " << octet_type_name(c.lhs) << " dst "
             << octet_type_name(c.dst) << " order " << c.order << " zeros " << (int)c.zeros
             << " quant " << c.quant << " lhs zero " << c.lhs_zero_point << " bias " << c.bias
             << " minimums " << c.minimums << " clamps " << c.clamps << " residual " << c.residual
             << " tasks " << c.concurrency << " seed " << c.seed;
}

// A tier has a kernel of its own, or that of a smaller tier with vectors.
inline bool is_its(const MicroKernel& kernel, octet_isa tier) {
  const auto isa = (octet_isa)kernel.tier_id;
  return isa == tier || (isa != kPortableTier && is_allowed(isa, tier));
}

// Whether each scale block of a row has a scale of its own.
inline bool scales_blocks(octet_lhs_quant quant) { return quant >= OCTET_LHS_SYMMETRIC_BLOCKS; }

// The nearest f16, half to even, of 0 or more; NaN stays NaN.
inline float rounded_to_f16(float x) {
  if (!(x > 0)) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  const int last = std::max(exponent, -13) - 11;  // of the exponent's 11 bits
  const float rounded = std::ldexp((float)std::nearbyint(std::ldexp((double)x, -last)), last);
  return rounded < 65536 ? rounded : INFINITY;
}

inline float of_f16(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const float magnitude = exponent ? std::ldexp((float)(1024 + mantissa), exponent - 25)
                                   : std::ldexp((float)mantissa, -24);
  return bits >> 15 ? -magnitude : magnitude;
}

class BlockProduct {
 public:
  explicit BlockProduct(const BlockCase& c) : c_(c), draw_(c.seed) {
    make_weights();
    make_lhs();
    make_epilogue();
    compute();
  }

  // Packs for a tier, runs on it, and compares all bytes.
  void check_on(octet_isa isa) const {
    SCOPED_TRACE(octet_isa_name(isa));
    octet_error error = {};
    size_t bytes = 0;
    ASSERT_EQ(octet_pack_size(&rhs_, isa, &bytes, &error), OCTET_OK) << error.message;
    const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
    ASSERT_EQ(octet_pack(&rhs_, isa, blob.data(), bytes, &error), OCTET_OK) << error.message;
    ASSERT_EQ(octet_blob_verify(blob.data(), bytes, &error), OCTET_OK) << error.message;
    blob.read_only();
    octet_gemm_desc desc = desc_;
    desc.packed = blob.data(), desc.packed_bytes = bytes, desc.max_isa = isa;
    octet_gemm* gemm = nullptr;
    ASSERT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
    const std::string name = octet_gemm_kernel(gemm, c_.m);
    const MicroKernel& kernel = octet::scale_block_kernel_of((octet::TierId)isa).kernel;
    EXPECT_TRUE(name == kernel.name && is_its(kernel, isa)) << name;
    size_t workspace_bytes = 0;
    EXPECT_EQ(octet_gemm_workspace(gemm, c_.m, c_.concurrency, &workspace_bytes, &error), OCTET_OK);
    const Guarded workspace(workspace_bytes, Side::kBack, OCTET_ALIGNMENT);
    const size_t element = c_.dst == OCTET_F32 ? 4 : 1, count = c_.batch * c_.m * c_.n;
    const Guarded dst(count * element, Side::kBack, element);
    octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
    args.m = c_.m, args.batch = c_.batch;
    args.lhs = lhs_.data(), args.dst = dst.data();
    if (!lhs_zero_points_.empty()) args.lhs_zero_points = lhs_zero_points_.data();
    if (!lhs_scales_.empty()) args.lhs_scales = lhs_scales_.data();
    if (c_.residual) args.residual = residual_.data();
    args.workspace = workspace.data(), args.workspace_bytes = workspace_bytes;
    args.concurrency = c_.concurrency;
    if (c_.concurrency > 1) args.parallel_for = threaded_for;
    ASSERT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
    octet_gemm_destroy(gemm);
    size_t wrong = 0;  // at most 3 are shown
    for (size_t i = 0; i < count; ++i) {
      uint32_t got = 0;
      std::memcpy(&got, dst.data() + i * element, element);
      if (got != expected_[i] && ++wrong <= 3)
        ADD_FAILURE() << "row " << i / c_.n << ", column " << i % c_.n << ": " << std::hex << got
                      << " instead of " << expected_[i];
    }
  }

  const octet_rhs_desc& rhs() const { return rhs_; }
  const octet_gemm_desc& desc() const { return desc_; }

 private:
  void make_weights() {
    const size_t k = c_.k(), count = c_.matrices * c_.n * k, scales = count / c_.depth;
    weights_.resize(count);
    const bool nibbles = c_.type == OCTET_S4 || c_.type == OCTET_U4;
    std::vector<uint8_t> data(nibbles ? (count + 1) / 2 : count);
    for (size_t i = 0; i < count; ++i) {
      const int value = nibbles ? (int)draw_.below(16) - (c_.type == OCTET_S4 ? 8 : 0)
                                : (int)draw_.below(256) - (c_.type == OCTET_S8 ? 128 : 0);
      weights_[i] = value;  // in the caller's order
      if (nibbles)
        data[i / 2] = (uint8_t)(data[i / 2] | (value & 15) << i % 2 * 4);
      else
        data[i] = (uint8_t)value;
    }
    data_ = Guarded(data, Side::kBack);
    scale_bytes_ = draw_floats(scales, &scales_);
    if (c_.minimums) minimum_bytes_ = draw_floats(scales, &minimums_);
    const size_t counts[] = {0, 1, c_.n, scales}, zeros = counts[(int)c_.zeros];
    for (size_t i = 0; i < zeros; ++i)
      zero_points_.push_back(!nibbles ? (c_.type == OCTET_S8 ? 0 : 128)
                                      : (int32_t)draw_.below(16) - (c_.type == OCTET_S4 ? 8 : 0));
    rhs_ = OCTET_RHS_DESC_INIT;
    rhs_.type = c_.type, rhs_.order = c_.order, rhs_.n = c_.n, rhs_.k = k, rhs_.batch = c_.matrices;
    rhs_.data = data_.data();
    rhs_.zero_points = zeros ? zero_points_.data() : nullptr, rhs_.zero_point_count = zeros;
    rhs_.scale_block = c_.depth, rhs_.scale_type = c_.scale_type, rhs_.scales = scale_bytes_.data();
    if (c_.minimums) rhs_.minimums = minimum_bytes_.data();
  }

  // Values of scale_type, as bytes and as floats.
  Guarded draw_floats(size_t count, std::vector<float>* values) {
    std::vector<uint8_t> bytes(count * (c_.scale_type == OCTET_F16 ? 2 : 4));
    for (size_t i = 0; i < count; ++i) {
      if (c_.scale_type == OCTET_F16) {
        // All finite ones: zeros and those without an exponent, too
        uint16_t bits = (uint16_t)draw_.below(0x7c00);
        if (draw_.one_in(8)) bits = (uint16_t)draw_.below(0x400);
        bits = (uint16_t)(bits | draw_.below(2) << 15);
        std::memcpy(&bytes[2 * i], &bits, 2);
        values->push_back(of_f16(bits));
      } else {
        const float scale =
            ((float)draw_.below(2001) - 1000) * std::ldexp(1.0f, (int)draw_.below(20) - 30);
        std::memcpy(&bytes[4 * i], &scale, 4);
        values->push_back(scale);
      }
    }
    return Guarded(bytes, Side::kBack);
  }

  void make_lhs() {
    const size_t count = c_.batch * c_.m * c_.k(), rows = c_.batch * c_.m;
    values_.resize(count);
    if (c_.lhs == OCTET_F32) {
      std::vector<float> floats(count);
      for (float& x : floats) x = ((float)draw_.below(20001) - 9000) / 1000;
      if (draw_.one_in(4)) floats[draw_.below(count)] = NAN;
      const size_t parts = scales_blocks(c_.quant) ? c_.blocks : 1, depth = c_.k() / parts;
      for (size_t i = 0; i < rows * parts; ++i) {
        const float* const from = floats.data() + i * depth;
        const QuantizedRow row = c_.quant == OCTET_LHS_ASYMMETRIC ? quantize_asymmetric(from, depth)
                                                                  : quantize_symmetric(from, depth);
        for (size_t k = 0; k < depth; ++k) values_[i * depth + k] = row.values[k] - row.zero_point;
        row_scales_.push_back(c_.quant == OCTET_LHS_SYMMETRIC_BLOCKS_F16 ? rounded_to_f16(row.scale)
                                                                         : row.scale);
      }
      lhs_ = Guarded(floats, Side::kBack);
      return;
    }
    const int least = c_.lhs == OCTET_S8 ? -128 : 0;
    std::vector<uint8_t> bytes(count);
    const bool extreme = draw_.one_in(3);
    for (size_t i = 0; i < count; ++i) {
      values_[i] = least + (int)(extreme ? draw_.any<size_t>({0, 255}) : draw_.below(256));
      bytes[i] = (uint8_t)values_[i];
    }
    lhs_ = Guarded(bytes, Side::kBack);
    const size_t quants = c_.quant == OCTET_LHS_PER_TENSOR ? c_.batch
                          : c_.quant == OCTET_LHS_PER_ROW  ? rows
                                                           : 0;
    for (size_t i = 0; i < quants; ++i) {
      lhs_zero_points_.push_back(least + (int)draw_.below(256));
      lhs_scales_.push_back((float)(1 + draw_.below(1000)) / 500);
    }
    if (c_.quant == OCTET_LHS_PER_BLOCK) {
      for (size_t i = 0; i < rows * c_.blocks; ++i)
        lhs_scales_.push_back((float)(1 + draw_.below(1000)) / 500);
      row_scales_ = lhs_scales_;
    }
    for (size_t i = 0; i < rows; ++i) {
      const size_t of = c_.quant == OCTET_LHS_PER_TENSOR ? i / c_.m : i;
      const int32_t zero = quants ? lhs_zero_points_[of] : c_.lhs_zero_point;
      for (size_t k = 0; k < c_.k(); ++k) values_[i * c_.k() + k] -= zero;
      if (quants) row_scales_.push_back(lhs_scales_[of]);
    }
  }

  void make_epilogue() {
    desc_ = OCTET_GEMM_DESC_INIT;
    desc_.m_max = c_.m, desc_.n = c_.n, desc_.k = c_.k(), desc_.batch_max = c_.batch;
    desc_.lhs_type = c_.lhs, desc_.rhs_type = c_.type, desc_.dst_type = c_.dst;
    desc_.lhs_quant = c_.quant, desc_.lhs_zero_point = c_.lhs_zero_point;
    octet_epilogue& e = desc_.epilogue;
    for (size_t j = 0; j < (c_.per_channel ? c_.n : 1); ++j)
      column_scales_.push_back((float)(1 + draw_.below(1000)) / (c_.dst == OCTET_F32 ? 700 : 7e5f));
    e.scales = column_scales_.data(), e.scale_count = column_scales_.size();
    for (size_t j = 0; j < c_.n; ++j) biases_.push_back((float)draw_.below(1000) - 500);
    if (c_.bias && c_.dst == OCTET_F32) e.bias_f32 = biases_.data();
    if (c_.clamps)
      e.activation = OCTET_ACTIVATION_CLAMP, e.clamp_min = c_.dst == OCTET_U8 ? 3 : -40,
      e.clamp_max = 90;
    if (c_.dst != OCTET_F32) e.dst_zero_point = c_.dst == OCTET_U8 ? 100 : -7;
    if (!c_.residual) return;
    e.residual.type = OCTET_S8, e.residual.zero_point = 5, e.residual.scale = 0.75f;
    std::vector<uint8_t> residual(c_.batch * c_.m * c_.n);
    for (uint8_t& x : residual) x = (uint8_t)draw_.below(256);
    residual_ = Guarded(residual, Side::kBack);
  }

  int32_t weight(size_t matrix, size_t k, size_t n) const {
    const size_t first = matrix * c_.n * c_.k(),
                 block = (matrix * c_.n + n) * c_.blocks + k / c_.depth;
    const int32_t value = weights_[first + (c_.order == OCTET_NK ? n * c_.k() + k : k * c_.n + n)];
    switch (c_.zeros) {
      case Zeros::kNone: return value;
      case Zeros::kTensor: return value - zero_points_[0];
      case Zeros::kChannel: return value - zero_points_[n];
      case Zeros::kBlock: break;
    }
    return value - zero_points_[block];
  }

  // DESIGN.md, "Scale blocks"
  void compute() {
    for (size_t i = 0; i < c_.batch * c_.m; ++i)
      for (size_t n = 0; n < c_.n; ++n) {
        const size_t matrix = c_.matrices > 1 ? i / c_.m : 0;
        float sum = 0, rest = 0;
        for (size_t b = 0; b < c_.blocks; ++b) {
          int64_t acc = 0;
          for (size_t k = b * c_.depth; k < (b + 1) * c_.depth; ++k)
            acc += (int64_t)values_[i * c_.k() + k] * weight(matrix, k, n);
          const size_t of = (matrix * c_.n + n) * c_.blocks + b;
          const auto scaled = [&](float scale) {
            return scales_blocks(c_.quant) ? fl((double)row_scales_[i * c_.blocks + b] * scale)
                                           : scale;
          };
          sum = fl((double)sum + fl((double)fl((double)acc) * scaled(scales_[of])));
          int32_t row_sum = 0;
          for (size_t k = b * c_.depth; k < (b + 1) * c_.depth; ++k)
            row_sum += values_[i * c_.k() + k];
          if (c_.minimums)
            rest = fl((double)rest + fl((double)fl((double)row_sum) * scaled(minimums_[of])));
        }
        if (c_.minimums) sum = fl((double)sum + rest);
        const bool scaled = !row_scales_.empty() && !scales_blocks(c_.quant);
        const int32_t residual = c_.residual ? (int8_t)residual_.data()[i * c_.n + n] : 0;
        expected_.push_back(
            expected_output(desc_, n, scaled ? &row_scales_[i] : nullptr, sum, residual));
      }
  }

  BlockCase c_;
  Draw draw_;
  std::vector<int32_t> weights_, values_, zero_points_, lhs_zero_points_;
  std::vector<float> scales_, minimums_, row_scales_, lhs_scales_, column_scales_, biases_;
  std::vector<uint32_t> expected_;
  Guarded data_, scale_bytes_, minimum_bytes_, lhs_, residual_;
  octet_rhs_desc rhs_;
  octet_gemm_desc desc_;
};

}  // namespace octet_test
