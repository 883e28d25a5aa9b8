// 8 bits x 8 bits -> s32 or 8 bits, SDOT, USDOT and UDOT, 1 row x 16 columns, on the layout of the
// I8MM tier.
//
// For a single row SMMLA would waste half of each product and need a panel. The dot products take 8
// bytes of the row where it lies, twice in a register, and add up 4 depth steps at a time, so that
// a column holds two partial sums, which one pairwise add joins at the end:
//
//                          columns 0 1            columns 2 3     4 5     6 7        8 ... 15
//                         +----------------------+-------------+-------+-------+  +------------+
//   row, 8 bytes twice    | acc[0][0]: 0 0 1 1   |    [0][1]   |  [2]  |  [3]  |  | acc[1][..] |
//                         +----------------------+-------------+-------+-------+  +------------+
//                          first panel                                             second panel
//
// Per group of 8 along depth: one load that duplicates, 4 load pairs, 8 dot products; 8
// accumulators hide the latency. A last single panel uses the second set of accumulators for every
// other group. From two rows on, SMMLA makes half as many products (tools/arm/README.md).
#include <arm_neon.h>

#include "kernels/arm/bytes.h"
#include "kernels/arm/kernels.h"
#include "kernels/arm/narrow.h"
#include "kernels/core/unroll.h"
#include "kernels/simd/portable.h"

namespace octet {
namespace {

constexpr int kNr = 16, kGroup = 8 * 8;  // bytes of a panel's group
static_assert(kI8mmLayout.step == 8 && kI8mmU8Layout.step == 8,
              "every panel has exactly 8 columns: the groups' stride is a constant");

enum class Signs { kS8S8, kU8S8, kU8U8 };
struct S8S8 {
  static constexpr bool flips = false;
  static int32x4_t dot(int32x4_t acc, uint8x16_t a, uint8x16_t b) {
    return vdotq_s32(acc, vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b));
  }
};
struct U8S8 {
  static constexpr bool flips = false;
  static int32x4_t dot(int32x4_t acc, uint8x16_t a, uint8x16_t b) {
    return vusdotq_s32(acc, a, vreinterpretq_s8_u8(b));
  }
};
struct U8U8 {
  static constexpr bool flips = true;
  static int32x4_t dot(int32x4_t acc, uint8x16_t a, uint8x16_t b) {
    return vreinterpretq_s32_u32(vdotq_u32(vreinterpretq_u32_s32(acc), a, b));
  }
};

inline uint8x16_t twice(uint64_t word) { return vreinterpretq_u8_u64(vdupq_n_u64(word)); }

template <int panels>
void multiply(const Tile& t, Signs signs) {
  int32x4_t acc[2][4];
  OCTET_UNROLL(4)
  for (int j = 0; j < 4; ++j) acc[0][j] = acc[1][j] = vdupq_n_s32(0);
  const uint8_t* base = (const uint8_t*)t.lhs;
  const uint8_t* lhs = t.lhs_rows ? t.lhs_rows[0] : base;
  const uint8_t* rhs = t.rhs;
  for (size_t tap = 0;;) {
    const auto walk = [&](auto types) OCTET_INLINE {
      using Types = decltype(types);
      const uint8x16_t flip = vreinterpretq_u8_u32(vdupq_n_u32(t.lhs_flip));
      const auto dots = [&](int set, uint8x16_t a, const uint8_t* from) OCTET_INLINE {
        OCTET_UNROLL(4)
        for (int j = 0; j < 4; ++j)
          acc[set][j] = Types::dot(acc[set][j], a, vld1q_u8(from + 16 * j));
      };
      const auto step = [&](int set, uint64_t word) OCTET_INLINE {
        const uint8x16_t a = Types::flips ? veorq_u8(twice(word), flip) : twice(word);
        dots(set, a, rhs);
        if (panels == 2) dots(1, a, rhs + t.rhs_panel_stride);
        rhs += kGroup;
      };
      size_t depth = t.depth;
      if (panels == 1) {
        OCTET_NO_UNROLL
        for (; depth >= 16; depth -= 16, lhs += 16) {
          step(0, load8(lhs));
          step(1, load8(lhs + 8));
        }
      }
      OCTET_NO_UNROLL
      for (; depth >= 8; depth -= 8, lhs += 8) step(0, load8(lhs));
      if (depth) step(0, load_tail(lhs, depth));
    };
    __asm__("" : "+r"(signs));  // or compilers make a loop over taps for each
    if (signs == Signs::kS8S8)
      walk(S8S8{});
    else if (signs == Signs::kU8S8)
      walk(U8S8{});
    else
      walk(U8U8{});
    if (++tap == t.taps) break;
    if (t.tap_steps) base += t.tap_steps[tap - 1];
    lhs = t.lhs_rows ? t.lhs_rows[tap] : base;
  }

  if (panels == 1) {
    OCTET_UNROLL(4)
    for (int j = 0; j < 4; ++j) acc[0][j] = vaddq_s32(acc[0][j], acc[1][j]);
  }
  constexpr int kVectors = 2 * panels;  // of four columns
  int32x4_t columns[kVectors];
  OCTET_UNROLL(4)
  for (int v = 0; v < kVectors; ++v)
    columns[v] = vaddq_s32(vpaddq_s32(acc[v / 2][v % 2 * 2], acc[v / 2][v % 2 * 2 + 1]),
                           vld1q_s32(t.init + 4 * v));
  alignas(16) uint8_t whole[kNr * 4];
  const bool partial = t.cols < 4 * kVectors;
  uint8_t* const dst = partial ? whole : (uint8_t*)t.dst;
  if (t.scale) {
    float32x4_t scale[4];
    OCTET_UNROLL(4)
    for (int v = 0; v < 4; ++v) scale[v] = vld1q_f32(t.scale + 4 * (v % kVectors));
    const int32x4_t all[4] = {columns[0], columns[1], columns[kVectors - 2], columns[kVectors - 1]};
    const uint8x16_t bytes =
        narrowed<Exit::kClamped>(rounded16(all, scale), narrowing16(*t.narrow));
    if (panels == 2)
      vst1q_u8(dst, bytes);
    else
      vst1_u8(dst, vget_low_u8(bytes));
  } else {
    OCTET_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) vst1q_s32((int32_t*)dst + 4 * v, columns[v]);
  }
  if (partial) copy_rows(whole, 0, (uint8_t*)t.dst, 0, 1, t.cols * (t.scale ? 1 : 4));
}

