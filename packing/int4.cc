// SPDX-License-Identifier: Apache-2.0
// Packs weights of 4 bits. Of a panel's group, the low halves of bytes are the first kr / 2 depth
// steps of each column, the high halves the others (kernels/generic/int4.h).
#include "packing/int4.h"

#include <string.h>

namespace octet {
namespace {

constexpr size_t kColumns = 16;  // unpacked at a time

// The values of nibbles; sign: their sign bit, or 0.
uint8_t value_of(int nibble, uint8_t sign) { return (uint8_t)((nibble ^ sign) - sign); }

// Reads a run of `count` elements from `first` on, and writes them `step` bytes apart.
template <size_t step>
void unpack_run(const uint8_t* data, uint8_t sign, size_t first, size_t count, uint8_t* to) {
  const uint8_t* bytes = data + first / 2;
  size_t i = first % 2;
  if (i) to[0] = value_of(*bytes++ >> 4, sign);
  for (; i + 2 <= count; i += 2, ++bytes) {
    to[i * step] = value_of(*bytes & 15, sign);
    to[(i + 1) * step] = value_of(*bytes >> 4, sign);
  }
  if (i < count) to[i * step] = value_of(*bytes & 15, sign);
}

}  // namespace

void pack_int4_groups(const RhsLayout& layout, const LaneView& from, size_t width, uint8_t* to) {
  const size_t half = layout.kr / 2u;
  constexpr uint32_t kLow = 0x0f0f0f0f;
  const uint32_t flips = 0x01010101u * from.flip;
  const auto nibble = [&](const uint8_t* lane, size_t k) {
    return k < from.depth ? (lane[k * from.depth_stride] ^ from.flip) & 15 : 0;
  };
  for (size_t k = 0; k < from.depth; k += layout.kr, to += width * half) {
    const bool at_once = from.depth_stride == 1 && k + layout.kr <= from.depth && half % 4 == 0;
    for (size_t lane = 0; lane < from.lanes; ++lane) {
      const uint8_t* const data = from.data + lane * from.lane_stride;
      uint8_t* const out = to + lane * half;
      for (size_t j = 0; at_once && j < half; j += 4) {
        uint32_t low, high;
        memcpy(&low, data + k + j, sizeof low);
        memcpy(&high, data + k + half + j, sizeof high);
        const uint32_t four = ((low ^ flips) & kLow) | ((high ^ flips) & kLow) << 4;
        memcpy(out + j, &four, sizeof four);
      }
      for (size_t j = 0; !at_once && j < half; ++j)
        out[j] = (uint8_t)(nibble(data, k + j) | nibble(data, k + half + j) << 4);
    }
  }
}

void unpack_int4(const RhsView& rhs, size_t column, size_t columns, size_t k, size_t steps,
                 uint8_t* to) {
  const uint8_t sign = rhs.type == ElementType::kS4 ? 8 : 0;
  const size_t first = rhs.first + column * rhs.n_stride + k * rhs.k_stride;
  // Runs are along the caller's rows
  if (rhs.k_stride == 1)
    for (size_t j = 0; j < columns; ++j)
      unpack_run<1>(rhs.data, sign, first + j * rhs.n_stride, steps, to + j * kUnpackedSteps);
  else
    for (size_t i = 0; i < steps; ++i)
      unpack_run<kUnpackedSteps>(rhs.data, sign, first + i * rhs.k_stride, columns, to + i);
}

void pack_int4(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
               uint8_t* panels) {
  for (size_t panel = first; panel < first + count; panel += layout.width) {
    const size_t width = layout.panel_width(panel, rhs.n),
                 lanes = smaller(layout.width, rhs.n - panel);
    uint8_t* const to = panels + layout.panel_offset(panel, rhs.k);
    memset(to, 0, width * layout.lane_bytes(rhs.k));
    if (!is_4bit(rhs.type)) {
      pack_int4_groups(
          layout, {rhs.data + panel * rhs.n_stride, rhs.n_stride, rhs.k_stride, lanes, rhs.k, 0},
          width, to);
      continue;
    }
    // In two's complement, the lowest bits of u4 - 8 are those of u4 with the highest one flipped
    const uint8_t flip = rhs.type == ElementType::kU4 ? 8 : 0;
    uint8_t bytes[kColumns * kUnpackedSteps];
    for (size_t k = 0, steps; k < rhs.k; k += steps) {
      steps = smaller(kUnpackedSteps, rhs.k - k);
      for (size_t lane = 0; lane < lanes; lane += kColumns) {
        const size_t some = smaller(kColumns, lanes - lane);
        unpack_int4(rhs, panel + lane, some, k, steps, bytes);
        pack_int4_groups(layout, {bytes, kUnpackedSteps, 1, some, steps, flip}, width,
                         to + (k / layout.kr * width + lane) * layout.group_bytes());
      }
    }
  }
}

void sum_int4_columns(const RhsView& rhs, size_t first, size_t count, ColumnSums sums) {
  const ElementType type = rhs.type == ElementType::kU4 ? ElementType::kU8 : ElementType::kS8;
  uint8_t bytes[kColumns * kUnpackedSteps];
  for (size_t column = first; column < first + count; column += kColumns) {
    const size_t columns = smaller(kColumns, first + count - column);
    WeightSums some[kColumns] = {};
    for (size_t k = 0, steps; k < rhs.k; k += steps) {
      steps = smaller(kUnpackedSteps, rhs.k - k);
      unpack_int4(rhs, column, columns, k, steps, bytes);
      for (size_t j = 0; j < columns; ++j)
        some[j] +=
            sum_weights(bytes + j * kUnpackedSteps, 1, steps, type, rhs.zero_point(column + j));
    }
    for (size_t j = 0; j < columns; ++j) sums.store(column + j, some[j]);
  }
}

}  // namespace octet
