#pragma once

#include "dispatch/cpu/environment.h"
#include "dispatch/select/machine.h"
#include "operators/common/arena.h"
#include "operators/gemm/choice.h"
#include "operators/gemm/object.h"
#include "packing/matrix_blob.h"

namespace octet {

// What octet_gemm_create works out from a descriptor before it allocates anything. Each step below
// fills its part or returns what is wrong.
struct GemmBuilder {
  const octet_gemm_desc& desc;
  octet_error* const error;
  const char *column = "column", *depth = "k";  // what the caller calls one of n, and k
  bool has_blob = false;
  Container blob = {};
  size_t matrices = 1;             // packed
  bool lhs_u8 = false;             // after quantization
  int32_t lhs_lo = 0, lhs_hi = 0;  // range of lhs - zero point
  int64_t max_bias = 0;            // largest |bias|
  // largest |acc| * scale; in TFLite mode, of the accumulators shifted left
  double max_scaled = 0;
  double max_scaled_any = 0;  // likewise, if run-time weights come with zero points
  double stretch = 1;         // how many times its exact range a sum may reach, if approximate
  int32_t max_shift = 0;      // largest left shift of TFLite's
  Environment environment = {};
  const Choice* given = nullptr;  // null: the best
  Choice choice = {};
  bool measured = false;                // the choice was, on this machine
  CpuFeatures cpu = {};                 // the caller's machine, less what no run may use
  const MicroKernel* kernel = nullptr;  // of the choice
  const MicroKernel* small_kernel = nullptr;
  Epilogue epilogue = {};

  GemmBuilder(const octet_gemm_desc& d, octet_error* e) : desc(d), error(e) {}
};

constexpr bool quantizes(const octet_gemm_desc& d) {
  return d.lhs_quant == OCTET_LHS_SYMMETRIC || d.lhs_quant == OCTET_LHS_ASYMMETRIC;
}
constexpr bool runtime_scales(const octet_gemm_desc& d) { return d.lhs_quant != OCTET_LHS_STATIC; }

// gemm_check.cc: enumerations, combinations, sizes, scales, the epilogue, the accumulators' range
octet_status check_desc(GemmBuilder* builder);
octet_status plan_epilogue(GemmBuilder* builder);   // gemm_finish.cc: residual and clamp
octet_status choose_kernels(GemmBuilder* builder);  // gemm_choose.cc
// gemm_build.cc: the one allocation
octet_status build_gemm(const GemmBuilder& builder, octet_gemm** gemm);

// Parts that a convolution, whose columns are its output channels, shares.
octet_status check_kind(const GemmBuilder& builder);    // enumerations and combinations
octet_status check_quantization(GemmBuilder* builder);  // of the lhs and of the output
// The accumulator of every column must fit int32; how large it may get also decides what the
// epilogue must guard against. A null packed.positive means that the weights are not known.
octet_status check_range(GemmBuilder* builder, const PackedRhs& packed);
// The bias of a column, or one nearer to 0 that gives the same bytes for all sums that the weights
// can have. Epilogue and clamps must have been planned.
int32_t settled_bias(const GemmBuilder& builder, const PackedRhs& packed,
                     size_t n);  // gemm_bias.cc
// The extremes of sum (lhs - zp) * (rhs - zp) in column n. Of unknown weights those of their type;
// where run-time weights come with zero points, run checks again.
struct SumRange {
  int64_t lo, hi;
};
SumRange sum_range(const GemmBuilder& builder, const PackedRhs& packed, size_t n);
// A multiplier of 0 makes 0 of everything, whatever the shift: then one that no kernel minds.
constexpr int32_t shift_of(const octet_epilogue& e, size_t n) {
  const size_t i = e.multiplier_count == 1 ? 0 : n;
  return e.multipliers[i] ? e.shifts[i] : -1;
}
// What an accumulator meets before it is rounded.
constexpr double factor_of(const octet_epilogue& e, size_t n) {
  if (e.requant == OCTET_REQUANT_FLOAT) return e.scales[e.scale_count == 1 ? 0 : n];
  return shift_of(e, n) > 0 ? (double)(1 << shift_of(e, n)) : 1;
}
// 2^30, which no accumulator that was shifted left may reach in TFLite mode, but where the rows are
// right_only: see kernels/core/tflite.h
constexpr double kTfliteLimit = 1073741824.0;
// What a kernel with kRequantizes16 can round.
constexpr double kInt16Limit = 32767.0;
constexpr double kFloatMargin = 1.000001;  // covers float's roundings
// What of a CPU's tiers may be used, and the forced kernel's name or null. A descriptor that limits
// the tier or names the kernel beats both variables.
octet_status read_limits(GemmBuilder* builder, const Machine& machine, CpuFeatures* cpu,
                         const char** forced);
// What is wrong with a forced kernel, whose tier is `isa` if it exists; OCTET_OK if nothing was
// forced or it may run.
octet_status refuse_forced(const GemmBuilder& builder, const Machine& machine,
                           const CpuFeatures& cpu, Selected result, const char* forced, Isa isa);
// The epilogue with its arrays in the arena, padded. max_scaled: as in Draft.
Epilogue build_epilogue(const GemmBuilder& builder, const TierOps& ops, double max_scaled,
                        size_t columns, size_t padded, Arena* arena);
// Whether a kernel with these flags may do all that follows an accumulator: to 8 bits, in float
// mode of accumulators that get no larger than this, scaled.
bool requantizes_in_kernel(const GemmBuilder& builder, const Epilogue& epilogue, double max_scaled,
                           uint16_t kernel_flags);

}  // namespace octet
