// SPDX-License-Identifier: Apache-2.0
// Runs a created convolution on some lines of one image.
#include "operators/conv/run_lines.h"

#include "operators/conv/call.h"

namespace octet {

bool has_lines(const octet_conv2d& conv) {
  return conv.lhs_layout == OCTET_NHWC && conv.dst_layout == OCTET_NHWC &&
         !conv.plan.implementation->approximate &&
         (!conv.plan.runtime_zero_point || splits_s16(conv.plan));
}

size_t lines_workspace(const octet_conv2d& conv, size_t in_h, size_t in_w, size_t most) {
  ConvPlan plan = conv.plan;
  plan.shape.batch = 1;  // one image at a time
  return pipeline_sections(plan, staging_of(conv, plan.shape, in_h, in_w), 1, most,
                           conv_out_w(plan.shape, in_w))
      .bytes;
}

void run_lines(const octet_conv2d& conv, const LineTensor& lhs, const LineTensor* residual,
               const LineTensor& dst, LineRange out, size_t most, uint8_t* workspace) {
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  args.lhs = lhs.data;
  args.dst = dst.data;
  const ConvShape& s = conv.plan.shape;
  const ConvSizes sizes = {1, lhs.h, lhs.w, dst.h, dst.w, s};
  const size_t lines = lhs.ring ? lhs.ring : lhs.h,
               last_pixel = s.in_channels * element_bytes(conv.lhs_type);
  ConvCall call = {args, sizes, {}, {}, {}, lhs.pixel, dst.pixel, residual ? residual->pixel : 0};
  call.lhs = extent_of(lhs.data, lines * lhs.line - lhs.pixel + last_pixel);
  Pipeline pipeline = resolve(conv, call, staging_of(conv, s, lhs.h, lhs.w));
  pipeline.lhs.ring = lhs.ring;
  pipeline.lhs.first = lhs.first;
  if (!pipeline.staging.input) {
    pipeline.run.lhs_ring = lhs.ring;
    pipeline.run.lhs_first = lhs.first;
  }
  run_lines(pipeline, out, most,
            {dst.at(out.first), dst.pixel, residual ? residual->at(out.first) : nullptr,
             call.residual_pixel},
            workspace);
}

}  // namespace octet