template <Signs signs>
void dispatch(const Tile& t) {
  (t.cols > 8 ? multiply<2> : multiply<1>)(t, signs);
}

}  // namespace

const MicroKernel i8mm_s8s8_1x16x8 = {
    .name = "i8mm_s8s8_1x16x8",
    .isa = Isa::kI8mm,
    .lhs_domain = Domain::kS8,
    .mr = 1,
    .nr = kNr,
    .m_max = 1,
    .flags = kNarrows | kNarrows16,
    .rhs_layout = kI8mmLayout,
    .lhs_kr = 8,
    .multiply = dispatch<Signs::kS8S8>,
};

const MicroKernel i8mm_u8s8_1x16x8 = {
    .name = "i8mm_u8s8_1x16x8",
    .isa = Isa::kI8mm,
    .lhs_domain = Domain::kU8,
    .mr = 1,
    .nr = kNr,
    .m_max = 1,
    .flags = kNarrows | kNarrows16,
    .rhs_layout = kI8mmLayout,
    .lhs_kr = 8,
    .multiply = dispatch<Signs::kU8S8>,
};

const MicroKernel i8mm_u8u8_1x16x8 = {
    .name = "i8mm_u8u8_1x16x8",
    .isa = Isa::kI8mm,
    .lhs_domain = Domain::kU8,
    .mr = 1,
    .nr = kNr,
    .m_max = 1,
    .flags = kNarrows | kNarrows16 | kAnyLhs,
    .rhs_layout = kI8mmU8Layout,
    .lhs_kr = 8,
    .multiply = dispatch<Signs::kU8U8>,
};

}  // namespace octet
