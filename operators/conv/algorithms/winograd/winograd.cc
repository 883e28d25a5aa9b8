// SPDX-License-Identifier: Apache-2.0
// Winograd's algorithm, fused: a block of tiles is small enough that its transformed inputs stay in
// a cache. For each nr columns of output channels it runs one matrix product per tap, then the
// output transform. Neither transformed inputs nor products are written to memory in full.
#include "operators/conv/algorithms/winograd/winograd.h"

#include <string.h>

#include "kernels/core/assert.h"
#include "kernels/core/limits.h"
#include "kernels/core/sections.h"
#include "kernels/macro/tile_output.h"

namespace octet {
namespace {

constexpr size_t kMaxTiles = 56;
constexpr size_t kEight = 8 * sizeof(int16_t);

// Tiles are numbered across lines and images.
struct Tiles {
  size_t per_line, per_image;
  Tiles(const WinogradScheme& s, size_t out_h, size_t out_w)
      : per_line(divide_up(out_w, s.out)), per_image(per_line * divide_up(out_h, s.out)) {}
};

struct Place {
  size_t image, y, x;  // position of the tile's first output
  Place(const WinogradScheme& s, const Tiles& tiles, size_t tile)
      : image(tile / tiles.per_image),
        y(tile % tiles.per_image / tiles.per_line * s.out),
        x(tile % tiles.per_line * s.out) {}
  // To the next tile, without a division.
  void advance(const WinogradScheme& s, const ConvRun& run) {
    x += s.out;
    if (x < run.out_w) return;
    x = 0, y += s.out;
    if (y >= run.out_h) y = 0, ++image;
  }
};

// The workspace of a task. Strides between taps are odd multiples of a cache line: with a power of
// two, one tile's taps would share a few sets of the cache.
size_t odd_lines(size_t bytes) { return round_up(bytes, kAlignment) | kAlignment; }

struct Workspace {
  size_t tiles;  // most tiles of a block
  // bytes: one transformed input, between tiles, between taps
  size_t element, input_row, input_tap;
  size_t eights;  // bytes between eights of channels, where rows lie side by side; 0: they do not
  // Bytes of the lhs panel of one kernel tile; 0 if the kernel reads rows
  size_t panel;
  size_t columns, product_row, product_tap;         // in elements; columns: of a row
  size_t output_tile;                               // elements of one tile's s32 outputs
  size_t inputs, panels, products, outputs, bytes;  // offsets

