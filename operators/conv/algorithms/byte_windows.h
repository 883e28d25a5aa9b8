// SPDX-License-Identifier: Apache-2.0
// Convolutions of few channels by a kernel that multiplies copied windows as bytes
// (ByteWindowsKernel), where a run's values allow that: for the algorithms of groups and of panels,
// by the weights that these have packed.
#pragma once

#include "operators/conv/algorithms/algorithm.h"
#include "operators/conv/algorithms/estimate.h"

namespace octet {

// Whether the kernel knows such weights, besides what the plan and the run say. Sums of the outputs
// of all groups that share a copied pixel, and weights of one output, have to fit the cache.
inline bool suits_byte_windows(const ConvShape& s) {
  constexpr size_t kPixel = ByteWindowsKernel::kPixel, kMostQuads = 1024, kMostOut = 256;
  return !s.transposed && !s.sparse && !s.padded_lines && s.group_in() % 4 == 0 &&
         s.group_in() <= kPixel && s.group_out() % ByteWindowsKernel::kChannels == 0 &&
         smaller(kPixel / s.group_in(), s.groups) * s.group_out() <= kMostOut && s.taps() > 1 &&
         s.taps() * s.group_in() / 4 <= kMostQuads;
}

// The share of its algorithm's time that a layer of groups takes by windows as bytes; 1 without.
inline double byte_windows_share(const ConvWork& w) {
  const OutputFacts& to = w.output;
  const bool leaves = (to.bytes <= 1 || to.floats) && !to.tflite && !to.epilogue;
  return w.shape.groups > 1 && leaves && suits_byte_windows(w.shape) ? w.cost.byte_windows : 1;
}

// Bytes of a task's workspace for runs of at most these sizes; 0 if the plan never does this.
size_t byte_windows_workspace(const ConvPlan& plan, size_t out_h, size_t out_w);

// Computes a task whose units are lines. Returns false, perhaps with some outputs written, where
// the values, which have too many crowded pairs, or the sizes do not suit.
bool run_byte_windows(const ConvPlan& plan, const ConvRun& run, const ConvTask& task,
                      uint8_t* workspace);

}  // namespace octet
