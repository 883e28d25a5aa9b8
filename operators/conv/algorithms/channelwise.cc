// SPDX-License-Identifier: Apache-2.0
// The loops of depthwise and grouped convolution: bands of lines, blocks of channels, tiles.
#include "operators/conv/algorithms/channelwise.h"

#include <string.h>

#include "kernels/core/assert.h"
#include "kernels/macro/row_tiles.h"
#include "operators/conv/algorithms/byte_windows.h"
#include "operators/conv/algorithms/channelwise_scratch.h"

namespace octet {
namespace {

// Whether the kernel stores a block's floats. Fewer channels than an x86 kernel's pass through
// memory faster as sums if it cannot store them. Grouped kernels store floats, as sums, of 16
// channels at once.
bool leaves_floats(const ConvRun& run, const DepthwiseKernel& kernel, DepthwiseLoop loop,
                   size_t channels, bool grouped) {
  return knows_floats(kernel, loop) &&
         (!kernel.requantize || kernel.partial || channels == kernel.channels) &&
         (!grouped || channels % kGroupedBlock == 0) &&
         (!run.lhs_scales || are_plain_scales(run.lhs_scales, run.batch));
}

bool flips_copies(const ConvPlan& plan, const Scratch& scratch) {
  return !is_depthwise(plan.shape) || scratch.loop == DepthwiseLoop::kCopied5x5;
}

// One block of channels of one image.
class ChannelBlock {
 public:
  ChannelBlock(const ConvPlan& plan, const ConvRun& run, Scratch& scratch,
               const DepthwiseKernel& kernel, const uint8_t* payload, size_t n0, size_t channels)
      : plan_(plan),
        s_(plan.shape),
        run_(run),
        c_(scratch),
        kernel_(kernel),
        staged_(staged_bytes(kernel, scratch.loop)),
        n0_(n0),
        channels_(channels),
        multiplier_(quotient(plan.shape.group_out(), plan.shape.group_in())),
        element_(element_size(kernel.lhs_element_type)),
        channel_(quotient(n0, multiplier_)),
        copy_(kernel, scratch.loop, n0, channels * element_, multiplier_, staged_,
              flips_copies(plan, scratch) ? plan.lhs_flip : 0) {
    tile_.loop = scratch.loop;
    tile_.flip = plan.lhs_flip && !flips_copies(plan, scratch);
    tile_.sets = tile_.loop == DepthwiseLoop::kTaps ? scratch.rows : 1;
    tile_.set_groups = scratch.set_groups;
    padded_ = scratch.padded;
    copied_ = padded_ ? padded_width(s_, run.out_w) : run.in_w;
    before_ = padded_ ? smaller(run.pad_left, copied_) : 0;
    inside_ = smaller(run.in_w, copied_ - before_);
    grouped_ = !is_depthwise(s_);
    walks_ = is_walk(tile_.loop);
    tile_.groups = slot_groups(s_);
    weights_ = payload + weights_at(s_, n0) * element_size(kernel.layout.element_type);
    if (grouped_) {
      tile_.groups = tile_.set_groups;
      if (plan.offsets) {
        const OffsetPanel panel(s_, plan.payload, n0);
        weights_ = panel.weights();
        if (panel.any(channels)) offsets_ = panel.offsets(), tile_.sums = c_.sums;
        tile_.kernel_w = s_.kernel_w;
      }
      for (size_t slot = 0; slot < tile_.groups; ++slot)
        c_.steps[slot] = step_of(s_, run.out_w) * staged_;
    }
    tile_.pixels = c_.pixels;
    tile_.steps = c_.steps;
    tile_.in_w = run.in_w;
    tile_.prepared = c_.prepared;
    tile_.requantization = plan.requantize_in_kernel &&
                                   (plan.requantization.to_floats
                                        ? leaves_floats(run, kernel, tile_.loop, channels, grouped_)
                                        : kernel.flags & kRequantizes)
                               ? &plan.requantization
                               : nullptr;
    if (adds_in_registers() && (kernel.partial || channels == kernel.channels))
      tile_.requantization = &plan.requantization, tile_.adds = &plan.epilogue;
    if (kernel.tflite_floats && plan.requantization.tflite_form == TfliteForm::kFloatsUp &&
        plan.epilogue.finishes_in_place())
      tile_.requantization = &plan.requantization;
    tile_.raw = !tile_.requantization && kernel.requantize && plan.epilogue.finishes_in_place() &&
                (plan.epilogue.has_residual ? channels == kernel.channels && adds_to_raw()
                                            : plan.epilogue.tflite.rows != nullptr);
    ends_ = tile_.requantization || (element_ == 1 && plan.epilogue.mode == EpilogueMode::kS32);
    const size_t whole =
        grouped_ ? smaller(round_up(channels, kGroupedBlock), kernel.channels) : kernel.channels;
    if (tile_.adds) tile_.residual = run.to.residual - run.to.dst;
    direct_ = ends_ && (channels == whole || (tile_.requantization && kernel.partial));
    OCTET_ASSERT(direct_ || !tile_.adds);  // the residual lies beside dst, not beside sums
    tile_.channels = direct_ ? channels : whole;
    micro_panel_ = direct_ ? run.out_w : smaller(kEpilogueSums / whole, run.out_w);
    most_tiles_ = direct_ ? SIZE_MAX : larger(quotient(kEpilogueSums / whole, run.out_w), 1);
    tile_.dst_pixel =
        direct_ ? run.to.stride : whole * (tile_.requantization ? plan.dst_bytes : sizeof(int32_t));
    tile_.dst_line = micro_panel_ * tile_.dst_pixel;
  }

