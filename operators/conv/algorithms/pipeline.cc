// SPDX-License-Identifier: Apache-2.0
// Runs a convolution with staged input and output, band by band.
#include "operators/conv/algorithms/pipeline.h"

#include "kernels/core/sections.h"

namespace octet {
namespace {

// The algorithm's images for one of the caller's.
size_t planes_of(const ConvPlan& plan) { return splits_s16(plan) ? 2 : 1; }
// Bytes of a staged value, in all planes.
size_t staged_bytes(const ConvPlan& plan) { return plan.s16.mode == S16Mode::kNone ? 1 : 2; }

// Bytes of a staged line of each kind, in all planes; 0 where nothing is staged.
struct LineBytes {
  size_t input, output, residual;

  LineBytes(const ConvPlan& plan, const Staging& staging, size_t out_w)
      : input(staging.input ? staged_bytes(plan) * staging.borders.w * plan.shape.in_channels : 0),
        output(staging.output ? planes_of(plan) * out_w * plan.shape.out_channels * plan.dst_bytes
                              : 0),
        residual(staging.residual ? out_w * plan.shape.out_channels : 0) {}
};

// Output lines that the algorithm computes together.
size_t step_of(const ConvPlan& plan, size_t out_h, size_t out_w) {
  return plan.implementation->grain(plan, out_h, out_w).lines;
}

// The size of a band: how much is staged at a time.
struct Bands {
  size_t lines;   // output lines of a band, or
  size_t images;  // more than 1: a band is all lines of so many images
  size_t ring;    // lines of the staged input of one image

  Bands(const ConvPlan& plan, const Staging& staging, const ConvRun& run, size_t most)
      : lines(most), images(1) {
    const ConvShape& s = plan.shape;
    const LineBytes bytes(plan, staging, run.out_w);
    const auto ring_of = [&](size_t out_lines) {
      return smaller(most_input_lines(s, out_lines), staging.borders.h);
    };
    const size_t image = ring_of(most) * bytes.input + most * (bytes.output + bytes.residual);
    if (image <= budget_of(plan)) {
      images = smaller(budget_of(plan) / image, run.batch);
    } else {
      const size_t step = step_of(plan, run.out_h, run.out_w);
      const size_t line =
          (s.transposed ? divide_up(bytes.input, s.stride_h) : s.stride_h * bytes.input) +
          bytes.output + bytes.residual;
      lines = smaller(lines, larger(budget_of(plan) / line / step, 1) * step);
    }
    ring = ring_of(lines);
  }
};

// One task of a pipeline with stages.
class Task {
 public:
  // most: output lines of an image that one call computes
  Task(const Pipeline& p, size_t most, uint8_t* workspace)
      : p_(p),
        plan_(*p.plan),
        bands_(plan_, p.staging, p.run, most),
        at_(pipeline_sections(plan_, p.staging, p.run.batch, most, p.run.out_w)),
        bytes_(plan_, p.staging, p.run.out_w),
        planes_(planes_of(plan_)),
        input_line_(bytes_.input / planes_),
        workspace_(workspace) {
    staged_ = p.run;
    staged_.lhs = workspace + at_.input;
    staged_.lhs_image = bands_.ring * input_line_;
    staged_.lhs_end = staged_.lhs + bands_.images * planes_ * staged_.lhs_image + kStageSlack;
  }

  void run(const ConvTask& task) {
    const size_t first = task.first, end = task.end;
    n0_ = task.n0, n1_ = task.n1;
    const size_t step = step_of(plan_, p_.run.out_h, p_.run.out_w),
                 steps = divide_up(p_.run.out_h, step);
    const bool whole_images = bands_.lines == p_.run.out_h;
    for (size_t unit = first, count; unit < end; unit += count) {
      const size_t image = unit / steps, within = unit % steps,
                   images = within ? 0 : smaller((end - unit) / steps, bands_.images);
      if (whole_images && images) {
        count = images * steps;
        band(image, images, {0, p_.run.out_h});
      } else {
        count = next_block(smaller(end - unit, steps - within), divide_up(bands_.lines, step), 1);
        band(image, 1, {within * step, smaller((within + count) * step, p_.run.out_h)});
      }
    }
  }

  void run_lines(LineRange out, const Output& to) {
    for (size_t y = out.first, end; y < out.end; y = end) {
      end = smaller(out.end, y + bands_.lines);
      ConvRun run = lines_of(0, 1, {y, end});
      const Output here = to.from((y - out.first) * p_.run.out_w);
      run.to = splits_s16(plan_) ? sums() : here;
      run_all(plan_, run, workspace_ + at_.implementation);
      const size_t pixels = (end - y) * p_.run.out_w;
      if (splits_s16(plan_)) finish(0, pixels, pixels, here.dst, here.stride);
    }
  }

