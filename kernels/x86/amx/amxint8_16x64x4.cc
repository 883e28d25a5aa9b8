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
// if they are fewer than 64, have registers to themselves (rows.h), and are copied only where the
// row ends within a group. Neither sign is flipped. Sums leave through memory: s32 goes from the
// tiles to dst, all else through zmm registers.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/core/limits.h"
#include "kernels/x86/amx/rows.h"
#include "kernels/x86/amx/tiles.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/store_tile_zmm.h"

namespace octet {
namespace {

constexpr int kVectors = 4;
// From this depth on, 64 columns of weights leave no room in an L1 cache of 48 KB for the rows
// beside them. 32 x 32 tiles read half as many weights per product. 16 x 64 take 0.91 of their time
// at 512, 1.11 at 576 (784 x 128, Emerald Rapids, 2026-12-01).
constexpr size_t kDeep = 544;

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

// Multiplies up to 16 rows whose depth ends within a group.
__attribute__((noinline)) void sum_part_groups(const Tile& t, bool is_signed, const TileRows& at) {
  alignas(64) uint8_t room[kRows * kSteps];
  multiply_micro_tiles<true, SumsExit>(t, is_signed, at, room);
}

// Multiplies a tile, as s32 of whole vectors, into `to`.
__attribute__((noinline)) void sum_tile(const Tile& t, bool is_signed, void* to, size_t stride) {
  // Tall tiles of fewer rows have registers for whole steps only, and none copies its last steps
  if (t.rows > kRows && t.cols <= 32 &&
      (t.depth % kSteps == 0 || (t.rows == 2 * kRows && t.depth % kGroup == 0)))
    return multiply_micro_tiles<false, SumsExit>(t, is_signed, {0, t.rows, (uint8_t*)to, stride});
  for (size_t row = 0; row < t.rows; row += kRows) {
    const TileRows at = {row, smaller(t.rows - row, kRows), (uint8_t*)to + row * stride, stride};
    t.depth % kGroup ? sum_part_groups(t, is_signed, at)
                     : multiply_micro_tiles<true, SumsExit>(t, is_signed, at);
  }
}

template <bool is_signed>
void multiply(const Tile& t) {
  if (!t.scale && !t.row_init && t.cols % 16 == 0)
    return sum_tile(t, is_signed, t.dst, t.dst_stride);
  alignas(64) int32_t sums[kMaxTile];
  const size_t stride = round_up(t.cols, 16);
  for (size_t i = 0; i < t.rows; ++i)  // as start_tile does
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
  sum_tile(t, is_signed, sums, stride * sizeof(int32_t));
  store_sums(t, sums, stride);
}

// Many rows. Bytes by floats are made meanwhile, s32 of whole vectors leave the registers at once;
// others go tile by tile, as do a few deep rows, of which a second whole tile would repeat many.
template <bool is_signed>
void multiply_micro_panel(const Tile& t) {
  constexpr size_t kFewDeep = 1024;
  const bool bytes = makes_bytes_in_float_mode(t), tflite = makes_tflite_by_floats(t),
             wide = t.cols > 32;
  const size_t rows = wide ? kRows : 2 * kRows,
               least = t.taps * t.depth > kFewDeep ? 2 * rows : rows;
  if (t.rows >= least && t.depth % kGroup == 0 && !t.init_stride &&
      (bytes || tflite || (!t.scale && t.cols % 16 == 0))) {
    using RowsFn = void (*)(const Tile&, bool, const TileRows&, uint8_t*);
    static constexpr RowsFn kFns[2][3] = {
        {multiply_micro_tiles<false, SumsExit>, multiply_micro_tiles<false, FloatBytes>,
         multiply_micro_tiles<false, TfliteBytes>},
        {multiply_micro_tiles<true, SumsExit>, multiply_micro_tiles<true, FloatBytes>,
         multiply_micro_tiles<true, TfliteBytes>}};
    return kFns[wide][tflite ? 2 : bytes](t, is_signed, {0, t.rows, (uint8_t*)t.dst, t.dst_stride},
                                          nullptr);
  }
  Tile part = t;
  for (size_t left = t.rows; left; left -= part.rows) {
    part.rows = smaller(left, rows);
    multiply<is_signed>(part);
    pass_rows(&part, part.rows);
  }
}

// The first tile of a task configures the tile registers.
void enter() {}
void leave() { release_tiles(); }

constexpr uint16_t kFlags = kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit;

constexpr MicroKernel any_depth(const char* name, ElementType lhs, MultiplyFn multiply,
                                MultiplyFn micro_panel) {
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
  kernel.multiply_micro_panel = micro_panel;
  kernel.micro_panel = {4, 4096, 1, 16 * kVectors, true};
  kernel.micro_panel.tiles = 1;
  kernel.tall_mr = 2 * kRows;
  kernel.tall_nr = 32;
  kernel.enter = enter;
  kernel.leave = leave;
  return kernel;
}
constexpr MicroKernel deep(const char* name, ElementType lhs, MultiplyFn multiply,
                           MultiplyFn micro_panel) {
  MicroKernel kernel = any_depth(name, lhs, multiply, micro_panel);
  kernel.mr = 2 * kRows;
  kernel.nr = 32;
  kernel.k_min = kDeep;
  kernel.micro_panel.most_columns = 32;
  kernel.tall_mr = kernel.tall_nr = 0;
  return kernel;
}

}  // namespace

const MicroKernel amxint8_u8s8_32x32x4 =
    deep("amxint8_u8s8_32x32x4", ElementType::kU8, multiply<false>, multiply_micro_panel<false>);
const MicroKernel amxint8_u8s8_16x64x4 = any_depth("amxint8_u8s8_16x64x4", ElementType::kU8,
                                                   multiply<false>, multiply_micro_panel<false>);
const MicroKernel amxint8_s8s8_32x32x4 =
    deep("amxint8_s8s8_32x32x4", ElementType::kS8, multiply<true>, multiply_micro_panel<true>);
const MicroKernel amxint8_s8s8_16x64x4 =
    any_depth("amxint8_s8s8_16x64x4", ElementType::kS8, multiply<true>, multiply_micro_panel<true>);

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
