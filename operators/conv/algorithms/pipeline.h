// One convolution as stages, each of which makes lines of its output from lines of its input:
//
//     stage the input        ->  convolve  ->  unstage the output
//     (NCHW, borders, f32)                     (NCHW)
//
// Where the caller's tensors are as algorithms take them, only the middle one is left, and works on
// all of them at once. Otherwise bands of lines go through all stages while they are in a cache;
// the staged input is a ring, for neighbouring bands share lines.
#pragma once

#include "operators/conv/algorithms/lines.h"
#include "operators/conv/algorithms/stage.h"

namespace octet {

// What of a convolution's tensors is staged, and the input's size as the algorithm sees it.
struct Staging {
  bool input, output, residual;
  Borders borders;
  bool any() const { return input || output; }
};
// shape: the plan's, with the run's padding. stage_lhs: no algorithm takes it as it is. residual:
// there is one.
Staging plan_staging(const ConvPlan& plan, const ConvShape& shape, bool stage_lhs, bool dst_nchw,
                     bool residual, size_t in_h, size_t in_w);

// A task's workspace.
struct PipelineSections {
  size_t input, output, residual, implementation;  // offsets
  size_t bytes;
};

struct Pipeline {
  const ConvPlan* plan;
  Staging staging;
  Tensor lhs, residual, dst;  // the caller's, as far as they are staged
  Quantizer quantizer;        // of an f32 lhs; scale and zero point are the run's, if it has them
  // Of all images, with strides; of the tensors, as far as they are not staged
  ConvRun run;
};

// Workspace of each task for runs of at most these sizes; grows with each of them.
PipelineSections pipeline_sections(const ConvPlan& plan, const Staging& staging, size_t batch,
                                   size_t out_h, size_t out_w);

// How tasks may be cut: as the algorithm says, or, with stages, at lines alone.
ConvGrain pipeline_grain(const ConvPlan& plan, const Staging& staging, size_t out_h, size_t out_w);
// Bytes of tensors that a stage reads and writes, each once; zeros where it has nothing to do.
struct StageTraffic {
  size_t read, written;
};
struct PipelineTraffic {
  StageTraffic input, convolution, output;
};
// Of output lines `out` of an image. The weights come on top.
PipelineTraffic traffic(const Pipeline& pipeline, LineRange out);

void run_task(const Pipeline& pipeline, const ConvTask& task, uint8_t* workspace);

// Output lines of the only image, at most `most`, to where `to` begins. The input may be a ring:
// run.lhs_ring, or lhs.ring where it is staged. Its outputs are not staged.
void run_lines(const Pipeline& pipeline, LineRange out, size_t most, const Output& to,
               uint8_t* workspace);

}  // namespace octet
