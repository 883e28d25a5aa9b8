// The object: one allocation that holds the plan and every array it points to.
#include <string.h>

#include "dispatch/tables/designs.h"
#include "dispatch/tables/tier_ops.h"
#include "operators/common/check.h"
#include "operators/gemm/builder.h"

namespace octet {
namespace {

constexpr size_t kTogether = 64;  // columns; arrays over columns are padded to a multiple of it

constexpr double kInt32Limit = 2147483648.0;  // 2^31

// certified: no accumulator that was shifted left reaches 2^30. right_rows: the tier knows rows
// that are right_only; one that does not know them needs no certificate.
TfliteColumns build_tflite(const Epilogue& f, size_t columns, size_t padded, bool certified,
                           bool right_rows, Arena* arena) {
  int32_t* const rows = arena->take<int32_t>(kTfliteRows * padded);
  if (!rows) return {};
  bool divides = true;
  for (size_t n = 0; n < columns; ++n) divides &= is_right_only(f.shift[n]);
  // A residual is added to what is below the zero point, too
  const bool right_only = divides && right_rows && f.lo >= f.zero_point && !f.has_residual;
  if (!certified && !right_only && right_rows) return {};
  for (size_t n = 0; n < padded; ++n)
    if (right_only)
      write_tflite_right_column(f.multiplier[n], n < columns ? f.shift[n] : -1, rows + n, padded);
    else
      write_tflite_column(f.multiplier[n], f.shift[n], rows + n, padded);
  return {rows, padded, right_only, divides};
}

const TfliteAdd* build_tflite_add(const Epilogue& f, FindTfliteAddFn find, Arena* arena) {
  TfliteAdd* const sum = arena->take<TfliteAdd>(1);
  return sum && find(f, sum) ? sum : nullptr;
}

const Columns* build_columns(const GemmBuilder& builder, Arena* arena, size_t padded) {
  const octet_gemm_desc& d = builder.desc;
  Columns* columns = arena->take<Columns>(builder.matrices);
  const TierOps& ops = ops_of(builder.kernel->isa);
  const int32_t zero_point =
      d.lhs_zero_point + type_shift(builder.lhs_u8, builder.kernel->lhs_element_type);
  int32_t* zero_points =
      builder.blob.find(SectionId::kZeroPoints) ? arena->take<int32_t>(padded) : nullptr;
  if (zero_points) {
    memset(zero_points, 0, padded * sizeof(int32_t));
    memcpy(zero_points, matrix_of(builder.blob, d.packed, 0).zero_points, d.n * sizeof(int32_t));
  }
  const bool one_zero_point = zero_points && all_alike(zero_points, d.n);
  for (size_t b = 0; b < builder.matrices; ++b) {
    int32_t* bias = arena->take<int32_t>(padded);
    int32_t* weight_sum = runtime_scales(d) ? arena->take<int32_t>(padded) : nullptr;
    if (!columns) continue;
    const PackedRhs packed = matrix_of(builder.blob, d.packed, b);
    for (size_t n = 0; n < padded; n += kTogether) {
      int32_t sums[kTogether];
      for (size_t j = 0; j < kTogether; ++j) {
        const bool there = n + j < d.n;
        const uint32_t sum =
            there ? (uint32_t)packed.positive[n + j] + (uint32_t)packed.negative[n + j] : 0;
        sums[j] = (int32_t)sum;
        bias[n + j] = there ? settled_bias(builder, packed, n + j) : 0;
        if (weight_sum) weight_sum[n + j] = sums[j];
      }
      if (runtime_scales(d)) continue;
      Init init = {};
      init.cols = kTogether;
      init.base = init.out = bias + n;
      init.lhs_zero_points = &zero_point;
      init.weight_sums = sums;
      ops.init(init);
    }
    columns[b] = {bias, weight_sum, zero_points, one_zero_point};
  }
  return columns;
}

// Roughly: products, what packs run-time weights, what quantizes rows, and an output's exit.
void estimate_cycles(const GemmBuilder& builder, octet_gemm* gemm) {
  const octet_gemm_desc& d = builder.desc;
  const double n = (double)d.n, k = (double)d.k,
               macs = costs_of(tier_of(builder.kernel->isa), builder.cpu.design).macs;
  gemm->matrix_cycles = builder.has_blob ? 0 : n * k;
  gemm->row_cycles = n * k / macs + n / 8 + (quantizes(d) ? k : 0);
  const double alone = (2 * least_task_cycles - gemm->matrix_cycles) / gemm->row_cycles;
  gemm->m_alone = alone > (double)d.m_max ? d.m_max : alone > 0 ? (size_t)alone : 0;
  // Exactly the rows of which the general way makes one task
  while (gemm->m_alone && tasks_of(*gemm, gemm->m_alone, 1, 2) > 1) --gemm->m_alone;
}

// Called twice: without memory to learn the size, with it to build.
octet_gemm* build(const GemmBuilder& builder, Arena* arena) {
  const octet_gemm_desc& d = builder.desc;
  const octet_epilogue& e = d.epilogue;
  // Kernels may read whole vectors past the last column
  const size_t padded = round_up(builder.kernel->rhs_layout.lanes(d.n), kTogether);
  octet_gemm* gemm = arena->take<octet_gemm>(1);
  const double max_scaled =
      builder.max_scaled > builder.max_scaled_any ? builder.max_scaled : builder.max_scaled_any;
  const Epilogue f =
      build_epilogue(builder, ops_of(builder.kernel->isa), max_scaled, d.n, padded, arena);
  const int32_t* bias =
      builder.has_blob || !e.bias ? nullptr : spread(arena, e.bias, d.n, d.n, padded, 0);
  const Columns* columns = builder.has_blob ? build_columns(builder, arena, padded) : nullptr;
  if (!gemm) return nullptr;

  *gemm = {};
  gemm->choice = builder.choice;
  gemm->measured = builder.measured;
  GemmPlan& plan = gemm->plan;
  plan.kernel = builder.kernel;
  plan.small_kernel = builder.small_kernel;
  plan.ops = &ops_of(builder.kernel->isa);
  plan.small_m = builder.small_kernel == builder.kernel ? 0 : builder.small_kernel->m_max;
  plan.n = d.n;
  plan.k = d.k;
  plan.lhs_u8 = builder.lhs_u8;
  plan.lhs_quant = (LhsQuant)d.lhs_quant;
  plan.static_zero_point = d.lhs_zero_point;
  plan.runtime_rhs = !builder.has_blob;
  plan.rhs_u8 = d.rhs_type == OCTET_U8;
  plan.dst_bytes = element_bytes(d.dst_type);
  plan.epilogue = f;
  plan.requantization = requantization_of(f);
  const auto requantizes = [&](double max_scaled) {
    return requantizes_in_kernel(builder, f, max_scaled, builder.kernel->flags) &&
           requantizes_in_kernel(builder, f, max_scaled, builder.small_kernel->flags);
  };
  plan.requantize_in_kernel = requantizes(builder.max_scaled);
  plan.requantize_with_zero_points = requantizes(builder.max_scaled_any);
  plan.block_rows = builder.choice.block;
  plan.pass = builder.choice.pass;
  plan.tasks = builder.choice.tasks;
  plan.bias = bias;
  if (builder.has_blob) {
    plan.packed = matrix_of(builder.blob, d.packed, 0).panels;
    plan.packed_stride = (size_t)builder.blob.find(SectionId::kWeights)->bytes / builder.matrices;
    plan.packed_lanes = plan.kernel->rhs_layout.lanes(d.n);
    plan.packed_lane = plan.kernel->rhs_layout.lane_bytes(d.k);
    plan.columns = columns;
    plan.columns_count = builder.matrices;
  }
  gemm->sparsity = builder.has_blob ? builder.blob.header.sparsity : Sparsity::kNotAsked;
  gemm->m_max = d.m_max;
  gemm->batch_max = d.batch_max ? d.batch_max : 1;
  gemm->lhs_type = d.lhs_type;
  gemm->rhs_type = d.rhs_type;
  gemm->dst_type = d.dst_type;
  gemm->residual_type = e.residual.type;
  gemm->rhs_order = d.rhs_order;
  gemm->packed = d.packed;
  gemm->packed_bytes = builder.has_blob ? (size_t)builder.blob.header.bytes : 0;
  gemm->max_bias = builder.max_bias;
  gemm->max_acc = INT32_MAX >> builder.max_shift;
  gemm->verbose = builder.environment.verbose;
  gemm->allocator = d.allocator;
  gemm->needs_workspace = needs_workspace(plan);
  const bool plain = builder.has_blob && !needs_more_than_panels(plan) && !runtime_scales(d) &&
                     !e.residual.type && builder.environment.verbose < 2;
  gemm->m_plain = plain ? d.m_max : 0;
  gemm->row_bytes = d.n * plan.dst_bytes;
  estimate_cycles(builder, gemm);
  if (plain) {
    plan.first = first_tile(plan);
    gemm->plain_workspace = larger(plain_workspace(plan, d.m_max),
                                   plain_workspace(plan, smaller(d.m_max, plan.small_m)));
  }
  gemm->bytes = arena->used;
  return gemm;
}

}  // namespace

Epilogue build_epilogue(const GemmBuilder& builder, const TierOps& ops, double max_scaled,
                        size_t columns, size_t padded, Arena* arena) {
  const octet_gemm_desc& d = builder.desc;
  const octet_epilogue& e = d.epilogue;
  Epilogue f = builder.epilogue;
  f.mode = d.dst_type == OCTET_S32            ? EpilogueMode::kS32
           : d.dst_type == OCTET_F32          ? EpilogueMode::kF32
           : e.requant == OCTET_REQUANT_FLOAT ? EpilogueMode::kFloat8
                                              : EpilogueMode::kTflite8;
  f.dst_u8 = d.dst_type == OCTET_U8;
  const double largest = max_scaled + (f.has_residual ? 255.0 * f.residual_scale : 0);
  f.fits_int32 =
      f.mode == EpilogueMode::kFloat8 && !runtime_scales(d) && largest * kFloatMargin < kInt32Limit;
  if (e.scales) f.scale = spread(arena, e.scales, e.scale_count, columns, padded, 1.0f);
  if (e.bias_f32) f.bias_f32 = spread(arena, e.bias_f32, d.n, columns, padded, 0.0f);
  if (f.mode == EpilogueMode::kTflite8) {
    f.multiplier = spread(arena, e.multipliers, e.multiplier_count, columns, padded, 0);
    int32_t* const shift = spread(arena, e.shifts, e.multiplier_count, columns, padded, 0);
    for (size_t n = 0; shift && n < columns; ++n) shift[n] = f.multiplier[n] ? shift[n] : -1;
    f.shift = shift;
    f.tflite =
        build_tflite(f, columns, padded, max_scaled < kTfliteLimit, ops.tflite_right_rows, arena);
    f.scale = (const float*)f.tflite.rows;
    if (f.has_residual && ops.find_tflite_add)
      f.tflite_add = build_tflite_add(f, ops.find_tflite_add, arena);
  }
  if (e.lut) {
    uint8_t* lut = arena->take<uint8_t>(512);
    if (lut) {
      memcpy(lut, e.lut, 256);
      for (size_t i = 0; i < 256; ++i) lut[256 + i] = i % 128 < 16 ? lut[i] : lut[i] ^ lut[i - 16];
    }
    f.lut = lut;
    f.lut_rows = lut ? lut + 256 : nullptr;
  }
  return f;
}

bool requantizes_in_kernel(const GemmBuilder& builder, const Epilogue& f, double max_scaled,
                           uint16_t kernel_flags) {
  // The clamp before rounding may be left out only where no conversion to int32 (or int16) can
  // overflow.
  const double limit = kernel_flags & kRequantizes16 ? kInt16Limit : kInt32Limit;
  if (!(kernel_flags & kRequantizes) || f.has_residual || f.lut) return false;
  if (f.mode == EpilogueMode::kTflite8)
    return (kernel_flags & kRequantizesTflite) && f.tflite.rows &&
           (f.tflite.divides || !(kernel_flags & kTfliteRightShiftOnly));
  return f.mode == EpilogueMode::kFloat8 && !runtime_scales(builder.desc) &&
         max_scaled * kFloatMargin < limit;
}

octet_status build_gemm(const GemmBuilder& builder, octet_gemm** out) {
  return allocate_and_build(build, builder, builder.desc.allocator, out, builder.error);
}

}  // namespace octet