 private:
  ConvRun lines_of(size_t image, size_t images, LineRange out) {
    const LineRange in = input_lines(plan_.shape, p_.run.pad_top, p_.run.in_h, out);
    ConvRun run = run_of_lines(plan_, p_.run, image * planes_, images * planes_, out);
    if (!p_.staging.input)
      read_lines(p_.run, image, in, &run);
    else if (images > 1)
      stage_images(image, images, in, &run);
    else
      stage_lines(image, in, &run);
    return run;
  }

  void band(size_t image, size_t images, LineRange out) {
    ConvRun run = lines_of(image, images, out);
    if (p_.staging.output) {
      run.to = {workspace_ + at_.output, bytes_.output / planes_ / run.out_w,
                p_.staging.residual ? stage_residual(image, images, out) : nullptr,
                plan_.shape.out_channels};
    }
    const size_t units = plan_.implementation->grain(plan_, run.out_h, run.out_w).units;
    run_passes(plan_, run, {0, run.batch * units, n0_, n1_}, workspace_ + at_.implementation);
    if (splits_s16(plan_)) return finish_images(image, images, out);
    if (p_.staging.output)
      for (size_t i = 0, line = 0; i < images; ++i)
        for (size_t y = out.first; y < out.end; ++y, ++line) {
          const uint8_t* const staged = workspace_ + at_.output + line * bytes_.output;
          nhwc_to_nchw(staged, image + i, y, p_.dst);
          if (plan_.touch) tell_line(p_.dst, image + i, y, true, staged, bytes_.output);
        }
  }

  // The sums of s16 values: image by image, plane by plane.
  Output sums() const {
    return {workspace_ + at_.output, bytes_.output / planes_ / p_.run.out_w, nullptr, 0};
  }

  // Makes `rows` outputs of s16 values from the sums of `pixels` from `first` on: those of the high
  // bytes are at first, those of the low bytes as many pixels later.
  void finish(size_t first, size_t pixels, size_t rows, uint8_t* to, size_t to_stride) {
    const size_t channels = plan_.shape.out_channels;
    const int32_t* const high = (const int32_t*)sums().dst + first * channels;
    plan_.ops->finish_s16(plan_.s16, {high, high + pixels * channels, channels, rows, channels, 0,
                                      plan_.s16_offsets, to, to_stride});
  }

  void finish_images(size_t image, size_t images, LineRange out) {
    const size_t width = p_.run.out_w, pixels = out.count() * width,
                 dense = plan_.shape.out_channels * p_.dst.element;
    uint8_t* const staged = workspace_ + at_.s16;
    for (size_t i = 0; i < images; ++i) {
      const size_t first = 2 * i * pixels;
      if (!p_.dst.nchw)
        finish(first, pixels, pixels, (uint8_t*)p_.dst.line(image + i, out.first), p_.dst.pixel);
      for (size_t y = 0; p_.dst.nchw && y < out.count(); ++y) {
        finish(first + y * width, pixels, width, staged, dense);
        nhwc_to_nchw(staged, image + i, out.first + y, p_.dst);
      }
    }
  }

  // Traces a line of a caller's tensor and its copy.
  void tell_line(const Tensor& tensor, size_t image, size_t y, bool written, const uint8_t* copy,
                 size_t copy_bytes) const {
    const size_t plane = tensor.h * tensor.w * tensor.element, line = tensor.w * tensor.element;
    const uint8_t* const first =
        tensor.nchw ? tensor.data + image * tensor.channels * plane + y * line
                    : tensor.data + (image * tensor.h + y) * tensor.w * tensor.pixel;
    for (size_t c = 0; tensor.nchw && c < tensor.channels; ++c)
      plan_.touch(first + c * plane, line, written);
    if (!tensor.nchw) plan_.touch(first, tensor.w * tensor.pixel, written);
    plan_.touch(copy, copy_bytes, !written);
  }

  void stage_line(size_t image, size_t y, uint8_t* to) const {
    if (splits_s16(plan_))
      return split_line(p_.lhs, plan_.ops->split_s16, plan_.lhs_type, p_.staging.borders, image, y,
                        to, to + staged_.lhs_image);
    Quantizer quantizer = p_.quantizer;
    if (quantizer.quantize && p_.run.lhs_scales) {
      quantizer.by.scale = p_.run.lhs_scales[image];
      quantizer.by.zero_point = p_.run.lhs_zero_points[image];
    }
    const Borders& borders = p_.staging.borders;
    octet::stage_line(p_.lhs, quantizer, borders, image, y, p_.run.zero_row(image)[0],
                      plan_.staged_flip, to);
    if (!plan_.touch) return;
    if (y >= borders.top && y - borders.top < p_.lhs.h)
      tell_line(p_.lhs, image, y - borders.top, false, to, bytes_.input);
    else
      plan_.touch(to, bytes_.input, true);
  }

