// What follows from the sizes of a run alone: what is staged, the tasks, the workspace. Made once
// for the declared sizes and one thread, where it would be a good part of a tiny layer.
#pragma once

#include "octet/octet.h"
#include "operators/conv/algorithms/pipeline.h"

namespace octet {

struct ConvSizes {
  size_t batch, in_h, in_w, out_h, out_w;
  ConvShape shape;  // the plan's, with the run's pads
};

// Tasks along the pipeline's units and along channels.
struct ConvCut {
  size_t units, unit_step, unit_tasks;  // of all images; of a task
  size_t channels, channel_step, channel_tasks;

  size_t tasks() const { return unit_tasks * channel_tasks; }
  ConvTask task(size_t index) const {
    const size_t unit = index / channel_tasks * unit_step,
                 channel = index % channel_tasks * channel_step;
    return {unit, smaller(units, unit + unit_step), channel,
            smaller(channels, channel + channel_step)};
  }
};

// What belongs to each image and is not known before the run: rows of zero points, and by what an
// f32 lhs is quantized.
struct ImageSections {
  size_t zero_rows, zero_points, scales;  // offsets
  size_t bytes;
};

struct ConvSchedule {
  ConvSizes sizes;
  Staging staging;
  ConvCut cut;
  // Of the workspace: the images' part, then each task's
  ImageSections images;
  size_t task_bytes;

  // SIZE_MAX if they leave size_t
  size_t workspace(size_t tasks) const {
    size_t bytes;
    return __builtin_mul_overflow(task_bytes, tasks, &bytes) ||
                   __builtin_add_overflow(bytes, images.bytes, &bytes)
               ? SIZE_MAX
               : bytes;
  }
};

// Tasks that a run of these sizes is cut into at most.
size_t tasks_of(const octet_conv2d& conv, const ConvSizes& sizes, size_t concurrency);
// Pure. concurrency: tasks at most.
ConvSchedule schedule(const octet_conv2d& conv, const ConvSizes& sizes, size_t concurrency);

}  // namespace octet
