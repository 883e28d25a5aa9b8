// SPDX-License-Identifier: Apache-2.0
// Computes a run's schedule from its sizes.
#include "operators/conv/schedule.h"

#include "kernels/core/sections.h"
#include "operators/common/check.h"
#include "operators/common/task_size.h"
#include "operators/conv/object.h"

namespace octet {
namespace {

ImageSections image_sections(const octet_conv2d& conv, size_t batch) {
  Sections sections;
  ImageSections at = {};
  if (!conv.zero_row) at.zero_rows = sections.take(batch * zero_row_bytes(conv.plan.shape));
  if (quantizes(conv)) {
    at.zero_points = sections.take(batch * sizeof(int32_t));
    at.scales = sections.take(batch * sizeof(float));
  }
  at.bytes = sections.bytes;
  return at;
}

// Of two equal cuts, whether the one along units is better. Where a task makes something of its
// inputs, its channels should share it. Else each task reads all of what the cut does not divide.
bool prefers_units(const ConvPlan& plan, const Staging& staging, const ConvSizes& z) {
  const ConvShape& s = plan.shape;
  if (!plan.implementation->reads_in_place || (staging.input && !staging.only_flips)) return true;
  return z.batch * smaller(z.in_h, z.out_h * s.kernel_h) * smaller(z.in_w, z.out_w * s.kernel_w) *
             s.in_channels >=
         s.taps() * s.group_in() * s.out_channels;
}

ConvCut cut(const ConvPlan& plan, const Staging& staging, const ConvSizes& sizes,
            size_t concurrency) {
  const ConvGrain grain = pipeline_grain(plan, staging, sizes.out_h, sizes.out_w);
  const size_t units = sizes.batch * grain.units, channels = plan.shape.out_channels;
  const GridSteps steps = cut_grid({units, 1, channels, grain.channels, grain.start}, concurrency,
                                   plan.tasks, prefers_units(plan, staging, sizes));
  return {units,    steps.rows,    divide_up(units, steps.rows),
          channels, steps.columns, divide_up(channels, steps.columns)};
}

}  // namespace

size_t tasks_of(const octet_conv2d& conv, const ConvSizes& z, size_t concurrency) {
  const double pixels = (double)z.batch * (double)z.out_h * (double)z.out_w;
  return tasks_worth(pixels * conv.pixel_cycles, concurrency);
}

Staging staging_of(const octet_conv2d& conv, const ConvShape& shape, size_t in_h, size_t in_w) {
  const bool in_place = is_8bit(conv.lhs_type) || conv.plan.lhs_type == ElementType::kS16;
  return plan_staging(conv.plan, shape, conv.lhs_layout == OCTET_NCHW || !in_place,
                      conv.dst_layout == OCTET_NCHW, conv.residual_type != 0, in_h, in_w);
}

ConvSchedule schedule(const octet_conv2d& conv, const ConvSizes& z, size_t concurrency) {
  const ConvPlan& plan = conv.plan;
  const Staging staging = staging_of(conv, z.shape, z.in_h, z.in_w);
  return {z, staging, cut(plan, staging, z, tasks_of(conv, z, concurrency)),
          image_sections(conv, z.batch),
          pipeline_sections(plan, staging, z.batch, z.out_h, z.out_w).bytes};
}

}  // namespace octet