  // Never more tiles than the run has.
  Workspace(const WinogradScheme& s, const ConvPlan& plan, size_t most) {
    const MicroKernel& kernel = *plan.kernel;
    const size_t channels = plan.shape.group_in(),
                 depth = WinogradParts(s, plan.shape).count() * channels;
    element = s.int8() ? 1 : sizeof(int16_t);
    // The input transform writes whole vectors of each part
    input_row = round_up(depth - channels + round_up(channels, 32), 32) * element;
    if (input_row % 1024 == 0) input_row += kAlignment;
    panel = kernel.gather ? kernel.lhs_panel_bytes(depth) : 0;
    columns = round_up(kernel.nr, 16);  // the output transform reads whole vectors
    product_row = (kernel.multiply_eights ? kernel.nr : columns) * sizeof(int32_t);
    output_tile = (size_t)s.out * s.out * columns;
    tiles = smaller(most, plan.block);
    // Eights are one row apart, where a last vector begins before its place
    eights = kernel.multiply_eights ? (tiles + 1) * kEight : 0;
    input_tap = odd_lines(larger(tiles * input_row, divide_up(depth, 8) * eights));
    product_tap = odd_lines(tiles * product_row);
    Sections sections;
    inputs = sections.take(s.taps() * input_tap);
    panels = sections.take(s.taps() * divide_up(tiles, kernel.mr) * panel);
    products = sections.take(s.taps() * product_tap);
    outputs = sections.take(tiles * output_tile * sizeof(int32_t));
    bytes = sections.bytes;
  }
};

// Writes the addresses of a tile's inputs, `step` apart, the first one being that of tap (y, x);
// outside the image, the address of a zero point.
void find_pixels(const WinogradScheme& s, const ConvRun& run, const Place& place, size_t stride,
                 size_t step, size_t y, size_t x, size_t channel, const uint8_t** pixels) {
  // These wrap above and before the image, and are then beyond its sizes, too
  const size_t top = place.y * stride + y - run.pad_top, left = place.x * stride + x - run.pad_left,
               last = (s.patch - 1u) * step;
  const bool inside = left < run.in_w && last < run.in_w - left;
  const size_t patch = s.patch, pixel = step * run.lhs_pixel;
  const uint8_t* const zero = run.zero_row(place.image) + channel;
  for (size_t i = 0; i < patch; ++i) {
    const size_t at = top + i * step;
    if (at >= run.in_h) {
      for (size_t j = 0; j < patch; ++j) *pixels++ = zero;
      continue;
    }
    const uint8_t* from =
        run.line(place.image, at) + (ptrdiff_t)left * (ptrdiff_t)run.lhs_pixel + channel;
    if (inside) {
      for (size_t j = 0; j < patch; ++j, from += pixel) *pixels++ = from;
      continue;
    }
    for (size_t j = 0, x = left; j < patch; ++j, x += step, from += pixel)
      *pixels++ = x < run.in_w ? from : zero;
  }
}

class Task {
 public:
  Task(const WinogradScheme& s, const ConvPlan& plan, const ConvRun& run, const ConvTask& task,
       uint8_t* workspace)
      : s_(s),
        plan_(plan),
        run_(run),
        task_(task),
        kernel_(*plan.kernel),
        layout_(kernel_.rhs_layout),
        tiles_(s, run.out_h, run.out_w),
        at_(s, layout_, plan.shape),
        depth_(at_.parts.count() * at_.channels),
        w_(s, plan, run.batch * tiles_.per_image),
        workspace_(workspace),
        lhs_type_(kernel_.lhs_element_type) {
    memcpy(&header_, plan.payload, sizeof header_);
    // A blob with a wrong chunk gives wrong sums, but no address out of bounds.
    chunk_ = smaller(larger(layout_.steps(header_.chunk), layout_.kr), layout_.steps(depth_));
    find_ranges();
    eights_ = chunk_ < depth_ && chunk_ % 8 ? 0 : w_.eights;
    tile_step_ = eights_ ? kEight : w_.input_row;
  }

  void run() {
    const size_t first = task_.first, end = task_.end, blocks = divide_up(end - first, w_.tiles);
    const size_t group_out = plan_.shape.group_out();
    // Blocks end between the tiles of a kernel that takes them by eights, where blocks hold whole
    // ones: a measured block may have any number, and then has no room for more
    const size_t unit = eights_ && w_.tiles % kernel_.mr == 0 ? kernel_.mr : 1;
    const auto start = [&](size_t b) {
      return first + smaller(round_up((end - first) * b / blocks, unit), end - first);
    };
    for (size_t b = 0; b < blocks; ++b) {
      t0_ = start(b);
      count_ = start(b + 1) - t0_;
      OCTET_ASSERT(count_ <= w_.tiles);
      for (size_t group = task_.n0 / group_out; group * group_out < task_.n1; ++group) {
        transform_input(group);
        if (kernel_.gather) gather();
        const size_t n1 = smaller(task_.n1, (group + 1) * group_out);
        for (size_t n = larger(task_.n0, group * group_out); n < n1; n += kernel_.nr)
          for (size_t c = 0; c < depth_; c += chunk_) {
            const size_t cols = smaller(kernel_.nr, n1 - n);
            multiply(n, cols, c);
            transform_output(n, cols, c);
          }
      }
    }
  }

