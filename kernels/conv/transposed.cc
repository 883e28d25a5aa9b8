#include "kernels/conv/transposed.h"

#include "kernels/conv/block.h"

namespace octet {
namespace {

// Where a tap reads for the first pixel of a phase. The next pixel reads one further to the right.
struct TapAt {
  ptrdiff_t y, x;
};

// Per task: where taps read, the steps between them, pointers, tiles, then what prepare_block wants.
struct Workspace {
  size_t rows;
  size_t steps, pointers, tiles, prepared, bytes;
};

Workspace plan_workspace(const ConvPlan& plan, const Taps& taps, size_t out_w) {
  const size_t pixels = divide_up(out_w, plan.shape.stride_w);  // of a phase
  Workspace w = {};
  w.rows = smaller(conv_block_rows(plan, taps.count * (sizeof(void*) + taps.depth)), pixels);
  w.steps = round_up(taps.count * sizeof(TapAt), 64);
  w.pointers = w.steps + round_up(taps.count * sizeof(ptrdiff_t), 64);
  w.tiles = w.pointers + round_up(w.rows * taps.count * sizeof(void*), 64);
  w.prepared = w.tiles + round_up(divide_up(w.rows, plan.kernel->mr) * sizeof(BlockTile), 64);
  w.bytes = w.prepared + prepared_bytes(plan, taps, w.rows);
  return w;
}

// The pixels x0, x0 + stride_w, ... of an output line. Arrays over taps keep room for those of other phases, so that they lie as multiply_block expects.
class Phase {
 public:
  Phase(const ConvPlan& plan, const ConvRun& run, const Taps& taps, size_t line, size_t x0, TapAt* at, ptrdiff_t* steps)
      : plan_(plan), run_(run), taps_(taps), image_(line / run.out_h), at_(at) {
    const ConvShape& s = plan.shape;
    const size_t y = line % run.out_h + run.pad_top, x = x0 + run.pad_left;
    phase_ = y % s.stride_h * s.stride_w + x % s.stride_w;
    range_ = taps_of_group(s, phase_);
    size_t tap = range_.first;
    for_each_position(s, phase_, [&](size_t ky, size_t kx) {  // both quotients are exact: that is what the phase means
      at[tap++] = {((ptrdiff_t)y - (ptrdiff_t)(ky * s.dilation_h)) / (ptrdiff_t)s.stride_h, ((ptrdiff_t)x - (ptrdiff_t)(kx * s.dilation_w)) / (ptrdiff_t)s.stride_w};
    });
    for (tap = range_.first; tap < range_.end; ++tap) {
      top_ = at[tap].y < top_ ? at[tap].y : top_;
      bottom_ = at[tap].y > bottom_ ? at[tap].y : bottom_;
      left_ = at[tap].x < left_ ? at[tap].x : left_;
      right_ = at[tap].x > right_ ? at[tap].x : right_;
      if (tap > range_.first) steps[tap - 1] = offset(at[tap].y - at[tap - 1].y, at[tap].x - at[tap - 1].x);
    }
  }

  // `rows` pixels from the phase's i-th on. Returns the number of tiles.
  size_t point(size_t group, size_t i, size_t rows, const uint8_t** pointers, BlockTile* tiles) const {
    const uint8_t* const input = run_.lhs + image_ * run_.lhs_image + group * plan_.shape.group_in();
    const bool lines_inside = range_.first < range_.end && top_ >= 0 && bottom_ < (ptrdiff_t)run_.in_h;
    const Tiling tiling(rows, *plan_.kernel);
    for (size_t t = 0, row = 0; t < tiling.count; ++t) {
      const size_t height = tiling.rows(t);
      const ptrdiff_t first = (ptrdiff_t)(i + row), last = first + (ptrdiff_t)height - 1;
      tiles[t] = {row, 1, (uint32_t)height, (uint32_t)phase_, (uint32_t)phase_ + (range_.first < range_.end), 0, 0, false, nullptr};
      if (lines_inside && left_ + first >= 0 && right_ + last < (ptrdiff_t)run_.in_w) {
        const TapAt& tap = at_[range_.first];
        tiles[t].base = input + offset(tap.y, tap.x + first);
        const uint8_t* const furthest = input + offset(bottom_, right_ + last);
        tiles[t].reads_to_groups = (size_t)(run_.lhs_end - furthest) >= plan_.kernel->rhs_layout.depth(taps_.depth);
      } else {
        point_rows(input, first, height, pointers);
      }
      pointers += taps_.count * height;
      row += height;
    }
    return tiling.count;
  }

 private:
  ptrdiff_t offset(ptrdiff_t y, ptrdiff_t x) const { return y * (ptrdiff_t)run_.lhs_row + x * (ptrdiff_t)run_.lhs_pixel; }

  void point_rows(const uint8_t* input, ptrdiff_t first, size_t height, const uint8_t** pointers) const {
    const uint8_t* const zeros = run_.zero_row(image_);
    for (size_t tap = range_.first; tap < range_.end; ++tap) {
      const bool line_inside = at_[tap].y >= 0 && at_[tap].y < (ptrdiff_t)run_.in_h;
      for (size_t row = 0; row < height; ++row) {
        const ptrdiff_t x = at_[tap].x + first + (ptrdiff_t)row;
        pointers[tap * height + row] = line_inside && x >= 0 && x < (ptrdiff_t)run_.in_w ? input + offset(at_[tap].y, x) : zeros;
      }
    }
  }

  const ConvPlan& plan_;
  const ConvRun& run_;
  const Taps& taps_;
  const size_t image_;
  const TapAt* const at_;
  size_t phase_;
  TapRange range_;
  ptrdiff_t top_ = PTRDIFF_MAX, bottom_ = PTRDIFF_MIN, left_ = PTRDIFF_MAX, right_ = PTRDIFF_MIN;  // of all taps, for the first pixel
};

}  // namespace

size_t transposed_workspace(const ConvPlan& plan, const Taps& taps, size_t out_w) { return plan_workspace(plan, taps, out_w).bytes; }

void run_transposed(const ConvPlan& plan, const ConvRun& run, const Taps& taps, const ConvTask& task, uint8_t* workspace) {
  const ConvShape& s = plan.shape;
  const Workspace w = plan_workspace(plan, taps, run.out_w);
  ConvBlock block = make_block(plan, run, s.stride_w);
  block.lhs_stride = run.lhs_pixel;
  block.tap_steps = (const ptrdiff_t*)(workspace + w.steps);
  block.pointers = (const uint8_t* const*)(workspace + w.pointers);
  block.tiles = (const BlockTile*)(workspace + w.tiles);
  for (size_t line = task.first; line < task.end; ++line)
    for (size_t x0 = 0; x0 < smaller(s.stride_w, run.out_w); ++x0) {
      const Phase phase(plan, run, taps, line, x0, (TapAt*)workspace, (ptrdiff_t*)(workspace + w.steps));
      const size_t count = divide_up(run.out_w - x0, s.stride_w);
      for (size_t i = 0; i < count; i += block.rows) {
        block.rows = smaller(w.rows, count - i);
        const auto fill = [&](size_t group) {
          block.tile_count = phase.point(group, i, block.rows, (const uint8_t**)(workspace + w.pointers), (BlockTile*)(workspace + w.tiles));
        };
        run_block(plan, run, taps, task, line / run.out_h, line * run.out_w + x0 + i * s.stride_w, workspace + w.prepared, &block, fill);
      }
    }
}

}  // namespace octet
