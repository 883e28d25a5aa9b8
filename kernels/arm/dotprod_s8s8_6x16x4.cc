// s8 x s8 -> s32 or 8 bits, SDOT by lane, up to 6 rows x 16 columns.
//
//                          columns 0-3   4-7   8-11  12-15
//                         +------------+------+------+------+
//   row i, 16 bytes: four | acc[i][0]  |  [1] |  [2] |  [3] |
//   lanes of 4            +------------+------+------+------+
//
// 24 accumulators, 6 for lhs, 2 for rhs: 32 registers of 32.
//
// Per 16 along depth: 6 loads of lhs, 8 load pairs of rhs, 96 dot products. The lhs rows are read
// where they lie: a copy would cost more than it saves when N is small, and by lane one load serves
// four groups. A u8 lhs is flipped to s8 as it is loaded. Instantiated over (rows, 2 or 4 vectors
// of columns, lhs sign).
#include <arm_neon.h>

#include "kernels/arm/bytes.h"
#include "kernels/arm/kernels.h"
#include "kernels/arm/narrow.h"
#include "kernels/core/unroll.h"
#include "kernels/simd/portable.h"

namespace octet {
namespace {

constexpr int kMr = 6, kVectors = 4;

template <int rows, int vectors>
OCTET_INLINE inline void store_s32(const int32x4_t (&acc)[rows][vectors], uint8_t* dst,
                                   size_t stride) {
  OCTET_UNROLL(6)
  for (int i = 0; i < rows; ++i, dst += stride) {
    OCTET_UNROLL(4)
    for (int v = 0; v < vectors; ++v) vst1q_s32((int32_t*)dst + 4 * v, acc[i][v]);
  }
}

template <int rows, int vectors, Exit exit>
OCTET_INLINE inline void store_narrow(const Tile& t, const int32x4_t (&acc)[rows][vectors],
                                      uint8_t* dst, size_t stride) {
  float32x4_t scale[4];
  OCTET_UNROLL(4)
  for (int v = 0; v < 4; ++v) scale[v] = vld1q_f32(t.scale + 4 * (v % vectors));
  const auto rounded = [&](int i) OCTET_INLINE {
    return rounded16({acc[i][0], acc[i][1], acc[i][vectors - 2], acc[i][vectors - 1]}, scale);
  };
  Rounded16 row = rounded(0);
  // Not before the first row has made room in the registers
  const Narrowing16 n = narrowing16(*t.narrow);
  OCTET_UNROLL(6)
  for (int i = 0; i < rows; ++i, dst += stride) {
    if (i) row = rounded(i);
    const uint8x16_t bytes = narrowed<exit>(row, n);
    if (vectors == 4)
      vst1q_u8(dst, bytes);
    else
      vst1_u8(dst, vget_low_u8(bytes));
  }
}

template <int rows, int vectors, bool flip>
void multiply(const Tile& t) {
  alignas(16) uint8_t tails[kMr][16];
  const uint8_t* base = (const uint8_t*)t.lhs;
  if (t.depth % 16) copy_tails(t, 0, base, tails);

  int32x4_t acc[rows][vectors];
  const int32_t* init = t.init;
  OCTET_UNROLL(6)
  for (int i = 0; i < rows; ++i, init += t.init_stride) {
    OCTET_UNROLL(4)
    for (int v = 0; v < vectors; ++v) acc[i][v] = vld1q_s32(init + 4 * v);
  }

  const uint8_t* rhs = t.rhs;
  const auto flipped = [&](int8x16_t bytes) OCTET_INLINE {
    return flip ? veorq_s8(bytes, vdupq_n_s8(-128)) : bytes;
  };
  for (size_t tap = 0;;) {
    const uint8_t* lhs[rows];
    OCTET_UNROLL(6)
    for (int i = 0; i < rows; ++i)
      lhs[i] = t.lhs_rows ? t.lhs_rows[tap * rows + i] : base + i * t.lhs_stride;
    OCTET_NO_UNROLL
    for (size_t chunks = t.depth / 16; chunks; --chunks) {
      int8x16_t a[rows];
      OCTET_UNROLL(6)
      for (int i = 0; i < rows; ++i) {
        a[i] = flipped(vreinterpretq_s8_u8(vld1q_u8(lhs[i])));
        lhs[i] += 16;
      }
      unroll<4>([&](auto lane) OCTET_INLINE {
        OCTET_UNROLL(4)
        for (int v = 0; v < vectors; ++v) {
          const int8x16_t b = vreinterpretq_s8_u8(vld1q_u8(rhs + 16 * v));
          OCTET_UNROLL(6)
          for (int i = 0; i < rows; ++i) {
            acc[i][v] = vdotq_laneq_s32(acc[i][v], b, a[i], lane);
            OCTET_PIN(acc[i][v]);
          }
        }
        rhs += t.rhs_stride;
      });
    }

    // What is left of the depth, one group at a time. The tile is read anew: what is kept from
    // before costs registers that must be saved.
    __asm__ volatile("" : : : "memory");
    const uint8_t* tail = tails[0];
    OCTET_NO_UNROLL
    for (size_t groups = (t.depth % 16 + 3) / 4; groups; --groups) {
      int8x16_t a[rows];
      OCTET_UNROLL(6)
      for (int i = 0; i < rows; ++i) {
        uint32_t quad;
        __builtin_memcpy(&quad, tail + 16 * i, sizeof quad);
        a[i] = flipped(vreinterpretq_s8_u32(vdupq_n_u32(quad)));
      }
      OCTET_UNROLL(4)
      for (int v = 0; v < vectors; ++v) {
        const int8x16_t b = vreinterpretq_s8_u8(vld1q_u8(rhs + 16 * v));
        OCTET_UNROLL(6)
        for (int i = 0; i < rows; ++i) acc[i][v] = vdotq_s32(acc[i][v], b, a[i]);
      }
      rhs += t.rhs_stride;
      tail += 4;
    }
    if (++tap == t.taps) break;
    if (t.tap_steps) base += t.tap_steps[tap - 1];
    if (t.depth % 16) copy_tails(t, tap, base, tails);
  }

  const size_t element = t.scale ? 1 : 4;
  alignas(16) uint8_t whole[kMr * 4 * kVectors * 4];
  const bool partial = t.cols < 4 * vectors;
  uint8_t* const dst = partial ? whole : (uint8_t*)t.dst;
  const size_t stride = partial ? 16 * element : t.dst_stride;
  const Exit exit = exit_of(t);
  if (exit == Exit::kSaturated) {
    store_narrow<rows, vectors, Exit::kSaturated>(t, acc, dst, stride);
  } else if (exit == Exit::kClamped) {
    store_narrow<rows, vectors, Exit::kClamped>(t, acc, dst, stride);
  } else {
    store_s32<rows, vectors>(acc, dst, stride);
  }
  if (partial) copy_rows(whole, stride, (uint8_t*)t.dst, t.dst_stride, t.rows, t.cols * element);
}

template <int vectors, bool flip>
constexpr MultiplyFn kByRows[kMr] = {multiply<1, vectors, flip>, multiply<2, vectors, flip>,
                                     multiply<3, vectors, flip>, multiply<4, vectors, flip>,
                                     multiply<5, vectors, flip>, multiply<6, vectors, flip>};

void dispatch(const Tile& t) {
  static constexpr const MultiplyFn* kTable[2][2] = {{kByRows<2, false>, kByRows<2, true>},
                                                     {kByRows<4, false>, kByRows<4, true>}};
  kTable[t.cols > 8][t.lhs_flip != 0][t.rows - 1](t);
}

}  // namespace

const MicroKernel dotprod_s8s8_6x16x4 = {
    .name = "dotprod_s8s8_6x16x4",
    .isa = Isa::kDotprod,
    .lhs_domain = Domain::kS8,
    .mr = kMr,
    .nr = 4 * kVectors,
    .flags = kAnyLhs | kNarrows | kNarrows16,
    .rhs_layout = kDotprodLayout,
    .lhs_kr = 4,
    .multiply = dispatch,
};

}  // namespace octet
