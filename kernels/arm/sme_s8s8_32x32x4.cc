// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 or 8 bits, SMOPA, up to 32 rows x 32 columns, four ZA tiles at a time.
//
// One instruction adds the outer products of a vector of rows and a vector of columns, 4 depth
// steps of each lane, to a tile. At a streaming vector length of 512 bits vectors have 16 lanes,
// and the tiles hold all rows and columns:
//
//                             columns 0-15  16-31
//                            +------------+-------+
//    rows 0-15, 4 bytes each |    za0     |  za1  |
//                            +------------+-------+
//    rows 16-31              |    za2     |  za3  |
//                            +------------+-------+
//
// Shorter vectors need several such products per tile; of longer ones 16 lanes are used. Per group
// of 4 along depth: four loads and four products. The panel of rows has the same order as the
// weights. A u8 lhs is flipped to s8 while it is gathered, which costs nothing, so one instruction
// serves both types, and DOTPROD's kernel takes what is too small. Sums leave through memory, after
// streaming mode, by the code with which DOTPROD's kernels store.
#include <arm_neon.h>

#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/copy_bytes.h"
#include "kernels/arm/shared/store_tile.h"
#include "kernels/arm/shared/streaming.h"
#include "kernels/core/limits.h"

namespace octet {
namespace {

constexpr size_t kMr = 32, kNr = 32, kLanes = 16, kGroup = 4, kLine = 64;
static_assert(kDotprodLayout.width == kLanes && kDotprodLayout.kr == kGroup,
              "a full group of a panel is one line, and a vector of 512 bits");

// ---- lhs panel ----------------------------------------------------------------------------------

// Loads `bytes` bytes of a row, followed by zeros; `row` has that many at least.
OCTET_INLINE inline uint8x16_t load_some(const uint8_t* row, size_t bytes) {
  if (bytes == 16) return vld1q_u8(row);
  const uint64_t low = bytes < 8 ? load_tail(row, bytes) : load8(row);
  const uint64_t high = bytes > 8 ? load_tail(row + 8, bytes - 8) : 0;
  return vcombine_u8(vcreate_u8(low), vcreate_u8(high));
}

// Packs `bytes` <= 16 bytes of each of four rows: groups of 4 bytes of each, `step` bytes apart.
// load(i) loads the bytes of row i.
template <typename Load>
OCTET_INLINE inline void pack_four(const Load& load, size_t bytes, size_t step, uint8_t* to) {
  uint32x4_t a[4];
  unroll<4>([&](auto i) OCTET_INLINE { a[i] = vreinterpretq_u32_u8(load(i)); });
  const uint32x4_t low01 = vzip1q_u32(a[0], a[2]), high01 = vzip2q_u32(a[0], a[2]),
                   low23 = vzip1q_u32(a[1], a[3]), high23 = vzip2q_u32(a[1], a[3]);
  const uint32x4_t groups[4] = {vzip1q_u32(low01, low23), vzip2q_u32(low01, low23),
                                vzip1q_u32(high01, high23), vzip2q_u32(high01, high23)};
  unroll<4>([&](auto g) OCTET_INLINE {
    if (g * kGroup < bytes) vst1q_u8(to + g * step, vreinterpretq_u8_u32(groups[g]));
  });
}

// Four rows at a time; those that do not exist are zeros.
void gather_fours(const Rows& r, size_t lanes, void* panel) {
  const size_t step = lanes * kGroup, depth = r.depth;
  const uint8x16_t flip = vdupq_n_u8(r.flip);
  for (size_t first = 0; first < lanes; first += 4) {
    uint8_t* to = (uint8_t*)panel + first * kGroup;
    const uint8_t* row[4];
    for (size_t i = 0; i < 4; ++i)
      row[i] = r.rows ? r.row(smaller(first + i, r.rows - 1)) : nullptr;
    size_t k = 0;
    if (first + 4 <= r.rows)
      for (; k + 16 <= depth; k += 16, to += 4 * step)
        pack_four([&](auto i) OCTET_INLINE { return veorq_u8(vld1q_u8(row[i] + k), flip); }, 16,
                  step, to);
    for (size_t bytes; k < depth; k += bytes, to += 4 * step) {
      bytes = smaller(16, depth - k);
      pack_four(
          [&](auto i) OCTET_INLINE {
            const size_t there = first + (size_t)i.value < r.rows ? bytes : 0;
            return veorq_u8(load_some(row[i] + k, there), load_some((const uint8_t*)&flip, there));
          },
          bytes, step, to);
    }
  }
}

// ---- kernel -------------------------------------------------------------------------------------

// Stores `rows` rows of up to 16 columns.
template <int rows, int vectors>
OCTET_INLINE inline void store_rows(const Tile& t, const int32_t* sums) {
  int32x4_t acc[rows][vectors];
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<vectors>([&](auto v) OCTET_INLINE {
      acc[i][v] = vaddq_s32(vld1q_s32(sums + i * kNr + 4 * v),
                            vld1q_s32(t.init + i * t.init_stride + 4 * v));
    });
  });
  store_tile<0>(t, acc);
}