  void start(size_t image, bool first) {
    image_ = image;
    zero_ = run_.zero_row(image) + (multiplier_ == 1 ? n0_ * element_ : 0);
    tile_.zero = zero_;
    const uint8_t* const first_line = run_.line(image, 0) + channel_ * element_;
    const bool in_place =
        micro_panel_ == run_.out_w && !grouped_ && walks_ && multiplier_ == 1 && !run_.lhs_ring &&
        (run_.in_h - 1) * run_.lhs_row + (run_.in_w - 1) * run_.lhs_pixel + kernel_.reach <=
            (size_t)(run_.lhs_end - first_line);
    walked_ = in_place ? first_line : nullptr;
    if (!walked_)
      for (size_t i = 0; i <= c_.ring; ++i) c_.staged[i] = SIZE_MAX;
    if (padded_ && (plan_.runtime_zero_point || lacks_borders())) fill_borders();
    if (!first && !plan_.runtime_zero_point) return;
    const bool scales_s16 = element_ == 2 && ends_;
    const int32_t* init = (scales_s16 ? plan_.s16_offsets.in_int32 : plan_.columns.bias) + n0_;
    if (plan_.runtime_zero_point) {
      write_start(plan_, n0_, kernel_.channels, zero_point_of(plan_, run_, image), c_.init);
      init = c_.init;
    }
    const size_t groups = grouped_ ? tile_.groups : slot_groups(s_),
                 shift = tile_.loop == DepthwiseLoop::kTaps ? s_.stride_h * s_.kernel_w : 1;
    tile_.quads = quads_of(s_);
    DepthwiseBlock block = {
        tile_.loop,
        groups,
        weights_,
        tile_.sets,
        tile_.set_groups,
        shift,
        init,
        tile_.requantization || tile_.raw ? plan_.epilogue.scale + n0_ : nullptr,
        tile_.requantization || tile_.raw ? plan_.epilogue.tflite.apart : 0,
        tile_.quads,
        channels_,
        offsets_};
    block.to_floats = tile_.requantization && tile_.requantization->to_floats;
    if (block.to_floats) {
      block.bias_f32 = plan_.epilogue.bias_f32 ? plan_.epilogue.bias_f32 + n0_ : nullptr;
      block.lhs_scale = run_.lhs_scales ? run_.lhs_scales[image] : 1;
    }
    kernel_.prepare(block, c_.prepared);
  }

