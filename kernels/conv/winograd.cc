// Winograd's algorithm, fused: for a block of tiles small enough that its taps stay in a cache, for each strip of output channels, a matrix product per
// tap, then the output transform. Neither taps nor products are ever written to memory in full.
#include "kernels/conv/winograd.h"

#include <string.h>

namespace octet {
namespace {

constexpr size_t kAlignment = 64, kMaxColumns = 64, kMaxTiles = 56;

// Tiles are numbered across lines and images.
struct Tiles {
  size_t per_line, per_image;
  Tiles(const WinogradScheme& s, size_t out_h, size_t out_w) : per_line(divide_up(out_w, s.out)), per_image(per_line * divide_up(out_h, s.out)) {}
};

struct Place {
  size_t image, y, x;  // of the tile's first output
  Place(const WinogradScheme& s, const Tiles& tiles, size_t tile)
      : image(tile / tiles.per_image),
        y(tile % tiles.per_image / tiles.per_line * s.out),
        x(tile % tiles.per_line * s.out) {}
};

// Of a task. All tap strides are odd multiples of a cache line: a power of two would put one tile's taps into a few sets of the cache.
size_t odd_lines(size_t bytes) { return round_up(bytes, kAlignment) | kAlignment; }

struct Workspace {
  size_t tiles;                                  // of a block, at most
  size_t word_row, word_tap;                     // bytes between tiles and between taps
  size_t product_row, product_tap;
  size_t output_tile;                            // bytes of one tile's s32 outputs
  size_t words, products, outputs, bytes;        // offsets

  // As many tiles as fill half of the cache; never more than the run has.
  Workspace(const WinogradScheme& s, const ConvPlan& plan, size_t most) {
    const MicroKernel& kernel = *plan.kernel;
    const size_t channels = round_up(plan.shape.group_in(), 32);  // the input transform writes whole vectors
    word_row = channels * sizeof(int16_t);
    if (word_row % 1024 == 0) word_row += kAlignment;
    product_row = kernel.nr * sizeof(int32_t);
    output_tile = (size_t)s.out * s.out * product_row;
    const size_t fit = plan.cache_bytes / 2 / (s.taps() * (word_row + product_row));
    tiles = smaller(most, smaller(larger(fit, kernel.mr), kMaxTiles));
    word_tap = odd_lines(tiles * word_row);
    product_tap = odd_lines(tiles * product_row);
    words = 0;
    products = words + s.taps() * word_tap;
    outputs = products + s.taps() * product_tap;
    bytes = outputs + tiles * output_tile;
  }
};

// The addresses of a tile's inputs; outside the image, that of the zero point.
void find_pixels(const WinogradScheme& s, const ConvRun& run, const Place& place, size_t channel, const uint8_t** pixels) {
  const size_t top = place.y * s.stride, left = place.x * s.stride;
  const uint8_t* const zero = run.zero_row(place.image) + channel;
  const uint8_t* const image = run.lhs + place.image * run.lhs_image + channel;
  for (size_t i = 0; i < s.patch; ++i) {
    const size_t y = top + i - run.pad_top;  // wraps above the image, and is beyond it then as well
    const uint8_t* const line = image + y * run.lhs_row;
    if (y >= run.in_h)
      for (size_t j = 0; j < s.patch; ++j) *pixels++ = zero;
    else if (left >= run.pad_left && left - run.pad_left + s.patch <= run.in_w)
      for (size_t j = 0; j < s.patch; ++j) *pixels++ = line + (left - run.pad_left + j) * run.lhs_pixel;
    else
      for (size_t j = 0; j < s.patch; ++j) {
        const size_t x = left + j - run.pad_left;
        *pixels++ = x < run.in_w ? line + x * run.lhs_pixel : zero;
      }
  }
}

class Task {
 public:
  Task(const WinogradScheme& s, const ConvPlan& plan, const ConvRun& run, const ConvTask& task, uint8_t* workspace)
      : s_(s), plan_(plan), run_(run), task_(task), kernel_(*plan.kernel), tiles_(s, run.out_h, run.out_w), weights_(s, kernel_.rhs_layout, plan.shape),
        w_(s, plan, run.batch * tiles_.per_image), words_(workspace + w_.words), products_((int32_t*)(workspace + w_.products)),
        outputs_((int32_t*)(workspace + w_.outputs)) {
    // A blob that lies about its chunk gives wrong sums, but no wrong address.
    WinogradHeader header;
    memcpy(&header, plan.payload, sizeof header);
    const size_t depth = kernel_.rhs_layout.depth(plan.shape.group_in());
    chunk_ = smaller(larger(kernel_.rhs_layout.depth(header.chunk), kernel_.rhs_layout.kr), depth);
  }

