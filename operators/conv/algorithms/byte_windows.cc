// SPDX-License-Identifier: Apache-2.0
// Copies the windows of some groups of channels, line by line with borders, and has a kernel
// multiply them, eight channels at a time.
#include "operators/conv/algorithms/byte_windows.h"

#include <string.h>

#include "kernels/core/sections.h"
#include "operators/conv/algorithms/channelwise.h"
#include "operators/conv/algorithms/panels.h"

namespace octet {
namespace {

using Kernel = ByteWindowsKernel;

constexpr size_t kPixel = Kernel::kPixel, kChannels = Kernel::kChannels;
// Copied lines, and with them most of what is read, stay in L1
constexpr size_t kBytes = 24 * 1024;
// More copied lines than that are mostly not read (large dilations), or too long for L1
constexpr size_t kMostBytes = 4 * kBytes;
// Outputs of a band that a crowded pair has a part in, and one row of the others
constexpr size_t kRows = 256;
// One crowded pixel in so many of a line is too many
constexpr size_t kFewCrowded = 4;

// Whether a plan may do so with the right values. Not of the certificate of its sums
// (requantize_in_kernel), because an outline, which knows no weights, may lack it.
bool suits(const ConvPlan& plan) {
  return plan.byte_windows && plan.s16.mode == S16Mode::kNone && suits_byte_windows(plan.shape) &&
         (!plan.kernel || !plan.kernel->rhs_layout.has_tables()) && !plan.offsets &&
         (plan.epilogue.mode == EpilogueMode::kFloat8 || plan.requantization.to_floats) &&
         !plan.epilogue.has_residual && !plan.epilogue.lut && !plan.runtime_zero_point &&
         !plan.columns.zero_point && !plan.touch;
}

// Sizes of the copies.
struct Copies {
  size_t groups, pixel;  // groups of channels that are copied together, and their bytes
  size_t width, line;    // pixels of a line, and bytes
  size_t lines;          // most output lines of a band
  size_t pairs;          // of an output line
  size_t quads, panels;  // of a window; panels of eight channels of a group
  size_t panel_bytes;    // of the weights of a panel
  Copies(const ConvShape& s, size_t out_w)
      : groups(smaller(kPixel / s.group_in(), s.groups)),
        pixel(groups * s.group_in()),
        width((out_w - 1) * s.stride_w + (s.kernel_w - 1) * s.dilation_w + 1),
        line(width * pixel),
        lines(larger(kBytes / (line * s.stride_h), 1)),
        pairs(divide_up(out_w, 2)),
        quads(s.taps() * s.group_in() / 4),
        panels(s.group_out() / kChannels),
        panel_bytes(quads * 4 * kChannels) {}
  // Input lines of so many output lines
  size_t lines_of(const ConvShape& s, size_t out) const {
    return (out - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
  }
  size_t row_bytes(const ConvShape& s) const { return groups * s.group_out() * sizeof(int32_t); }
};

struct Workspace {
  size_t copies, pairs, rows, offsets, weights, init, bytes;
};

Workspace cut(const ConvShape& s, size_t out_h, size_t out_w) {
  const Copies c(s, out_w);
  // Of narrower lines a band has more, but no more outputs than bytes of a pixel fit
  const size_t lines = smaller(out_h, larger(c.lines, kBytes / c.pixel)),
               pairs = smaller(smaller(lines * c.pairs, larger(c.pairs, kBytes / c.pixel)),
                               kMostBytes / c.pixel),
               in = smaller(c.lines_of(s, out_h) * c.line, kMostBytes);
  Workspace w = {};
  Sections sections;
  w.copies = sections.take(in + 2 * kPixel);
  w.pairs = sections.take(pairs * sizeof(WindowPair));
  w.rows = sections.take(2 * pairs * sizeof(uint32_t));
  w.offsets = sections.take(c.quads * sizeof(uint32_t));
  w.weights = sections.take(c.groups * c.panels * c.panel_bytes);
  w.init = sections.take(kRows * c.row_bytes(s));
  w.bytes = sections.bytes;
  return w;
}

class ByteWindowsTask {
 public:
  ByteWindowsTask(const ConvPlan& plan, const ConvRun& run, const ConvTask& task,
                  uint8_t* workspace)
      : plan_(plan),
        s_(plan.shape),
        run_(run),
        task_(task),
        kernel_(*plan.byte_windows),
        c_(s_, run.out_w),
        at_(cut(s_, run.out_h, run.out_w)),
        flip_(plan.lhs_flip),
        zero_((uint8_t)(run.zero_row(0)[0] ^ flip_)),
        copies_(workspace + at_.copies),
        pairs_((WindowPair*)(workspace + at_.pairs)),
        rows_((uint32_t*)(workspace + at_.rows)),
        offsets_((uint32_t*)(workspace + at_.offsets)),
        weights_(workspace + at_.weights),
        init_((int32_t*)(workspace + at_.init)) {}

