// SPDX-License-Identifier: Apache-2.0
// u8 or s8 x s8 -> s32, 8 bits or f32, TDPBUSD and TDPBSSD, up to 16 rows x 64 columns or 32 x 32.
// 16 groups of a panel of s8_16x4, one kilobyte without gaps, are a tile register of weights.
//
//                    columns 0-15  16-31   32-47   48-63            columns 0-15   16-31
//                     +---------+-------+-------+-------+            +---------+---------+
//   16 rows           |  tmm0   | tmm1  | tmm2  | tmm3  |   rows 0-15|  tmm0   |  tmm1   |
//                     +---------+-------+-------+-------+            +---------+---------+
//   lhs: tmm4, rhs: tmm5 to tmm7                          rows 16-31 |  tmm2   |  tmm3   |
//                                                                    +---------+---------+
//                                                         lhs: tmm4, tmm5, rhs: tmm6, tmm7
//
// Per 64 depth steps: 5 loads or 4, and 4 products. The lhs rows are read where they lie, 64 bytes
// of each; a convolution's that are pointed at are copied once per block. The last steps of a row,
// if they are fewer than 64, are copied tile by tile: they are multiplied by the last 64 steps of
// the weights, most of which meet zeros. Depths below 64 have tiles of fewer bytes. Neither sign is
// flipped. Sums leave through memory: s32 goes from the tiles to dst, all else through zmm
// registers.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/core/limits.h"
#include "kernels/x86/amx/tiles.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/store_tile_zmm.h"

namespace octet {
namespace {

constexpr size_t kRows = 16, kSteps = 64, kGroup = 4, kGroupBytes = 64;
constexpr size_t kStepGroups = kSteps / kGroup, kStepBytes = kStepGroups * kGroupBytes;
constexpr int kVectors = 4;
// From this depth on, 64 columns of weights leave no room in an L1 cache of 48 KB for the rows
// beside them. 32 x 32 tiles read half as many weights per product. Computed, not measured.
constexpr size_t kDeep = 640;

// The tile registers of a block: one or two of 16 rows, by vectors of 16 columns.
template <int heights, int vectors>
struct Registers {
  static constexpr int sums(int h, int v) { return h * vectors + v; }
  static constexpr int lhs(int h) { return 4 + h; }
  static constexpr int rhs(int v) { return 4 + heights + v % (4 - heights); }

