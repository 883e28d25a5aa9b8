// SPDX-License-Identifier: Apache-2.0
// Plans the direct algorithm: its predicted time, blocks and workspaces, and the tiles into which a
// run cuts small images.
#include <string.h>

#include "kernels/macro/partition.h"
#include "operators/conv/algorithms/byte_windows.h"
#include "operators/conv/algorithms/direct/by_taps.h"
#include "operators/conv/algorithms/direct/direct.h"
#include "operators/conv/algorithms/direct/group_windows.h"
#include "operators/conv/algorithms/direct/in_place.h"
#include "operators/conv/algorithms/direct/line_windows.h"
#include "operators/conv/algorithms/direct/strided_pixels.h"
#include "operators/conv/algorithms/direct/transposed.h"
#include "operators/conv/algorithms/direct/window.h"
#include "operators/conv/algorithms/estimate.h"

namespace octet {
namespace {

// Predicted cycles of an image from which on it pays to compare the cuts, which takes some hundred
// (Zen 4, 2026-11-28)
constexpr double kLeastCycles = 12000;

// Whether images of so many pixels are cut by lines whatever that costs.
bool cuts_lines(size_t pixels, size_t mr) { return pixels >= 4 * mr; }

// The share of kernel rows that tiles multiply: they skip rows that lie outside of the image for
// all of their pixels. Tiles have pixels of one line (see Window::best_cut), but for images of a
// few tiles.
double used_rows(const ConvShape& s, size_t mr) {
  const size_t out_h = conv_out_h(s, s.in_h), out_w = conv_out_w(s, s.in_w), pixels = out_h * out_w,
               height = cuts_lines(pixels, mr) ? out_w : mr;
  double used = 0;
  for (size_t ky = 0; ky < s.kernel_h; ++ky) {
    // Counts tiles with a line y for which pad_top <= y * stride + ky * dilation < pad_top + in_h.
    const size_t offset = ky * s.dilation_h;
    const size_t first = offset >= s.pad_top ? 0 : divide_up(s.pad_top - offset, s.stride_h);
    const size_t end =
        offset >= s.pad_top + s.in_h ? 0 : divide_up(s.pad_top + s.in_h - offset, s.stride_h);
    if (smaller(end, out_h) > first)
      used += (double)(smaller(round_up(smaller(end, out_h) * out_w, height), pixels) -
                       first * out_w / height * height);
  }
  return used / ((double)pixels * (double)s.kernel_h);
}

Estimate estimate(const ConvWork& w) {
  const ConvShape s = direct_columns(w.layout, w.shape);
  // Lines that are read in place lie at one step, so they cost no more than one tap.
  const bool staged = copies_windows(s),
             copied =
                 staged && (w.cost.gather > 0 ||
                            !reads_lines(w.layout, w.cost.lines ? w.cost.lines : w.cost.nr, s));
  const Taps taps = direct_taps(s);
  const bool strided = !staged && s.skips_pixels(),
             whole =
                 strided || (!staged && w.cost.step && WholeWindows::are_copied(w.cost.step, s));
  // Whether padding is skipped depends on the zero point, which is not known yet. Taps beyond the
  // sides count as work, and kernel rows that lines of a transposed layer may omit do not.
  const double reached = (double)(s.in_h * s.stride_h) / w.out_h;
  const bool omits = s.transposed && s.phases == 1 && w.cost.gather == 0 && reached < 1;
  const size_t tap_panels = w.cost.tap_panels;
  const bool may_by_taps = tap_panels && ByTaps::may(w.layout, s, taps);
  const double inside =
      may_by_taps ? ByTaps::inside(s, s.in_h, s.in_w, (size_t)w.out_h, (size_t)w.out_w) : 1;
  // Of weights that turn out not to be pairs on AVX2, this is not so; then direct takes up to twice
  // the time
  const bool by_taps =
      may_by_taps && ByTaps::is_faster(inside, w.layout, w.cost.tap_pairs, s, taps,
                                       ByTaps::may_join(w.cost.tap_pairs, s, taps, (size_t)w.out_h),
                                       (size_t)(w.out_h * w.out_w), tap_panels);
  const double used = by_taps                             ? inside
                      : omits                             ? reached
                      : (s.transposed || staged || whole) ? 1
                                                          : used_rows(s, w.cost.mr),
               phases = s.transposed ? (double)(s.stride_h * s.stride_w) : 1;
  PanelWork p(w, s, (double)taps.count * used / (phases * (double)s.phases), taps.depth);
  const double groups = (double)s.groups;
  if (s.transposed && !by_taps) {  // tiles run along the longer side of a phase
    const size_t lines = divide_up((size_t)w.out_h, s.stride_h),
                 columns = divide_up((size_t)w.out_w, s.stride_w * s.phases);
    p.tiles = (double)s.batch * phases * (double)smaller(lines, columns) *
              (double)divide_up(larger(lines, columns), w.cost.mr) *
              (double)divide_up(s.group_out(), w.cost.nr) * groups;
  }
  if (staged) {
    // Inputs that are read in place are staged only for another sign, or with gaps between pixels.
    p.copied = copied ? w.inputs + p.windows : 0;
    p.traffic = copied ? 2 * w.inputs : 0;
  } else if (!s.pointwise()) {
    // Tiles at the ends of lines look up each row: two tiles per line, or all.
    const double ends = (double)smaller((size_t)w.out_w, 2 * w.cost.mr) / w.out_w;
    const size_t step = w.cost.step;
    if (step && LineWindows::are_fewer(step, w.cost.mr, s, (size_t)w.out_w)) {
      p.rows_copied = p.windows / p.taps * (double)s.kernel_w *
                      LineWindows::lines_of(s, (double)w.out_h) / (double)w.out_h;
    } else if (whole) {
      p.rows_copied = p.windows;
      if (step) p.points = w.pixels * groups * p.taps;  // copies of few bytes each
    } else {
      p.points = w.pixels * (by_taps ? 1 : ends) * groups * p.taps;
      if (step) p.rows_copied = p.windows * (p.depth % step ? 1 : ends);
    }
    p.gathers = w.pixels * groups * p.taps;
  }
  Estimate e = estimate_panels(w, p);
  e.compute *= byte_windows_share(w);
  if (s.stride_w > 1 && !staged && !strided && !s.transposed && !by_taps)
    e.compute *= w.cost.strided;
  return e;
}

constexpr size_t kWindowBytes = 16 * 1024;  // copied windows stay in L1

// Outputs of a block whose windows of kernel lines take a share of L2: 0.25 to 0.7 of it take as
// long, but where weights fill L2, fewer blocks read them less often (Emerald Rapids, 2026-12-01).
size_t lines_block(const ConvPlan& plan) {
  constexpr double kShare = 0.4;
  const MicroKernel& kernel = *plan.kernel;
  const double rows =
      kShare * (double)plan.cache_bytes / (double)LineWindows::stride(kernel, plan.shape);
  return larger((size_t)rows / kernel.mr, 1) * kernel.mr;
}

size_t block(const ConvPlan& plan) {
  const MicroKernel& kernel = *plan.kernel;
  const ConvShape s = shape_for_kernels(plan);
  const Taps taps = direct_taps(s);
  if (s.transposed) return transposed_block(plan, taps);
  if (copies_windows(s))
    return larger(kWindowBytes / window_stride(taps) / kernel.mr, 1) * kernel.mr;
  if (!reads_lines(plan) && copies_whole_windows(plan, s))
    return conv_block_rows(plan, WholeWindows::stride(kernel, s));
  if (StridedPixels::suit(plan)) return conv_block_rows(plan, StridedPixels::stride(plan));
  if (plans_lines(plan)) return lines_block(plan);
  const size_t gathered =
      kernel.gather ? taps.count * round_up(taps.depth, kernel.lhs_kr) * kernel.lhs_element_bytes
      : kernel.copy_rows ? kernel.copied_stride(taps.depth, taps.count)
                         : taps.depth;
  const size_t rows =
      conv_block_rows(plan, taps.count * sizeof(void*) + sizeof(BlockTile) + gathered);
  if (!s.pointwise() || reads_lines(plan)) return rows;
  return rows_of_stores(kernel, {s.batch * s.in_h * s.in_w, taps.depth, s.group_out(),
                                 plan.dst_bytes, rows, plan.cache_bytes});
}

size_t panels_workspace(const ConvPlan& plan, size_t out_h, size_t out_w) {
  const ConvShape s = shape_for_kernels(plan);
  const Taps taps = direct_taps(s);
  const size_t pixels = s.batch * out_h * out_w, by_taps = ByTaps::bytes(plan, taps, pixels);
  if (s.transposed) return larger(transposed_workspace(plan, taps, out_h, out_w), by_taps);
  if (!reads_lines(plan) && copies_whole_windows(plan, s))
    return windows_workspace(plan, whole_window(plan, taps), WholeWindows::stride(*plan.kernel, s),
                             pixels)
        .bytes;
  if (copies_windows(s)) return windows_workspace(plan, taps, window_stride(taps), pixels).bytes;
  if (StridedPixels::suit(plan))
    return windows_workspace(plan, taps, StridedPixels::stride(plan), pixels).bytes;
  const bool lines = reads_lines(plan), tiles = !plan.shape.pointwise() || lines;
  const size_t bytes =
      larger(plans_lines(plan) ? plan_lines(plan, plan.shape.batch, out_h, out_w).bytes
                               : plan_direct(plan, taps, pixels, tiles ? SIZE_MAX : 0).bytes,
             by_taps);
  const size_t copies =
      larger(GroupWindows::bytes(plan, out_h, out_w), lines ? InPlace::bytes(plan, out_h) : 0);
  return copies ? round_up(bytes, kAlignment) + copies : bytes;
}

size_t task_workspace(const ConvPlan& plan, size_t, size_t, size_t out_h, size_t out_w) {
  if (takes_s16(plan)) return direct_s16_workspace(plan, plan.shape.batch * out_h * out_w, out_w);
  return larger(panels_workspace(plan, out_h, out_w), byte_windows_workspace(plan, out_h, out_w));
}

void sum_phases(const RhsLayout& layout, const ConvShape& rewritten, const uint8_t* payload,
                int32_t* sums) {
  const ConvShape s = as_columns(rewritten);
  const Taps taps = direct_taps(s);
  const ConvPanels p = read_panels(layout, s, taps, payload);
  memset(sums, 0, s.out_channels * sizeof *sums);
  for (size_t group = 0; group < taps.groups; ++group)
    for (size_t n = 0; n < s.out_channels; ++n)
      sums[n] =
          (int32_t)((uint32_t)sums[n] + (uint32_t)p.group_sums[group * p.group_sums_stride + n]);
}

}  // namespace

DirectWorkspace plan_direct(const ConvPlan& plan, const Taps& taps, size_t pixels, size_t pointed) {
  DirectWorkspace w = {};
  Sections sections;
  w.rows = smaller(plan.block, pixels);
  w.steps = sections.take(taps.count * sizeof(ptrdiff_t));
  w.pointers = sections.take(w.rows * taps.count * sizeof(void*));
  w.tiles = sections.take(w.rows * sizeof(BlockTile));
  w.prepared = prepared_sections(plan, taps, w.rows, smaller(pointed, w.rows));
  w.prepared_at = sections.take(w.prepared.bytes);
  if (!pointed && has_room_to_arrange(plan, plan.shape.group_out()))
    w.arranged = sections.take(w.rows * arranged_stride(plan));
  w.bytes = sections.bytes;
  return w;
}

bool plans_lines(const ConvPlan& plan) {
  const MicroKernel& kernel = *plan.kernel;
  const ConvShape& s = plan.shape;
  const size_t out_w = conv_out_w(s, s.in_w);
  if (!kernel.copy_rows || takes_s16(plan) || copies_windows(s) || reads_lines(plan) ||
      !LineWindows::are_fewer(kernel.step_depth, kernel.mr, s, out_w))
    return false;
  // With a dilation, blocks may read more lines than they have
  const size_t rows = smaller(lines_block(plan), conv_out_h(s, s.in_h) * out_w);
  return LineWindows::bytes(kernel, s, 1, out_w, rows) <= rows * WholeWindows::stride(kernel, s);
}

LinesWorkspace plan_lines(const ConvPlan& plan, size_t batch, size_t out_h, size_t out_w) {
  const MicroKernel& kernel = *plan.kernel;
  ConvPlan by_lines = plan;
  by_lines.shape = lines_as_positions(plan.shape);
  const size_t pixels = batch * out_h * out_w, rows = smaller(plan.block, pixels),
               pointed = LineWindows::between_images(kernel, plan.shape, batch, rows);
  LinesWorkspace w = {};
  w.direct = plan_direct(by_lines, direct_taps(by_lines.shape), pixels, pointed);
  w.windows = round_up(w.direct.bytes, kAlignment);
  w.bytes = w.windows + LineWindows::bytes(kernel, plan.shape, batch, out_w, rows);
  return w;
}

double Window::cycles(size_t rows, size_t y, size_t last, size_t taps) const {
  uint32_t before = UINT32_MAX, after = UINT32_MAX;
  for (size_t line = y; line <= last; ++line) {
    const Sides ends = ends_at(line);
    before = smaller(before, ends.before), after = smaller(after, ends.after);
  }
  return cost_.tile +
         (double)((s_.kernel_h - before - after) * taps) *
             (cost_.tap + larger(cost_.row * (double)round_up_pow2(rows, kernel_.lhs_lanes_step),
                                 cost_.weights));
}

double Window::row_cycles(size_t rows) const {
  const Tiling tiling(rows, kernel_);
  double sum = 0;
  for (size_t t = 0, row = 0, height; t < tiling.count; ++t, row += height) {
    height = tiling.rows(t);
    const size_t y = row / run_.out_w, last = (row + height - 1) / run_.out_w;
    const bool together = y / run_.out_h == last / run_.out_h;
    sum += cycles(height, together ? y % run_.out_h : 0,
                  together ? last % run_.out_h : run_.out_h - 1, s_.kernel_w);
  }
  return sum * (double)(run_.out_h * run_.out_w) / (double)rows;
}

double Window::line_cycles(Cut cut) const {
  double sum = 0;
  for (size_t x = 0; x < run_.out_w;) {
    const Piece piece = piece_at(cut, x, run_.out_h);
    for (size_t i = 0; i < piece.micro_panels; ++i)
      for_each_tile(cut, piece, 0, [&](size_t at, size_t height) {
        sum += cycles(height, piece.across ? i : at, piece.across ? i : at + height - 1,
                      s_.kernel_w - piece.sides.count());
      });
    x += piece.width;
  }
  return sum;
}

Cut Window::fastest_cut(size_t rows, bool passes) const {
  const size_t pixels = run_.out_h * run_.out_w;
  if (pixels == 1 && run_.batch == 1) return passes ? Cut::kColumns : Cut::kRows;
  if ((double)(pixels * s_.taps()) * cost_.row < kLeastCycles) return Cut::kRows;
  Cut best = Cut::kRows;
  double least = row_cycles(smaller(rows, run_.batch * pixels));
  constexpr Cut kCuts[] = {Cut::kLines, Cut::kColumns, Cut::kSides};
  for (const Cut cut : kCuts) {
    if (cut != Cut::kLines && !passes) break;
    const double cycles = line_cycles(cut);
    if (cycles < least) best = cut, least = cycles;
  }
  return best;
}

// Only for kernels that read rows: prepare has no such tiles. Cuts by columns pay wherever padding
// adds nothing, for they skip it. Blocks then end with their image and each reads all weights, so
// for images of a few pixels the costs decide. Where no padding is skipped, but kernels have taller
// tiles for rows at one stride, whole lines take 0.64 to 1.03 of the time of pixel after pixel,
// whose tiles across line ends need a pointer to each row (AVX512-VNNI, 3x3 without padding; below
// these widths 0.95 to 1.07). Kernels without such tiles multiply them in one call where they have
// no padding: AVX2, 2x2 at stride 2 0.93 to 0.96, uniform operands 0.86 to 0.93.
Cut Window::best_cut(size_t rows) const {
  if (kernel_.gather || rows < run_.out_w) return Cut::kRows;
  // Registers of several rows take as long where a piece of a line does not fill them
  const size_t inner = run_.out_w - smaller(run_.out_w, s_.kernel_w - 1);
  if (round_up_pow2(inner, kernel_.lhs_lanes_step) > run_.out_w) return Cut::kRows;
  const bool passes = skips_ && passes_sides();
  if (!cuts_lines(run_.out_h * run_.out_w, kernel_.mr)) return fastest_cut(rows, passes);
  const bool whole =
      kernel_.micro_panel.taps &&
      (kernel_.tall_nr ? run_.out_w >= (s_.group_out() <= kernel_.tall_nr ? 7 : 9)
                       : !passes_sides() && run_.out_w >= kernel_.micro_panel.tiles * kernel_.mr);
  return passes || whole ? Cut::kColumns : Cut::kRows;
}

const ConvAlgorithm direct_algorithm = on_panels<direct_taps, direct_columns>({
    .name = "direct",
    .operands = KernelKind::kInt8,
    .estimate = estimate,
    .block = block,
    .reads_in_place = true,
    .task_workspace = task_workspace,
    .run = run_direct,
    .wants_borders = copies_windows,
    .does_without_borders = InPlace::suits,
    .pads_lines = pads_lines,
    .rewrite = joined_phases,
    .sum_phases = sum_phases,
});

}  // namespace octet
