// SPDX-License-Identifier: Apache-2.0
// Runs one convolution as stages, each of which makes lines of its output from lines of its input:
//
//   stage the input             ->  convolve  ->  unstage the output
//   (NCHW, borders, f32, s16)                     (NCHW, sums of s16 values)
//
// If an algorithm can read and write the caller's tensors, only the middle stage remains and works
// on the whole tensors. Otherwise bands of lines go through all stages while they are in a cache;
// the staged input is a ring, because neighbouring bands share lines.
#pragma once

#include "operators/conv/algorithms/lines.h"
#include "operators/conv/algorithms/stage.h"

namespace octet {

// Which tensors of a convolution are staged, and the input's size as the algorithm sees it.
struct Staging {
  bool input, output, residual;
  bool only_flips;  // of the input, which takes so little that tasks of some channels may repeat it
  Borders borders;
  bool any() const { return input || output; }
};
// shape: the plan's, with the run's padding. stage_lhs: the input must be staged for any algorithm.
// residual: there is one.
Staging plan_staging(const ConvPlan& plan, const ConvShape& shape, bool stage_lhs, bool dst_nchw,
                     bool residual, size_t in_h, size_t in_w);

// Bytes of a band: half of the cache; the other half is for the weights. An image that takes no
// more, with its staged outputs and residual, is staged whole, its lines side by side.
inline size_t budget_of(const ConvPlan& plan) { return plan.cache_bytes / 2; }

// The sections of a task's workspace.
struct PipelineSections {
  size_t input, output, residual, s16, implementation;  // offsets
  size_t bytes;
};

struct Pipeline {
  const ConvPlan* plan;
  Staging staging;
  Tensor lhs, residual, dst;  // the caller's tensors, if they are staged
  Quantizer quantizer;        // for an f32 lhs; per-image scales and zero points are in the run
  // The run of all images, with the strides of the tensors that are not staged
  ConvRun run;
};

// Lays out the workspace of each task for runs of at most these sizes. Its bytes grow with each
// size.
PipelineSections pipeline_sections(const ConvPlan& plan, const Staging& staging, size_t batch,
                                   size_t out_h, size_t out_w);

// Says how tasks may be cut: as the algorithm says, or, with stages, between lines only.
ConvGrain pipeline_grain(const ConvPlan& plan, const Staging& staging, size_t out_h, size_t out_w);
// Bytes of tensors that a stage reads and writes, each once; zeros if the stage does nothing.
struct StageTraffic {
  size_t read, written;
};
struct PipelineTraffic {
  StageTraffic input, convolution, output;
};
// Counts the traffic of output lines `out` of an image, without the weights.
PipelineTraffic traffic(const Pipeline& pipeline, LineRange out);

void run_task(const Pipeline& pipeline, const ConvTask& task, uint8_t* workspace);

// Computes output lines `out`, at most `most`, of the only image into `to`. The input may be a
// ring: run.lhs_ring, or lhs.ring if it is staged. The output is not staged.
void run_lines(const Pipeline& pipeline, LineRange out, size_t most, const Output& to,
               uint8_t* workspace);

}  // namespace octet
