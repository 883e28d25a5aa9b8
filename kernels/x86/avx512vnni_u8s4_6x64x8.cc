// u8 x s4 -> s32 or 8 bits: decodes weights for avx512vnni_u8s8_6x64x4.cc.
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/int4.h"

namespace octet {
namespace {

// As decode_int4_ymm, a group at once.
void decode(const uint8_t* rhs, size_t rhs_stride, size_t groups, uint8_t* to) {
  const __m512i low = _mm512_set1_epi8(15),
                values = _mm512_broadcast_i32x4(
                    _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1));
  OCTET_NO_UNROLL
  for (; groups; --groups, rhs += rhs_stride, to += 2 * kInt4Group) {
    const __m512i two = _mm512_loadu_si512(rhs),
                  first = _mm512_shuffle_epi8(values, _mm512_and_si512(two, low)),
                  second =
                      _mm512_shuffle_epi8(values, _mm512_and_si512(_mm512_srli_epi16(two, 4), low));
    _mm512_store_si512(to, first);
    _mm512_store_si512(to + kInt4Group, second);
  }
}

void multiply(const Tile& t) { multiply_int4(avx512vnni_u8s4_6x64x8, avx512vnni_u8s8_6x64x4, t); }

}  // namespace

const MicroKernel avx512vnni_u8s4_6x64x8 = {
    .name = "avx512vnni_u8s4_6x64x8",
    .isa = Isa::kAvx512Vnni,
    .lhs_element_type = ElementType::kU8,
    .mr = 6,
    .nr = 64,
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
    .rhs_layout = kX86Int4Layout,
    .lhs_kr = 4,
    .multiply = multiply,
    .tall_mr = 12,
    .tall_nr = 32,
    .decoder = {decode, 2 * kInt4Group, kInt4Group, int4_room(6 * 64)},
};

}  // namespace octet
