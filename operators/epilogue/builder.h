// SPDX-License-Identifier: Apache-2.0
// Checks an octet_epilogue and makes the Epilogue of a plan from it, in the same way for products
// and convolutions. Messages speak of fields of `desc`, as both descriptors have them.
#pragma once

#include "dispatch/tables/tier_ops.h"
#include "dispatch/tables/tiers.h"
#include "operators/common/arena.h"
#include "operators/common/check.h"
#include "packing/packed_rhs.h"

namespace octet {

constexpr bool quantizes(octet_lhs_quant quant) {
  return quant >= OCTET_LHS_SYMMETRIC && quant <= OCTET_LHS_SYMMETRIC_BLOCKS_F16;
}
// Whether each scale block of a row has a scale of its own.
constexpr bool scales_blocks(octet_lhs_quant quant) { return quant >= OCTET_LHS_SYMMETRIC_BLOCKS; }

// An operator's columns are the n of a product and the output channels of a convolution; their
// depth is the number of products in one accumulator.
struct EpilogueBuilder {
  const octet_epilogue& desc;
  octet_error* const error;
  size_t columns, depth;
  octet_type lhs_type, rhs_type, dst_type;  // of a static f32 lhs: the type it is quantized to
  octet_lhs_quant lhs_quant;
  int32_t lhs_zero_point;
  bool takes_s16 = false;  // the lhs and dst may be s16
  bool outline = false;    // of weights that are not there yet: sums are checked once they are
  const char *column_name = "column", *depth_name = "k";  // in messages

  // The checks below fill in the rest.
  ElementType lhs_element_type = ElementType::kS8;  // kS8 or kU8, after quantization
  int32_t lhs_lo = 0, lhs_hi = 0;                   // range of lhs - zero point
  int64_t max_bias = 0;                             // largest |bias|
  double max_scaled = 0;      // largest |acc| * scale; in TFLite mode, |acc| shifted left
  double max_scaled_any = 0;  // the same for run-time weights that come with zero points
  double stretch = 1;         // how many times its exact range a sum may reach, if approximate
  int32_t max_shift = 0;      // largest left shift of TFLite's
  bool one_output = true;     // gives_one_output() for all columns of such shifts
  int64_t max_s16 = 0;        // of an s16 lhs: largest |acc|
  int64_t max_s16_sum = 0;    // of an s16 lhs: largest |acc| without the bias
  Epilogue plan = {};         // without its arrays

  template <typename Desc>
  EpilogueBuilder(const Desc& d, size_t n, size_t k, octet_error* e)
      : desc(d.epilogue),
        error(e),
        columns(n),
        depth(k),
        lhs_type(d.lhs_type),
        rhs_type(d.rhs_type),
        dst_type(d.dst_type),
        lhs_quant(d.lhs_quant),
        lhs_zero_point(d.lhs_zero_point) {}

  // True if a scale of the lhs, and perhaps its zero point, comes with each run.
  bool runtime_scales() const { return lhs_quant != OCTET_LHS_STATIC; }
};

// Each step fills its part of the builder or returns an error; callers keep this order.
octet_status check_enums(const EpilogueBuilder& builder);
octet_status check_combination(const EpilogueBuilder& builder);
octet_status check_quantization(EpilogueBuilder* builder);  // of the lhs and of the output
octet_status plan_epilogue(EpilogueBuilder* builder);       // residual, zero points and clamps
// The accumulator of every column must fit int32; its largest magnitude also decides which
// overflows the epilogue must guard against. A null packed.positive means that the weights are not
// known. Of an outline nothing is refused that known weights may pass.
octet_status check_range(EpilogueBuilder* builder, const PackedRhs& packed);
// The epilogue with its arrays in the arena, padded. max_scaled: as in the builder. columns: those
// of the builder, over and over.
Epilogue build_epilogue(const EpilogueBuilder& builder, const TierOps& ops, double max_scaled,
                        size_t columns, size_t padded, Arena* arena);
// True if a kernel with these flags may convert accumulators to 8 bits itself. max_scaled: the
// largest |acc| * scale.
bool requantizes_in_kernel(const EpilogueBuilder& builder, const Epilogue& epilogue,
                           double max_scaled, uint16_t kernel_flags);

// The bias of a column, or one nearer to 0 that gives the same bytes for all sums that the weights
// can have. The epilogue must have been planned.
int32_t settled_bias(const EpilogueBuilder& builder, const PackedRhs& packed, size_t n);
// The extremes of sum (lhs - zp) * (rhs - zp) in column n. Unknown weights have those of their
// type; where run-time weights come with zero points, run checks again.
struct SumRange {
  int64_t lo, hi;
};
SumRange sum_range(const EpilogueBuilder& builder, const PackedRhs& packed, size_t n);

// A multiplier of 0 makes every accumulator 0, whatever its shift: then -1, which every kernel
// takes.
constexpr int32_t shift_of(const octet_epilogue& e, size_t n) {
  const size_t i = e.multiplier_count == 1 ? 0 : n;
  return e.multipliers[i] ? e.shifts[i] : -1;
}
// The factor that an accumulator is multiplied by before it is rounded.
constexpr double factor_of(const octet_epilogue& e, size_t n) {
  if (e.requant == OCTET_REQUANT_FLOAT) return e.scales[e.scale_count == 1 ? 0 : n];
  if (e.requant == OCTET_REQUANT_DOUBLE) return e.factors[e.factor_count == 1 ? 0 : n];
  return shift_of(e, n) > 0 ? (double)(1 << shift_of(e, n)) : 1;
}
// 2^30, which no accumulator that was shifted left may reach in TFLite mode where the rows are
// TfliteForm::kAll: see kernels/core/tflite.h
constexpr double kTfliteLimit = 1073741824.0;
constexpr double kInt16Limit = 32767.0;    // the largest value that a kRequantizes16 kernel rounds
constexpr double kFloatMargin = 1.000001;  // covers float's roundings

octet_status check_reserved(const uintptr_t* reserved, size_t count, octet_error* error);
octet_status check_resources(octet_isa max_isa, const octet_allocator& allocator,
                             octet_error* error);
// Checks the enumerations and combinations of a descriptor of either operator.
template <typename Desc>
octet_status check_kind(const Desc& d, const EpilogueBuilder& builder) {
  OCTET_TRY(check_reserved(d.reserved, sizeof d.reserved / sizeof *d.reserved, builder.error));
  OCTET_TRY(check_enums(builder));
  OCTET_TRY(check_resources(d.max_isa, d.allocator, builder.error));
  return check_combination(builder);
}

}  // namespace octet