  bool compute() {
    if (2 * zero_ > Kernel::kMostOfPair || run_.out_w < 2 || !has_whole_bands() || is_crowded())
      return false;
    point();
    // All groups of a band before the next one: lines of the cache hold channels of several copies
    for (size_t line = task_.first, lines; line < task_.end; line += lines) {
      lines = band_at(line);
      for (size_t g = task_.n0 / s_.group_out(); g * s_.group_out() < task_.n1; g += c_.groups) {
        if (first_ != g || !groups_) {
          first_ = g, groups_ = smaller(c_.groups, s_.groups - g);
          arrange();
        }
        if (!copy(line, lines)) return false;
        multiply(line, lines);
      }
    }
    return true;
  }

 private:
  // Nearly equal bands of an image's lines.
  size_t band_at(size_t line) const {
    const size_t y = line % run_.out_h, begin = line - y < task_.first ? task_.first : line - y,
                 end = smaller(task_.end, line - y + run_.out_h), all = end - begin,
                 most = divide_up(all, divide_up(all, c_.lines));
    return smaller(most, end - line);
  }
  // Whether all bands have enough outputs for a tile, and tiles few outputs twice. Other kernels of
  // panels have tiles of any rows: 32 channels of 7x7 take 1.2 times as long here (Emerald Rapids,
  // 2026-11-30).
  bool has_whole_bands() {
    size_t computed = 0;
    for (size_t line = task_.first, lines; line < task_.end; line += lines) {
      lines = band_at(line);
      if (lines * c_.pairs < Kernel::kPairs) return false;
      computed += 2 * round_up(lines * c_.pairs, Kernel::kPairs);
      most_lines_ = larger(most_lines_, lines);
    }
    if (c_.lines_of(s_, most_lines_) * c_.line > kMostBytes) return false;
    return !plan_.kernel || 20 * computed <= 23 * (task_.end - task_.first) * run_.out_w;
  }

  // The pairs of the largest band. The last one of a line may begin with an output of the one
  // before.
  void point() {
    const uint32_t step = (uint32_t)(s_.stride_w * c_.pixel), last = (uint32_t)run_.out_w - 2;
    WindowPair* to = pairs_;
    for (size_t y = 0; y < most_lines_; ++y) {
      const WindowPair line = {(uint32_t)(y * s_.stride_h * c_.line), (uint32_t)(y * run_.out_w)};
      for (uint32_t x = 0; x < last; x += 2) *to++ = {line.window + x * step, line.output + x};
      *to++ = {line.window + last * step, line.output + last};
    }
    uint32_t* offset = offsets_;
    for (size_t ky = 0; ky < s_.kernel_h; ++ky)
      for (size_t kx = 0; kx < s_.kernel_w; ++kx)
        for (size_t i = 0; i < s_.group_in(); i += 4)
          *offset++ = (uint32_t)(ky * s_.dilation_h * c_.line + kx * s_.dilation_w * c_.pixel + i);
  }

  uint8_t* panel(size_t group, size_t panel) const {
    return weights_ + (group * c_.panels + panel) * c_.panel_bytes;
  }
  // Arranges the weights of the groups, and begins the first row of accumulators.
  void arrange() {
    for (size_t g = 0; g < groups_; ++g)
      for (size_t p = 0; p < c_.panels; ++p)
        plan_.kernel ? arrange_panel(first_ + g, p, panel(g, p))
                     : arrange_block((first_ + g) * s_.group_out() + p * kChannels, panel(g, p));
    memcpy(init_, plan_.columns.bias + first_ * s_.group_out(),
           groups_ * s_.group_out() * sizeof *init_);
    memset(most_, 0, sizeof most_);
    for (size_t g = 0; g < groups_; ++g)
      for (size_t p = 0; p < c_.panels; ++p)
        kernel_.find_most(panel(g, p), s_.taps(), s_.group_in() / 4, most_ + g * s_.group_in() / 2);
  }
  void arrange_panel(size_t group, size_t p, uint8_t* to) const {
    const RhsLayout& layout = plan_.kernel->rhs_layout;
    const ConvPanels panels = read_panels(layout, s_, direct_taps(s_), plan_.payload);
    const size_t n = p * kChannels, panel = n / layout.width * layout.width,
                 width = layout.panel_width(panel, s_.group_out());
    const uint8_t* from = panels.of_group(group) + panel * panels.lane_bytes + (n - panel) * 4;
    for (size_t q = 0; q < c_.quads; ++q, from += width * 4, to += 4 * kChannels)
      memcpy(to, from, 4 * kChannels);
  }
  void arrange_block(size_t n, uint8_t* to) const {
    const size_t quads = s_.group_in() / 4, channel = n % kGroupedBlock,
                 apart = grouped_position(quads, 1, 0);
    const uint8_t* tap = plan_.payload + weights_at(s_, n - channel);
    for (size_t taps = s_.taps(); taps; --taps, tap += kGroupedBlock * s_.group_in())
      for (size_t q = 0; q < quads; q += 2, to += 8 * kChannels)
        kernel_.arrange(tap + grouped_position(quads, channel, q), apart, to);
  }

