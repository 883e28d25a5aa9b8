// SPDX-License-Identifier: Apache-2.0
// Builds the object: one allocation that holds the plan and every array it points to.
#include <string.h>

#include "dispatch/select/sparsity.h"
#include "dispatch/tables/designs.h"
#include "dispatch/tables/formats.h"
#include "dispatch/tables/runtime_ops.h"
#include "dispatch/tables/tier_ops.h"
#include "kernels/macro/partition.h"
#include "operators/common/check.h"
#include "operators/epilogue/s16.h"
#include "operators/gemm/builder.h"

namespace octet {
namespace {

constexpr size_t kTogether = 64;  // columns; arrays over columns are padded to a multiple of it

const Columns* build_columns(const GemmBuilder& builder, Arena* arena, size_t padded) {
  const octet_gemm_desc& d = builder.desc;
  Columns* columns = arena->take<Columns>(builder.matrices);
  const TierOps& ops = ops_of(builder.kernel->tier_id);
  const int32_t zero_point = d.lhs_zero_point + type_shift(builder.epilogue.lhs_element_type,
                                                           builder.kernel->lhs_element_type);
  int32_t* zero_points =
      builder.blob.find(SectionId::kZeroPoints) ? arena->take<int32_t>(padded) : nullptr;
  if (zero_points) {
    const int32_t* const given = matrix_of(builder.blob, d.packed, 0).zero_points;
    memset(zero_points, 0, padded * sizeof(int32_t));
    if (given) memcpy(zero_points, given, d.n * sizeof(int32_t));
  }
  const bool one_zero_point = zero_points && all_alike(zero_points, d.n);
  for (size_t b = 0; b < builder.matrices; ++b) {
    int32_t* bias = arena->take<int32_t>(padded);
    int32_t* weight_sum =
        builder.epilogue.runtime_scales() ? arena->take<int32_t>(padded) : nullptr;
    if (!columns) continue;
    const PackedRhs packed = matrix_of(builder.blob, d.packed, b);
    for (size_t n = 0; n < padded; n += kTogether) {
      int32_t sums[kTogether];
      for (size_t j = 0; j < kTogether; ++j) {
        const bool there = n + j < d.n;
        const uint32_t sum = there && packed.positive ? (uint32_t)packed.positive[n + j] +
                                                            (uint32_t)packed.negative[n + j]
                                                      : 0;
        sums[j] = (int32_t)sum;
        bias[n + j] = there ? settled_bias(builder.epilogue, packed, n + j) : 0;
        if (weight_sum) weight_sum[n + j] = sums[j];
      }
      if (builder.epilogue.runtime_scales()) continue;
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

// Of products of s16 values: kernels begin at 0, and the offsets come in where sums meet.
struct S16Arrays {
  const Columns* columns;
  S16Offsets offsets;
  size_t offsets_stride;
  S16Epilogue epilogue;
};

// All null without s16 values, and without memory.
S16Arrays build_s16(const GemmBuilder& builder, const Epilogue& f, size_t padded, Arena* arena) {
  if (!builder.has_s16()) return {};
  S16Arrays s16 = {nullptr, {}, padded, build_s16(builder.epilogue, f, padded, arena)};
  Columns* const columns = arena->take<Columns>(builder.matrices);
  int32_t* const none = arena->take<int32_t>(padded);
  if (none) memset(none, 0, padded * sizeof *none);
  s16.offsets = take_s16_offsets(builder.epilogue, builder.matrices * padded, arena);
  for (size_t b = 0; columns && b < builder.matrices; ++b) {
    fill_s16_offsets(builder.epilogue, matrix_of(builder.blob, builder.desc.packed, b),
                     builder.takes_s16() ? ElementType::kS16 : builder.kernel->lhs_element_type,
                     s16.offsets.from(b * padded));
    columns[b] = {none, nullptr, nullptr, false};
  }
  s16.columns = columns;
  return s16;
}

void set_s16(const GemmBuilder& builder, const S16Arrays& s16, GemmPlan* plan) {
  plan->splits_s16 = !builder.takes_s16();
  plan->cuts_s16 = builder.cuts_s16();
  plan->s16 = s16.epilogue;
  plan->s16_offsets = s16.offsets;
  plan->s16_offsets_stride = s16.offsets_stride;
  plan->lhs_type = plan->kernel->lhs_element_type;
  plan->requantize_in_kernel = false;
  // A row of s16 values may be two rows of bytes. More rows would take their sums out of the L2
  // cache
  constexpr size_t kMostRows = 128;
  plan->small_m /= 2;
  plan->block_rows = smaller(larger(plan->block_rows / 2, 1), kMostRows);
}

size_t block_rows_of(const GemmBuilder& builder) {
  const octet_gemm_desc& d = builder.desc;
  return rows_of_stores(*builder.kernel, {d.m_max, d.k, d.n, element_bytes(d.dst_type),
                                          builder.choice.block, builder.limits.cpu.l2_bytes()});
}

// A rough sum of the cycles that multiply, pack run-time weights, quantize rows and store outputs.
void estimate_cycles(const GemmBuilder& builder, octet_gemm* gemm) {
  const octet_gemm_desc& d = builder.desc;
  const TierCosts costs = costs_of(tier_of(builder.kernel->tier_id), builder.limits.cpu.design);
  const double n = (double)d.n, k = (double)d.k,
               macs = builder.kernel->rhs_layout.sparse() ? sparse_macs(costs, builder.limits.cpu)
                                                          : costs.macs;
  // The tier's own packing takes 16 bytes in a cycle; few rows read so many without packing
  const double bytes = gemm->plan.runtime ? 16 : 1;
  gemm->matrix_cycles = builder.has_blob ? 0 : n * k / bytes;
  gemm->row_cycles = n * k / macs + n / 8 + (quantizes(d.lhs_quant) ? k : 0);
  if (builder.has_s16()) gemm->row_cycles *= 2;
}

void set_packed(const GemmBuilder& builder, GemmPlan* plan) {
  const octet_gemm_desc& d = builder.desc;
  plan->columns_count = builder.matrices;
  if (builder.has_scale_blocks()) {
    const PackedScaleBlocks first = scale_blocks_at(builder.blob, d.packed, 0),
                            next = scale_blocks_at(builder.blob, d.packed, 1);
    plan->packed = first.panels;
    plan->packed_stride = (size_t)(next.panels - first.panels);
    plan->column_sums = first.column_sums;
    plan->column_sums_stride = (size_t)(next.column_sums - first.column_sums);
    plan->minimums = first.minimums;
    if (first.minimums) plan->minimums_stride = (size_t)(next.minimums - first.minimums);
    plan->scale_block_kernel = builder.scale_block_kernel;
    const ScaleBlocksGeometry geometry = builder.blob.read_geometry<ScaleBlocksGeometry>();
    plan->has_minimums = geometry.has_minimums;
    plan->scale_blocks = scale_blocks_of(geometry);
    return;
  }
  plan->packed = matrix_of(builder.blob, d.packed, 0).panels;
  plan->packed_stride = (size_t)builder.blob.find(SectionId::kWeights)->bytes / builder.matrices;
  plan->packed_lanes = plan->kernel->rhs_layout.lanes(d.n);
  plan->packed_lane = plan->kernel->rhs_layout.lane_bytes(d.k);
}

// Weights are packed where the caller or the environment names the kernel.
void set_runtime(const GemmBuilder& builder, GemmPlan* plan) {
  const RuntimeOps* const runtime = runtime_ops_of(plan->kernel->tier_id);
  if (builder.has_blob || !runtime || !(runtime->layout == plan->kernel->rhs_layout)) return;
  plan->runtime = runtime;
  const bool forced = builder.requested || (builder.limits.forced &&
                                            strcmp(builder.limits.forced, plan->kernel->name) == 0);
  // To add up the vectors of short columns takes longer than to pack them
  const bool short_columns = builder.desc.rhs_order == OCTET_NK && builder.desc.k < 256;
  plan->few_rows = forced ? 0 : short_columns ? 2 : kFewRows;
  // One way for few rows, which octet_gemm_explain names, and one for all others
  if (plan->few_rows) plan->small_m = 0;
}

// Kernels may read whole vectors past the last column, and chunks of s16 values begin at any panel.
size_t padded_columns(const GemmBuilder& builder) {
  const size_t lanes = builder.kernel->rhs_layout.lanes(builder.desc.n);
  return round_up(lanes + (builder.has_s16() ? kS16Columns : 0), kTogether);
}

void set_workspace_needs(size_t m_max, GemmPlan* plan) {
  const MicroKernel &kernel = *plan->kernel, &small = *plan->small_kernel;
  plan->tasks_need_none = !kernel.prepares() && !small.prepares() &&
                          !needs_more_than_panels(*plan) && !copies_lhs(*plan, kernel) &&
                          !copies_lhs(*plan, small);
  const bool rooms = kernel.micro_panel.room && m_max >= kernel.micro_panel.tiles * kernel.mr &&
                     (plan->k <= kernel.micro_panel.most || kernel.micro_panel.deeper);
  plan->needs_workspace = !plan->tasks_need_none || rooms;
}

// Called twice: without memory to learn the size, with it to build.
octet_gemm* build(const GemmBuilder& builder, Arena* arena) {
  const octet_gemm_desc& d = builder.desc;
  const octet_epilogue& e = d.epilogue;
  const size_t padded = padded_columns(builder);
  octet_gemm* gemm = arena->take<octet_gemm>(1);
  const double max_scaled = builder.epilogue.max_scaled > builder.epilogue.max_scaled_any
                                ? builder.epilogue.max_scaled
                                : builder.epilogue.max_scaled_any;
  const Epilogue f = build_epilogue(builder.epilogue, ops_of(builder.kernel->tier_id), max_scaled,
                                    d.n, padded, arena);
  const int32_t* bias =
      builder.has_blob || !e.bias ? nullptr : spread(arena, e.bias, d.n, d.n, padded, 0);
  const bool in_blocks = builder.has_scale_blocks();
  const S16Arrays s16 = build_s16(builder, f, padded, arena);
  const bool own_columns = builder.has_blob && !in_blocks && !builder.has_s16();
  const Columns* columns = own_columns ? build_columns(builder, arena, padded) : s16.columns;
  if (!gemm) return nullptr;

  *gemm = {};
  gemm->choice = builder.choice;
  gemm->measured = builder.measured;
  GemmPlan& plan = gemm->plan;
  plan.kernel = builder.kernel;
  plan.small_kernel = builder.small_kernel;
  plan.ops = &ops_of(builder.kernel->tier_id);
  plan.small_m = builder.small_kernel == builder.kernel ? 0 : builder.small_kernel->m_max;
  plan.n = d.n, plan.k = d.k;
  plan.lhs_type = builder.epilogue.lhs_element_type;
  plan.lhs_quant = (LhsQuant)d.lhs_quant;
  plan.static_zero_point = d.lhs_zero_point;
  plan.runtime_rhs = !builder.has_blob;
  plan.rhs_type = element_type_of(d.rhs_type);
  plan.packing = builder.has_blob ? nullptr : find_format_of(plan.kernel->rhs_layout)->packing;
  set_runtime(builder, &plan);
  plan.dst_bytes = element_bytes(d.dst_type);
  plan.epilogue = f;
  plan.requantization = requantization_of(f);
  const auto requantizes = [&](double max_scaled) {
    return requantizes_in_kernel(builder.epilogue, f, max_scaled, builder.kernel->flags) &&
           requantizes_in_kernel(builder.epilogue, f, max_scaled, builder.small_kernel->flags);
  };
  plan.requantize_in_kernel = !in_blocks && requantizes(builder.epilogue.max_scaled);
  plan.requantize_with_zero_points = !in_blocks && requantizes(builder.epilogue.max_scaled_any);
  plan.block_rows = block_rows_of(builder);
  plan.pass = builder.choice.pass;
  plan.tasks = builder.choice.tasks;
  plan.bias = bias;
  plan.columns = columns;
  if (builder.has_blob) set_packed(builder, &plan);
  if (builder.has_s16()) set_s16(builder, s16, &plan);
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
  gemm->max_bias = builder.epilogue.max_bias;
  gemm->max_acc = INT32_MAX >> builder.epilogue.max_shift;
  gemm->verbose = builder.limits.environment.verbose;
  gemm->allocator = d.allocator;
  set_workspace_needs(d.m_max, &plan);
  const bool fast = builder.has_blob && plan.packed && !needs_more_than_panels(plan) &&
                    !builder.epilogue.runtime_scales() && !e.residual.type &&
                    builder.limits.environment.verbose < 2;
  gemm->row_bytes = d.n * plan.dst_bytes;
  estimate_cycles(builder, gemm);
  if (fast) {
    gemm->m_fast = d.m_max;
    gemm->fast_workspace = workspace_for(plan, 1, d.m_max, 1);
    plan.first = first_tile(plan);
  }
  gemm->bytes = arena->used;
  return gemm;
}

}  // namespace

octet_status build_gemm(const GemmBuilder& builder, octet_gemm** out) {
  return allocate_and_build(build, builder, builder.desc.allocator, out, builder.error);
}

}  // namespace octet
