// The direct algorithm: kernels read the input in place. Kernels that broadcast copy no patch;
// kernels that want rows side by side gather them from the tensor. Inputs of few channels are
// staged, and their windows are read there line by line or, if a line does not fill whole groups of
// the layout, copied from there, vector by vector. Where that pays, packed lines are padded to
// whole groups.
#include <string.h>

#include "operators/conv/algorithms/block.h"
#include "operators/conv/algorithms/estimate.h"
#include "operators/conv/algorithms/line_windows.h"
#include "operators/conv/algorithms/transposed.h"
#include "operators/conv/algorithms/window.h"

namespace octet {
namespace {

// Whether images of so many pixels are cut by lines whatever that costs.
bool cuts_lines(size_t pixels, size_t mr) { return pixels >= 4 * mr; }

// ---- cost

// The share of kernel rows that tiles multiply: they skip rows that lie outside of the image for
// all of their pixels. Tiles have pixels of one line (see cut_of), but for images of a few tiles.
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
             copied = staged && (w.cost.gather > 0 || !reads_lines(w.layout, w.cost.nr, s));
  const Taps taps = direct_taps(s);
  const bool whole = !staged && w.cost.step && WholeWindows::are_copied(w.cost.step, s);
  // Whether padding is skipped depends on the zero point, which is not known yet. Taps beyond the
  // sides count as work, and kernel rows that lines of a transposed layer may omit do not.
  const double reached = (double)(s.in_h * s.stride_h) / w.out_h;
  const bool omits = s.transposed && s.phases == 1 && w.cost.gather == 0 && reached < 1;
  const double used = omits                               ? reached
                      : (s.transposed || staged || whole) ? 1
                                                          : used_rows(s, w.cost.mr),
               phases = s.transposed ? (double)(s.stride_h * s.stride_w) : 1;
  PanelWork p(w, s, (double)taps.count * used / (phases * (double)s.phases), taps.depth);
  const double groups = (double)s.groups;
  if (s.transposed) {  // tiles run along the longer side of a phase
    const size_t lines = divide_up((size_t)w.out_h, s.stride_h),
                 columns = divide_up((size_t)w.out_w, s.stride_w * s.phases);
    p.tiles = (double)s.batch * phases * (double)smaller(lines, columns) *
              (double)divide_up(larger(lines, columns), w.cost.mr) *
              (double)divide_up(s.group_out(), w.cost.nr) * groups;
  }
  if (staged) {
    p.copied = w.inputs + (copied ? p.windows : 0);
    p.traffic = 2 * w.inputs;
  } else if (!s.pointwise()) {
    // Tiles at the ends of lines look up each row: two tiles per line, or all.
    const double ends = (double)smaller((size_t)w.out_w, 2 * w.cost.mr) / w.out_w;
    const size_t step = w.cost.step;
    if (step && LineWindows::are_fewer(step, w.cost.mr, s, (size_t)w.out_w)) {
      p.rows_copied = p.windows / p.taps * (double)s.kernel_w *
                      LineWindows::lines_of(s, (double)w.out_h) / (double)w.out_h;
    } else if (whole) {
      p.rows_copied = p.windows;
    } else {
      p.points = w.pixels * ends * groups * p.taps;
      if (step) p.rows_copied = p.windows * (p.depth % step ? 1 : ends);
    }
    p.gathers = w.pixels * groups * p.taps;
  }
  Estimate e = estimate_panels(w, p);
  if (s.stride_w > 1 && !staged && !s.transposed) e.compute *= w.cost.strided;
  return e;
}

// ---- running

constexpr size_t kWindowBytes = 16 * 1024;  // copied windows stay in L1

// The workspace of a task that copies no windows.
struct Workspace {
  size_t rows;  // rows of a block
  // offsets of: steps between taps; pointers to rows; tiles of a block
  size_t steps, pointers, tiles;
  PreparedSections prepared;
  size_t prepared_at, bytes;
};

// Whether a kernel that takes rows at one stride has whole windows as rows.
bool copies_whole_windows(const ConvPlan& plan, const ConvShape& s) {
  const MicroKernel& kernel = *plan.kernel;
  return kernel.copy_rows && !copies_windows(s) && WholeWindows::are_copied(kernel.step_depth, s);
}
// The window as one tap.
Taps whole_window(const ConvPlan& plan, const Taps& taps) {
  return {1, taps.count * plan.kernel->rhs_layout.steps(taps.depth), taps.groups, 1};
}

size_t window_stride(const Taps& taps) { return round_up(taps.depth + kCopySlack, 64); }

bool reads_lines(const ConvPlan& plan) {
  const MicroKernel& kernel = *plan.kernel;
  return !kernel.gather && octet::reads_lines(kernel.rhs_layout, kernel.nr, plan.shape);
}
ConvShape shape_for_kernels(const ConvPlan& plan) {
  return reads_lines(plan) ? lines_as_positions(plan.shape) : as_columns(plan.shape);
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
  const size_t gathered =
      kernel.gather ? taps.count * round_up(taps.depth, kernel.lhs_kr) * kernel.lhs_element_bytes
      : kernel.copy_rows ? kernel.copied_stride(taps.depth, taps.count)
                         : taps.depth;
  return conv_block_rows(plan, taps.count * sizeof(void*) + sizeof(BlockTile) + gathered);
}

// tiles: the rows are not those of a matrix.
Workspace plan_workspace(const ConvPlan& plan, const Taps& taps, size_t pixels, bool tiles) {
  Workspace w = {};
  Sections sections;
  w.rows = smaller(plan.block, pixels);
  w.steps = sections.take(taps.count * sizeof(ptrdiff_t));
  w.pointers = sections.take(w.rows * taps.count * sizeof(void*));
  w.tiles = sections.take(w.rows * sizeof(BlockTile));
  w.prepared = prepared_sections(plan, taps, w.rows, tiles ? w.rows : 0);
  w.prepared_at = sections.take(w.prepared.bytes);
  w.bytes = sections.bytes;
  return w;
}

// Copies the windows of `rows` pixels, kernel row by kernel row. The staged input has its borders,
// no gaps, and readable bytes behind it.
void copy_windows(const ConvPlan& plan, const ConvRun& run, size_t pixel, size_t rows,
                  size_t stride, uint8_t* out) {
  const ConvShape& s = plan.shape;
  const size_t row = line_depth(s);
  Windows w = {};
  w.step = s.stride_w * s.in_channels;
  w.line = s.dilation_h * run.lhs_row;
  w.bytes = row;
  w.stride = stride;
  size_t x = pixel % run.out_w, line = pixel / run.out_w;
  for (size_t i = 0; i < rows; i += w.count, out += w.count * stride, x = 0, ++line) {
    const size_t image = line / run.out_h, top = line % run.out_h * s.stride_h;
    w.count = smaller(rows - i, run.out_w - x);
    // Copies all kernel rows at once, or one by one where a ring wraps among them: a copy may write
    // beyond a row's end, where the next row begins.
    w.lines = run.lines_together(top) > s.dilation_h * (s.kernel_h - 1) ? s.kernel_h : 1;
    for (size_t ky = 0; ky < s.kernel_h; ky += w.lines) {
      w.from = run.line(image, top + ky * s.dilation_h) + x * w.step;
      w.to = out + ky * row;
      plan.ops->copy_windows(w);
    }
  }
}

// How pixels are cut into tiles that skip padding, which is right wherever padding adds nothing.
// Only for kernels that read rows: prepare has no such tiles. Blocks then end with their image and
// each reads all weights, so for images of a few pixels the costs decide.
Cut cut_of(const ConvPlan& plan, const ConvRun& run, const Window& window, size_t rows) {
  const MicroKernel& kernel = *plan.kernel;
  if (!padding_adds_nothing(plan, run) || kernel.gather || rows < run.out_w ||
      !window.passes_sides())
    return Cut::kRows;
  // Registers of several rows take as long where a piece of a line does not fill them
  const size_t inner = run.out_w - smaller(run.out_w, plan.shape.kernel_w - 1);
  if (round_up_pow2(inner, kernel.lhs_lanes_step) > run.out_w) return Cut::kRows;
  return cuts_lines(run.out_h * run.out_w, kernel.mr) ? Cut::kColumns : window.best_cut(rows);
}

// ---- words of a 1x1 convolution whose pixels are rows of a matrix, as they are

bool takes_words(const ConvPlan& plan) { return plan.lhs_type == ElementType::kS16; }

// Sums of some channels stay in the L1 cache until they make outputs. A block has whole tiles
constexpr size_t kSums = 4 * 1024, kMostRows = 128;

// Columns that are multiplied together are whole panels and micro-panels.
size_t unit_of(const MicroKernel& kernel) {
  return round_up(larger(kernel.rhs_layout.width, kernel.nr), kWordColumns);
}

MacroKernel words_kernel(const ConvPlan& plan, const Taps& taps) {
  MacroKernel macro_kernel = macro_kernel_of(plan, taps);
  macro_kernel.words = true;
  return macro_kernel;
}

// Whether the kernel makes outputs of its sums.
bool ends_in_kernel(const ConvPlan& plan) {
  return plan.words.in_kernel && plan.kernel->lhs_element_type == ElementType::kS16;
}

struct WordsSections {
  size_t rows;        // of a block
  size_t sums_count;  // of all of its columns that are multiplied together; 0: the kernel ends them
  size_t sums;
  PreparedSections prepared;
  size_t prepared_at, bytes;