  // Computes the output lines from y on of one to `most` tiles; returns how many. whole: tiles from
  // there on that have all rows.
  size_t tiles(size_t y, size_t most, size_t whole) {
    const size_t rows = smaller(c_.rows, run_.out_h - y);
    const size_t together =
        larger(smaller(smaller(most, whole), smaller(c_.together, most_tiles_)), 1);
    y_ = y;
    tile_.rows = rows;
    if (walked_) return walk_in_place(y, rows, kernel_.walks_tiles ? together : 1);
    if (tile_.loop == DepthwiseLoop::kCopied5x5) return five(y, together);
    tile_.tiles = 1;
    const size_t count = lines_of(s_, rows), apart = walks_ ? 1 : s_.dilation_h,
                 first = y * s_.stride_h - run_.pad_top;
    for (size_t i = 0; i < count; ++i) c_.lines[i] = line(first + i * apart);
    for (size_t x = 0; x < run_.out_w;) {
      const size_t most_here = smaller(micro_panel_, run_.out_w - x),
                   columns = grouped_ ? point_at_copies(x, most_here)
                             : walks_ ? point_at_lines(x, most_here, count)
                                      : point_at_taps(x, most_here, count);
      micro_panel(x, columns);
      x += columns;
    }
    return 1;
  }

 private:
  // Whether the kernel adds the residual before it stores.
  bool adds_in_registers() const {
    return adds_residual(kernel_, tile_.loop) &&
           plan_.epilogue.adds_in_kernel(run_.to, kernel_.flags & kRequantizes16) &&
           !run_.lhs_scales;
  }

  // Whether the kernel's `requantize` adds the residual.
  bool adds_to_raw() const {
    const Epilogue& f = plan_.epilogue;
    return !grouped_ &&
           (f.mode == EpilogueMode::kFloat8 ? !run_.lhs_scales : f.tflite.rows && f.tflite_add);
  }

  // The same, of walks of whole lines whose image is read in place: lines are short, so little is
  // done for each.
  size_t walk_in_place(size_t y, size_t rows, size_t tiles) {
    const uint8_t** pixels = c_.pixels;
    size_t* steps = c_.steps;
    const auto point = [&](size_t lines, const uint8_t* at, size_t apart, size_t step) {
      for (; lines; --lines, at += apart) *pixels++ = at, *steps++ = step;
    };
    const size_t top = y * s_.stride_h,  // with the padding
        lines = lines_of(s_, tiles * rows),
                 above = run_.pad_top > top ? smaller(run_.pad_top - top, lines) : 0,
                 first = top + above - run_.pad_top,
                 inside = first < run_.in_h ? smaller(run_.in_h - first, lines - above) : 0;
    point(above, zero_, 0, 0);
    // Without any, `first` may have wrapped
    if (inside) point(inside, walked_ + first * run_.lhs_row, run_.lhs_row, run_.lhs_pixel);
    point(lines - above - inside, zero_, 0, 0);
    tile_.tiles = tiles;
    tile_.first_column = 0 - run_.pad_left;
    micro_panel(0, run_.out_w);
    return tiles;
  }

  // 5x5. A tile is one output line.
  size_t five(size_t y, size_t tiles) {
    const size_t lines = (tiles - 1) * s_.stride_h + 5, first = y * s_.stride_h - run_.pad_top,
                 step = s_.stride_w * staged_;
    for (size_t i = 0; i < lines; ++i) c_.pixels[i] = line(first + i).data;
    c_.steps[0] = step, c_.steps[1] = s_.stride_h;
    tile_.tiles = tiles;
    for (size_t x = 0, columns; x < run_.out_w; x += columns) {
      columns = smaller(micro_panel_, run_.out_w - x);
      micro_panel(x, columns);
      for (size_t i = 0; i < lines; ++i) c_.pixels[i] += columns * step;
    }
    return tiles;
  }