  // ---- copies -----------------------------------------------------------------------------------

  // Pixels side by side are copied as one run of bytes.
  bool joined() const { return run_.lhs_pixel == c_.pixel && !first_; }
  BytePixels pixels(const uint8_t* from, size_t first, size_t end, uint8_t* to) const {
    const uint32_t bytes = (uint32_t)(((uint64_t)1 << c_.pixel) - 1);
    return joined() ? BytePixels{from + first * kPixel, kPixel, end - first, flip_,
                                 to + first * kPixel,   kPixel, UINT32_MAX}
                    : BytePixels{from + first * run_.lhs_pixel, run_.lhs_pixel, end - first, flip_,
                                 to + first * c_.pixel,         c_.pixel,       bytes};
  }
  // Pixels, or kPixel bytes of joined ones, of so many pixels
  size_t parts_of(size_t count) const {
    return joined() ? divide_up(count * c_.pixel, kPixel) : count;
  }
  // Of `count` parts, those that may be read whole.
  size_t readable(const uint8_t* from, size_t count) const {
    const size_t step = joined() ? kPixel : run_.lhs_pixel, left = (size_t)(run_.lhs_end - from);
    while (count && left < (count - 1) * step + kPixel) --count;
    return count;
  }

  // Calls f(byte, copy of it) for the crowded pairs of `count` pixels' copies while it says so.
  template <typename F>
  bool copy_pixels(const uint8_t* from, size_t count, uint8_t* to, const F& f) const {
    const size_t parts = parts_of(count), whole = readable(from, parts), bytes = count * c_.pixel,
                 step = joined() ? kPixel : c_.pixel;
    for (size_t part = 0; part < parts;) {
      uint32_t crowded;
      if (part < whole) {
        part += kernel_.copy(pixels(from, part, whole, to), &crowded);
      } else {
        uint8_t some[kPixel] = {};
        const uint8_t* const at = from + part * (joined() ? kPixel : run_.lhs_pixel);
        memcpy(some, at, smaller((size_t)(run_.lhs_end - at), kPixel));
        BytePixels last = pixels(from, part, part + 1, to);
        last.from = some;
        part += kernel_.copy(last, &crowded);
      }
      for (; crowded; crowded &= crowded - 1, crowded &= crowded - 1) {
        const size_t byte = (part - 1) * step + (size_t)__builtin_ctz(crowded);
        if (byte < bytes && !f(byte)) return false;
      }
    }
    return true;
  }

  // Whether a line in the middle has so many crowded pairs that the others need not be looked at.
  bool is_crowded() {
    first_ = task_.n0 / s_.group_out();
    const size_t image = task_.first / run_.out_h;
    size_t crowded = 0;
    const size_t count = smaller(run_.in_w, c_.width), most = count / kFewCrowded;
    return !copy_pixels(first_pixel(image, run_.in_h / 2), count, copies_,
                        [&](size_t) { return ++crowded <= most; });
  }
  const uint8_t* first_pixel(size_t image, size_t y) const {
    return run_.line(image, y) + first_ * s_.group_in();
  }

  bool copy(size_t line, size_t lines) {
    const size_t image = line / run_.out_h, y = line % run_.out_h,
                 before = smaller(run_.pad_left, c_.width),
                 inside = smaller(run_.in_w, c_.width - before), in = c_.lines_of(s_, lines),
                 begin = before * c_.pixel, end = begin + inside * c_.pixel;
    memset(rows_, 0, 2 * lines * c_.pairs * sizeof *rows_);
    used_ = 1, lines_ = lines;
    uint8_t* to = copies_;
    for (size_t i = 0; i < in; ++i, to += c_.line) {
      // A copy writes behind its end, and the line's begin was behind the end of the one before
      memset(to, zero_, begin);
      const size_t at = y * s_.stride_h + i - run_.pad_top;
      if (at >= run_.in_h) {
        memset(to, zero_, c_.line);
        continue;
      }
      const bool fits = copy_pixels(first_pixel(image, at), inside, to + begin, [&](size_t byte) {
        return lower(to + begin + byte, i, begin + byte);
      });
      if (!fits) return false;
      memset(to + end, zero_, c_.line - end);
    }
    return true;
  }

