#include "kernels/gemm/packed_rhs.h"

#include <string.h>

namespace octet {
namespace {

struct Panel {
  const uint8_t* data;  // the first column's first element
  size_t lanes;         // columns that exist
  size_t width;         // columns of the panel
  uint8_t flip;
};

// Columns side by side in memory: interleave kr rows. rows < kr at the end of the depth.
template <size_t kr>
void pack_group_kn(const Panel& p, size_t k_stride, size_t rows, uint8_t* out) {
  if (rows == kr) {
    for (size_t lane = 0; lane < p.lanes; ++lane)
      for (size_t i = 0; i < kr; ++i) out[lane * kr + i] = (uint8_t)(p.data[i * k_stride + lane] ^ p.flip);
    memset(out + p.lanes * kr, 0, (p.width - p.lanes) * kr);
    return;
  }
  memset(out, 0, p.width * kr);
  for (size_t lane = 0; lane < p.lanes; ++lane)
    for (size_t i = 0; i < rows; ++i) out[lane * kr + i] = (uint8_t)(p.data[i * k_stride + lane] ^ p.flip);
}

// Depth side by side in memory: kr bytes of each column are one piece.
template <size_t kr>
void pack_group_nk(const Panel& p, size_t n_stride, size_t rows, uint8_t* out) {
  memset(out + p.lanes * kr, 0, (p.width - p.lanes) * kr);
  for (size_t lane = 0; lane < p.lanes; ++lane, out += kr) {
    const uint8_t* from = p.data + lane * n_stride;
    if (rows == kr) {
      for (size_t i = 0; i < kr; ++i) out[i] = (uint8_t)(from[i] ^ p.flip);
    } else {
      for (size_t i = 0; i < kr; ++i) out[i] = i < rows ? (uint8_t)(from[i] ^ p.flip) : (uint8_t)0;
    }
  }
}

template <size_t kr>
void pack_panel(const RhsView& rhs, Panel p, uint8_t* out) {
  for (size_t k = 0; k < rhs.k; k += kr, p.data += kr * rhs.k_stride, out += p.width * kr) {
    const size_t rows = smaller(kr, rhs.k - k);
    if (rhs.n_stride == 1)
      pack_group_kn<kr>(p, rhs.k_stride, rows, out);
    else
      pack_group_nk<kr>(p, rhs.n_stride, rows, out);
  }
}

uint8_t flip_of(const RhsLayout& layout, const RhsView& rhs) { return domain_shift(rhs.is_u8, layout.domain) ? 0x80 : 0; }

constexpr size_t kBlock = 64;  // columns summed together, so that K x N order reads whole cache lines

// Adds one row of a block of columns. Separate arrays and no branches, so that the compiler makes vectors of it.
void add_row(const uint8_t* row, uint8_t to_s8, const int32_t* offset, size_t lanes, int32_t* total, int32_t* positive) {
  for (size_t j = 0; j < lanes; ++j) {
    const int32_t value = (int8_t)(row[j] ^ to_s8) - offset[j];
    total[j] += value;
    positive[j] += value & ~(value >> 31);
  }
}

void add_column(const uint8_t* column, uint8_t to_s8, int32_t offset, size_t depth, int32_t* total, int32_t* positive) {
  int32_t all = 0, above = 0;
  for (size_t k = 0; k < depth; ++k) {
    const int32_t value = (int8_t)(column[k] ^ to_s8) - offset;
    all += value;
    above += value & ~(value >> 31);
  }
  *total = all;
  *positive = above;
}

}  // namespace

void pack_columns(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count, uint8_t* panels) {
  for (size_t lane = first; lane < first + count; lane += layout.width) {
    const Panel p = {rhs.data + lane * rhs.n_stride, smaller(layout.width, rhs.n - lane), layout.panel_width(lane, rhs.n),
                     flip_of(layout, rhs)};
    uint8_t* out = panels + layout.panel_offset(lane, rhs.k);
    switch (layout.kr) {
      case 2: pack_panel<2>(rhs, p, out); break;
      case 4: pack_panel<4>(rhs, p, out); break;
      case 8: pack_panel<8>(rhs, p, out); break;
      case 16: pack_panel<16>(rhs, p, out); break;
    }
  }
}

bool sum_columns(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count, ColumnSums sums) {
  // A byte of either type, with its top bit flipped to s8's reading, minus `offset` is r - zero_point.
  const uint8_t to_s8 = rhs.is_u8 ? 0x80 : 0;
  const int32_t shift = rhs.is_u8 ? 128 : 0;
  const uint8_t least = (uint8_t)(0x80 ^ flip_of(layout, rhs));  // packs to -128 in s8
  bool has_least = layout.domain != Domain::kS8;
  for (size_t n0 = first; n0 < first + count; n0 += kBlock) {
    const size_t lanes = smaller(kBlock, first + count - n0);
    int32_t total[kBlock] = {}, positive[kBlock] = {}, offset[kBlock];
    for (size_t j = 0; j < lanes; ++j) offset[j] = rhs.zero_point(n0 + j) - shift;
    const bool rows = rhs.n_stride == 1;
    const uint8_t* data = rhs.data + n0 * rhs.n_stride;
    for (size_t i = 0; i < (rows ? rhs.k : lanes); ++i, data += rows ? rhs.k_stride : rhs.n_stride) {
      if (!has_least) has_least = memchr(data, least, rows ? lanes : rhs.k) != nullptr;
      if (rows)
        add_row(data, to_s8, offset, lanes, total, positive);
      else
        add_column(data, to_s8, offset[i], rhs.k, &total[i], &positive[i]);
    }
    for (size_t j = 0; j < lanes; ++j) {
      sums.positive[n0 + j] = positive[j];
      sums.negative[n0 + j] = total[j] - positive[j];
    }
  }
  return has_least && layout.domain == Domain::kS8;
}

}  // namespace octet