// Stores up to 16 columns of all rows, a few rows at a time.
template <int vectors>
__attribute__((noinline)) void store_columns(Tile part, size_t rows, const int32_t* sums) {
  constexpr int kTogether = 4;
  for (size_t row = 0; row < rows; row += part.rows) {
    const bool together = rows - row >= kTogether;
    part.rows = together ? kTogether : 1;
    if (together)
      store_rows<kTogether, vectors>(part, sums + row * kNr);
    else
      store_rows<1, vectors>(part, sums + row * kNr);
    part.dst = (uint8_t*)part.dst + part.rows * part.dst_stride;
    part.init += part.rows * part.init_stride;
  }
}

constexpr size_t kMostProducts = 16;  // of a tile, by vectors of 128 bits; one by 512 bits

// Writes the products of a tile, and returns their end.
void* note(const Tile& t, int32_t* sums, void* to) {
  const size_t vector = lanes_vector_bytes(), groups = divide_up(t.depth, kGroup),
               height = round_up_pow2(t.rows, kLanes) * kGroup,
               width = round_up_pow2(t.cols, kDotprodLayout.step) * kGroup;
  TilesProduct* end = (TilesProduct*)to;
  for (size_t i = 0; i < t.rows * kGroup; i += 2 * vector)
    for (size_t j = 0; j < t.cols * kGroup; j += 2 * vector) {
      TilesProduct& p = *end++;
      p.lhs = (const uint8_t*)t.lhs + i;
      p.sums = sums + i / kGroup * kNr + j / kGroup;
      p.groups = groups;
      p.lhs_step = (uint32_t)height;
      p.two_heights = t.rows * kGroup > vector;
      for (size_t v = 0; v < 2; ++v) {
        const size_t at = j + v * vector, panel = at / kLine, lane = at % kLine;
        // The last panel may have 8 columns
        p.step[v] = (uint32_t)(panel ? smaller(kLine, width - kLine) : t.rhs_stride);
        const bool exists = at < width;
        p.bytes[v] = (uint32_t)(exists ? smaller(vector, p.step[v] - lane) : 0);
        p.rhs[v] = t.rhs + (exists ? panel * t.rhs_panel_stride + lane : 0);
      }
    }
  return end;
}
void sum_noted(const void* notes, const void* end) {
  multiply_za_tiles((const TilesProduct*)notes, (const TilesProduct*)end, lanes_vector_bytes(),
                    kNr * sizeof(int32_t));
}

// Stores the sums of a tile.
void store(const Tile& t, const int32_t* sums) {
  Tile part = t;
  for (size_t column = 0; column < t.cols; column += kLanes) {
    part.cols = smaller(kLanes, t.cols - column);
    part.init = t.init + column;
    part.dst = (uint8_t*)t.dst + column * (t.scale ? 1 : sizeof(int32_t));
    if (t.scale) part.scale = t.scale + column;
    (part.cols > 8 ? store_columns<4> : store_columns<2>)(part, t.rows, sums + column);
  }
}

__attribute__((noinline)) void multiply_alone(const Tile& t) {
  alignas(64) int32_t sums[kMr * kNr];
  TilesProduct products[kMostProducts];
  sum_noted(products, note(t, sums, products));
  store(t, sums);
}
void multiply(const Tile& t) { t.sums ? store(t, t.sums) : multiply_alone(t); }

void leave() {}

constexpr uint16_t kFlags =
    kAnyLhs | kRequantizes | kRequantizes16 | kRequantizesTflite | kTfliteRightShiftOnly;

}  // namespace

const MicroKernel sme_s8s8_32x32x4 = {
    .name = "sme_s8s8_32x32x4",
    .tier_id = TierId::kSme,
    .lhs_element_type = ElementType::kS8,
    .mr = kMr,
    .nr = kNr,
    // Narrower products would fill no vector of columns. Computed, not measured.
    .n_min = kLanes,
    .flags = kFlags,
    .rhs_layout = kDotprodLayout,
    .gather = gather_fours,
    .lhs_lanes_step = kLanes,
    .lhs_kr = kGroup,
    .multiply = multiply,
    .ahead = {kMostProducts * sizeof(TilesProduct), note, sum_noted},
    .enter = save_dormant_za,
    .leave = leave,
};

// A product of ZA tiles takes as long for one row as for 16: two rows are as fast by SDOT.
const MicroKernel sme_s8s8_2x16x4 = {
    .name = "sme_s8s8_2x16x4",
    .tier_id = TierId::kSme,
    .lhs_element_type = ElementType::kS8,
    .mr = 2,
    .nr = kLanes,
    .m_max = 2,
    .flags = kFlags,
    .rhs_layout = kDotprodLayout,
    .lhs_kr = kGroup,
    .multiply = dotprod_multiply_s8s8,
};

}  // namespace octet
