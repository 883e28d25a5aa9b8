#include "kernels/conv/transposed.h"

#include "kernels/conv/block.h"

namespace octet {
namespace {

struct Workspace {
  size_t rows, tiles, prepared, bytes;
};

Workspace plan_workspace(const ConvPlan& plan, const Taps& taps, size_t out_w) {
  const size_t pixels = divide_up(out_w, plan.shape.stride_w);  // of a phase
  Workspace w = {};
  w.rows = smaller(conv_block_rows(plan, taps.count * (sizeof(void*) + taps.depth)), pixels);
  w.tiles = round_up(w.rows * taps.count * sizeof(void*), 64);
  w.prepared = w.tiles + round_up(divide_up(w.rows, plan.kernel->mr) * sizeof(TileTaps), 64);
  w.bytes = w.prepared + prepared_bytes(plan, taps, w.rows);
  return w;
}

// The pixels x, x + stride_w, ... of an output line: their pointers for the taps of one phase, in the order of the packed taps. The room of the other
// phases' taps stays unused, so that a tile's pointers lie as multiply_block expects them.
struct Phase {
  const ConvPlan& plan;
  const ConvRun& run;
  const Taps& taps;
  size_t image, y, phase;
  TapRange range;

  void point(size_t group, size_t x, size_t rows, const uint8_t** pointers, TileTaps* tiles) const {
    const ConvShape& s = plan.shape;
    const uint8_t* const zeros = run.zero_row(image);
    const uint8_t* const input = run.lhs + image * run.lhs_image + group * s.group_in();
    const Tiling tiling(rows, *plan.kernel);
    const TileTaps used = {(uint32_t)phase, (uint32_t)phase + (range.first < range.end), false, nullptr};
    for (size_t t = 0; t < tiling.count; ++t) {
      const size_t height = tiling.rows(t);
      const uint8_t** out = pointers + range.first * height;
      for_each_position(s, phase, [&](size_t ky, size_t kx) {
        const ptrdiff_t up = (ptrdiff_t)(y + run.pad_top) - (ptrdiff_t)(ky * s.dilation_h), left = (ptrdiff_t)(x + run.pad_left) - (ptrdiff_t)(kx * s.dilation_w);
        const ptrdiff_t step_h = (ptrdiff_t)s.stride_h, step_w = (ptrdiff_t)s.stride_w;
        const ptrdiff_t iy = up >= 0 ? up / step_h : -1;  // exact: that is what the phase means
        for (size_t i = 0; i < height; ++i) {
          const ptrdiff_t across = left + (ptrdiff_t)i * step_w, ix = across >= 0 ? across / step_w : -1;
          const bool inside = iy >= 0 && iy < (ptrdiff_t)run.in_h && ix >= 0 && ix < (ptrdiff_t)run.in_w;
          out[i] = inside ? input + (size_t)iy * run.lhs_row + (size_t)ix * run.lhs_pixel : zeros;
        }
        out += height;
      });
      tiles[t] = used;
      pointers += taps.count * height;
      x += height * s.stride_w;
    }
  }
};

}  // namespace

size_t transposed_workspace(const ConvPlan& plan, const Taps& taps, size_t out_w) { return plan_workspace(plan, taps, out_w).bytes; }

void run_transposed(const ConvPlan& plan, const ConvRun& run, const Taps& taps, const ConvTask& task, uint8_t* workspace) {
  const ConvShape& s = plan.shape;
  const Workspace w = plan_workspace(plan, taps, run.out_w);
  ConvBlock block = {};
  block.sink = {&plan.finish, &plan.narrow, plan.narrow_in_kernel, plan.dst_bytes, nullptr, s.stride_w * run.dst_pixel, nullptr,
                s.stride_w * run.residual_pixel};
  block.pointers = (const uint8_t* const*)workspace;
  block.tiles = (const TileTaps*)(workspace + w.tiles);
  for (size_t line = task.line0; line < task.line1; ++line) {
    const size_t image = line / run.out_h, y = line % run.out_h;
    block.zero_point = zero_point_of(plan, run, image);
    block.scale = scale_of(run, image);
    for (size_t x0 = 0; x0 < smaller(s.stride_w, run.out_w); ++x0) {
      const size_t phase = (y + run.pad_top) % s.stride_h * s.stride_w + (x0 + run.pad_left) % s.stride_w;
      const Phase pixels = {plan, run, taps, image, y, phase, taps_of_group(s, phase)};
      const size_t count = divide_up(run.out_w - x0, s.stride_w);
      for (size_t i = 0; i < count; i += block.rows) {
        block.rows = smaller(w.rows, count - i);
        const size_t x = x0 + i * s.stride_w, pixel = line * run.out_w + x;
        block.sink.dst = run.dst + pixel * run.dst_pixel;
        block.sink.residual = run.residual ? run.residual + pixel * run.residual_pixel : nullptr;
        for (size_t g = task.n0 / s.group_out(); g * s.group_out() < task.n1; ++g) {
          pixels.point(g, x, block.rows, (const uint8_t**)workspace, (TileTaps*)(workspace + w.tiles));
          prepare_block(plan, taps, workspace + w.prepared, &block);
          multiply_block(plan, taps, block, g, larger(task.n0, g * s.group_out()), smaller(task.n1, (g + 1) * s.group_out()));
        }
      }
    }
  }
}

}  // namespace octet
