// Packs weights of 4 bits. Of a panel's group, the low halves of bytes are the first kr / 2 depth
// steps of each column, the high halves the others (kernels/generic/int4.h).
#include "packing/int4.h"

#include <string.h>

namespace octet {
namespace {

constexpr size_t kColumns = 16;  // unpacked at a time

// Weights, in an order that both loops of unpack_int4 share: weight i is half of byte i / 2.
struct Nibbles {
  const uint8_t* data;
  uint8_t sign;  // the sign bit of s4, or 0

  uint8_t at(size_t i) const {
    const uint8_t nibble = data[i / 2] >> i % 2 * 4 & 15;
    return (uint8_t)((nibble ^ sign) - sign);
  }
};

// Packs `from`, whose elements are bytes, into whole groups of a panel `width` lanes wide.
void pack_groups(const RhsLayout& layout, const LaneView& from, size_t width, uint8_t* to) {
  const size_t half = layout.kr / 2u;
  const auto nibble = [&](const uint8_t* lane, size_t k) {
    return k < from.depth ? (lane[k * from.depth_stride] ^ from.flip) & 15 : 0;
  };
  for (size_t k = 0; k < from.depth; k += layout.kr, to += width * half)
    for (size_t lane = 0; lane < from.lanes; ++lane) {
      const uint8_t* const data = from.data + lane * from.lane_stride;
      for (size_t j = 0; j < half; ++j)
        to[lane * half + j] = (uint8_t)(nibble(data, k + j) | nibble(data, k + half + j) << 4);
    }
}

}  // namespace

void unpack_int4(const RhsView& rhs, size_t column, size_t columns, size_t k, size_t steps,
                 uint8_t* to) {
  const Nibbles from = {rhs.data, (uint8_t)(rhs.type == ElementType::kS4 ? 8 : 0)};
  const size_t first = rhs.first + column * rhs.n_stride + k * rhs.k_stride;
  // The inner loop is along the caller's rows
  if (rhs.k_stride == 1) {
    for (size_t j = 0; j < columns; ++j)
      for (size_t i = 0; i < steps; ++i)
        to[j * kUnpackedSteps + i] = from.at(first + j * rhs.n_stride + i);
  } else {
    for (size_t i = 0; i < steps; ++i)
      for (size_t j = 0; j < columns; ++j)
        to[j * kUnpackedSteps + i] = from.at(first + i * rhs.k_stride + j * rhs.n_stride);
  }
}

void pack_int4(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
               uint8_t* panels) {
  for (size_t panel = first; panel < first + count; panel += layout.width) {
    const size_t width = layout.panel_width(panel, rhs.n),
                 lanes = smaller(layout.width, rhs.n - panel);
    uint8_t* const to = panels + layout.panel_offset(panel, rhs.k);
    memset(to, 0, width * layout.lane_bytes(rhs.k));
    if (!is_4bit(rhs.type)) {
      pack_groups(layout,
                  {rhs.data + panel * rhs.n_stride, rhs.n_stride, rhs.k_stride, lanes, rhs.k, 0},
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
        pack_groups(layout, {bytes, kUnpackedSteps, 1, some, steps, flip}, width,
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