 private:
  uint8_t* inputs(size_t tap, size_t tile) const {
    return workspace_ + w_.inputs + tap * w_.input_tap + tile * tile_step_;
  }
  // Bytes from a tile's first transformed input to that of an input channel.
  size_t place_of(size_t channel) const {
    return eights_ ? channel / 8 * eights_ : channel * w_.element;
  }
  uint8_t* panel(size_t tap, size_t part) const {
    return workspace_ + w_.panels + (tap * divide_up(w_.tiles, kernel_.mr) + part) * w_.panel;
  }
  int32_t* products(size_t tap, size_t tile) const {
    return (int32_t*)(workspace_ + w_.products + tap * w_.product_tap + tile * w_.product_row);
  }
  int32_t* outputs(size_t tile) const {
    return (int32_t*)(workspace_ + w_.outputs) + tile * w_.output_tile;
  }

  void transform_input(size_t group) const {
    const uint8_t* pixels[kMaxTaps];
    const size_t channels = plan_.shape.group_in();
    WinogradInput in = {pixels,          channels,
                        plan_.lhs_type,  nullptr,
                        w_.input_tap,    eights_,
                        header_.factors, (uint8_t)(lhs_type_ == ElementType::kU8 ? 0x80 : 0)};
    Place place(s_, tiles_, t0_);
    for (size_t t = 0; t < count_; ++t, place.advance(s_, run_)) {
      // In this order, for vectors reach beyond a part
      for (size_t part = 0; part < at_.parts.count(); ++part) {
        const size_t step = at_.parts.step;
        find_pixels(s_, run_, place, plan_.shape.stride_h, step,
                    at_.parts.parts[part].y.tap(0, step), at_.parts.parts[part].x.tap(0, step),
                    group * channels, pixels);
        in.taps = inputs(0, t) + place_of(part * channels);
        plan_.transforms->input[(size_t)s_.variant](in);
      }
    }
  }

  void gather() const {
    const Tiling tiling(count_, kernel_);
    for (size_t tap = 0; tap < s_.taps(); ++tap)
      for (size_t p = 0, row = 0; p < tiling.count; row += tiling.rows(p), ++p)
        kernel_.gather({inputs(tap, row), w_.input_row, tiling.rows(p), depth_, 0},
                       round_up(tiling.rows(p), kernel_.lhs_lanes_step), panel(tap, p));
  }

  // Computes products[tap][tile][column] over a chunk of input channels from `channel` on.
  void multiply(size_t n, size_t cols, size_t channel) const {
    alignas(64) static const int32_t kZeros[kMaxTileColumns] = {};
    Tile tile = {};
    tile.lhs_stride = w_.input_row;
    tile.rhs_stride = layout_.width * layout_.group_bytes();
    tile.rhs_panel_stride = at_.panel_bytes;
    // Rows of products are whole, so stores need no mask. Panels are, or half of one
    const size_t step = kernel_.nr == layout_.width ? smaller(layout_.width, 8) : layout_.width;
    tile.cols = smaller(kernel_.nr, round_up(cols, step));
    tile.init = kZeros;
    tile.dst_stride = w_.product_row;
    if (eights_) {
      ptrdiff_t steps[] = {(ptrdiff_t)w_.input_tap, 0, (ptrdiff_t)w_.product_tap};
      tile.lhs_stride = eights_;
      tile.rows = count_;
      tile.tap_steps = steps;
      for_each_range(channel, [&](size_t tap, size_t taps, size_t first, size_t depth) {
        tile.lhs = inputs(tap, 0) + place_of(first);
        tile.rhs = weights(n, tap, first);
        steps[1] = (ptrdiff_t)at_.tap_bytes(tap);
        tile.dst = products(tap, 0);
        tile.depth = depth;
        tile.taps = taps;
        kernel_.multiply_eights(tile);
      });
      return;
    }
    const Tiling tiling(count_, kernel_, tile.cols);
    for_each_range(channel, [&](size_t tap, size_t taps, size_t first, size_t depth) {
      tile.depth = depth;
      tile.rhs = weights(n, tap, first);
      for (const size_t end = tap + taps, step = at_.tap_bytes(tap); tap < end;
           ++tap, tile.rhs += step) {
        if (lhs_type_ == ElementType::kU8)
          tile.init = (const int32_t*)(plan_.payload + at_.correction) + tap * at_.table_row + n;
        tile.dst = products(tap, 0);
        tile.lhs = kernel_.gather ? panel(tap, 0) : inputs(tap, 0) + place_of(first);
        multiply_tiles(kernel_, tiling, w_.panel, &tile);
      }
    });
  }