  // Returns input line y. A line above the input has wrapped, so y >= in_h.
  Line line(size_t y) {
    if (y >= run_.in_h)
      return padded_ ? Line{c_.ring_data + c_.ring * c_.ring_line, staged_} : Line{zero_, 0};
    const uint8_t* data = run_.line(image_, y) + channel_ * element_;
    const bool in_place =
        multiplier_ == 1 && !padded_ &&
        (run_.in_w - 1) * run_.lhs_pixel + kernel_.reach <= (size_t)(run_.lhs_end - data);
    if (in_place) return {data, run_.lhs_pixel};
    const size_t slot = y - quotient(y, c_.ring) * c_.ring;
    uint8_t* const copy = c_.ring_data + slot * c_.ring_line;
    if (c_.staged[slot] != y) {
      c_.staged[slot] = y;
      copy_.copy(data, run_.lhs_pixel, inside_, copy + before_ * staged_);
      if (plan_.touch) tell_staged(data, inside_, copy, copied_);
    }
    return {copy, staged_};
  }

  bool lacks_borders() const { return channels_ > c_.bordered || staged_ != c_.bordered_pixel; }

  // Fills the borders of all copies, and the line of zero points. A row of zero points is the same
  // for all channels.
  void fill_borders() {
    const size_t width = padded_width(s_, run_.out_w), before = smaller(run_.pad_left, width),
                 end = smaller(before + run_.in_w, width);
    uint8_t* line = c_.ring_data;
    for (size_t slot = 0; slot < c_.ring; ++slot, line += c_.ring_line) {
      copy_.copy(zero_, 0, before, line);
      copy_.copy(zero_, 0, width - end, line + end * staged_);
    }
    copy_.copy(zero_, 0, width, line);
    if (plan_.touch) tell_staged(zero_, 0, line, width);
    c_.bordered = channels_, c_.bordered_pixel = staged_;
  }

  void tell_staged(const uint8_t* from, size_t pixels, const uint8_t* to, size_t width) const {
    for (size_t x = 0; x < pixels; ++x)
      plan_.touch(from + x * run_.lhs_pixel, divide_up(channels_, multiplier_), false);
    plan_.touch(to, width * staged_, true);
  }

  size_t point_at_lines(size_t x, size_t columns, size_t count) {
    tile_.first_column = x * s_.stride_w - run_.pad_left;
    const size_t inside = tile_.first_column < run_.in_w ? tile_.first_column : 0;
    for (size_t i = 0; i < count; ++i) {
      c_.pixels[i] = c_.lines[i].data + inside * c_.lines[i].step;
      c_.steps[i] = c_.lines[i].step;
    }
    return columns;
  }

  // Points a grouped kernel's taps at the copies, which all have one layout. Lines are short, so
  // this runs often.
  size_t point_at_copies(size_t x, size_t columns) {
    const uint8_t** slot = c_.pixels;
    for (size_t ky = 0; ky < s_.kernel_h; ++ky) {
      const uint8_t* pixel = c_.lines[ky].data + x * s_.stride_w * staged_;
      for (size_t kx = 0; kx < s_.kernel_w; ++kx, pixel += s_.dilation_w * staged_) *slot++ = pixel;
    }
    return columns;
  }

