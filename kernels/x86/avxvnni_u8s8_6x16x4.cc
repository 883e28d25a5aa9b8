// u8 or s8 x s8 -> s32, 8 bits or f32, VPDPBUSD and VPDPBSSD on ymm, up to 6 rows x 16 columns.
//
//                      columns 0-7   8-15
//                     +------------+--------+
//   row i, 4 bytes    | acc[i][0]  |  [1]   |      12 accumulators, 2 for rhs, 1 for lhs: 15 of 16
//   broadcast         +------------+--------+
//
// A CPU without VPDPBSSD (AVX-VNNI-INT8) flips an s8 lhs. All kernels share the code before and
// after the depth loops.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/store_tile_ymm.h"

namespace octet {
namespace {

constexpr int kMr = 6;
// Prefetch distance of the weights in bytes: 16 columns with a depth of 2048 fill L1, so that
// deeper weights come from L2 for every tile
constexpr int kAhead = 2048;

struct U8 {
  OCTET_INLINE static inline void add_products(__m256i& acc, __m256i lhs, __m256i rhs) {
    acc = _mm256_dpbusd_avx_epi32(acc, lhs, rhs);
    pin(acc);
  }
};
// GCC 12 has no intrinsic for VPDPBSSD. Of the instruction itself, the assembler must know.
struct S8 {
  OCTET_INLINE static inline void add_products(__m256i& acc, __m256i lhs, __m256i rhs) {
    __asm__("vpdpbssd %2, %1, %0" : "+x"(acc) : "x"(lhs), "x"(rhs));
  }
};
#if defined(OCTET_AVXVNNIINT8)
constexpr bool kMultipliesS8 = true;
#else
constexpr bool kMultipliesS8 = false;
#endif

template <int rows>
void multiply(const Tile& t, bool lhs_is_s8) {
  __m256i acc[rows][2];
  // Prefetches the output lines; see shared/store_tile_zmm.h.
  unroll<rows>([&](auto i) OCTET_INLINE {
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
  });
  // Usually one row of init serves all rows; see shared/store_tile_zmm.h.
  unroll<2>([&](auto v) OCTET_INLINE {
    acc[0][v] = init_of(t, 0, v);
    unroll<rows - 1>([&](auto i) OCTET_INLINE { acc[i + 1][v] = acc[0][v]; });
  });
  if (t.init_stride)
    unroll<rows - 1>([&](auto i) OCTET_INLINE {
      unroll<2>([&](auto v) OCTET_INLINE { acc[i + 1][v] = init_of(t, i + 1, v); });
    });
  add_row_init(t, acc);

  const uint8_t* lhs[rows];
  unroll<rows>([&](auto i) OCTET_INLINE {
    lhs[i] = t.lhs_rows ? t.lhs_rows[i] : (const uint8_t*)t.lhs + i * t.lhs_stride;
  });
  const uint8_t* rhs = t.rhs;
  const size_t end = t.depth / 4 * 4;
  const Tile* again = &t;  // see avx512vnni_u8s8_6x64x4.cc
  spill(again);
  for (size_t tap = 1;; ++tap) {
    // Multiplies one group; `broadcast` puts the four lhs bytes of row i into all lanes.
    size_t k = 0;
    const auto step = [&](auto type, auto broadcast) OCTET_INLINE {
      __m256i b[2];
      unroll<2>([&](auto v)
                    OCTET_INLINE { b[v] = _mm256_loadu_si256((const __m256i*)(rhs + 32 * v)); });
      _mm_prefetch((const char*)rhs + kAhead, _MM_HINT_T0);
      unroll<rows>([&](auto i) OCTET_INLINE {
        const __m256i a = broadcast(i);
        unroll<2>([&](auto v) OCTET_INLINE { type.add_products(acc[i][v], a, b[v]); });
      });
      k += 4;
      rhs += 64;
    };
    const auto as_it_is = [&](auto i)
                              OCTET_INLINE { return _mm256_set1_epi32(load_quad(lhs[i] + k)); };
    spill(lhs_is_s8);
    if (kMultipliesS8 && lhs_is_s8) {
      OCTET_NO_UNROLL
      while (k < end) step(S8{}, as_it_is);
    } else if (again->lhs_flip) {
      const __m256i flips = _mm256_set1_epi32((int32_t)again->lhs_flip);
      OCTET_NO_UNROLL
      while (k < end)
        step(U8{}, [&](auto i) OCTET_INLINE { return _mm256_xor_si256(as_it_is(i), flips); });
    } else {
      OCTET_NO_UNROLL
      while (k < end) step(U8{}, as_it_is);
    }
    spill(again);
    if (const size_t tail = again->depth % 4) {
      const int32_t flips = (int32_t)again->lhs_flip;
      int32_t last[rows];
      unroll<rows>([&](auto i) OCTET_INLINE { last[i] = tail_quad(lhs[i] + k, tail) ^ flips; });
      spill(last);
      const auto rest = [&](auto i) OCTET_INLINE { return _mm256_set1_epi32(last[i]); };
      if (kMultipliesS8 && lhs_is_s8)
        step(S8{}, rest);
      else
        step(U8{}, rest);
    }
    if (tap == again->taps) break;
    const uint8_t* const* rows_of_tap = again->lhs_rows ? again->lhs_rows + tap * rows : nullptr;
    const ptrdiff_t step_to_tap = rows_of_tap ? 0 : again->tap_steps[tap - 1];
    unroll<rows>(
        [&](auto i) OCTET_INLINE { lhs[i] = rows_of_tap ? rows_of_tap[i] : lhs[i] + step_to_tap; });
  }

  store_tile<kMr>(*again, acc);
}

constexpr void (*kByRows[kMr])(const Tile&, bool) = {multiply<1>, multiply<2>, multiply<3>,
                                                     multiply<4>, multiply<5>, multiply<6>};

template <bool lhs_is_s8>
void dispatch(const Tile& t) {
  kByRows[t.rows - 1](t, lhs_is_s8);
}

constexpr uint16_t kFlags = kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit;

}  // namespace

const MicroKernel avxvnni_u8s8_6x16x4 = {
    .name = "avxvnni_u8s8_6x16x4",
    .isa = Isa::kAvxVnni,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = 16,
    .flags = kAnyLhs | kFlags,
    .rhs_layout = kX86Layout,
    .lhs_kr = 4,
    .multiply = dispatch<false>,
};

#if defined(OCTET_AVXVNNIINT8)
const MicroKernel avxvnni_s8s8_6x16x4 = {
    .name = "avxvnni_s8s8_6x16x4",
    .isa = Isa::kAvxVnni,
    .lhs_element_type = ElementType::kS8,
    .mr = kMr,
    .nr = 16,
    .flags = kFlags,
    .rhs_layout = kX86Layout,
    .lhs_kr = 4,
    .multiply = dispatch<true>,
    .needs = kHasAvxVnniInt8,
};
#endif
}  // namespace octet
