// SPDX-License-Identifier: Apache-2.0
// The plan of a product: everything that create decides and that no run changes.
#pragma once

#include "kernels/core/memory_trace.h"
#include "kernels/core/runtime_weights.h"
#include "kernels/core/s16.h"
#include "kernels/core/scale_blocks.h"
#include "kernels/macro/macro_kernel.h"
#include "kernels/macro/partition.h"
#include "packing/packed_rhs.h"

namespace octet {

enum class LhsQuant : uint8_t {
  kStatic,
  kPerTensor,
  kPerRow,
  kSymmetric,
  kAsymmetric,
  kSymmetricBlocks,
  kSymmetricBlocksF16,
  kPerBlock
};

// Sums of so many s16 values times s8 weights: fewer than 2^32 numbers (S16Tile).
constexpr size_t kS16PartDepth = 512;

// Everything that does not change from run to run.
struct GemmPlan {
  const MicroKernel* kernel;        // for more than small_m rows
  const MicroKernel* small_kernel;  // same layout
  const TierOps* ops;               // of their tier
  size_t small_m;
  size_t n, k;  // of the packed weights; for run-time weights: at most
  // kS8 or kU8; of an f32 lhs, the type that its rows are quantized to
  ElementType lhs_type;
  LhsQuant lhs_quant;
  int32_t static_zero_point;  // of the lhs, in its own type
  bool runtime_rhs;
  ElementType rhs_type;
  const Packing* packing;            // of run-time weights, else null
  const RuntimeOps* runtime;         // the tier's own packing of run-time weights, or null
  size_t few_rows;                   // runs of at most so many rows leave run-time weights unpacked
  bool needs_workspace;              // in some run
  bool tasks_need_none;              // tasks of the fast path: kernels can do without Tile::room
  bool requantize_in_kernel;         // the kernel may requantize to 8 bits
  bool requantize_with_zero_points;  // the same where run-time weights have zero points
  size_t dst_bytes;                  // of one output
  Epilogue epilogue;
  Requantization requantization;
  // Lhs rows that stay in a cache while all columns pass by; a multiple of the kernel's mr
  size_t block_rows;
  size_t pass;  // columns that all rows are multiplied by before the next columns; 0 = all
  TaskLimits tasks;
  const int32_t* bias;               // of run-time weights, padded; null = 0
  const uint8_t* packed;             // panels of matrix 0, null for run-time weights
  size_t packed_stride;              // bytes between matrices
  size_t packed_lanes, packed_lane;  // of the panels: columns, bytes of each
  const Columns* columns;            // one per packed matrix, padded to whole tiles
  size_t columns_count;
  Tile first;           // the fast path's first tile
  MemoryTraceFn touch;  // null but in the model of memory, which counts packing's accesses
  // Of weights in scale blocks, else null; `kernel` is its MicroKernel, `columns` null
  const ScaleBlockKernel* scale_block_kernel;
  ScaleBlocks scale_blocks;
  const int16_t* column_sums;  // of matrix 0
  size_t column_sums_stride;   // elements between matrices
  bool has_minimums;           // also of an outline, in which `minimums` is null
  const float* minimums;       // of matrix 0, or null
  size_t minimums_stride;      // elements between matrices
  // Of an s16 lhs; else the mode is kNone. block_rows counts rows of s16 values, and lhs_type is
  // the type of the bytes that they are split into, if they are
  S16Epilogue s16;
  bool splits_s16;  // else the kernel takes s16 values as they are
  // The depth is cut into parts of at most kS16PartDepth, because sums of all of it may not fit
  bool cuts_s16;
  S16Offsets s16_offsets;     // S16Tile::offset of matrix 0
  size_t s16_offsets_stride;  // elements between matrices
};

inline bool has_s16(const GemmPlan& plan) { return plan.s16.mode != S16Mode::kNone; }

// Runs of few rows may have a kernel of their own.
inline const MicroKernel& kernel_for(const GemmPlan& plan, size_t m) {
  return *(m <= plan.small_m ? plan.small_kernel : plan.kernel);
}

// Whether a run of m rows multiplies by run-time weights where they lie.
inline bool leaves_weights(const GemmPlan& plan, size_t m) {
  return plan.few_rows && m <= plan.few_rows;
}

// The name of that kernel.
inline const char* kernel_name(const GemmPlan& plan, size_t m) {
  return leaves_weights(plan, m) ? plan.runtime->name : kernel_for(plan, m).name;
}

inline uint8_t lhs_flip(const GemmPlan& plan, const MicroKernel& kernel) {
  return plan.lhs_type == kernel.lhs_element_type ? 0 : 0x80;
}

inline bool quantizes(const GemmPlan& plan) {
  return plan.lhs_quant >= LhsQuant::kSymmetric && plan.lhs_quant != LhsQuant::kPerBlock;
}
// Whether each scale block of a row has a scale of its own.
inline bool scales_blocks(const GemmPlan& plan) {
  return plan.lhs_quant >= LhsQuant::kSymmetricBlocks;
}

// Whether blocks of rows are flipped as they are read, not by the kernel.
inline bool flips_rows(const GemmPlan& plan, const MicroKernel& kernel) {
  return kernel.flip_columns && lhs_flip(plan, kernel) && plan.n >= kernel.flip_columns &&
         plan.k >= 32 && !quantizes(plan) && !has_s16(plan);
}

// Whether blocks of rows are arranged for the kernel as they are read, for a task of so many
// columns.
inline bool arranges_rows(const GemmPlan& plan, const MicroKernel& kernel, size_t columns) {
  return kernel.arranges(columns, plan.k, lhs_flip(plan, kernel)) &&
         plan.lhs_quant == LhsQuant::kStatic && !has_s16(plan) && !plan.runtime_rhs &&
         !plan.columns[0].zero_point &&
         (plan.requantize_in_kernel || plan.epilogue.has_residual ||
          plan.epilogue.mode == EpilogueMode::kS32);
}

// Whether blocks of rows are copied as they are read, in some task.
inline bool copies_lhs(const GemmPlan& plan, const MicroKernel& kernel) {
  return flips_rows(plan, kernel) || arranges_rows(plan, kernel, plan.n);
}

// The macro-kernel that multiplies a block of rows by the plan's columns.
inline MacroKernel macro_kernel_of(const GemmPlan& plan, const MicroKernel& kernel, size_t k) {
  const uint8_t flip = flips_rows(plan, kernel) ? 0 : lhs_flip(plan, kernel);
  return {&kernel, plan.ops, flip, {1, k, 1, 1}, has_s16(plan) && !plan.splits_s16};
}

inline bool per_row(const GemmPlan& plan) { return plan.lhs_quant >= LhsQuant::kPerRow; }

// The parts of a row that have a scale of their own.
inline size_t quantized_parts(const GemmPlan& plan) {
  return scales_blocks(plan) ? plan.scale_blocks.count : 1;
}

// The columns that the arrays over n columns have: kernels may read that far.
inline size_t padded_columns(const GemmPlan& plan, size_t n) {
  return round_up(n, plan.kernel->rhs_layout.step);
}

}  // namespace octet