  WordsSections(const ConvPlan& plan, const Taps& taps, size_t pixels)
      : rows(smaller(pixels, kMostRows / plan.kernel->mr * plan.kernel->mr)) {
    const size_t unit = unit_of(*plan.kernel), all = round_up(plan.shape.out_channels, unit);
    sums_count = ends_in_kernel(plan) ? 0 : larger(rows * unit, smaller(rows * all, kSums));
    Sections sections;
    sums = sections.take(sums_count * sizeof(int32_t));
    prepared = prepared_sections(words_kernel(plan, taps), false, rows);
    prepared_at = sections.take(prepared.bytes);
    bytes = sections.bytes;
  }
};

size_t words_workspace(const ConvPlan& plan, size_t pixels) {
  return WordsSections(plan, direct_taps(plan.shape), pixels).bytes;
}

void run_words(const ConvPlan& plan, const ConvRun& run, const ConvTask& task, uint8_t* workspace) {
  const Taps taps = direct_taps(plan.shape);
  const WordsSections at(plan, taps, run.batch * run.out_h * run.out_w);
  const MacroKernel macro_kernel = words_kernel(plan, taps);
  const size_t mr = plan.kernel->mr, unit = unit_of(*plan.kernel);
  int32_t* const sums = (int32_t*)(workspace + at.sums);
  Weights weights = weights_of(plan, taps, 0);
  Block block = {};
  Epilogue words = {};
  words.mode = EpilogueMode::kFloat8, words.scale = plan.words.in_kernel;
  const bool ends = ends_in_kernel(plan);
  if (ends)
    weights.columns.bias = plan.word_offsets.in_int32;
  else
    words = {};  // s32
  block.output = {
      plan.ops, &words, &plan.requantization, ends, ends ? plan.dst_bytes : sizeof(int32_t), {}};
  block.terms.in_bias = true;
  block.lhs_stride = run.lhs_pixel;
  const bool dense = !run.lhs_ring && run.lhs_image == run.in_h * run.lhs_row;
  for (size_t line = task.first, lines; line < task.end; line += lines) {
    const size_t image = dense ? 0 : line / run.in_h, y = line - image * run.in_h;
    lines =
        smaller(task.end - line, dense ? SIZE_MAX : smaller(run.in_h - y, run.lines_together(y)));
    const uint8_t* const lhs = run.line(image, y);
    const size_t first = line * run.out_w, pixels = lines * run.out_w;
    for (size_t pixel = 0; pixel < pixels; pixel += block.rows) {
      block.rows = next_block(pixels - pixel, at.rows, mr);
      block.lhs = lhs + pixel * run.lhs_pixel;
      prepare(macro_kernel, weights.columns, at.prepared, workspace + at.prepared_at, &block);
      if (ends) {
        block.output.to = run.to.from(first + pixel);
        multiply(macro_kernel, weights, block, task.n0, task.n1);
        continue;
      }
      const size_t together = larger(at.sums_count / block.rows / unit, 1) * unit;
      for (size_t n0 = task.n0, n; n0 < task.n1; n0 += n) {
        n = smaller(together, task.n1 - n0);
        const size_t stride = round_up(n, kWordColumns);
        weights.first = 0 - n0;  // the sums begin at channel n0
        block.output.to = {(uint8_t*)sums, stride * sizeof(int32_t), nullptr, 0};
        multiply(macro_kernel, weights, block, n0, n0 + n);
        const Output to = run.to.from(first + pixel).column(n0, plan.dst_bytes);
        plan.ops->finish_words(plan.words, {nullptr, sums, stride, block.rows, n, n0,
                                            plan.word_offsets.from(n0), to.dst, to.stride});
      }
    }
  }
}

// ---- all others

size_t task_workspace(const ConvPlan& plan, size_t, size_t, size_t out_h, size_t out_w) {
  if (takes_words(plan)) return words_workspace(plan, plan.shape.batch * out_h * out_w);
  const ConvShape s = shape_for_kernels(plan);
  const Taps taps = direct_taps(s);
  if (s.transposed) return transposed_workspace(plan, taps, out_h, out_w);
  const size_t pixels = s.batch * out_h * out_w;
  if (!reads_lines(plan) && copies_whole_windows(plan, s))
    return windows_workspace(plan, whole_window(plan, taps), WholeWindows::stride(*plan.kernel, s),
                             pixels)
        .bytes;
  if (copies_windows(s)) return windows_workspace(plan, taps, window_stride(taps), pixels).bytes;
  return plan_workspace(plan, taps, pixels, !plan.shape.pointwise() || reads_lines(plan)).bytes;
}

// Computes a task by windows of kernel lines, in the room in which `w` has copies of whole windows.
// Returns false if they do not fit, or if other rows are copied less often.
__attribute__((noinline)) bool run_line_windows(const ConvPlan& plan, const ConvRun& run,
                                                const Workspace& w, const ConvTask& task,
                                                uint8_t* workspace) {
  const MicroKernel& kernel = *plan.kernel;
  if (!kernel.copy_rows ||
      !LineWindows::are_fewer(kernel.step_depth, kernel.mr, plan.shape, run.out_w))
    return false;
  ConvPlan by_lines = plan;
  by_lines.shape = lines_as_positions(plan.shape);
  const Taps taps = direct_taps(by_lines.shape);
  const size_t between_images =
      (LineWindows::most_images(run, w.rows) - 1) * kernel.rows_of(plan.shape.group_out());
  const PreparedSections prepared =
      prepared_sections(by_lines, taps, w.rows, smaller(w.rows, between_images));
  if (prepared.bytes + LineWindows::bytes(kernel, plan.shape, run, w.rows) > w.prepared.bytes)
    return false;
  ptrdiff_t* const steps = (ptrdiff_t*)(workspace + w.steps);
  const uint8_t** const pointers = (const uint8_t**)(workspace + w.pointers);
  BlockTile* const tiles = (BlockTile*)(workspace + w.tiles);
  LineWindows windows(plan, run, w.rows, workspace + w.prepared_at + prepared.bytes);
  windows.tap_steps(steps);
  Block block = make_block(plan);
  block.lhs_stride = windows.row_stride();
  block.tap_steps = steps;
  block.tiles = tiles;
  run_blocks(by_lines, run, taps, task, w.rows, {prepared, workspace + w.prepared_at}, &block,
             [&](size_t group, size_t pixel) {
               windows.copy(group, pixel, block.rows);
               block.tile_count = windows.point(pixel, block.rows, pointers, tiles);
             });
  return true;
}

// by_lines: windows are read line by line, so lines have more pixels than positions.
void run_ordinary(const ConvPlan& plan, const ConvRun& run, const ConvTask& task,
                  uint8_t* workspace, bool by_lines) {
  const ConvShape& s = plan.shape;
  const Taps taps = direct_taps(s);
  if (const bool staged = copies_windows(s);
      staged || (!by_lines && copies_whole_windows(plan, s))) {
    const Taps window = staged ? taps : whole_window(plan, taps);
    const size_t stride = staged ? window_stride(taps) : WholeWindows::stride(*plan.kernel, s);
    return run_windows(plan, run, window, stride, task, workspace,
                       [&](size_t group, size_t pixel, size_t rows, uint8_t* windows) {
                         if (staged)
                           copy_windows(plan, run, pixel, rows, stride, windows);
                         else
                           WholeWindows(plan, run).copy(group, pixel, rows, windows);
                       });
  }
  const bool tiles_rows = by_lines || !s.pointwise();
  const Workspace w = plan_workspace(plan, taps, run.batch * run.out_h * run.out_w, tiles_rows);
  if (tiles_rows && !by_lines && run_line_windows(plan, run, w, task, workspace)) return;
  const Prepared prepared = {w.prepared, workspace + w.prepared_at};
  Block block = make_block(plan);
  if (!tiles_rows) {  // the pixels are rows of a matrix
    block.lhs_stride = run.lhs_pixel;
    // One call per run of contiguous lines
    const bool dense = !run.lhs_ring && run.lhs_image == run.in_h * run.lhs_row;
    ConvTask part = task;
    for (; part.first < task.end; part.first = part.end) {
      const size_t image = dense ? 0 : part.first / run.in_h, y = part.first - image * run.in_h;
      const size_t together = dense ? SIZE_MAX : smaller(run.in_h - y, run.lines_together(y));
      const uint8_t* const first = run.line(image, y);
      part.end = part.first + smaller(task.end - part.first, together);
      run_blocks(plan, run, taps, part, w.rows, prepared, &block, [&](size_t group, size_t pixel) {
        block.lhs = first + (pixel - part.first * run.out_w) * run.lhs_pixel + group * s.group_in();
      });
    }
  } else {
    ptrdiff_t* const steps = (ptrdiff_t*)(workspace + w.steps);
    const uint8_t** const pointers = (const uint8_t**)(workspace + w.pointers);
    BlockTile* const tiles = (BlockTile*)(workspace + w.tiles);
    const size_t first_group = task.n0 / s.group_out();
    Window window(plan, run, taps, first_group);
    window.tap_steps(steps);
    block.lhs_stride = window.row_stride();
    block.tap_steps = steps;
    block.tiles = tiles;
    // No window of a staged input leaves it: all tiles of a line are contiguous rows.
    const Cut cut = by_lines ? w.rows >= run.out_w ? Cut::kColumns : Cut::kRows
                             : cut_of(plan, run, window, w.rows);
    if (cut != Cut::kRows) {
      for (size_t line = task.first, lines; line < task.end; line += lines) {
        lines = next_block(smaller(task.end, round_up(line + 1, run.out_h)) - line,
                           w.rows / run.out_w, 1);
        block.rows = lines * run.out_w;
        run_block(plan, run, taps, task, line / run.out_h, line * run.out_w, prepared, &block,
                  [&](size_t group) {
                    if (group == first_group)
                      block.tile_count = window.point_lines(cut, line, lines, pointers, tiles);
                    else
                      window.next_group(pointers, tiles, block.tile_count);
                  });
      }
      return;
    }
    run_blocks(plan, run, taps, task, w.rows, prepared, &block, [&](size_t group, size_t pixel) {
      if (group == first_group)
        block.tile_count = window.point_pixels(pixel, block.rows, pointers, tiles);
      else
        window.next_group(pointers, tiles, block.tile_count);
    });
  }
}

void run(const ConvPlan& plan, const ConvRun& run, const ConvTask& task, uint8_t* workspace) {
  if (takes_words(plan)) return run_words(plan, run, task, workspace);
  if (plan.shape.transposed)
    return run_transposed(plan, run, direct_taps(as_columns(plan.shape)), task, workspace);
  if (!reads_lines(plan)) return run_ordinary(plan, run, task, workspace, false);
  ConvPlan by_lines = plan;
  by_lines.shape = lines_as_positions(plan.shape);
  ConvRun positions = run;
  positions.in_w = (run.out_w - 1) * plan.shape.stride_w + 1;
  run_ordinary(by_lines, positions, task, workspace, true);
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

const ConvAlgorithm direct_algorithm = on_panels<direct_taps, direct_columns>({
    .name = "direct",
    .operands = KernelKind::kInt8,
    .estimate = estimate,
    .block = block,
    .task_workspace = task_workspace,
    .run = run,
    .wants_borders = copies_windows,
    .pads_lines = pads_lines,
    .rewrite = joined_phases,
    .sum_phases = sum_phases,
});

}  // namespace octet