  // Where some weights would saturate, takes off the copy of a pair, on copied line i, what it
  // exceeds kMostOfPair by, and adds the products to all outputs that read it.
  bool lower(uint8_t* pair, size_t i, size_t byte) {
    const size_t odd = pair[1] > pair[0], more = pair[odd], less = pair[1 - odd],
                 column = quotient(byte, c_.pixel), at = byte - column * c_.pixel;
    if ((more - less) * 128 + less * (size_t)most_[at / 2] <= INT16_MAX) return true;
    const size_t over = more + less - Kernel::kMostOfPair, channel = at + odd,
                 group = quotient(channel, s_.group_in()), k = channel - group * s_.group_in();
    pair[odd] = (uint8_t)(more - over);
    const uint32_t quad = (uint32_t)over << 8 * (k % 4);
    for (size_t ky = 0; ky < s_.kernel_h; ++ky) {
      const size_t down = i - ky * s_.dilation_h, y = down / s_.stride_h;
      if (down > i || down % s_.stride_h || y >= lines_) continue;
      for (size_t kx = 0; kx < s_.kernel_w; ++kx) {
        const size_t across = column - kx * s_.dilation_w, x = across / s_.stride_w;
        if (across > column || across % s_.stride_w || x >= run_.out_w) continue;
        const size_t place = ((ky * s_.kernel_w + kx) * s_.group_in() + k) / 4;
        uint32_t* const row = rows_ + y * 2 * c_.pairs;
        // The last pair may repeat an output
        const bool last = run_.out_w % 2 && x + 2 >= run_.out_w;
        if (last && !add(row + 2 * (c_.pairs - 1) + x + 2 - run_.out_w, group, quad, place))
          return false;
        if ((!last || x + 1 < run_.out_w) && !add(row + x, group, quad, place)) return false;
      }
    }
    return true;
  }
  // Adds to an output's accumulators, of a group, a quad of its window.
  bool add(uint32_t* row, size_t group, uint32_t quad, size_t at) {
    const size_t bytes = c_.row_bytes(s_);
    if (!*row) {
      if (used_ == kRows) return false;
      *row = (uint32_t)(used_++ * bytes);
      memcpy((uint8_t*)init_ + *row, init_, bytes);
    }
    int32_t* const sums = (int32_t*)((uint8_t*)init_ + *row) + group * s_.group_out();
    for (size_t p = 0; p < c_.panels; ++p)
      kernel_.add(quad, panel(group, p) + at * 4 * kChannels, sums + p * kChannels);
    return true;
  }

  void multiply(size_t line, size_t lines) const {
    ByteWindows t = {};
    t.pairs = pairs_, t.count = lines * c_.pairs;
    t.step = s_.stride_w * c_.pixel;
    t.offsets = offsets_, t.quads = c_.quads;
    t.rows = rows_;
    t.requantization = &plan_.requantization;
    const Output to = run_.to.from(line * run_.out_w);
    t.dst_stride = to.stride;
    for (size_t g = 0; g < groups_; ++g)
      for (size_t p = 0; p < c_.panels; ++p) {
        const size_t column = g * s_.group_out() + p * kChannels,
                     n = first_ * s_.group_out() + column;
        if (n < task_.n0 || n >= task_.n1) continue;
        t.windows = copies_ + g * s_.group_in();
        t.weights = panel(g, p);
        t.init = (const uint8_t*)(init_ + column);
        t.scale = plan_.epilogue.scale + n;
        t.dst = to.dst + n * plan_.dst_bytes;
        kernel_.multiply(t);
      }
  }

  const ConvPlan& plan_;
  const ConvShape& s_;
  const ConvRun& run_;
  const ConvTask& task_;
  const Kernel& kernel_;
  const Copies c_;
  const Workspace at_;
  const uint8_t flip_, zero_;
  uint8_t* const copies_;
  WindowPair* const pairs_;
  uint32_t *const rows_, *const offsets_;
  uint8_t* const weights_;
  int32_t* const init_;
  size_t first_ = 0, groups_ = 0;  // of the groups whose pixels are copied
  size_t most_lines_ = 0;          // of a band
  size_t used_ = 0, lines_ = 0;    // rows of init_, and lines of the band
  int16_t most_[kPixel / 2] = {};  // of the weights that each pair of a pixel meets; see find_most
};

}  // namespace

size_t byte_windows_workspace(const ConvPlan& plan, size_t out_h, size_t out_w) {
  return suits(plan) ? cut(plan.shape, out_h, out_w).bytes : 0;
}

bool run_byte_windows(const ConvPlan& plan, const ConvRun& run, const ConvTask& task,
                      uint8_t* workspace) {
  return suits(plan) && plan.requantize_in_kernel && !run.lhs_ring && !run.lhs_scales &&
         ByteWindowsTask(plan, run, task, workspace).compute();
}

}  // namespace octet