  // Stages up to `most` lines from line y on and returns their number: those of a tensor without
  // gaps that are only flipped are one row.
  size_t stage_some(size_t image, size_t y, size_t most, uint8_t* to) const {
    constexpr size_t kVector = 16;  // flip_rows may write as many bytes to the end
    if (!p_.staging.only_flips || !plan_.kernel->flip_rows || plan_.touch || p_.lhs.ring ||
        p_.lhs.pixel != p_.lhs.channels) {
      stage_line(image, y, to);
      return 1;
    }
    const uint8_t* const from = p_.lhs.line(image, y);
    const size_t bytes = most * input_line_, whole = bytes / kVector * kVector;
    plan_.kernel->flip_rows({from, whole, 1, whole, plan_.staged_flip}, whole, to);
    for (size_t i = whole; i < bytes; ++i) to[i] = from[i] ^ plan_.staged_flip;
    return most;
  }

  void stage_images(size_t image, size_t images, LineRange in, ConvRun* run) {
    image_ = SIZE_MAX;
    staged_.lhs_ring = 0;
    uint8_t* const to = workspace_ + at_.input;
    for (size_t i = 0; i < images; ++i)
      for (size_t y = in.first; y < in.end;)
        y += stage_some(image + i, y, in.end - y,
                        to + i * planes_ * staged_.lhs_image + (y - in.first) * input_line_);
    run->lhs_image = staged_.lhs_image;
    read_lines(staged_, 0, {0, in.count()}, run);
  }

  // Stages the lines that are not in the ring yet.
  void stage_lines(size_t image, LineRange in, ConvRun* run) {
    // another image, or a gap: starts at the ring's beginning
    if (image != image_ || in.first >= end_) {
      image_ = image;
      origin_ = end_ = in.first;
    }
    if (end_ < in.end) {
      uint8_t* const ring = workspace_ + at_.input;
      size_t slot = (end_ - origin_) % bands_.ring;
      while (end_ < in.end) {
        const size_t count = stage_some(image, end_, smaller(in.end - end_, bands_.ring - slot),
                                        ring + slot * input_line_);
        end_ += count;
        slot = slot + count == bands_.ring ? 0 : slot + count;
      }
    }
    staged_.lhs_ring = bands_.ring;
    run->lhs_image = staged_.lhs_image;
    read_lines(staged_, 0, {in.first - origin_, in.end - origin_}, run);
  }

  const uint8_t* stage_residual(size_t image, size_t images, LineRange out) {
    uint8_t* to = workspace_ + at_.residual;
    for (size_t i = 0; i < images; ++i)
      for (size_t y = out.first; y < out.end; ++y, to += bytes_.residual) {
        nchw_to_nhwc(p_.residual, image + i, y, to);
        if (plan_.touch) tell_line(p_.residual, image + i, y, false, to, bytes_.residual);
      }
    return workspace_ + at_.residual;
  }

