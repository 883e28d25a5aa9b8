// octet_conv2d_workspace and octet_conv2d_run: argument checks, then up to three passes: stage the
// input, convolve, unstage the output.
#include <string.h>

#include "dispatch/check.h"
#include "dispatch/conv.h"
#include "dispatch/conv_shape.h"
#include "dispatch/conv_trace.h"
#include "dispatch/struct_size.h"
#include "kernels/conv/stage.h"

namespace octet {
namespace {

struct Sizes {
  size_t batch, in_h, in_w, out_h, out_w;
};

// Where things lie in the workspace of a run.
struct Workspace {
  Stage stage;
  size_t input, output, residual, tasks;  // offsets; rows of zero points come first
  size_t task_bytes;
  size_t bytes;  // SIZE_MAX if they leave size_t
};

Workspace plan_workspace(const octet_conv2d& conv, const Sizes& sizes, size_t tasks) {
  const ConvPlan& plan = conv.plan;
  Workspace w = {};
  w.stage = plan_stage(plan.shape, conv.lhs_layout == OCTET_NCHW, conv.dst_layout == OCTET_NCHW,
                       conv.borders, sizes.batch, sizes.in_h, sizes.in_w, plan.dst_bytes,
                       conv.residual_type != 0);
  w.input = plan.runtime_zero_point ? sizes.batch * zero_row_bytes(plan.shape) : 0;
  w.output = w.input + w.stage.input_bytes;
  w.residual = w.output + w.stage.output_bytes;
  w.tasks = w.residual + w.stage.residual_bytes;
  w.task_bytes = round_up(
      plan.method->task_workspace(plan, w.stage.in_h, w.stage.in_w, sizes.out_h, sizes.out_w),
      kAlignment);
  if (__builtin_mul_overflow(w.task_bytes, tasks, &w.bytes) ||
      __builtin_add_overflow(w.bytes, w.tasks, &w.bytes))
    w.bytes = SIZE_MAX;
  return w;
}

// ---- cutting the work ---------------------------------------------------------------------------

// Tasks along the algorithm's units and along channels.
struct Cut {
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

Cut cut(const ConvPlan& plan, const Sizes& sizes, size_t concurrency) {
  const ConvGrain grain = plan.method->grain(plan, sizes.out_h, sizes.out_w);
  const size_t units = sizes.batch * grain.units,
               grains = divide_up(plan.shape.out_channels, grain.channels);
  Cut best = {units, units, 1, plan.shape.out_channels, plan.shape.out_channels, 1};
  if (concurrency <= 1) return best;
  // The cut whose largest piece is smallest; among equals the one along units, for transforms are
  // shared by channels.
  size_t best_work = SIZE_MAX;
  for (size_t parts = smaller(concurrency, units); parts >= 1; --parts) {
    const size_t unit_step = divide_up(units, parts),
                 grain_step = divide_up(grains, smaller(concurrency / parts, grains));
    const size_t work = unit_step * grain_step;
    if (work < best_work) {
      best_work = work;
      best.unit_step = unit_step;
      best.channel_step = grain_step * grain.channels;
    }
  }
  best.unit_tasks = divide_up(units, best.unit_step);
  best.channel_tasks = divide_up(plan.shape.out_channels, best.channel_step);
  return best;
}

// ---- the passes ---------------------------------------------------------------------------------

struct Passes {
  const octet_conv2d& conv;
  const octet_conv2d_args& args;
  Sizes sizes;
  Workspace workspace;
  Cut work;
  ConvRun run;
  InputLine input;
  OutputLine output, residual;
  size_t pieces;  // tasks of the staging passes
};

// Calls f(line) for one of `pieces` even parts of `lines`.
template <typename F>
void for_lines(size_t lines, size_t pieces, size_t index, const F& f) {
  const size_t step = divide_up(lines, pieces);
  for (size_t line = index * step; line < smaller(lines, (index + 1) * step); ++line) f(line);
}

void stage_part(void* arg, size_t index) {
  Passes& p = *(Passes*)arg;
  const Stage& stage = p.workspace.stage;
  if (stage.input)
    for_lines(p.sizes.batch * stage.in_h, p.pieces, index,
              [&](size_t line) { stage_input_line(p.input, line); });
  if (stage.residual_bytes)
    for_lines(p.sizes.batch * p.sizes.out_h, p.pieces, index, [&](size_t line) {
      nchw_to_nhwc(p.residual, (const uint8_t*)p.args.residual, (uint8_t*)p.run.to.residual, line);
    });
}

void unstage_part(void* arg, size_t index) {
  Passes& p = *(Passes*)arg;
  for_lines(p.sizes.batch * p.sizes.out_h, p.pieces, index,
            [&](size_t line) { nhwc_to_nchw(p.output, p.run.to.dst, (uint8_t*)p.args.dst, line); });
}

void convolve_part(void* arg, size_t index) {
  Passes& p = *(Passes*)arg;
  const ConvPlan& plan = p.conv.plan;
  plan.method->run(plan, p.run, p.work.task(index),
                   (uint8_t*)p.args.workspace + p.workspace.tasks + index * p.workspace.task_bytes);
}

void pass(Passes* p, size_t count, void (*part)(void*, size_t)) {
  if (count == 1)
    part(p, 0);
  else
    p->args.parallel_for(p->args.parallel_context, count, part, p);
}

// ---- checks -------------------------------------------------------------------------------------

// prefix: what the sizes' names begin with.
octet_status check_sizes(const octet_conv2d& conv, const octet_conv2d_args& a, const char* prefix,
                         Sizes* sizes, octet_error* error) {
  const ConvShape& s = conv.plan.shape;
  *sizes = {a.batch ? a.batch : s.batch, a.in_h ? a.in_h : s.in_h, a.in_w ? a.in_w : s.in_w, 0, 0};
  const struct {
    const char* name;
    size_t got, most;
  } fields[] = {{"batch", sizes->batch, s.batch},
                {"in_h", sizes->in_h, s.in_h},
                {"in_w", sizes->in_w, s.in_w}};
  for (const auto& f : fields)
    if (f.got > f.most)
      return fail(error, OCTET_SIZE_ABOVE_MAXIMUM, "%s%s = %zu is above the declared %s_max = %zu",
                  prefix, f.name, f.got, f.name, f.most);
  OCTET_TRY(output_size(s, sizes->in_h, sizes->in_w, *prefix ? "args" : "the sizes", &sizes->out_h,
                        &sizes->out_w, error));
  if ((a.out_h && a.out_h != sizes->out_h) || (a.out_w && a.out_w != sizes->out_w))
    return fail(
        error, OCTET_BAD_SIZE,
        "args.out_h = %zu, args.out_w = %zu, but this convolution makes %zu x %zu of %zu x %zu",
        a.out_h, a.out_w, sizes->out_h, sizes->out_w, sizes->in_h, sizes->in_w);
  return OCTET_OK;
}

// A tensor of pixels: its distance between pixels and its bytes from first to last.
octet_status check_tensor(const char* name, const void* data, size_t stride, octet_layout layout,
                          size_t pixels, size_t channels, octet_type type, size_t* pixel_bytes,
                          Extent* extent, octet_error* error) {
  const size_t element = element_bytes(type);
  if (!data) return fail(error, OCTET_NULL_POINTER, "args.%s is null", name);
  if ((uintptr_t)data % element)
    return fail(error, OCTET_MISALIGNED, "args.%s is at %p; it must be a multiple of %zu", name,
                data, element);
  if (layout == OCTET_NCHW && stride)
    return fail(error, OCTET_BAD_STRIDE,
                "args.%s_stride = %zu: an NCHW tensor is dense, its stride is 0", name, stride);
  if (stride == 0) stride = channels;
  if (stride < channels)
    return fail(error, OCTET_BAD_STRIDE,
                "args.%s_stride = %zu is smaller than a pixel of %zu channels", name, stride,
                channels);
  size_t bytes;
  if (!span_bytes(1, 0, pixels, stride, channels, element, &bytes))
    return fail(error, OCTET_BAD_SIZE, "args.%s: %zu pixels with stride %zu leave size_t", name,
                pixels, stride);
  *pixel_bytes = (pixels == 1 ? channels : stride) * element;
  *extent = extent_of(data, bytes);
  return OCTET_OK;
}

struct Extents {
  Extent lhs, dst, residual;
};

octet_status check_overlap(const octet_conv2d& conv, const octet_conv2d_args& a, const Extents& e,
                           size_t batch, bool in_place, octet_error* error) {
  const Extent workspace = extent_of(a.workspace, a.workspace_bytes),
               packed = extent_of(conv.packed, conv.packed_bytes);
  const Extent zero_points = extent_of(a.lhs_zero_points, batch * sizeof(int32_t)),
               scales = extent_of(a.lhs_scales, batch * sizeof(float));
  const struct {
    const char *a_name, *b_name;
    const Extent &a, &b;
  } pairs[] = {{"args.dst", "args.lhs", e.dst, e.lhs},
               {"args.dst", "the packed weights", e.dst, packed},
               {"args.dst", "args.workspace", e.dst, workspace},
               {"args.dst", "args.lhs_zero_points", e.dst, zero_points},
               {"args.dst", "args.lhs_scales", e.dst, scales},
               {"args.workspace", "args.lhs", workspace, e.lhs},
               {"args.workspace", "args.residual", workspace, e.residual},
               {"args.workspace", "args.lhs_zero_points", workspace, zero_points},
               {"args.workspace", "args.lhs_scales", workspace, scales},
               {"args.workspace", "the packed weights", workspace, packed}};
  for (const auto& p : pairs)
    if (meet(p.a, p.b)) return fail(error, OCTET_OVERLAP, "%s overlaps %s", p.a_name, p.b_name);
  if (!in_place && meet(e.dst, e.residual))
    return fail(error, OCTET_OVERLAP, "args.dst overlaps args.residual, without being exactly it");
  return OCTET_OK;
}

octet_status check_lhs_quant(const octet_conv2d& conv, const octet_conv2d_args& a, size_t batch,
                             octet_error* error) {
  if (!conv.plan.runtime_zero_point) {
    if (!a.lhs_zero_points && !a.lhs_scales) return OCTET_OK;
    return fail(error, OCTET_UNSUPPORTED, "args.%s is only for OCTET_LHS_PER_TENSOR",
                a.lhs_scales ? "lhs_scales" : "lhs_zero_points");
  }
  if (a.lhs_scales && conv.dst_type == OCTET_S32)
    return fail(error, OCTET_UNSUPPORTED,
                "args.lhs_scales has no meaning for an s32 dst: it holds the accumulators");
  for (size_t i = 0; a.lhs_zero_points && i < batch; ++i)
    OCTET_TRY(
        check_zero_point(a.lhs_zero_points[i], conv.lhs_type, "args.lhs_zero_points", i, error));
  for (size_t i = 0; a.lhs_scales && i < batch; ++i)
    OCTET_TRY(check_scale(a.lhs_scales[i], "args.lhs_scales", i, error));
  return OCTET_OK;
}

octet_status check_workspace(const octet_conv2d_args& a, const Workspace& w, octet_error* error) {
  if (w.bytes == 0) return OCTET_OK;
  if (w.bytes == SIZE_MAX)
    return fail(error, OCTET_BAD_SIZE, "args.concurrency = %zu: the workspace leaves size_t",
                a.concurrency);
  if (!a.workspace)
    return fail(error, OCTET_NULL_POINTER, "args.workspace is null; this run needs %zu bytes",
                w.bytes);
  if (a.workspace_bytes < w.bytes)
    return fail(error, OCTET_WORKSPACE_TOO_SMALL, "args.workspace_bytes = %zu, this run needs %zu",
                a.workspace_bytes, w.bytes);
  return check_aligned(a.workspace, "args.workspace", error);
}

// ---- one run ------------------------------------------------------------------------------------

// Everything in NHWC, staged where it has to be.
void resolve(const octet_conv2d& conv, size_t lhs_pixel, const Output& given,
             const Extents& extents, Passes* p) {
  const ConvPlan& plan = conv.plan;
  const ConvShape& s = plan.shape;
  const octet_conv2d_args& a = p->args;
  const Workspace& w = p->workspace;
  const Stage& stage = w.stage;
  const Sizes& z = p->sizes;
  uint8_t* const memory = (uint8_t*)a.workspace;
  ConvRun& r = p->run;
  r = {};
  r.batch = z.batch;
  r.in_h = stage.in_h;
  r.in_w = stage.in_w;
  r.out_h = z.out_h;
  r.out_w = z.out_w;
  r.pad_top = stage.borders ? 0 : s.pad_top;
  r.pad_left = stage.borders ? 0 : s.pad_left;
  r.zero_rows = conv.zero_row ? conv.zero_row : memory;
  r.zero_row_stride = conv.zero_row ? 0 : zero_row_bytes(s);
  r.lhs_zero_points = a.lhs_zero_points;
  r.lhs_scales = a.lhs_scales;
  r.lhs = stage.input ? memory + w.input : (const uint8_t*)a.lhs;
  r.lhs_end = stage.input ? r.lhs + stage.input_bytes : (const uint8_t*)extents.lhs.end;
  r.lhs_pixel = stage.input ? s.in_channels : lhs_pixel;
  r.lhs_row = r.in_w * r.lhs_pixel;
  r.lhs_image = r.in_h * r.lhs_row;
  r.to = given;
  if (stage.output)
    r.to = {memory + w.output, s.out_channels * plan.dst_bytes,
            stage.residual_bytes ? memory + w.residual : nullptr, s.out_channels};

  p->input = {&plan.shape,
              &p->workspace.stage,
              conv.lhs_layout == OCTET_NCHW,
              (const uint8_t*)a.lhs,
              z.in_h,
              z.in_w,
              lhs_pixel,
              memory + w.input,
              r.zero_rows,
              r.zero_row_stride};
  p->output = {s.out_channels, z.out_h, z.out_w, plan.dst_bytes};
  p->residual = {s.out_channels, z.out_h, z.out_w, 1};
  if (!conv.zero_row)
    for (size_t i = 0; i < z.batch; ++i)
      memset(memory + i * r.zero_row_stride, a.lhs_zero_points ? a.lhs_zero_points[i] : 0,
             r.zero_row_stride);
}

octet_status run(const octet_conv2d& conv, const octet_conv2d_args& a, octet_error* error) {
  const ConvPlan& plan = conv.plan;
  const ConvShape& s = plan.shape;
  Passes p = {conv, a, {}, {}, {}, {}, {}, {}, {}, 1};
  OCTET_TRY(check_sizes(conv, a, "args.", &p.sizes, error));
  const Sizes& z = p.sizes;
  const size_t inputs = z.batch * z.in_h * z.in_w, outputs = z.batch * z.out_h * z.out_w;
  size_t lhs_pixel, dst_pixel, residual_pixel = 0;
  Extents extents = {};
  OCTET_TRY(check_tensor("lhs", a.lhs, a.lhs_stride, conv.lhs_layout, inputs, s.in_channels,
                         conv.lhs_type, &lhs_pixel, &extents.lhs, error));
  OCTET_TRY(check_tensor("dst", a.dst, a.dst_stride, conv.dst_layout, outputs, s.out_channels,
                         conv.dst_type, &dst_pixel, &extents.dst, error));
  if (conv.residual_type)
    OCTET_TRY(check_tensor("residual", a.residual, a.residual_stride, conv.dst_layout, outputs,
                           s.out_channels, conv.residual_type, &residual_pixel, &extents.residual,
                           error));
  else if (a.residual)
    return fail(error, OCTET_UNSUPPORTED,
                "args.residual: this convolution was created without one");
  OCTET_TRY(check_lhs_quant(conv, a, z.batch, error));
  const bool in_place = a.residual == a.dst && residual_pixel == dst_pixel;
  OCTET_TRY(check_overlap(conv, a, extents, z.batch, in_place, error));

  const size_t concurrency = a.parallel_for && a.concurrency ? a.concurrency : 1;
  p.work = cut(plan, z, concurrency);
  p.workspace = plan_workspace(conv, z, p.work.tasks());
  OCTET_TRY(check_workspace(a, p.workspace, error));
  resolve(conv, lhs_pixel, {(uint8_t*)a.dst, dst_pixel, (const uint8_t*)a.residual, residual_pixel},
          extents, &p);

  const double start = conv.verbose > 1 ? now_microseconds() : 0;
  const Stage& stage = p.workspace.stage;
  p.pieces = smaller(concurrency, z.batch * larger(stage.in_h, z.out_h));
  if (stage.input || stage.residual_bytes) pass(&p, p.pieces, stage_part);
  pass(&p, p.work.tasks(), convolve_part);
  p.pieces = smaller(concurrency, z.batch * z.out_h);
  if (stage.output) pass(&p, p.pieces, unstage_part);
  if (conv.verbose > 1) trace("run", conv, z.batch, z.in_h, z.in_w, now_microseconds() - start);
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
  Sizes sizes;
  OCTET_TRY(check_sizes(*conv, args, "", &sizes, error));
  *bytes = plan_workspace(*conv, sizes, concurrency ? concurrency : 1).bytes;
  if (*bytes == SIZE_MAX)
    return fail(error, OCTET_BAD_SIZE, "concurrency = %zu: the workspace leaves size_t",
                concurrency);
  return OCTET_OK;
}

octet_status octet_conv2d_run(const octet_conv2d* conv, const octet_conv2d_args* args,
                              octet_error* error) {
  if (!conv || !args) return fail(error, OCTET_NULL_POINTER, "%s is null", conv ? "args" : "conv");
  Given<octet_conv2d_args> given;
  OCTET_TRY(given.read(args, "args", error));
  return run(*conv, *given, error);
}