  const uint8_t* weights(size_t n, size_t tap, size_t channel) const {
    const size_t met = at_.parts.range(s_, tap).begin * at_.channels;
    return plan_.payload + at_.offset(layout_, plan_.shape, n, tap, channel - met);
  }
  // Neighbouring taps that meet the same input channels.
  struct Range {
    size_t tap, taps, begin, end;
  };
  // Products of taps that meet none are 0 in all blocks.
  void find_ranges() {
    for (size_t tap = 0; tap < s_.taps(); ++tap) {
      const WinogradParts::Range met = at_.parts.range(s_, tap);
      const Range next = {tap, 1, met.begin * at_.channels, met.end * at_.channels};
      Range* const last = ranges_ + range_count_ - 1;
      if (met.begin == met.end)
        memset(products(tap, 0), 0, w_.product_tap);
      else if (range_count_ && last->tap + last->taps == tap && next.begin == last->begin &&
               next.end == last->end)
        ++last->taps;
      else
        ranges_[range_count_++] = next;
    }
  }
  // Calls f(tap, taps, first, depth) for neighbouring taps, and for the input channels that all of
  // them meet in the chunk from `channel` on. Products of those that meet none there are 0.
  template <typename F>
  void for_each_range(size_t channel, const F& f) const {
    for (const Range* r = ranges_; r < ranges_ + range_count_; ++r) {
      const size_t first = larger(channel, r->begin), last = smaller(channel + chunk_, r->end);
      if (first < last)
        f(r->tap, r->taps, first, last - first);
      else
        memset(products(r->tap, 0), 0, r->taps * w_.product_tap);
    }
  }

  // Adds to `outputs`; the last chunk writes to the destination.
  void transform_output(size_t n, size_t cols, size_t channel) const {
    const bool first_chunk = channel == 0, last_chunk = channel + chunk_ >= depth_;
    // Transforms requantize in float mode only; some convert to f32
    const EpilogueMode mode = plan_.epilogue.mode;
    const bool s32 = mode == EpilogueMode::kS32, floats = mode == EpilogueMode::kF32,
               exits = plan_.requantize_in_kernel && !plan_.epilogue.lut &&
                       (floats ? plan_.transforms->stores_floats : mode == EpilogueMode::kFloat8);
    alignas(64) int32_t start[kMaxTileColumns];
    WinogradOutput out = {};
    out.tap_stride = w_.product_tap / sizeof(int32_t);
    out.tap_scale_stride = at_.table_row;
    out.requantization = &plan_.requantization;
    out.row_scale = 1;
    bool in_place = s32 || exits;
    size_t image = SIZE_MAX;
    Place place(s_, tiles_, t0_);
    for (size_t t = 0; t < count_; ++t, place.advance(s_, run_)) {
      if (first_chunk && image != place.image) make_start(place.image, n, start);
      image = place.image;
      if (floats && run_.lhs_scales) {
        out.row_scale = run_.lhs_scales[image];
        in_place = exits && is_plain_scale(out.row_scale);
      }
      const size_t pixel = (place.image * run_.out_h + place.y) * run_.out_w + place.x;
      out.height = smaller(s_.out, run_.out_h - place.y);
      out.width = smaller(s_.out, run_.out_w - place.x);
      int32_t* const sums = outputs(first_chunk && last_chunk ? 0 : t);
      for (size_t c = 0; c < cols; c += plan_.transforms->columns) {
        out.products = products(0, t) + c;
        out.cols = smaller(plan_.transforms->columns, cols - c);
        out.init = (first_chunk ? start : sums) + c;
        out.init_stride = first_chunk ? 0 : w_.columns;
        out.tap_scale = (const float*)(plan_.payload + at_.tap_scale) + n + c;
        if (last_chunk && in_place) {
          out.dst = run_.to.dst + pixel * run_.to.stride + (n + c) * plan_.dst_bytes;
          out.dst_pixel = run_.to.stride;
          out.dst_line = run_.out_w * run_.to.stride;
          out.scale = s32 ? nullptr : plan_.epilogue.scale + n + c;
        } else {
          out.scale = nullptr;
          out.dst = sums + c;
          out.dst_pixel = w_.columns * sizeof(int32_t);
          out.dst_line = s_.out * out.dst_pixel;
        }
        plan_.transforms->output[(size_t)s_.variant](out);
      }
      if (last_chunk && !in_place)
        epilogue(sums, out.height, out.width, cols, n, pixel, place.image);
    }
  }