  void run() {
    const size_t end = tile_of(task_.line1), first = tile_of(task_.line0), blocks = divide_up(end - first, w_.tiles);
    const size_t group_out = plan_.shape.group_out();
    for (size_t b = 0; b < blocks; ++b) {
      const size_t t0 = first + (end - first) * b / blocks, count = first + (end - first) * (b + 1) / blocks - t0;
      for (size_t group = task_.n0 / group_out; group * group_out < task_.n1; ++group) {
        transform_input(group, t0, count);
        const size_t n0 = larger(task_.n0, group * group_out), n1 = smaller(task_.n1, (group + 1) * group_out);
        for (size_t n = n0; n < n1; n += kernel_.nr) strip(n, smaller(kernel_.nr, n1 - n), t0, count);
      }
    }
  }

 private:
  // Tasks end where tasks begin: at a tile or at the end of an image.
  size_t tile_of(size_t line) const { return line / run_.out_h * tiles_.per_image + divide_up(line % run_.out_h, s_.out) * tiles_.per_line; }

  void transform_input(size_t group, size_t t0, size_t count) const {
    const size_t channels = plan_.shape.group_in();
    const uint8_t* pixels[kMaxTaps];
    WinogradInput in = {pixels, channels, plan_.lhs_flip != 0, nullptr, w_.word_tap / sizeof(int16_t)};
    for (size_t t = 0; t < count; ++t) {
      find_pixels(s_, run_, Place(s_, tiles_, t0 + t), group * channels, pixels);
      in.taps = (int16_t*)(words_ + t * w_.word_row);
      kernel_.winograd->input[(size_t)s_.form](in);
    }
  }

  void strip(size_t n, size_t cols, size_t t0, size_t count) const {
    const size_t channels = plan_.shape.group_in();
    for (size_t c = 0; c < channels; c += chunk_) {
      multiply(n, cols, c, smaller(chunk_, channels - c), count);
      transform_output(n, cols, c == 0, c + chunk_ >= channels, t0, count);
    }
  }

  // products[tap][tile][column], over some input channels.
  void multiply(size_t n, size_t cols, size_t channel, size_t depth, size_t count) const {
    alignas(64) static const int32_t kZeros[kMaxColumns] = {};
    const RhsLayout& layout = kernel_.rhs_layout;
    const size_t group_out = plan_.shape.group_out(), lane = n % group_out, in_panel = lane % layout.width, parts = divide_up(count, kernel_.mr);
    const uint8_t* rhs = plan_.payload + sizeof(WinogradHeader) + n / group_out * weights_.group_bytes + lane / layout.width * weights_.panel_bytes +
                         (channel * layout.width + in_panel * layout.kr) * sizeof(int16_t);
    Tile tile = {};
    tile.lhs_stride = w_.word_row;
    tile.rhs_stride = layout.width * layout.kr * sizeof(int16_t);
    tile.rhs_panel_stride = weights_.panel_bytes;
    tile.depth = depth;
    tile.cols = cols;
    tile.init = kZeros;
    tile.dst_stride = w_.product_row;
    for (size_t tap = 0; tap < s_.taps(); ++tap) {
      tile.rhs = rhs + tap * weights_.tap_bytes;
      for (size_t p = 0; p < parts; ++p) {
        const size_t row = count * p / parts;
        tile.rows = count * (p + 1) / parts - row;
        tile.lhs = words_ + tap * w_.word_tap + row * w_.word_row + channel * sizeof(int16_t);
        tile.dst = (uint8_t*)products_ + tap * w_.product_tap + row * w_.product_row;
        kernel_.multiply(tile);
      }
    }
  }

