// SPDX-License-Identifier: Apache-2.0
// Packs dense panels and sums columns.
#include "packing/packed_rhs.h"

#include <string.h>

#include "packing/int4.h"

namespace octet {
namespace {

uint8_t flip_of(const RhsLayout& layout, const RhsView& rhs) {
  return type_shift(rhs.type, layout.element_type) ? 0x80 : 0;
}

// Sums `rows` rows of up to kBlock adjacent columns, so that whole cache lines are read: sums of w
// and of |w - zero|, with w as u8 as in weight_sums.cc. kMostRows rows fit 16-bit sums. Arrays are
// separate and there are no branches, so that the compiler vectorizes the loop.
constexpr size_t kBlock = 64, kMostRows = 256;

struct RowSums {
  uint16_t total[kBlock], distance[kBlock];
  uint8_t least[kBlock];
};

void sum_rows(const uint8_t* data, size_t stride, size_t rows, uint8_t flip, const uint8_t* zero,
              size_t lanes, RowSums* sums) {
  RowSums s = {};
  for (uint8_t& least : s.least) least = 0xff;
  for (size_t k = 0; k < rows; ++k, data += stride)
    for (size_t j = 0; j < lanes; ++j) {
      const uint8_t w = (uint8_t)(data[j] ^ flip), low = w < zero[j] ? w : zero[j],
                    high = w < zero[j] ? zero[j] : w;
      s.total[j] = (uint16_t)(s.total[j] + w);
      s.distance[j] = (uint16_t)(s.distance[j] + (uint8_t)(high - low));
      s.least[j] = w < s.least[j] ? w : s.least[j];
    }
  *sums = s;
}

// Adds the bytes of such rows only. Whole blocks have a constant count, so that the compiler keeps
// their sums in vectors.
void total_rows(const uint8_t* data, size_t stride, size_t rows, uint8_t flip, size_t lanes,
                uint16_t* totals) {
  const auto add = [&](size_t count) {
    for (size_t j = 0; j < count; ++j)
      totals[j] = (uint16_t)(totals[j] + (uint8_t)(data[j] ^ flip));
  };
  for (size_t k = 0; k < rows; ++k, data += stride)
    if (lanes == kBlock)
      add(kBlock);
    else
      add(lanes);
}

}  // namespace

bool any_zero_point(const int32_t* zero_points, size_t count, ElementType type,
                    ElementType element_type) {
  const int32_t zero = -type_shift(type, element_type);
  if (!zero_points) return zero != 0;
  for (size_t i = 0; i < count; ++i)
    if (zero_points[i] != zero) return true;
  return false;
}

size_t panel_bytes(const RhsLayout& layout, size_t n, size_t k) {
  size_t bytes;
  if (n > SIZE_MAX - layout.step || k > SIZE_MAX - layout.kr ||
      __builtin_mul_overflow(layout.lanes(n), layout.lane_bytes(k), &bytes))
    return 0;
  return bytes;
}

void pack_columns(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                  uint8_t* panels) {
  const size_t lane_bytes = layout.lane_bytes(rhs.k);
  for (size_t lane = first; lane < first + count; lane += layout.width) {
    const LaneView from = {rhs.data + lane * rhs.n_stride,      rhs.n_stride, rhs.k_stride,
                           smaller(layout.width, rhs.n - lane), rhs.k,        flip_of(layout, rhs)};
    const size_t width = layout.panel_width(lane, rhs.n);
    uint8_t* const panel = panels + layout.panel_offset(lane, rhs.k);
    if (from.lanes != width || rhs.k != lane_bytes) memset(panel, 0, width * lane_bytes);
    interleave(from, width, layout.kr, 0, panel);
  }
}

void pack_dense_lanes(const RhsLayout& layout, const LaneView& from, const uint8_t*, size_t width,
                      size_t offset, uint8_t* panel) {
  interleave(from, width, layout.kr, offset, panel);
}

bool sum_columns(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                 ColumnSums sums) {
  bool has_int8_min = false;
  if (is_4bit(rhs.type)) {
    sum_int4_columns(rhs, first, count, sums);
    return false;
  }
  if (rhs.n_stride != 1 || rhs.k_stride == 1) {
    for (size_t n = first; n < first + count; ++n)
      has_int8_min |= sums.store(n, sum_weights(rhs.data + n * rhs.n_stride, rhs.k_stride, rhs.k,
                                                rhs.type, rhs.zero_point(n)));
    return has_int8_min && layout.element_type == ElementType::kS8;
  }
  const uint8_t flip = rhs.type == ElementType::kU8 ? 0 : 0x80;
  for (size_t n0 = first; n0 < first + count; n0 += kBlock) {
    const size_t lanes = smaller(kBlock, first + count - n0);
    uint32_t total[kBlock] = {}, distance[kBlock] = {};
    uint8_t zero[kBlock];
    for (size_t j = 0; j < lanes; ++j) zero[j] = (uint8_t)(rhs.zero_point(n0 + j) ^ flip);
    for (size_t k = 0; k < rhs.k; k += kMostRows) {
      RowSums s;
      sum_rows(rhs.data + k * rhs.k_stride + n0, rhs.k_stride, smaller(kMostRows, rhs.k - k), flip,
               zero, lanes, &s);
      for (size_t j = 0; j < lanes; ++j) {
        total[j] += s.total[j];
        distance[j] += s.distance[j];
        has_int8_min |= s.least[j] == 0;
      }
    }
    for (size_t j = 0; j < lanes; ++j)
      sums.store(n0 + j, sums_of(total[j] - (uint32_t)rhs.k * zero[j], distance[j], false));
  }
  return has_int8_min && layout.element_type == ElementType::kS8;
}

void total_columns(const RhsView& rhs, int32_t* sums) {
  const uint8_t flip = rhs.type == ElementType::kU8 ? 0 : 0x80;
  if (rhs.n_stride != 1) {
    for (size_t n = 0; n < rhs.n; ++n)
      sums[n] =
          sum_weights(rhs.data + n * rhs.n_stride, rhs.k_stride, rhs.k, rhs.type, rhs.zero_point(n))
              .total();
    return;
  }
  for (size_t n0 = 0; n0 < rhs.n; n0 += kBlock) {
    const size_t lanes = smaller(kBlock, rhs.n - n0);
    uint32_t totals[kBlock] = {};
    for (size_t k = 0; k < rhs.k; k += kMostRows) {
      uint16_t part[kBlock] = {};
      total_rows(rhs.data + k * rhs.k_stride + n0, rhs.k_stride, smaller(kMostRows, rhs.k - k),
                 flip, lanes, part);
      for (size_t j = 0; j < lanes; ++j) totals[j] += part[j];
    }
    for (size_t j = 0; j < lanes; ++j) {
      const uint8_t zero = (uint8_t)(rhs.zero_point(n0 + j) ^ flip);
      sums[n0 + j] = (int32_t)(totals[j] - (uint32_t)rhs.k * zero);
    }
  }
}

}  // namespace octet
