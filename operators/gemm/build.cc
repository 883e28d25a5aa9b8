// The object: one allocation that holds the plan and every array it points to.
#include <string.h>

#include "dispatch/tables/designs.h"
#include "dispatch/tables/tier_ops.h"
#include "operators/common/check.h"
#include "operators/gemm/draft.h"

namespace octet {
namespace {

constexpr size_t kTogether = 64;  // columns; arrays over columns are padded to a multiple of it

constexpr double kInt32Limit = 2147483648.0;  // 2^31

// certified: no accumulator that was shifted left reaches 2^30. right_rows: the tier knows rows
// that are right_only; one that does not know them needs no certificate.
TfliteColumns build_tflite(const Finish& f, size_t columns, size_t padded, bool certified,
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

const ByteSum* build_byte_sum(const Finish& f, FindByteSumFn find, Arena* arena) {
  ByteSum* const sum = arena->take<ByteSum>(1);
  return sum && find(f, sum) ? sum : nullptr;
}

const Columns* build_columns(const Draft& draft, Arena* arena, size_t padded) {
  const octet_gemm_desc& d = draft.desc;
  Columns* columns = arena->take<Columns>(draft.matrices);
  const TierOps& ops = ops_of(draft.kernel->isa);
  const int32_t zero_point =
      d.lhs_zero_point + domain_shift(draft.lhs_u8, draft.kernel->lhs_domain);
  int32_t* zero_points =
      draft.blob.find(SectionId::kZeroPoints) ? arena->take<int32_t>(padded) : nullptr;
  if (zero_points) {
    memset(zero_points, 0, padded * sizeof(int32_t));
    memcpy(zero_points, matrix_of(draft.blob, d.packed, 0).zero_points, d.n * sizeof(int32_t));
  }
  const bool one_zero_point = zero_points && all_alike(zero_points, d.n);
  for (size_t b = 0; b < draft.matrices; ++b) {
    int32_t* bias = arena->take<int32_t>(padded);
    int32_t* weight_sum = runtime_scales(d) ? arena->take<int32_t>(padded) : nullptr;
    if (!columns) continue;
    const PackedRhs packed = matrix_of(draft.blob, d.packed, b);
    for (size_t n = 0; n < padded; n += kTogether) {
      int32_t sums[kTogether];
      for (size_t j = 0; j < kTogether; ++j) {
        const bool there = n + j < d.n;
        const uint32_t sum =
            there ? (uint32_t)packed.positive[n + j] + (uint32_t)packed.negative[n + j] : 0;
        sums[j] = (int32_t)sum;
        bias[n + j] = there ? settled_bias(draft, packed, n + j) : 0;
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
void estimate_cycles(const Draft& draft, octet_gemm* gemm) {
  const octet_gemm_desc& d = draft.desc;
  const double n = (double)d.n, k = (double)d.k,
               macs = costs_of(tier_of(draft.kernel->isa), draft.cpu.design).macs;
  gemm->matrix_cycles = draft.has_blob ? 0 : n * k;
  gemm->row_cycles = n * k / macs + n / 8 + (quantizes(d) ? k : 0);
  const double alone = (2 * least_task_cycles - gemm->matrix_cycles) / gemm->row_cycles;
  gemm->m_alone = alone > (double)d.m_max ? d.m_max : alone > 0 ? (size_t)alone : 0;
  // Exactly the rows of which the general way makes one task
  while (gemm->m_alone && tasks_of(*gemm, gemm->m_alone, 1, 2) > 1) --gemm->m_alone;
}

// Called twice: without memory to learn the size, with it to build.
octet_gemm* build(const Draft& draft, Arena* arena) {
  const octet_gemm_desc& d = draft.desc;
  const octet_epilogue& e = d.epilogue;
  // Kernels may read whole vectors past the last column
  const size_t padded = round_up(draft.kernel->rhs_layout.lanes(d.n), kTogether);
  octet_gemm* gemm = arena->take<octet_gemm>(1);
  const double max_scaled =
      draft.max_scaled > draft.max_scaled_any ? draft.max_scaled : draft.max_scaled_any;
  const Finish f = build_finish(draft, ops_of(draft.kernel->isa), max_scaled, d.n, padded, arena);
  const int32_t* bias =
      draft.has_blob || !e.bias ? nullptr : spread(arena, e.bias, d.n, d.n, padded, 0);
  const Columns* columns = draft.has_blob ? build_columns(draft, arena, padded) : nullptr;
  if (!gemm) return nullptr;

  *gemm = {};
  gemm->choice = draft.choice;
  gemm->measured = draft.measured;
  GemmPlan& plan = gemm->plan;
  plan.kernel = draft.kernel;
  plan.small_kernel = draft.small_kernel;
  plan.ops = &ops_of(draft.kernel->isa);
  plan.small_m = draft.small_kernel == draft.kernel ? 0 : draft.small_kernel->m_max;
  plan.n = d.n;
  plan.k = d.k;
  plan.lhs_u8 = draft.lhs_u8;
  plan.lhs_quant = (LhsQuant)d.lhs_quant;
  plan.static_zero_point = d.lhs_zero_point;
  plan.runtime_rhs = !draft.has_blob;
  plan.rhs_u8 = d.rhs_type == OCTET_U8;
  plan.dst_bytes = element_bytes(d.dst_type);
  plan.finish = f;
  plan.narrow = narrow_of(f);
  const auto narrows = [&](double max_scaled) {
    return narrows_in_kernel(draft, f, max_scaled, draft.kernel->flags) &&
           narrows_in_kernel(draft, f, max_scaled, draft.small_kernel->flags);
  };
  plan.narrow_in_kernel = narrows(draft.max_scaled);
  plan.narrow_with_zero_points = narrows(draft.max_scaled_any);
  plan.block_rows = draft.choice.block;
  plan.pass = draft.choice.pass;
  plan.tasks = draft.choice.tasks;
  plan.bias = bias;
  if (draft.has_blob) {
    plan.packed = matrix_of(draft.blob, d.packed, 0).panels;
    plan.packed_stride = (size_t)draft.blob.find(SectionId::kWeights)->bytes / draft.matrices;
    plan.packed_lanes = plan.kernel->rhs_layout.lanes(d.n);
    plan.packed_lane = plan.kernel->rhs_layout.lane_bytes(d.k);
    plan.columns = columns;
    plan.columns_count = draft.matrices;
  }
  gemm->sparsity = draft.has_blob ? draft.blob.header.sparsity : Sparsity::kNotAsked;
  gemm->m_max = d.m_max;
  gemm->batch_max = d.batch_max ? d.batch_max : 1;
  gemm->lhs_type = d.lhs_type;
  gemm->rhs_type = d.rhs_type;
  gemm->dst_type = d.dst_type;
  gemm->residual_type = e.residual.type;
  gemm->rhs_order = d.rhs_order;
  gemm->packed = d.packed;
  gemm->packed_bytes = draft.has_blob ? (size_t)draft.blob.header.bytes : 0;
  gemm->max_bias = draft.max_bias;
  gemm->max_acc = INT32_MAX >> draft.max_shift;
  gemm->verbose = draft.environment.verbose;
  gemm->allocator = d.allocator;
  gemm->needs_workspace = needs_workspace(plan);
  const bool plain = draft.has_blob && !needs_more_than_panels(plan) && !runtime_scales(d) &&
                     !e.residual.type && draft.environment.verbose < 2;
  gemm->m_plain = plain ? d.m_max : 0;
  gemm->row_bytes = d.n * plan.dst_bytes;
  estimate_cycles(draft, gemm);
  if (plain) {
    plan.first = first_tile(plan);
    gemm->plain_workspace = larger(plain_workspace(plan, d.m_max),
                                   plain_workspace(plan, smaller(d.m_max, plan.small_m)));
  }
  gemm->bytes = arena->used;
  return gemm;
}

}  // namespace

Finish build_finish(const Draft& draft, const TierOps& ops, double max_scaled, size_t columns,
                    size_t padded, Arena* arena) {
  const octet_gemm_desc& d = draft.desc;
  const octet_epilogue& e = d.epilogue;
  Finish f = draft.finish;
  f.mode = d.dst_type == OCTET_S32            ? FinishMode::kS32
           : d.dst_type == OCTET_F32          ? FinishMode::kF32
           : e.requant == OCTET_REQUANT_FLOAT ? FinishMode::kFloat8
                                              : FinishMode::kTflite8;
  f.dst_u8 = d.dst_type == OCTET_U8;
  const double largest = max_scaled + (f.has_residual ? 255.0 * f.residual_scale : 0);
  f.fits_int32 =
      f.mode == FinishMode::kFloat8 && !runtime_scales(d) && largest * kFloatMargin < kInt32Limit;
  if (e.scales) f.scale = spread(arena, e.scales, e.scale_count, columns, padded, 1.0f);
  if (e.bias_f32) f.bias_f32 = spread(arena, e.bias_f32, d.n, columns, padded, 0.0f);
  if (f.mode == FinishMode::kTflite8) {
    f.multiplier = spread(arena, e.multipliers, e.multiplier_count, columns, padded, 0);
    int32_t* const shift = spread(arena, e.shifts, e.multiplier_count, columns, padded, 0);
    for (size_t n = 0; shift && n < columns; ++n) shift[n] = f.multiplier[n] ? shift[n] : -1;
    f.shift = shift;
    f.tflite =
        build_tflite(f, columns, padded, max_scaled < kTfliteLimit, ops.tflite_right_rows, arena);
    f.scale = (const float*)f.tflite.rows;
    if (f.has_residual && ops.find_byte_sum)
      f.byte_sum = build_byte_sum(f, ops.find_byte_sum, arena);
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

bool narrows_in_kernel(const Draft& draft, const Finish& f, double max_scaled,
                       uint16_t kernel_flags) {
  // The clamp before rounding may be left out only where no conversion to int32 (or int16) can
  // overflow.
  const double limit = kernel_flags & kNarrows16 ? kInt16Limit : kInt32Limit;
  if (!(kernel_flags & kNarrows) || f.has_residual || f.lut) return false;
  if (f.mode == FinishMode::kTflite8)
    return (kernel_flags & kNarrowsTflite) && f.tflite.rows &&
           (f.tflite.divides || !(kernel_flags & kTfliteRight));
  return f.mode == FinishMode::kFloat8 && !runtime_scales(draft.desc) &&
         max_scaled * kFloatMargin < limit;
}

octet_status build_gemm(const Draft& draft, octet_gemm** out) {
  return allocate_and_build(build, draft, draft.desc.allocator, out, draft.error);
}

}  // namespace octet