  const Pipeline& p_;
  const ConvPlan& plan_;
  const Bands bands_;
  const PipelineSections at_;
  const LineBytes bytes_;
  const size_t planes_, input_line_;  // bytes of a staged line in one plane
  uint8_t* const workspace_;
  ConvRun staged_;          // only its lhs is used
  size_t n0_ = 0, n1_ = 0;  // the channels of the task
  // lines [.., end_) of the image are in the ring; line origin_ is in its first slot
  size_t image_ = SIZE_MAX;
  size_t origin_ = 0, end_ = 0;
};

size_t algorithm_workspace(const ConvPlan& plan, size_t in_h, size_t in_w, size_t out_h,
                           size_t out_w) {
  if (!splits_s16(plan)) return plan.implementation->task_workspace(plan, in_h, in_w, out_h, out_w);
  ConvPlan planes = plan;
  planes.shape.batch *= planes_of(plan);
  return plan.implementation->task_workspace(planes, in_h, in_w, out_h, out_w);
}

}  // namespace

Staging plan_staging(const ConvPlan& plan, const ConvShape& s, bool stage_lhs, bool dst_nchw,
                     bool residual, size_t in_h, size_t in_w) {
  const bool borders = wants_borders(plan);
  Staging staging = {stage_lhs || borders || plan.staged_flip,
                     dst_nchw || splits_s16(plan),
                     dst_nchw && residual,
                     plan.staged_flip && !stage_lhs && !borders && !dst_nchw,
                     {0, 0, in_h, in_w}};
  // With borders: only the lines and columns that some window reads.
  if (borders)
    staging.borders = {
        s.pad_top, s.pad_left,
        (conv_out_h(s, in_h) - 1) * s.stride_h + s.dilation_h * (s.kernel_h - 1) + 1,
        (conv_out_w(s, in_w) - 1) * s.stride_w + s.dilation_w * (s.kernel_w - 1) + 1};
  return staging;
}

PipelineSections pipeline_sections(const ConvPlan& plan, const Staging& staging, size_t batch,
                                   size_t out_h, size_t out_w) {
  Sections sections;
  PipelineSections at = {};
  const size_t in_h = smaller(most_input_lines(plan.shape, out_h), staging.borders.h),
               implementation = algorithm_workspace(plan, in_h, staging.borders.w, out_h, out_w);
  if (!staging.any()) {  // the usual case; small layers would notice the rest
    at.bytes = round_up(implementation, kAlignment);
    return at;
  }
  const LineBytes bytes(plan, staging, out_w);
  const size_t step = step_of(plan, out_h, out_w), budget = budget_of(plan), lines = batch * out_h,
               sums_slack = splits_s16(plan) ? kS16Columns * sizeof(int32_t) : 0;
  // Bands hold what fits the budget, but at least one step. An upper bound that grows with the
  // sizes; the number of lines of a band does not.
  const auto most = [&](size_t line, size_t all, size_t least) {
    return smaller(all * line, budget + least * line);
  };
  if (staging.input)
    at.input = sections.take(
        most(bytes.input, batch * in_h, most_input_lines(plan.shape, step) + 1) + kStageSlack);
  if (staging.output) at.output = sections.take(most(bytes.output, lines, step) + sums_slack);
  if (staging.residual) at.residual = sections.take(most(bytes.residual, lines, step));
  if (splits_s16(plan))
    at.s16 = sections.take(out_w * plan.shape.out_channels * plan.s16.dst_bytes());
  at.implementation = sections.take(implementation);
  at.bytes = sections.bytes;
  return at;
}

ConvGrain pipeline_grain(const ConvPlan& plan, const Staging& staging, size_t out_h, size_t out_w) {
  const ConvGrain grain = plan.implementation->grain(plan, out_h, out_w);
  return staging.any()
             ? ConvGrain{divide_up(out_h, grain.lines),
                         staging.only_flips ? grain.channels : plan.shape.out_channels, grain.lines}
             : grain;
}

PipelineTraffic traffic(const Pipeline& p, LineRange out) {
  const Staging& staging = p.staging;
  const LineBytes staged(*p.plan, staging, p.run.out_w);
  const LineRange in = input_lines(p.plan->shape, p.run.pad_top, p.run.in_h, out);
  // The border lines of a staged input do not exist in the caller's tensor.
  const size_t top = staging.input ? staging.borders.top : 0;
  const LineRange given = {smaller(larger(in.first, top) - top, p.lhs.h),
                           smaller(larger(in.end, top) - top, p.lhs.h)};
  const size_t lhs = given.count() * p.lhs.line_bytes(), dst = out.count() * p.dst.line_bytes(),
               residual = p.residual.data ? out.count() * p.residual.line_bytes() : 0;
  PipelineTraffic t = {};
  if (staging.input) t.input = {lhs, in.count() * staged.input};
  t.convolution = {(staging.input ? t.input.written : lhs) + residual, dst};
  if (staging.output) t.output = {dst + residual, dst + residual};
  return t;
}

// A function of its own, so that its frame is not on the stack where nothing is staged.
[[gnu::noinline]] static void run_staged(const Pipeline& p, const ConvTask& task,
                                         uint8_t* workspace) {
  Task(p, p.run.out_h, workspace).run(task);
}

void run_task(const Pipeline& p, const ConvTask& task, uint8_t* workspace) {
  const KernelState state(p.plan->kernel);
  if (p.staging.any())
    run_staged(p, task, workspace);
  else
    run_passes(*p.plan, p.run, task, workspace);
}

void run_lines(const Pipeline& p, LineRange out, size_t most, const Output& to,
               uint8_t* workspace) {
  const KernelState state(p.plan->kernel);
  if (p.staging.any()) return Task(p, most, workspace).run_lines(out, to);
  ConvRun run = run_of_lines(*p.plan, p.run, 0, 1, out);
  read_lines(p.run, 0, input_lines(p.plan->shape, p.run.pad_top, p.run.in_h, out), &run);
  run.to = to;
  run_all(*p.plan, run, workspace);
}

}  // namespace octet
