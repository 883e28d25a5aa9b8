// A planned product that runs as often as wanted. This file knows no ISA and checks no arguments.
#pragma once

#include "kernels/core/memory_trace.h"
#include "kernels/macro/macro_kernel.h"
#include "kernels/macro/partition.h"
#include "packing/packed_rhs.h"

namespace octet {

enum class LhsQuant : uint8_t { kStatic, kPerTensor, kPerRow, kSymmetric, kAsymmetric };

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
};

// One matrix of a batch, as the caller of run has it. Strides are in bytes.
struct GemmMatrix {
  const uint8_t* lhs;
  const int32_t* lhs_zero_points;  // run time: one, or one per row; null = 0
  const float* lhs_scales;         // run time: one, or one per row; null = 1
  const uint8_t* rhs;              // run-time weights
  const uint8_t* residual;
  uint8_t* dst;
};

struct GemmRun {
  size_t m, n, k, batch;
  size_t lhs_stride, dst_stride, residual_stride;
  size_t lhs_quant_count;  // run-time zero points and scales per matrix
  size_t rhs_k_stride, rhs_n_stride;
  const int32_t* rhs_zero_points;
  size_t rhs_zero_point_count;
  // Yields matrix `index` of the batch.
  GemmMatrix (*matrix)(const void* context, size_t index);
  const void* matrix_context;
};

// Rows per block for a cache budget. From the declared depth, so that a run with less depth never
// needs more workspace.
size_t choose_block_rows(const MicroKernel& kernel, size_t k, size_t cache_bytes);

// Whether any run of the plan needs workspace at all.
bool needs_workspace(const GemmPlan& plan);
// Whether a run needs workspace for more than gathered rows of the lhs and a decoded micro-panel of
// the rhs.
bool needs_more_than_panels(const GemmPlan& plan);

// A box of the iteration space (batch x rows x columns) that one task computes with its own
// workspace.
struct GemmTask {
  size_t batch0, batch1, m0, m1, n0, n1;
};

// Cuts a run into at most `concurrency` boxes. Pure: the workspace query and run agree because both
// ask it.
struct Partition {
  size_t batch, m, n;                 // tasks along each axis
  size_t batch_step, m_step, n_step;  // size of a task along each axis
  size_t tasks() const { return batch * m * n; }
};
Partition partition(const GemmPlan& plan, size_t m, size_t n, size_t batch, size_t concurrency);
GemmTask task_of(const Partition& p, size_t m, size_t n, size_t batch, size_t index);

// Workspace bytes of each task, a multiple of kAlignment.
size_t task_workspace(const GemmPlan& plan, const Partition& p, size_t m, size_t n, size_t k);

void run_task(const GemmPlan& plan, const GemmRun& run, const GemmTask& task, uint8_t* workspace);

// The fast path: all rows and columns of one matrix, by one task, for a plan that needs workspace
// for panels only. create has worked out the part of the first tile that no run changes, so that a
// small product costs little more than its multiplications. A first tile with a null rhs sends the
// run to run_task, the general path: the epilogue is not in the kernel, or there are passes.
Tile first_tile(const GemmPlan& plan);
void run_whole(const GemmPlan& plan, size_t m, const uint8_t* lhs, size_t lhs_stride, uint8_t* dst,
               size_t dst_stride, uint8_t* workspace);

// The workspace of a run of one matrix by one task.
inline size_t plain_workspace(const GemmPlan& plan, size_t m) {
  return task_workspace(plan, {1, 1, 1, 1, m, plan.n}, m, plan.n, plan.k);
}

inline const MicroKernel& kernel_for(const GemmPlan& plan, size_t m) {
  return *(m <= plan.small_m ? plan.small_kernel : plan.kernel);
}

}  // namespace octet