  // Points at the taps of outputs from x on. Returns how many have all taps inside the line, or 1.
  size_t point_at_taps(size_t x, size_t columns, size_t lines) {
    const size_t before = padded_ ? 0 : run_.pad_left,
                 in_w = padded_ ? padded_width(s_, run_.out_w) : run_.in_w;
    const size_t first = x * s_.stride_w - before, last = first + (s_.kernel_w - 1) * s_.dilation_w;
    tile_.groups = tile_.rows > 1 ? tile_.set_groups : slot_groups(s_);
    // Copies of the members: compilers would read them again after each store
    const uint8_t** const pixels = c_.pixels;
    size_t* const steps = c_.steps;
    const uint8_t* const zero = zero_;
    const size_t slots = slots_per_group(s_) * tile_.groups, down = slot_of(s_, 1, 0),
                 across = slot_of(s_, 0, 1), positions = s_.kernel_w, dilation = s_.dilation_w,
                 stride = step_of(s_, run_.out_w);
    for (size_t slot = 0; slot < slots; ++slot) pixels[slot] = zero, steps[slot] = 0;
    for (size_t ky = 0; ky < lines; ++ky) {
      const Line line = c_.lines[ky];
      size_t slot = ky * down, column = first;
      for (size_t kx = 0; kx < positions; ++kx, slot += across, column += dilation) {
        if (column >= in_w) continue;
        pixels[slot] = line.data + column * line.step;
        steps[slot] = stride * line.step;
      }
    }
    return first < in_w && last < in_w ? smaller(columns, (in_w - 1 - last) / s_.stride_w + 1) : 1;
  }

  void micro_panel(size_t x, size_t columns) {
    const size_t offset = n0_ * plan_.dst_bytes, line_pixels = run_.out_w;
    const size_t pixel = (image_ * run_.out_h + y_) * line_pixels + x;
    tile_.columns = columns;
    tile_.dst = direct_ ? run_.to.dst + pixel * run_.to.stride + offset : c_.tile;
    kernel_.multiply(tile_);
    if (!direct_) {
      // Whole lines are contiguous, in the workspace and in the output
      const size_t lines = tile_.tiles * tile_.rows,
                   together =
                       columns == line_pixels ? larger(quotient(kEpiloguePixels, columns), 1) : 1;
      for (size_t r = 0; r < lines; r += together)
        epilogue(c_.tile + r * tile_.dst_line, pixel + r * line_pixels,
                 smaller(together, lines - r) * columns);
    }
    if (!plan_.epilogue.lut) return;
    if (!ends_ && !tile_.raw) return;  // the tier's epilogue has finished the outputs
    for (size_t r = 0; r < tile_.tiles * tile_.rows; ++r)
      plan_.epilogue.finish_in_place(
          run_.to.dst + (pixel + r * line_pixels) * run_.to.stride + offset, run_.to.stride,
          columns, channels_);
  }

  // Applies the epilogue to accumulators in the workspace; output pixels are contiguous.
  void epilogue(const uint8_t* acc, size_t pixel, size_t columns) {
    const Output to = run_.to.from(pixel).column(n0_, plan_.dst_bytes);
    if (element_ == 2 && !ends_)
      return plan_.ops->finish_s16(
          plan_.s16, {nullptr, (const int32_t*)acc, tile_.channels, columns, channels_, n0_,
                      plan_.s16_offsets.from(n0_), to.dst, to.stride});
    if (tile_.raw)
      return kernel_.requantize({c_.prepared, (const int32_t*)acc, tile_.channels, columns,
                                 channels_, &plan_.requantization, to.dst, to.stride, tile_.quads,
                                 plan_.epilogue.has_residual ? &plan_.epilogue : nullptr,
                                 to.residual, to.residual_stride});
    if (ends_) {
      for (size_t i = 0; i < columns; ++i) {
        uint8_t* const pixel_to = to.dst + i * to.stride;
        memcpy(pixel_to, acc + i * tile_.dst_pixel, channels_ * plan_.dst_bytes);
        if (plan_.touch) plan_.touch(pixel_to, channels_ * plan_.dst_bytes, true);
      }
      return;
    }
    float row_scale[kEpiloguePixels];
    for (size_t i = 0; run_.lhs_scales && i < columns; ++i) row_scale[i] = run_.lhs_scales[image_];
    plan_.ops->epilogue(plan_.epilogue, {(const int32_t*)acc, tile_.channels, columns, channels_,
                                         n0_, run_.lhs_scales ? row_scale : nullptr, to});
  }

