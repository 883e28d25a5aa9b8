// SPDX-License-Identifier: Apache-2.0
// A run's schedule, which depends on its sizes only: staged tensors, tasks, workspace. Create makes
// it once for the declared sizes and one thread, because it would be a good part of a tiny layer's
// time.
#pragma once

#include "octet/octet.h"
#include "operators/conv/algorithms/pipeline.h"

namespace octet {

struct ConvSizes {
  size_t batch, in_h, in_w, out_h, out_w;
  ConvShape shape;  // the plan's shape, with the run's pads
};

// The tasks along the pipeline's units and along channels.
struct ConvCut {
  size_t units, unit_step, unit_tasks;  // units: of all images; unit_step: units of one task
  size_t channels, channel_step, channel_tasks;

  size_t tasks() const { return unit_tasks * channel_tasks; }
  ConvTask task(size_t index) const {
    const size_t unit = index / channel_tasks * unit_step,
                 channel = index % channel_tasks * channel_step;
    return {unit, smaller(units, unit + unit_step), channel,
            smaller(channels, channel + channel_step)};
  }
};

// Data per image that is only known at the run: rows of zero points, and the quantization of an f32
// lhs.
struct ImageSections {
  size_t zero_rows, zero_points, scales;  // offsets
  size_t bytes;
};

struct ConvSchedule {
  ConvSizes sizes;
  Staging staging;
  ConvCut cut;
  // The workspace holds the images' part, then each task's
  ImageSections images;
  size_t task_bytes;

  // SIZE_MAX if the bytes exceed size_t
  size_t workspace(size_t tasks) const {
    size_t bytes;
    return __builtin_mul_overflow(task_bytes, tasks, &bytes) ||
                   __builtin_add_overflow(bytes, images.bytes, &bytes)
               ? SIZE_MAX
               : bytes;
  }
};

// The tensors that a run stages. shape: the plan's, with the run's pads.
Staging staging_of(const octet_conv2d& conv, const ConvShape& shape, size_t in_h, size_t in_w);
// The most tasks that a run of these sizes is cut into.
size_t tasks_of(const octet_conv2d& conv, const ConvSizes& sizes, size_t concurrency);
// Pure. concurrency: the most tasks.
ConvSchedule schedule(const octet_conv2d& conv, const ConvSizes& sizes, size_t concurrency);

}  // namespace octet
