// SPDX-License-Identifier: Apache-2.0
// 8 bits x 8 bits -> s32, SMMLA, USMMLA and UMMLA on SVE registers of 256 bits: the depth loops of
// i8mm_12x64x8.cc, which has the rest of these kernels.
//
// A register holds two of NEON's, here in the same order. The lhs panel and the weights are
// NEON's, too: LD1RQ loads a pair of rows into both halves.
//
//                                     columns 0 1   2 3     4 5   6 7
//                                    +------------------+------------+
//   rows 0 1, 8 bytes of each, twice |    sums[0][0]    |    [1]     |     12 accumulators,
//   ...                              |                  |            |     2 for rhs, 1 for lhs
//   rows 10 11                       |    sums[5][0]    |    [1]     |
//                                    +------------------+------------+
//
// Per group of 8 along depth: 2 loads of rhs and 6 of lhs, 12 multiplications, 4 instructions of
// loop; NEON needs 24 multiplications.
#include <arm_sve.h>

#include "kernels/arm/kernels.h"
#include "kernels/core/compiler.h"

namespace octet {
namespace {

typedef svint32_t Sums __attribute__((arm_sve_vector_bits(256)));
typedef svuint8_t Bytes __attribute__((arm_sve_vector_bits(256)));

struct S8S8 {
  OCTET_INLINE static inline void add_products(Sums& sums, Bytes lhs, Bytes rhs) {
    sums = svmmla_s32(sums, svreinterpret_s8_u8(lhs), svreinterpret_s8_u8(rhs));
  }
};
struct U8S8 {
  OCTET_INLINE static inline void add_products(Sums& sums, Bytes lhs, Bytes rhs) {
    sums = svusmmla_s32(sums, lhs, svreinterpret_s8_u8(rhs));
  }
};
struct U8U8 {
  OCTET_INLINE static inline void add_products(Sums& sums, Bytes lhs, Bytes rhs) {
    sums = svreinterpret_s32_u32(svmmla_u32(svreinterpret_u32_s32(sums), lhs, rhs));
  }
};

template <typename Types, int pairs>
void multiply_panel(const uint8_t* lhs, const uint8_t* rhs, size_t groups, const int32_t* init,
                    size_t init_step, int32_t* out) {
  // Few pairs split the depth over two sets of sums to hide the latency.
  constexpr int sets = pairs <= 2 ? 2 : 1;
  const svbool_t bytes = svptrue_b8(), words = svptrue_b32();
  Sums sums[pairs][2], more[pairs][2];
  unroll<pairs>([&](auto p) OCTET_INLINE {
    unroll<2>([&](auto v) OCTET_INLINE {
      sums[p][v] = svld1_s32(words, init + p * init_step + 8 * v);
      if (sets > 1) more[p][v] = svdup_n_s32(0);
    });
  });
  const auto step = [&](Sums(&to)[pairs][2]) OCTET_INLINE {
    const Bytes b0 = svld1_u8(bytes, rhs), b1 = svld1_u8(bytes, rhs + 32);
    unroll<pairs>([&](auto p) OCTET_INLINE {
      const Bytes a = svld1rq_u8(bytes, lhs + 16 * p);
      Types::add_products(to[p][0], a, b0);
      Types::add_products(to[p][1], a, b1);
    });
    lhs += 16 * pairs;
    rhs += 64;
  };
  if (sets > 1) {
    OCTET_NO_UNROLL
    for (; groups >= sets; groups -= sets) {
      step(sums);
      step(more);
    }
  }
  OCTET_NO_UNROLL
  for (; groups; --groups) step(sums);
  unroll<pairs>([&](auto p) OCTET_INLINE {
    unroll<2>([&](auto v) OCTET_INLINE {
      if (sets > 1) sums[p][v] = svadd_s32_x(words, sums[p][v], more[p][v]);
      svst1_s32(words, out + 16 * p + 8 * v, sums[p][v]);
    });
  });
}

}  // namespace

#define BY_PAIRS(types)                                                              \
  {                                                                                  \
    multiply_panel<types, 1>, multiply_panel<types, 2>, multiply_panel<types, 3>,    \
        multiply_panel<types, 4>, multiply_panel<types, 5>, multiply_panel<types, 6> \
  }
const I8mmPanel sve256_panels[3][6] = {BY_PAIRS(S8S8), BY_PAIRS(U8S8), BY_PAIRS(U8U8)};

}  // namespace octet
