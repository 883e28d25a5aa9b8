// SPDX-License-Identifier: Apache-2.0
// GemmBuilder: the results of octet_gemm_create before it allocates anything.
#pragma once

#include "operators/epilogue/builder.h"
#include "operators/gemm/choice.h"
#include "operators/gemm/kernel_limits.h"
#include "operators/gemm/loops.h"
#include "operators/gemm/object.h"
#include "packing/matrix_blob.h"
#include "packing/scale_blocks.h"

namespace octet {

// Each step below fills its part or returns an error.
struct GemmBuilder {
  const octet_gemm_desc& desc;
  octet_error* const error;
  EpilogueBuilder epilogue;
  KernelLimits limits;
  bool has_blob = false;  // else the weights come with each run
  Container blob = {};
  size_t matrices = 1;                // in the blob
  const Choice* requested = nullptr;  // by a tuning; null: the best
  Choice choice = {};
  bool measured = false;                // the choice was, on this machine
  const MicroKernel* kernel = nullptr;  // of the choice
  const MicroKernel* small_kernel = nullptr;
  const ScaleBlockKernel* scale_block_kernel = nullptr;  // then `kernel` and `small_kernel` are its

  bool has_scale_blocks() const { return has_blob && blob.header.kind == BlobKind::kScaleBlocks; }

  bool has_s16() const { return desc.lhs_type == OCTET_S16; }
  // Else s16 values are split into bytes. A kernel whose tile is within a panel may take the depth
  // in parts
  bool takes_s16() const {
    return has_s16() && kernel->gather_s16 &&
           (epilogue.max_s16_sum <= INT32_MAX ||
            (kernel->nr <= kernel->rhs_layout.width &&
             kernel->rhs_layout.lane_bytes(kS16PartDepth) == kS16PartDepth));
  }
  bool cuts_s16() const { return takes_s16() && epilogue.max_s16_sum > INT32_MAX; }

  GemmBuilder(const octet_gemm_desc& d, octet_error* e)
      : desc(d), error(e), epilogue(d, d.n, d.k, e), limits(d, e) {
    epilogue.takes_s16 = true;
  }
};

// Checks enumerations, combinations, sizes, scales, the epilogue and the accumulators' range.
octet_status check_desc(GemmBuilder* builder);
// Reads the limits and fills in the choice and its kernels.
octet_status choose_kernels(GemmBuilder* builder);
// Makes the one allocation.
octet_status build_gemm(const GemmBuilder& builder, octet_gemm** gemm);

}  // namespace octet