  void epilogue(const int32_t* sums, size_t height, size_t width, size_t cols, size_t n,
                size_t pixel, size_t image) const {
    float row_scale[kMaxPatch];
    if (run_.lhs_scales)
      for (float& scale : row_scale) scale = run_.lhs_scales[image];
    for (size_t y = 0; y < height; ++y, pixel += run_.out_w, sums += s_.out * w_.columns)
      plan_.ops->epilogue(plan_.epilogue,
                          {sums, w_.columns, width, cols, n, run_.lhs_scales ? row_scale : nullptr,
                           run_.to.from(pixel).column(n, plan_.dst_bytes)});
  }

  // Accumulator start: bias[n] - zero point * weight_sum[n], as far as the bias does not contain
  // it. The plan counts in the kernel's element type, the transforms in s8.
  void make_start(size_t image, size_t n, int32_t* start) const {
    const int32_t zero_point = plan_.runtime_zero_point ? zero_point_of(plan_, run_, image) : 0;
    write_start(plan_, n, kernel_.nr, zero_point - (lhs_type_ == ElementType::kU8 ? 128 : 0),
                start);
  }

  const WinogradScheme& s_;
  const ConvPlan& plan_;
  const ConvRun& run_;
  const ConvTask& task_;
  const MicroKernel& kernel_;
  const RhsLayout& layout_;
  const Tiles tiles_;
  const WinogradPayload at_;
  const size_t depth_;  // of all parts
  const Workspace w_;
  uint8_t* const workspace_;
  const ElementType lhs_type_;  // the kernel's: int8 on some ISAs
  WinogradHeader header_;
  size_t chunk_;
  size_t eights_, tile_step_;  // w_.eights where chunks are eights; bytes between tiles' inputs
  size_t t0_, count_;          // tiles of the current block
  Range ranges_[kMaxTaps];
  size_t range_count_ = 0;
};

}  // namespace

size_t winograd_tiles(const WinogradScheme& s, size_t out_h, size_t out_w) {
  return Tiles(s, out_h, out_w).per_image;
}

// A block has as many tiles as fill three quarters of the cache: 16 tiles (an image of 14x14) with
// 512 channels are one block in 1 MB.
size_t winograd_block(const WinogradScheme& s, const ConvPlan& plan) {
  const Workspace w(s, plan, 1);
  const size_t mr = plan.kernel->mr, tile = w.input_row + w.panel / mr + w.product_row;
  const size_t fit = smaller(plan.cache_bytes / 4 * 3 / (s.taps() * tile), kMaxTiles);
  return larger(plan.kernel->multiply_eights ? fit / mr * mr : fit, mr);
}

size_t winograd_task_workspace(const WinogradScheme& s, const ConvPlan& plan, size_t, size_t,
                               size_t out_h, size_t out_w) {
  return Workspace(s, plan, plan.shape.batch * Tiles(s, out_h, out_w).per_image).bytes;
}

void winograd_run(const WinogradScheme& s, const ConvPlan& plan, const ConvRun& run,
                  const ConvTask& task, uint8_t* workspace) {
  Task(s, plan, run, task, workspace).run();
}

}  // namespace octet
