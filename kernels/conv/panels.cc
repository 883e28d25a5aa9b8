#include "kernels/conv/panels.h"

#include <string.h>

namespace octet {
namespace {

// One kernel position of some output channels side by side in a panel.
struct Position {
  const uint8_t* data;  // of the first channel
  size_t o_stride, i_stride;
  size_t lanes, depth;  // output and input channels
  uint8_t flip;
};

// Whole groups of `kr` inputs, lane by lane, so that the panel is written in order.
template <typename Group>
size_t pack_groups(const Position& p, Group flips, size_t width, size_t offset, uint8_t* panel) {
  constexpr size_t kr = sizeof(Group);
  size_t i = 0;
  for (uint8_t* to = panel + offset * width; i + kr <= p.depth; i += kr, to += kr * width) {
    const uint8_t* from = p.data + i;
    for (size_t lane = 0; lane < p.lanes; ++lane, from += p.o_stride) {
      Group group;
      memcpy(&group, from, kr);
      group ^= flips;
      memcpy(to + lane * kr, &group, kr);
    }
  }
  return i;
}

// Writes the position from depth `offset` on.
void pack_position(const Position& p, size_t width, size_t kr, size_t offset, uint8_t* panel) {
  size_t done = 0;
  if (p.i_stride == 1 && kr == 4 && offset % 4 == 0) done = pack_groups<uint32_t>(p, p.flip * 0x01010101u, width, offset, panel);
  if (p.i_stride == 1 && kr == 8 && offset % 8 == 0) done = pack_groups<uint64_t>(p, p.flip * 0x0101010101010101u, width, offset, panel);
  for (size_t i = done; i < p.depth; ++i) {
    const uint8_t* from = p.data + i * p.i_stride;
    uint8_t* const to = panel + (offset + i) / kr * width * kr + (offset + i) % kr;
    for (size_t lane = 0; lane < p.lanes; ++lane) to[lane * kr] = (uint8_t)(from[lane * p.o_stride] ^ p.flip);
  }
}

size_t sums_stride(const ConvShape& s) { return round_up(s.out_channels, kAlignment / sizeof(int32_t)); }
size_t sums_bytes(const ConvShape& s, const Taps& taps) { return taps.groups * sums_stride(s) * sizeof(int32_t); }

// Sum of w - zero_point over a kernel position. A byte read as s8 is its unsigned reading with the top bit flipped, minus 128.
int32_t sum_position(const FilterView& f, const ConvShape& s, size_t o, size_t ky, size_t kx) {
  const uint8_t* data = f.at(s, o, ky, kx, 0);
  const uint8_t flip = f.is_u8 ? 0 : 0x80;
  const size_t count = s.group_in();
  uint32_t sum = 0;
  if (f.i_stride == 1)
    for (size_t i = 0; i < count; ++i) sum += (uint8_t)(data[i] ^ flip);
  else
    for (size_t i = 0; i < count; ++i) sum += (uint8_t)(data[i * f.i_stride] ^ flip);
  return (int32_t)sum - (int32_t)count * (f.zero_point(o) + (f.is_u8 ? 0 : 128));
}

}  // namespace

size_t panels_bytes(const RhsLayout& layout, const ConvShape& s, const Taps& taps) {
  size_t bytes, sums;
  if (__builtin_mul_overflow(taps.groups, sums_stride(s) * sizeof(int32_t), &sums) ||
      __builtin_mul_overflow(s.groups, round_up(layout.lanes(s.group_out()), kAlignment), &bytes) ||
      __builtin_mul_overflow(bytes, taps.padded(layout), &bytes) || __builtin_add_overflow(bytes, sums, &bytes))
    return 0;
  const size_t group = round_up(layout.bytes(s.group_out(), taps.padded(layout)), kAlignment);
  return sums + s.groups * group;
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
  // Lanes go together as far as they are of one given group, side by side in one panel.
  const size_t together = given.group_out() < s.group_out() ? given.group_out() : layout.width;
  for (size_t g = 0; g < s.groups; ++g)
    for (size_t local = 0, lanes; local < s.group_out(); local += lanes) {
      const size_t panel = local / layout.width * layout.width, o = g * s.group_out() + local;
      lanes = smaller(smaller(together - local % together, panel + layout.width - local), s.group_out() - local);
      uint8_t* const first = (uint8_t*)p.of_group(g) + layout.panel_offset(panel, p.depth) + (local - panel) * layout.kr;
      const size_t width = layout.panel_width(panel, s.group_out());
      const size_t own = local / given.group_out() * given.group_in();  // where the channels' own inputs begin
      size_t offset = 0;
      for (size_t t = 0; t < taps.groups; ++t)
        for_each_position(s, t, [&](size_t ky, size_t kx) {
          // Inputs of joined groups that are not the channels' own meet the values that stand for 0.
          for (size_t lane = 0; given.groups != s.groups && lane < lanes; ++lane) {
            const uint8_t nothing = (uint8_t)(filter.zero_point(o + lane) ^ flip);
            if (nothing) pack_position({&nothing, 0, 0, 1, s.group_in(), 0}, width, layout.kr, offset, first + lane * layout.kr);
          }
          const Position position = {filter.at(given, o, ky, kx, 0), filter.o_stride, filter.i_stride, lanes, given.group_in(), flip};
          pack_position(position, width, layout.kr, offset + own, first);
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
