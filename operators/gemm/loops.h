// SPDX-License-Identifier: Apache-2.0
// The loops of a product, as often as wanted. They know no ISA and check no arguments.
#pragma once

#include "operators/common/measure.h"
#include "operators/gemm/schedule.h"

namespace octet {

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
  const GemmPlan& plan;
  const GemmSchedule& schedule;
  uint8_t* workspace;
  // Yields matrix `index` of the batch.
  GemmMatrix (*matrix)(const void* context, size_t index);
  const void* matrix_context;
  size_t lhs_stride = 0, dst_stride = 0, residual_stride = 0;
  size_t lhs_quant_count = 0;  // run-time zero points and scales per matrix
  size_t rhs_k_stride = 0, rhs_n_stride = 0;
  const int32_t* rhs_zero_points = nullptr;
  size_t rhs_zero_point_count = 0;
};

// The weights of packed matrix `index`.
Weights packed_weights(const GemmPlan& plan, size_t index);

// All rows and columns of a task, of one matrix, where the lhs is s16 values. packed: index of its
// weights.
void multiply_s16(const GemmRun& run, const MicroKernel& kernel, const GemmMatrix& matrix,
                  size_t packed, const GemmTask& task, uint8_t* workspace);

// The general path: one task of the schedule.
void run_task(const GemmRun& run, size_t index);

// The fast path: all rows and columns of one matrix, by one task, for a plan that needs workspace
// for panels only. create has worked out the part of the first tile that no run changes, so that a
// small product costs little more than its multiplications. A first tile with a null rhs means that
// the plan's tiles take the general path's loops: the epilogue is not in the kernel, or there are
// passes.
Tile first_tile(const GemmPlan& plan);
void run_matrix(const GemmPlan& plan, size_t m, const uint8_t* lhs, size_t lhs_stride, uint8_t* dst,
                size_t dst_stride, uint8_t* workspace);
// The same in tasks, if it can be cut, without a workspace: for a plan that never needs one, and
// has a first tile. A task of a small product would wait for the arguments that the general path
// hands to it.
void run_matrix_in_tasks(const GemmPlan& plan, size_t m, const uint8_t* lhs, size_t lhs_stride,
                         uint8_t* dst, size_t dst_stride, const Pool& pool);

}  // namespace octet
