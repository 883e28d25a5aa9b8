// SPDX-License-Identifier: Apache-2.0
// Selects the kernel for an algorithm and packed weights.
#pragma once

#include "dispatch/select/select.h"
#include "operators/conv/layouts.h"

namespace octet {

// A kernel of any kind, and the fields that all kinds have.
struct ConvKernel {
  Selected result;
  const MicroKernel* micro;
  const DepthwiseKernel* depthwise;
  bool s16 = false;  // it takes s16 values of an input as they are

  const char* name() const { return micro ? micro->name : depthwise ? depthwise->name : nullptr; }
  TierId tier_id() const {
    return micro ? micro->tier_id : depthwise ? depthwise->tier_id : kPortableTier;
  }
  ElementType lhs_element_type() const {
    return micro ? micro->lhs_element_type : depthwise->lhs_element_type;
  }
  // The type of bytes that it takes unflipped. Winograd's kernels take s16 values that its
  // transforms make of bytes
  ElementType byte_type() const {
    return lhs_element_type() == ElementType::kU8 ? ElementType::kU8 : ElementType::kS8;
  }
  uint16_t flags() const { return micro ? micro->flags : depthwise->flags; }
};

// As `select`, which it asks for the kernels of the GEMM; never for one that is for a single row:
// those are for matrices. columns: outputs of a group; depth: of an output, all of its taps.
ConvKernel select_conv(const ConvAlgorithm& implementation, const CpuFeatures& cpu,
                       ElementType lhs_type, ElementType rhs_type, size_t columns, size_t depth,
                       const WeightFacts& facts, const char* forced);

// True if a plan made for b (its lhs type, certificate, workspace, tiles) holds for a, too. A field
// of DepthwiseKernel that plans read belongs here. A plan asks no kernel for floats unless b has
// them. Null is like null only.
bool alike(const DepthwiseKernel* a, const DepthwiseKernel* b);

// The best kernel that this CPU runs for int8 depthwise weights, if a plan for `int16`, a kernel of
// depthwise weights that have zero points, may use it for some channels; else null.
const DepthwiseKernel* int8_kernel_for(const CpuFeatures& cpu, const DepthwiseKernel* int16);

// The kernel that multiplies windows of few channels as bytes in the place of this one, of panels
// or of groups, where values allow that; or null, as for a forced kernel of panels.
const ByteWindowsKernel* byte_windows_for(const CpuFeatures& cpu, const ConvKernel& kernel,
                                          const char* forced);

// Exchanges an int8 kernel for a kernel that multiplies s16 values of an input by the same weights,
// if such a kernel can compute the shape. A depthwise kernel is exchanged for its s16 kernel or, if
// it has none, for that of a tier below. Where pixels or copied windows are rows of a matrix, the
// kernel is exchanged for its s16 kernel, or stays and gathers s16 values. sums_fit: no sum of s16
// values leaves int32; zero_points: weights have them.
void take_s16(const ConvAlgorithm& implementation, const CpuFeatures& cpu, const ConvShape& shape,
              bool sums_fit, bool zero_points, ConvKernel* kernel);

// True if the tier's s16 kernel reads the windows of the direct algorithm where they lie.
bool reads_s16_windows(TierId tier_id, const ConvShape& shape);

// True if a kernel of this name multiplies the algorithm's operands.
bool has_kernel(const ConvAlgorithm& implementation, const char* name);

}  // namespace octet
