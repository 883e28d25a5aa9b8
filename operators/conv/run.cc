// SPDX-License-Identifier: Apache-2.0
// octet_conv2d_workspace and octet_conv2d_run: turns checked arguments into tasks of a pipeline.
#include <string.h>

#include "dispatch/api/struct_size.h"
#include "operators/common/measure.h"
#include "operators/conv/call.h"
#include "operators/conv/trace.h"

namespace octet {

Pipeline resolve(const octet_conv2d& conv, const ConvCall& call, const Staging& staging) {
  const octet_conv2d_args& a = call.args;
  const ConvSizes& z = call.sizes;
  const ConvShape& s = z.shape;
  uint8_t* const lhs = (uint8_t*)a.lhs;
  uint8_t* const residual = (uint8_t*)a.residual;
  Pipeline p = {};
  p.plan = &conv.plan;
  p.staging = staging;
  const bool lhs_nchw = conv.lhs_layout == OCTET_NCHW, dst_nchw = conv.dst_layout == OCTET_NCHW;
  p.lhs = {lhs,           lhs_nchw, z.in_h, z.in_w, s.in_channels, element_bytes(conv.lhs_type),
           call.lhs_pixel};
  // An s16 value that is not split is staged as two bytes
  const size_t value = conv.plan.lhs_type == ElementType::kS16 ? sizeof(int16_t) : 1;
  if (value > 1) p.lhs.channels *= value, p.lhs.element = 1;
  if (conv.lhs_type == OCTET_F32) p.quantizer = {conv.plan.ops->quantize_floats, conv.quantization};
  p.dst = {(uint8_t*)a.dst, dst_nchw,       z.out_h,
           z.out_w,         s.out_channels, element_bytes(conv.dst_type),
           call.dst_pixel};
  p.residual = {residual, dst_nchw, z.out_h, z.out_w, s.out_channels, 1, call.residual_pixel};

  ConvRun& r = p.run;
  const Borders& borders = staging.borders;
  r.batch = z.batch;
  r.in_h = borders.h;
  r.in_w = borders.w;
  r.out_h = z.out_h;
  r.out_w = z.out_w;
  r.pad_top = s.pad_top - borders.top;
  r.pad_left = s.pad_left - borders.left;
  r.borders = staging.input && !staging.only_flips;
  r.zero_rows = conv.zero_row;
  r.planes = splits_s16(conv.plan);
  r.zero_row_stride = conv.zero_row && !r.planes ? 0 : zero_row_bytes(s);
  r.lhs_zero_points = r.planes ? conv.s16_zero_points : a.lhs_zero_points;
  r.lhs_scales = a.lhs_scales;
  r.lhs = lhs;
  r.lhs_end = (const uint8_t*)call.lhs.end;
  r.lhs_pixel = staging.input ? s.in_channels * value : call.lhs_pixel;
  r.lhs_row = r.in_w * r.lhs_pixel;
  r.lhs_image = r.in_h * r.lhs_row;
  r.to = {(uint8_t*)a.dst, call.dst_pixel, residual, call.residual_pixel};
  return p;
}

namespace {

// The quantization of an image of floats.
RowQuant measure_image(const octet_conv2d& conv, const Tensor& lhs, size_t image,
                       const Pool& pool) {
  const size_t pixel = lhs.nchw ? lhs.channels : lhs.pixel / sizeof(float), pixels = lhs.h * lhs.w;
  const float* const first = (const float*)lhs.data + image * pixels * pixel;
  const bool dense = pixel == lhs.channels;
  const FloatRows rows = {first, pixel, dense ? 1 : pixels, dense ? pixels * pixel : lhs.channels};
  return measure_in_tasks(*conv.plan.ops, rows, conv.lhs_quant == OCTET_LHS_ASYMMETRIC, pool);
}

// Runs before the first task, because tasks share images.
void prepare_images(const octet_conv2d& conv, const Tensor& lhs, const ImageSections& at,
                    const Pool& pool, uint8_t* workspace, ConvRun* run) {
  if (conv.zero_row) return;
  if (quantizes(conv)) {
    int32_t* const zero_points = (int32_t*)(workspace + at.zero_points);
    float* const scales = (float*)(workspace + at.scales);
    for (size_t i = 0; i < run->batch; ++i) {
      const RowQuant quant = measure_image(conv, lhs, i, pool);
      zero_points[i] = quant.zero_point;
      scales[i] = quant.scale;
    }
    run->lhs_zero_points = zero_points;
    run->lhs_scales = scales;
  }
  uint8_t* const rows = workspace + at.zero_rows;
  for (size_t i = 0; i < run->batch; ++i)
    memset(rows + i * run->zero_row_stride,
           (uint8_t)(run->lhs_zero_points ? run->lhs_zero_points[i] : 0) ^ conv.plan.staged_flip,
           run->zero_row_stride);
  run->zero_rows = rows;
}

struct Tasks {
  const Pipeline& pipeline;
  const ConvCut& cut;
  uint8_t* workspace;
  size_t bytes;  // bytes of each task's workspace
};

void run_one(void* context, size_t index) {
  const Tasks& t = *(const Tasks*)context;
  run_task(t.pipeline, t.cut.task(index), t.workspace + index * t.bytes);
}

// True if sizes and pads equal those of the schedule that create made.
bool as_declared(const ConvSizes& z, const octet_conv2d_args& a) {
  const auto same = [](size_t given, size_t declared) { return !given || given == declared; };
  return same(a.batch, z.batch) && same(a.in_h, z.in_h) && same(a.in_w, z.in_w) &&
         same(a.out_h, z.out_h) && same(a.out_w, z.out_w) && !a.pads;
}

// Whether an algorithm that wants borders had better read lines without them: the caller's tensor,
// or an image that is flipped as it lies. The image is then staged whole, so it must fit the room
// that the schedule has for the columns that windows read, and outputs may not be staged beside it.
bool reads_in_place(const octet_conv2d& conv, const ConvCall& call, const Borders& borders) {
  const ConvAlgorithm& algorithm = *conv.plan.implementation;
  const ConvShape& s = call.sizes.shape;
  if (conv.plan.staged_flip &&
      (conv.dst_layout == OCTET_NCHW || call.sizes.in_w > borders.w ||
       call.sizes.in_h * call.sizes.in_w * s.in_channels > budget_of(conv.plan)))
    return false;
  return algorithm.does_without_borders && wants_borders(conv.plan) &&
         conv.lhs_layout == OCTET_NHWC && is_8bit(conv.lhs_type) && !call.args.pads &&
         call.lhs_pixel == s.in_channels &&
         algorithm.does_without_borders(conv.plan, call.sizes.in_w);
}

octet_status run(const octet_conv2d& conv, const octet_conv2d_args& a, octet_error* error) {
  if (is_outline(conv)) return refuse_outline("conv", error);
  const size_t concurrency = a.parallel_for && a.concurrency ? a.concurrency : 1;
  ConvSchedule other;
  const ConvSchedule* schedule = &conv.declared;
  if (!as_declared(conv.declared.sizes, a) ||
      tasks_of(conv, conv.declared.sizes, concurrency) > 1) {
    ConvSizes sizes;
    OCTET_TRY(check_sizes(conv, a, "args.", &sizes, error));
    other = octet::schedule(conv, sizes, concurrency);
    schedule = &other;
  }
  const ConvSizes& z = schedule->sizes;
  const ConvCut& cut = schedule->cut;
  ConvCall call = {a, z, {}, {}, {}, 0, 0, 0};
  OCTET_TRY(check_call(conv, &call, error));
  OCTET_TRY(check_workspace(a, schedule->workspace(cut.tasks()), error));
  Staging staging = schedule->staging;
  if (reads_in_place(conv, call, staging.borders)) {
    staging.input = staging.only_flips = conv.plan.staged_flip;
    staging.borders = {0, 0, z.in_h, z.in_w};
  }
  Pipeline pipeline = resolve(conv, call, staging);
  uint8_t* const workspace = (uint8_t*)a.workspace;
  const Pool pool = {a.parallel_for, a.parallel_context, concurrency};
  prepare_images(conv, pipeline.lhs, schedule->images, pool, workspace, &pipeline.run);

  const double start = conv.verbose > 1 ? now_microseconds() : 0;
  Tasks tasks = {pipeline, cut, workspace + schedule->images.bytes, schedule->task_bytes};
  if (cut.tasks() == 1)
    run_one(&tasks, 0);
  else
    a.parallel_for(a.parallel_context, cut.tasks(), run_one, &tasks);
  if (conv.verbose > 1)
    trace("run", conv, z.shape, z.batch, z.in_h, z.in_w, now_microseconds() - start);
  return OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_conv2d_workspace(const octet_conv2d* conv, size_t batch, size_t in_h,
                                    size_t in_w, size_t concurrency, size_t* bytes,
                                    octet_error* error) {
  if (!conv || !bytes)
    return fail(error, OCTET_NULL_POINTER, "%s is null", conv ? "bytes" : "conv");
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  args.batch = batch;
  args.in_h = in_h;
  args.in_w = in_w;
  ConvSizes sizes;
  OCTET_TRY(check_sizes(*conv, args, "", &sizes, error));
  const size_t tasks = concurrency ? concurrency : 1;
  *bytes = schedule(*conv, sizes, tasks).workspace(tasks);
  if (*bytes == SIZE_MAX)
    return fail(error, OCTET_BAD_SIZE, "concurrency = %zu: the workspace leaves size_t",
                concurrency);
  return OCTET_OK;
}

octet_status octet_conv2d_run(const octet_conv2d* conv, const octet_conv2d_args* args,
                              octet_error* error) {
  if (!conv || !args) return fail(error, OCTET_NULL_POINTER, "%s is null", conv ? "args" : "conv");
  CallerStruct<octet_conv2d_args> given;
  OCTET_TRY(given.read(args, "args", error));
  return run(*conv, *given, error);
}