  // Adds to `outputs` until the last chunk, which leaves for the destination.
  void transform_output(size_t n, size_t cols, bool first_chunk, bool last_chunk, size_t t0, size_t count) const {
    const Finish& finish = plan_.finish;
    const bool s32 = finish.mode == FinishMode::kS32, in_place = s32 || plan_.narrow_in_kernel;
    alignas(64) int32_t init[kMaxColumns];
    WinogradOutput out = {};
    out.tap_stride = w_.product_tap / sizeof(int32_t);
    out.cols = cols;
    if (last_chunk && plan_.narrow_in_kernel) {
      out.scale = finish.scale + n;
      out.narrow = &plan_.narrow;
    }
    size_t image = SIZE_MAX;
    for (size_t t = 0; t < count; ++t) {
      const Place place(s_, tiles_, t0 + t);
      if (first_chunk && image != place.image) {
        out.init = start(place.image, n, init);
        image = place.image;
      }
      int32_t* const sums = outputs_ + (first_chunk && last_chunk ? 0 : t) * (w_.output_tile / sizeof(int32_t));
      if (!first_chunk) {
        out.init = sums;
        out.init_stride = kernel_.nr;
      }
      out.products = (const int32_t*)((const uint8_t*)products_ + t * w_.product_row);
      out.height = smaller(s_.out, run_.out_h - place.y);
      out.width = smaller(s_.out, run_.out_w - place.x);
      const size_t pixel = (place.image * run_.out_h + place.y) * run_.out_w + place.x;
      uint8_t* const dst = run_.dst + pixel * run_.dst_pixel + n * plan_.dst_bytes;
      if (last_chunk && in_place) {
        out.dst = dst;
        out.dst_pixel = run_.dst_pixel;
        out.dst_line = run_.out_w * run_.dst_pixel;
      } else {
        out.dst = sums;
        out.dst_pixel = w_.product_row;
        out.dst_line = s_.out * w_.product_row;
      }
      kernel_.winograd->output[(size_t)s_.form](out);
      if (last_chunk && !in_place) finish_tile(sums, out.height, out.width, cols, n, pixel, place.image);
    }
  }

  void finish_tile(const int32_t* sums, size_t height, size_t width, size_t cols, size_t n, size_t pixel, size_t image) const {
    float row_scale[4];
    if (run_.lhs_scales)
      for (float& scale : row_scale) scale = run_.lhs_scales[image];
    for (size_t y = 0; y < height; ++y, pixel += run_.out_w, sums += s_.out * kernel_.nr)
      plan_.finish_fn(plan_.finish, {sums, kernel_.nr, width, cols, n, run_.lhs_scales ? row_scale : nullptr,
                                     run_.dst + pixel * run_.dst_pixel + n * plan_.dst_bytes, run_.dst_pixel,
                                     run_.residual ? run_.residual + pixel * run_.residual_pixel + n : nullptr, run_.residual_pixel});
  }

  // bias[n] - zero point * weight_sum[n], where that is not in the bias already.
  const int32_t* start(size_t image, size_t n, int32_t* init) const {
    if (!plan_.runtime_zero_point) return plan_.bias + n;
    const uint32_t zero_point = (uint32_t)((run_.lhs_zero_points ? run_.lhs_zero_points[image] : 0) + plan_.lhs_shift);
    for (size_t j = 0; j < kernel_.nr; ++j) init[j] = (int32_t)((uint32_t)plan_.bias[n + j] - zero_point * (uint32_t)plan_.weight_sum[n + j]);
    return init;
  }

  const WinogradScheme& s_;
  const ConvPlan& plan_;
  const ConvRun& run_;
  const ConvTask& task_;
  const MicroKernel& kernel_;
  const Tiles tiles_;
  const WinogradWeights weights_;
  const Workspace w_;
  uint8_t* const words_;
  int32_t* const products_;
  int32_t* const outputs_;
  size_t chunk_;
};

}  // namespace

size_t winograd_task_workspace(const WinogradScheme& s, const ConvPlan& plan, size_t out_h, size_t out_w) {
  return Workspace(s, plan, plan.shape.batch * Tiles(s, out_h, out_w).per_image).bytes;
}

void winograd_run(const WinogradScheme& s, const ConvPlan& plan, const ConvRun& run, const ConvTask& task, uint8_t* workspace) {
  Task(s, plan, run, task, workspace).run();
}

}  // namespace octet
