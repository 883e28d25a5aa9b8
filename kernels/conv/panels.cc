#include "kernels/conv/panels.h"

#include <string.h>

namespace octet {
namespace {

// One kernel position of one output channel.
struct Position {
  const uint8_t* data;
  size_t i_stride;
  size_t depth;  // input channels
  uint8_t flip;
};

// Writes the position from depth `offset` on to a lane of a panel.
void pack_position(const Position& p, size_t width, size_t kr, size_t offset, uint8_t* lane) {
  size_t i = 0, k = offset;
  if (kr == 4 && offset % 4 == 0 && p.i_stride == 1) {  // whole groups at once
    const uint32_t flips = p.flip * 0x01010101u;
    for (; i + 4 <= p.depth; i += 4, k += 4) {
      uint32_t quad;
      memcpy(&quad, p.data + i, 4);
      quad ^= flips;
      memcpy(lane + k * width, &quad, 4);
    }
  } else if (kr == 8 && offset % 8 == 0 && p.i_stride == 1) {
    const uint64_t flips = p.flip * 0x0101010101010101u;
    for (; i + 8 <= p.depth; i += 8, k += 8) {
      uint64_t group;
      memcpy(&group, p.data + i, 8);
      group ^= flips;
      memcpy(lane + k * width, &group, 8);
    }
  }
  for (; i < p.depth; ++i, ++k) lane[k / kr * width * kr + k % kr] = (uint8_t)(p.data[i * p.i_stride] ^ p.flip);
}

size_t sums_stride(const ConvShape& s) { return round_up(s.out_channels, kAlignment / sizeof(int32_t)); }
size_t sums_bytes(const ConvShape& s, const Taps& taps) { return taps.groups * sums_stride(s) * sizeof(int32_t); }

// Sum of w - zero_point over a kernel position.
int32_t sum_position(const FilterView& f, const ConvShape& s, size_t o, size_t ky, size_t kx) {
  const uint8_t* data = f.at(s, o, ky, kx, 0);
  const uint8_t flip = f.is_u8 ? 0x80 : 0;
  int32_t sum = 0;
  if (f.i_stride == 1)
    for (size_t i = 0; i < s.group_in(); ++i) sum += (int8_t)(data[i] ^ flip);
  else
    for (size_t i = 0; i < s.group_in(); ++i) sum += (int8_t)(data[i * f.i_stride] ^ flip);
  return sum - (int32_t)s.group_in() * (f.zero_point(o) - (f.is_u8 ? 128 : 0));
}

}  // namespace

size_t panels_bytes(const RhsLayout& layout, const ConvShape& s, const Taps& taps) {
  size_t bytes;
  if (__builtin_mul_overflow(s.groups, round_up(layout.lanes(s.group_out()), kAlignment), &bytes) ||
      __builtin_mul_overflow(bytes, taps.padded(layout), &bytes) || __builtin_add_overflow(bytes, sums_bytes(s, taps), &bytes))
    return 0;
  const size_t group = round_up(layout.bytes(s.group_out(), taps.padded(layout)), kAlignment);
  return sums_bytes(s, taps) + s.groups * group;
}

void pack_panels(const RhsLayout& layout, const ConvShape& given, const ConvShape& s, const Taps& taps, const FilterView& filter, uint8_t* payload) {
  memset(payload, 0, panels_bytes(layout, s, taps));
  int32_t* sums = (int32_t*)payload;
  for (size_t t = 0; t < taps.groups; ++t, sums += sums_stride(s))
    for_each_position(s, t, [&](size_t ky, size_t kx) {
      for (size_t o = 0; o < s.out_channels; ++o) sums[o] += sum_position(filter, given, o, ky, kx);
    });

  const ConvPanels p = read_panels(layout, s, taps, payload);
  const size_t step = taps.count == 1 ? s.group_in() : layout.depth(taps.depth);  // from one position to the next
  const uint8_t flip = domain_shift(filter.is_u8, layout.domain) ? 0x80 : 0;
  for (size_t o = 0; o < s.out_channels; ++o) {
    const size_t local = o % s.group_out(), panel = local / layout.width * layout.width;
    uint8_t* const lane = (uint8_t*)p.of_group(o / s.group_out()) + layout.panel_offset(panel, p.depth) + (local - panel) * layout.kr;
    const size_t width = layout.panel_width(panel, s.group_out());
    // Inputs of joined groups that are not the channel's own meet the value that stands for 0.
    const uint8_t nothing = (uint8_t)(filter.zero_point(o) ^ flip);
    const size_t own = local / given.group_out() * given.group_in();
    size_t offset = 0;
    for (size_t t = 0; t < taps.groups; ++t)
      for_each_position(s, t, [&](size_t ky, size_t kx) {
        if (nothing) pack_position({&nothing, 0, s.group_in(), 0}, width, layout.kr, offset, lane);
        pack_position({filter.at(given, o, ky, kx, 0), filter.i_stride, given.group_in(), flip}, width, layout.kr, offset + own, lane);
        offset += step;
      });
  }
}

ConvPanels read_panels(const RhsLayout& layout, const ConvShape& s, const Taps& taps, const uint8_t* payload) {
  const size_t depth = taps.padded(layout);
  return {(const int32_t*)payload, sums_stride(s), payload + sums_bytes(s, taps), round_up(layout.bytes(s.group_out(), depth), kAlignment),
          layout.lanes(s.group_out()), depth};
}

}  // namespace octet