  const ConvPlan& plan_;
  const ConvShape& s_;
  const ConvRun& run_;
  Scratch& c_;
  const DepthwiseKernel& kernel_;
  const size_t staged_;  // bytes of a copied pixel
  size_t n0_, channels_, multiplier_, element_;
  size_t channel_;  // the input channel of output channel n0
  const ChannelCopy copy_;
  size_t image_ = 0, y_ = 0;
  const uint8_t* weights_;            // of the block
  const int16_t* offsets_ = nullptr;  // of a grouped block's weights, or null
  const uint8_t* zero_ = nullptr;
  const uint8_t* walked_ = nullptr;  // the block's first pixel of an image for walk_in_place
  bool padded_;                      // staged lines have their borders filled
  size_t copied_, before_, inside_;  // pixels of a staged line: all, border before, of the input
  bool grouped_;                     // grouped: taps are slots, in their order
  bool walks_;                       // the loop is a walk
  bool ends_;                        // the kernel requantizes to the final output
  bool direct_;                      // and writes it into the caller's tensor
  size_t micro_panel_;               // most columns of a tile
  size_t most_tiles_;                // whose sums fit the workspace; 1 where lines are cut
  DepthwiseTile tile_ = {};
};

}  // namespace

// All data of a band, for all channels, fits half of L2. Where lines are copied, a band copies the
// lines again that it shares with the previous band, so bands are not too small.
size_t channelwise_block(const ConvPlan& plan) {
  const ConvShape& s = plan.shape;
  const size_t out_w = conv_out_w(s, s.in_w);
  const size_t unit_bytes = rows_of(plan) * (s.stride_h * s.in_w * s.in_channels +
                                             out_w * s.out_channels * plan.dst_bytes);
  return larger(plan.cache_bytes / 2 / unit_bytes,
                pads_lines(plan, s.pad_left, s.in_w, out_w) ? 4 : 1);
}

// Each task prepares its blocks' weights, which takes as long as two lines of 7 pixels.
ConvGrain channelwise_grain(const ConvPlan& plan, size_t out_h, size_t) {
  return {divide_up(out_h, rows_of(plan)), kPanel, rows_of(plan), 1};
}

size_t channelwise_workspace(const ConvPlan& plan, size_t, size_t in_w, size_t out_h,
                             size_t out_w) {
  return larger(cut(plan, in_w, out_w, nullptr).bytes, byte_windows_workspace(plan, out_h, out_w));
}

void run_channelwise(const ConvPlan& plan, const ConvRun& run, const ConvTask& task,
                     uint8_t* workspace) {
  if (run_byte_windows(plan, run, task, workspace)) return;
  Scratch scratch = cut(plan, run.in_w, run.out_w, workspace);
  scratch.padded = pads_lines(plan, run.pad_left, run.in_w, run.out_w);
  const size_t rows = scratch.rows, units = divide_up(run.out_h, rows),
               whole = quotient(run.out_h, rows);
  for (size_t first = task.first, end; first < task.end; first = end) {
    end = first + next_block(task.end - first, plan.block, 1);
    for (size_t n0 = task.n0; n0 < task.n1;) {
      const Int8Panels& panels = plan.int8_panels;
      const bool int8 = panels.kernel && panels.fits[n0 / kPanel];
      const uint8_t* const payload = int8 ? panels.payload : plan.payload;
      const DepthwiseKernel* kernel = int8 ? panels.kernel : plan.depthwise;
      if (kernel->tail && task.n1 - n0 <= kernel->tail->channels) kernel = kernel->tail;
      const size_t channels = smaller(kernel->channels, task.n1 - n0);
      ChannelBlock block(plan, run, scratch, *kernel, payload, n0, channels);
      for (size_t unit = first; unit < end;) {
        const size_t image = quotient(unit, units), tile = unit - image * units;
        if (tile == 0 || unit == first) block.start(image, unit == first);
        unit += block.tiles(tile * rows, end - unit, whole - tile);
      }
      n0 += channels;
    }
  }
}

}  // namespace octet
