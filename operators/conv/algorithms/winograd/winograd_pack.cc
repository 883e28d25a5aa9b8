// SPDX-License-Identifier: Apache-2.0
// Transforms weights for Winograd's algorithm and packs them.
#include <string.h>

#include "operators/conv/algorithms/winograd/winograd.h"
#include "packing/interleave.h"

namespace octet {
namespace {

// ---- G w G^T

// A block: some input channels of a panel's lanes, in the panel's order. The code below works on it
// element by element.
constexpr size_t kBlock = 256;
using Int16 = int16_t[kBlock];

// to = G (a, b, c), along one axis. Most rows of G have one term, or are a pair that differs in the
// sign of the middle term.
void transform(const WinogradScheme& s, const Int16& a, const Int16& b, const Int16& c, Int16* to) {
  for (size_t y = 0; y < s.patch; ++y, ++to) {
    const int16_t ga = s.g[y][0], gb = s.g[y][1], gc = s.g[y][2];
    if (!gb && (!ga || !gc)) {
      for (size_t e = 0; e < kBlock; ++e) to[0][e] = (int16_t)(ga ? ga * a[e] : gc * c[e]);
    } else if (y + 1 < s.patch && s.g[y + 1][0] == ga && s.g[y + 1][1] == -gb &&
               s.g[y + 1][2] == gc) {
      for (size_t e = 0; e < kBlock; ++e) {
        const int16_t outer = (int16_t)(ga * a[e] + gc * c[e]), middle = (int16_t)(gb * b[e]);
        to[0][e] = (int16_t)(outer + middle);
        to[1][e] = (int16_t)(outer - middle);
      }
      ++y, ++to;
    } else {
      for (size_t e = 0; e < kBlock; ++e) to[0][e] = (int16_t)(ga * a[e] + gb * b[e] + gc * c[e]);
    }
  }
}

// Zero points in s8 of `lanes` output channels from o on; 0 where there is no weight.
void zero_points_of(const RhsLayout& layout, const FilterView& filter, size_t o, size_t lanes,
                    size_t depth, Int16* zero) {
  memset(zero, 0, sizeof *zero);
  for (size_t k = 0; k < depth; ++k)
    for (size_t lane = 0; lane < lanes; ++lane)
      (*zero)[(k / layout.kr * layout.width + lane) * layout.kr + k % layout.kr] =
          (int16_t)(filter.zero_point(o + lane) + type_shift(filter.type(), ElementType::kS8));
}

// Calls f(o, i, elements, first, taps) for all blocks, one row of taps at a time, because the stack
// has room for no more. The block holds input channels from i on, those of all parts side by side,
// of the panel that begins at output channel o. taps[t] is the block's tap first + t, minus zero
// points; missing lanes and channels are 0.
template <typename F>
void for_each_block(const WinogradScheme& s, const RhsLayout& layout, const ConvShape& shape,
                    const FilterView& filter, size_t o_first, size_t o_end, const F& f) {
  uint8_t bytes[kBlock];
  Int16 w[3], columns[3][kMaxPatch], taps[kMaxPatch], zero = {};
  const bool zero_points = filter.zero_point_range().any();
  const size_t step = kBlock / layout.width / layout.kr * layout.kr;  // whole groups
  const WinogradParts parts(s, shape);
  for (size_t o = o_first, lanes; o < o_end; o += lanes) {
    lanes = smaller(layout.width, shape.group_out() - o % shape.group_out());
    for (size_t part = 0; part < parts.count(); ++part) {
      const WinogradAxis::Part &ys = parts.parts[part].y, &xs = parts.parts[part].x;
      for (size_t i = 0; i < shape.group_in(); i += step) {
        const size_t depth = smaller(step, shape.group_in() - i),
                     elements = layout.steps(depth) * layout.width;
        if (zero_points) zero_points_of(layout, filter, o, lanes, depth, &zero);
        LaneView view = {nullptr,         filter.o_stride,
                         filter.i_stride, lanes,
                         depth,           (uint8_t)(filter.type() == ElementType::kU8 ? 0x80 : 0)};
        if (lanes != layout.width || elements != kBlock || depth % layout.kr)
          memset(bytes, 0, sizeof bytes);
        for (size_t x = 0; x < 3; ++x) {
          for (size_t y = 0; y < 3; ++y) {
            if (!ys.has(y) || !xs.has(x)) {
              memset(w[y], 0, sizeof w[y]);
              continue;
            }
            filter.for_each_part(
                view, filter.at(shape, o, ys.tap(y, parts.step), xs.tap(x, parts.step), i),
                [&](const LaneView& part, size_t lane, size_t k) {
                  interleave(part, layout.width, layout.kr, k, bytes + lane * layout.kr);
                });
            for (size_t e = 0; e < kBlock; ++e) w[y][e] = (int16_t)((int8_t)bytes[e] - zero[e]);
          }
          transform(s, w[0], w[1], w[2], columns[x]);
        }
        for (size_t y = 0; y < s.patch; ++y) {
          transform(s, columns[0][y], columns[1][y], columns[2][y], taps);
          f(o, part * shape.group_in() + i, elements, y * s.patch, taps);
        }
      }
    }
  }
}

// ---- int16

// True if no output channel's sum over a chunk of `chunk` input channels leaves the range in which
// the factor can be removed.
bool fits(const WinogradScheme& s, const ConvShape& shape, const FilterView& filter, size_t chunk) {
  const WinogradParts parts(s, shape);
  const size_t channels = shape.group_in(), all = parts.count() * channels;
  for (size_t o = 0; o < shape.out_channels; ++o)
    for (size_t first = 0; first < all; first += chunk) {
      WeightSums sums = {};
      for (size_t part = 0; part < parts.count(); ++part) {
        const WinogradAxis::Part &ys = parts.parts[part].y, &xs = parts.parts[part].x;
        const size_t from = larger(first, part * channels),
                     end = smaller(first + chunk, (part + 1) * channels);
        for (size_t tap = 0; from < end && tap < (size_t)ys.taps * xs.taps; ++tap)
          sums += filter.sum_position(shape, o, ys.first + tap / xs.taps * parts.step,
                                      xs.first + tap % xs.taps * parts.step, from - part * channels,
                                      end - from);
      }
      if (sums.positive - sums.negative >= s.weight_limit) return false;
    }
  return true;
}

// The fewest equal chunks that fit, so a run needs to know only the chunk's size.
size_t choose_chunk(const WinogradScheme& s, const RhsLayout& layout, const ConvShape& shape,
                    const FilterView& filter, const ColumnSums& sums) {
  // `least` channels fit with any weights. Chunks of eights suit all kernels
  const size_t channels = WinogradParts(s, shape).count() * shape.group_in(),
               unit = larger(layout.kr, 8),
               least = (size_t)(s.weight_limit - 1) / (9 * 255) / unit * unit;
  bool one_fits = true;
  for (size_t o = 0; o < shape.out_channels; ++o)
    one_fits &= sums.positive[o] - sums.negative[o] < s.weight_limit;
  if (one_fits) return layout.steps(channels);
  for (size_t parts = 2;; ++parts) {
    const size_t chunk = round_up(divide_up(channels, parts), unit);
    if (chunk <= least || fits(s, shape, filter, chunk)) return chunk;
  }
}

void pack_int16(const WinogradScheme& s, const RhsLayout& layout, const ConvShape& shape,
                const FilterView& filter, const ColumnSums& sums, uint8_t* payload) {
  const WinogradPayload at(s, layout, shape);
  WinogradHeader header = {};
  header.chunk = (uint32_t)choose_chunk(s, layout, shape, filter, sums);
  memcpy(payload, &header, sizeof header);
  for_each_block(s, layout, shape, filter, 0, shape.out_channels,
                 [&](size_t o, size_t i, size_t elements, size_t first, const Int16* taps) {
                   for (size_t tap = first; tap < first + s.patch; ++tap) {
                     const WinogradParts::Range met = at.parts.range(s, tap);
                     const size_t begin = met.begin * at.channels;
                     if (begin <= i && i < met.end * at.channels)
                       memcpy(payload + at.offset(layout, shape, o, tap, i - begin),
                              taps[tap - first], elements * sizeof(int16_t));
                   }
                 });
}

// ---- int8

constexpr size_t kMaxWidth = 16;  // most lanes of a panel
constexpr size_t kInt8Taps = 16;
constexpr float kWidest = 512;  // range of an input tap: a sum of four centred int8 values

// Scales an input tap of magnitude `range` to fill s8; the factor is in 1/32768.
int16_t factor_of(float range) {
  const float factor = 127.0f * 32768.0f / range;
  return factor >= 32767.0f ? 32767 : factor <= 1.0f ? 1 : (int16_t)(factor + 0.5f);
}

int32_t divide_rounded(int32_t a, int32_t b) { return (2 * a + (a < 0 ? -b : b)) / (2 * b); }

void pack_int8(const WinogradScheme& s, const WeightFormat& format, const ConvShape& shape,
               const FilterView& filter, const float* tap_ranges, uint8_t* payload) {
  const RhsLayout& layout = format.layout;
  const WinogradPayload at(s, layout, shape);
  WinogradHeader header = {};
  header.chunk = (uint32_t)layout.steps(shape.group_in());
  for (size_t tap = 0; tap < s.taps(); ++tap)
    header.factors[tap] = factor_of(tap_ranges ? tap_ranges[tap] : kWidest);
  memcpy(payload, &header, sizeof header);
  float* const tap_scale = (float*)(payload + at.tap_scale);
  int32_t* const correction = (int32_t*)(payload + at.correction);
  for (size_t o = 0, lanes; o < shape.out_channels; o += lanes) {
    lanes = smaller(layout.width, shape.group_out() - o % shape.group_out());
    // Each tap's largest weight is scaled to 127.
    int32_t largest[kInt8Taps][kMaxWidth] = {}, sum[kInt8Taps][kMaxWidth] = {};
    const auto for_each_weight = [&](const auto& f) {
      for_each_block(s, layout, shape, filter, o, o + lanes,
                     [&](size_t, size_t i, size_t elements, size_t first, const Int16* taps) {
                       for (size_t tap = 0; tap < s.patch; ++tap)
                         for (size_t e = 0; e < elements; ++e)
                           f(first + tap, e / layout.kr % layout.width, i, e, taps[tap][e]);
                     });
    };
    for_each_weight([&](size_t tap, size_t lane, size_t, size_t, int32_t w) {
      const int32_t magnitude = w < 0 ? -w : w;
      if (magnitude > largest[tap][lane]) largest[tap][lane] = magnitude;
    });
    for_each_weight([&](size_t tap, size_t lane, size_t i, size_t e, int32_t w) {
      const int32_t rounded = largest[tap][lane] ? divide_rounded(127 * w, largest[tap][lane]) : 0;
      payload[at.offset(layout, shape, o, tap, i) + e] = (uint8_t)rounded;
      sum[tap][lane] += rounded;
    });
    for (size_t tap = 0; tap < s.taps(); ++tap)
      // The sums carry a factor of 4, as all products of F(2,3) do
      for (size_t lane = 0; lane < lanes; ++lane) {
        tap_scale[tap * at.table_row + o + lane] =
            (float)largest[tap][lane] * 32768.0f / ((float)header.factors[tap] * 508.0f);
        correction[tap * at.table_row + o + lane] = -128 * sum[tap][lane];
      }
  }
  for (size_t group = 0; format.packing->complete && group < shape.groups; ++group)
    format.packing->complete(layout, layout.lanes(shape.group_out()), s.taps(), shape.group_in(),
                             payload + at.weights + group * at.group_bytes);
}

}  // namespace

WinogradParts::WinogradParts(const WinogradScheme& s, const ConvShape& shape)
    : step(shape.stride_h / s.stride), y(shape.kernel_h, step), x(shape.kernel_w, step) {
  size_t part = 0;
  const auto some = [&](size_t y0, size_t y1, size_t x0, size_t x1) {
    for (size_t i = y0; i < y1; ++i)
      for (size_t j = x0; j < x1; ++j) parts[part++] = {y.parts[i], x.parts[j]};
  };
  some(0, y.longer, x.longer, x.count);
  some(0, y.longer, 0, x.longer);
  some(y.longer, y.count, 0, x.longer);
  some(y.longer, y.count, x.longer, x.count);
}

WinogradPayload::WinogradPayload(const WinogradScheme& s, const RhsLayout& layout,
                                 const ConvShape& shape)
    : parts(s, shape),
      channels(shape.group_in()),
      table_row(round_up(shape.out_channels, 64) + 64),  // output transforms read whole vectors
      tap_scale(sizeof(WinogradHeader)),
      correction(tap_scale + (s.int8() ? s.taps() * table_row * sizeof(float) : 0)),
      weights(correction + (s.int8() ? s.taps() * table_row * sizeof(int32_t) : 0)),
      part_bytes(layout.lane_bytes(channels) * layout.width) {
  before[0] = 0;
  for (size_t tap = 0; tap < s.taps(); ++tap) {
    const WinogradParts::Range met = parts.range(s, tap);
    before[tap + 1] = (uint16_t)(before[tap] + met.end - met.begin);
  }
  panel_bytes = before[s.taps()] * part_bytes;
  group_bytes = divide_up(shape.group_out(), layout.width) * panel_bytes;
}

const char* winograd_refuse(const WinogradScheme& s, const ConvShape& shape,
                            const ZeroPointRange& zero_points) {
  if (shape.transposed) return "the convolution is transposed";
  // Larger kernels, and 3x3 ones at stride 2, are sums of 3x3 ones, of as many times the channels
  const size_t least = 5 - smaller(shape.stride_h, 2);
  const bool sums = s.variant == Winograd::k4x4 && shape.kernel_h >= least &&
                    shape.kernel_w >= least && shape.stride_h <= 2 &&
                    shape.stride_w == shape.stride_h;
  if (sums) {
    const WinogradParts parts(s, shape);
    if (!parts.count()) return "the kernel is too large";
    if (shape.group_in() % 8 != 0) return "groups' input channels are no multiple of 8";
  } else if (shape.kernel_h != 3 || shape.kernel_w != 3) {
    return "the kernel is not 3x3";
  } else if (shape.stride_h != s.stride || shape.stride_w != s.stride) {
    return s.stride == 1 ? "the stride is not 1" : "the stride is not 2";
  }
  if (shape.dilation_h != 1 || shape.dilation_w != 1) return "the kernel is dilated";
  if (s.int8() && zero_points.any())
    return "a weight zero point is not 0 (128 for u8), and w - zero_point would leave 8 bits";
  if (zero_points.widest() * s.growth() > INT16_MAX)
    return "transformed weights could leave 16 bits: with this scheme, zero points end at 28 and "
           "227 (s8: -100 and 99)";
  if (s.int8() && shape.group_in() > 8192) return "more than 8192 input channels could leave int32";
  return nullptr;
}

size_t winograd_payload_bytes(const WinogradScheme& s, const RhsLayout& layout,
                              const ConvShape& shape) {
  size_t bytes, tables;
  if (__builtin_mul_overflow(layout.lane_bytes(shape.group_in()),
                             round_up(shape.group_out(), layout.width), &bytes))
    return 0;
  const size_t parts = WinogradPayload(s, layout, shape).before[s.taps()];
  if (__builtin_mul_overflow(bytes, parts, &bytes)) return 0;
  if (__builtin_mul_overflow(bytes, shape.groups, &bytes)) return 0;
  if (__builtin_mul_overflow(s.taps() * 2 * sizeof(int32_t), round_up(shape.out_channels, 64) + 64,
                             &tables))
    return 0;
  if (__builtin_add_overflow(bytes, sizeof(WinogradHeader) + (s.int8() ? tables : 0), &bytes))
    return 0;
  return bytes;
}

PackedPanels winograd_panels(const WinogradScheme& s, const RhsLayout& layout,
                             const ConvShape& shape, const uint8_t* payload) {
  const WinogradPayload at(s, layout, shape);
  return {layout.lanes(shape.group_out()),
          at.before[s.taps()],
          shape.group_in(),
          shape.groups,
          at.group_bytes,
          payload ? payload + at.weights : nullptr};
}

bool winograd_pack(const WinogradScheme& s, const WeightFormat& format, const ConvShape& shape,
                   const FilterView& filter, const float* tap_ranges, const ColumnSums& sums,
                   uint8_t* payload) {
  const bool has_int8_min = sum_filter(shape, filter, sums);
  if (s.int8()) {
    memset(payload, 0, winograd_payload_bytes(s, format.layout, shape));
    pack_int8(s, format, shape, filter, tap_ranges, payload);
  } else {
    pack_int16(s, format.layout, shape, filter, sums, payload);
  }
  return has_int8_min;
}

}  // namespace octet