  // rows: of the block; bytes: of a row of lhs
  static __m512i configuration(size_t rows, size_t bytes) {
    uint64_t of_64 = 0, of_lhs = 0, high = 0, low = 0, of_rhs = 0;
    for (int v = 0; v < vectors; ++v) {
      of_64 |= tile_row_bytes(rhs(v));
      of_rhs |= tile_rows(rhs(v));
      for (int h = 0; h < heights; ++h) {
        of_64 |= tile_row_bytes(sums(h, v));
        (h + 1 < heights ? high : low) |= tile_rows(sums(h, v)) | tile_rows(lhs(h));
      }
    }
    for (int h = 0; h < heights; ++h) of_lhs |= tile_row_bytes(lhs(h));
    __m512i c = _mm512_maskz_set1_epi8(kTilePalette, 1);
    c = _mm512_mask_set1_epi8(c, of_64, 64);
    c = _mm512_mask_set1_epi8(c, of_lhs, (char)bytes);
    c = _mm512_mask_set1_epi8(c, of_rhs, (char)(bytes / kGroup));
    c = _mm512_mask_set1_epi8(c, high, kRows);
    return _mm512_mask_set1_epi8(c, low, (char)(rows - (heights - 1) * kRows));
  }
};

// Multiplies one step, the one `ahead` steps behind: the lhs rows of each height at `stride`, the
// weights from `rhs` on.
template <bool is_signed, int heights, int vectors, int ahead = 0>
OCTET_INLINE inline void add_step(const uint8_t* lhs, size_t height, size_t stride,
                                  const uint8_t* rhs, size_t panel) {
  using At = Registers<heights, vectors>;
  constexpr int lhs_at = ahead * (int)kSteps, rhs_at = ahead * (int)kStepBytes;
  unroll<heights>([&](auto h) OCTET_INLINE {
    load_tile<At::lhs(h.value), lhs_at>(lhs + h.value * height, stride);
  });
  unroll<vectors>([&](auto v) OCTET_INLINE {
    constexpr int column = v.value;
    load_tile<At::rhs(column), rhs_at>(rhs + column * panel, kGroupBytes);
    unroll<heights>([&](auto h) OCTET_INLINE {
      add_tile_product<is_signed, At::sums(h.value, column), At::lhs(h.value), At::rhs(column)>();
    });
  });
}

// The first `count` bytes of a vector.
__mmask64 first_bytes(size_t count) { return count ? ~(__mmask64)0 >> (64 - count) : 0; }

// Copies a vector of each row, eight rows at a time where they lie at one stride: all but four
// instructions are loads and stores, which compilers' choice of addresses would add a third to.
__attribute__((noinline)) void copy_strided(const uint8_t* from, size_t step, size_t rows,
                                            size_t stride, uint8_t* to) {
  const size_t step3 = 3 * step, step5 = 5 * step, step7 = 7 * step, stride3 = 3 * stride,
               stride5 = 5 * stride, stride7 = 7 * stride;
  for (; rows >= 8; rows -= 8, from += 8 * step, to += 8 * stride)
    __asm__ volatile(
        "vmovdqu64 (%[from]), %%zmm0\n\t"
        "vmovdqu64 (%[from],%[step]), %%zmm1\n\t"
        "vmovdqu64 (%[from],%[step],2), %%zmm2\n\t"
        "vmovdqu64 (%[from],%[step3]), %%zmm3\n\t"
        "vmovdqu64 (%[from],%[step],4), %%zmm4\n\t"
        "vmovdqu64 (%[from],%[step5]), %%zmm5\n\t"
        "vmovdqu64 (%[from],%[step3],2), %%zmm6\n\t"
        "vmovdqu64 (%[from],%[step7]), %%zmm7\n\t"
        "vmovdqu64 %%zmm0, (%[to])\n\t"
        "vmovdqu64 %%zmm1, (%[to],%[stride])\n\t"
        "vmovdqu64 %%zmm2, (%[to],%[stride],2)\n\t"
        "vmovdqu64 %%zmm3, (%[to],%[stride3])\n\t"
        "vmovdqu64 %%zmm4, (%[to],%[stride],4)\n\t"
        "vmovdqu64 %%zmm5, (%[to],%[stride5])\n\t"
        "vmovdqu64 %%zmm6, (%[to],%[stride3],2)\n\t"
        "vmovdqu64 %%zmm7, (%[to],%[stride7])" ::[from] "r"(from),
        [to] "r"(to), [step] "r"(step), [step3] "r"(step3), [step5] "r"(step5), [step7] "r"(step7),
        [stride] "r"(stride), [stride3] "r"(stride3), [stride5] "r"(stride5), [stride7] "r"(stride7)
        : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
  for (; rows; --rows, from += step, to += stride)
    _mm512_storeu_si512(to, _mm512_loadu_si512(from));
}

// Copies `bytes` of each row, at most a vector, from `offset` on, and fills their last group with
// zeros.
__attribute__((noinline)) void copy_some(const Rows& rows, size_t offset, size_t bytes,
                                         size_t stride, uint8_t* to) {
  const __mmask64 there = first_bytes(bytes), group = first_bytes(round_up_pow2(bytes, kGroup));
  size_t i = 0;
  if (!rows.pointers) {
    const uint8_t* from = rows.data + offset;
    const size_t step = rows.stride;
    for (; i + 4 <= rows.rows; i += 4, from += 4 * step, to += 4 * stride)
      unroll<4>([&](auto j) OCTET_INLINE {
        _mm512_mask_storeu_epi8(to + j * stride, group,
                                _mm512_maskz_loadu_epi8(there, from + j * step));
      });
  }
  for (; i < rows.rows; ++i, to += stride)
    _mm512_mask_storeu_epi8(to, group, _mm512_maskz_loadu_epi8(there, rows.row(i) + offset));
}

// Copies a vector of each row that is pointed at, four rows at a time.
__attribute__((noinline)) void copy_pointed(const uint8_t* const* rows, size_t offset, size_t count,
                                            size_t stride, uint8_t* to) {
  for (; count >= 4; count -= 4, rows += 4, to += 4 * stride)
    unroll<4>([&](auto i) OCTET_INLINE {
      _mm512_storeu_si512(to + i * stride, _mm512_loadu_si512(rows[i] + offset));
    });
  for (; count; --count, ++rows, to += stride)
    _mm512_storeu_si512(to, _mm512_loadu_si512(*rows + offset));
}

// A convolution's rows, which the macro-kernel then has for all tiles of a block.
void copy_rows(const Rows& rows, size_t stride, uint8_t* to) {
  size_t k = 0;
  for (; k + kSteps <= rows.depth; k += kSteps)
    if (rows.pointers)
      copy_pointed(rows.pointers, k, rows.rows, stride, to + k);
    else
      copy_strided(rows.data + k, rows.stride, rows.rows, stride, to + k);
  if (k < rows.depth) copy_some(rows, k, rows.depth - k, stride, to + k);
}

// Multiplies one step of rows of which the bytes `mask` exist; the others are zeros. Not inlined:
// the loops over whole steps are then free of it.
template <bool is_signed, int heights, int vectors>
__attribute__((noinline)) void add_last_step(const Tile& t, const uint8_t* lhs, __mmask64 mask,
                                             const uint8_t* rhs) {
  alignas(64) uint8_t room[heights * kRows * kSteps];
  for (size_t i = 0; i < t.rows; ++i)
    _mm512_store_si512(room + kSteps * i, _mm512_maskz_loadu_epi8(mask, lhs + i * t.lhs_stride));
  add_step<is_signed, heights, vectors>(room, kRows * kSteps, kSteps, rhs, t.rhs_panel_stride);
}

// Adds the products of all taps to the sums.
template <bool is_signed, int heights, int vectors>
OCTET_INLINE inline void add_products(const Tile& t) {
  const uint8_t* lhs = (const uint8_t*)t.lhs;
  const uint8_t* rhs = t.rhs;
  const size_t stride = t.lhs_stride, panel = t.rhs_panel_stride, depth = t.depth;
  const size_t groups = divide_up(depth, kGroup), whole = depth / kSteps;
  // The last step begins at a group of the weights, before or at the end of the whole steps
  const size_t last = groups > kStepGroups ? groups - kStepGroups : 0, at = last * kGroup;
  const size_t done = larger(whole * kSteps, at) - at;
  const __mmask64 all = ~(__mmask64)0;
  const __mmask64 rest = depth % kSteps ? all >> (kSteps - (depth - at)) & all << done : 0;
  for (size_t tap = 0;; ++tap) {
    // Two at a time: half of the other instructions advance addresses
    size_t step = 0;
    for (; step + 2 <= whole; step += 2) {
      const uint8_t* const l = lhs + step * kSteps;
      const uint8_t* const r = rhs + step * kStepBytes;
      add_step<is_signed, heights, vectors>(l, kRows * stride, stride, r, panel);
      add_step<is_signed, heights, vectors, 1>(l, kRows * stride, stride, r, panel);
    }
    for (; step < whole; ++step)
      add_step<is_signed, heights, vectors>(lhs + step * kSteps, kRows * stride, stride,
                                            rhs + step * kStepBytes, panel);
    if (rest && (whole || depth % kGroup))
      add_last_step<is_signed, heights, vectors>(t, lhs + at, rest, rhs + last * kGroupBytes);
    else if (rest)
      add_step<is_signed, heights, vectors>(lhs, kRows * stride, stride, rhs, panel);
    if (tap + 1 == t.taps) return;
    rhs += groups * kGroupBytes;
    lhs += t.tap_steps[tap];
  }
}

// Stores sums that lie in memory: bytes as the epilogue does, s32 and f32 by columns of a register.
// One text for all tiles, because the sums are in no registers anyway. Beyond the tile's rows they
// have any values.
__attribute__((noinline)) void store_sums(const Tile& t, int32_t* sums, size_t stride) {
  constexpr size_t kLanes = 16, kTogether = 4;
  if (t.row_init)
    for (size_t row = 0; row < t.rows; ++row)
      for (size_t column = 0; column < stride; column += kLanes) {
        int32_t* const at = sums + row * stride + column;
        _mm512_store_si512(
            at, _mm512_add_epi32(_mm512_load_si512(at), _mm512_set1_epi32(t.row_init[row])));
      }
  if (t.scale && !t.requantization->to_floats) return avx512vnni_requantize(t, sums, stride);
  for (size_t column = 0; column < t.cols; column += kLanes) {
    Tile part = t;
    part.cols = smaller(kLanes, t.cols - column);
    if (t.scale) part.scale = t.scale + column;
    for (size_t row = 0; row < t.rows; row += kTogether) {
      part.rows = smaller(kTogether, t.rows - row);
      part.dst = (int32_t*)((uint8_t*)t.dst + row * t.dst_stride) + column;
      if (t.row_scale) part.row_scale = t.row_scale + row;
      __m512i acc[kTogether][1];
      unroll<kTogether>([&](auto i) OCTET_INLINE {
        acc[i][0] = _mm512_load_si512(sums + (row + i) * stride + column);
      });
      if (t.scale)
        store_floats(part, part.rows, acc);
      else
        for_rows<kTogether>(part.rows, [&](auto i) OCTET_INLINE {
          _mm512_mask_storeu_epi32((uint8_t*)part.dst + i * t.dst_stride,
                                   (__mmask16)(0xffffu >> (kLanes - part.cols)), acc[i][0]);
        });
    }
  }
}

template <bool is_signed, int heights, int vectors>
void multiply(const Tile& t) {
  using At = Registers<heights, vectors>;
  for (size_t i = 0; i < t.rows; ++i)  // as start_tile does
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
  configure_tiles(
      At::configuration(t.rows, smaller(divide_up(t.depth, kGroup), kStepGroups) * kGroup));
  const auto for_sums = [&](const auto& f) OCTET_INLINE {
    unroll<heights>([&](auto h)
                        OCTET_INLINE { unroll<vectors>([&](auto v) OCTET_INLINE { f(h, v); }); });
  };
  for_sums([&](auto h, auto v) OCTET_INLINE {
    load_tile<At::sums(h.value, v.value)>(t.init + h.value * kRows * t.init_stride + 16 * v.value,
                                          t.init_stride * sizeof(int32_t));
  });
  add_products<is_signed, heights, vectors>(t);
  alignas(64) int32_t sums[heights * kRows * vectors * 16];
  const bool whole = !t.scale && !t.row_init && t.cols == 16 * vectors;
  uint8_t* const to = whole ? (uint8_t*)t.dst : (uint8_t*)sums;
  const size_t stride = whole ? t.dst_stride : vectors * 64;
  for_sums([&](auto h, auto v) OCTET_INLINE {
    store_tile_register<At::sums(h.value, v.value)>(to + h.value * kRows * stride + 64 * v.value,
                                                    stride);
  });
  if (!whole) store_sums(t, sums, 16 * vectors);
}

template <bool is_signed>
void dispatch(const Tile& t) {
  static constexpr MultiplyFn kOne[kVectors] = {multiply<is_signed, 1, 1>,
                                                multiply<is_signed, 1, 2>,
                                                multiply<is_signed, 1, 3>,
                                                multiply<is_signed, 1, 4>},
                              kTwo[2] = {multiply<is_signed, 2, 1>, multiply<is_signed, 2, 2>};
  (t.rows > kRows ? kTwo : kOne)[(t.cols - 1) / 16](t);
}

// The first tile of a task configures the tile registers.
void enter() {}
void leave() { release_tiles(); }

constexpr uint16_t kFlags = kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit;

constexpr MicroKernel any_depth(const char* name, ElementType lhs, MultiplyFn multiply) {
  MicroKernel kernel = {};
  kernel.name = name;
  kernel.tier_id = TierId::kAmxInt8;
  kernel.lhs_element_type = lhs;
  kernel.mr = kRows;
  kernel.nr = 16 * kVectors;
  kernel.flags = kFlags;
  kernel.rhs_layout = kX86Layout;
  // All tiles but the last have whole registers: rows that fill none cost a product, and tiles of
  // other heights a configuration
  kernel.lhs_lanes_step = kRows;
  kernel.lhs_kr = kGroup;
  kernel.copy_rows = copy_rows;
  kernel.step_depth = kSteps;
  kernel.multiply = multiply;
  kernel.tall_mr = 2 * kRows;
  kernel.tall_nr = 32;
  kernel.enter = enter;
  kernel.leave = leave;
  return kernel;
}
constexpr MicroKernel deep(const char* name, ElementType lhs, MultiplyFn multiply) {
  MicroKernel kernel = any_depth(name, lhs, multiply);
  kernel.mr = 2 * kRows;
  kernel.nr = 32;
  kernel.k_min = kDeep;
  kernel.tall_mr = kernel.tall_nr = 0;
  return kernel;
}

}  // namespace

const MicroKernel amxint8_u8s8_32x32x4 =
    deep("amxint8_u8s8_32x32x4", ElementType::kU8, dispatch<false>);
const MicroKernel amxint8_u8s8_16x64x4 =
    any_depth("amxint8_u8s8_16x64x4", ElementType::kU8, dispatch<false>);
const MicroKernel amxint8_s8s8_32x32x4 =
    deep("amxint8_s8s8_32x32x4", ElementType::kS8, dispatch<true>);
const MicroKernel amxint8_s8s8_16x64x4 =
    any_depth("amxint8_s8s8_16x64x4", ElementType::kS8, dispatch<true>);

// A product of tile registers takes as long for one row as for 16: two rows are faster by VPDPBUSD.
// Of an s8 lhs there is no such kernel, because AVX512VNNI's would see other zero points.
const MicroKernel amxint8_u8s8_2x64x4 = {
    .name = "amxint8_u8s8_2x64x4",
    .tier_id = TierId::kAmxInt8,
    .lhs_element_type = ElementType::kU8,
    .mr = 2,
    .nr = 16 * kVectors,
    .m_max = 2,
    .flags = kFlags,
    .rhs_layout = kX86Layout,
    .lhs_kr = kGroup,
    .multiply = avx512vnni_multiply_u8s8,
};

}  // namespace octet
