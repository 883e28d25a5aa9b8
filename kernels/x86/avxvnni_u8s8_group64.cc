// Grouped convolution, u8 x s8 -> s32 or 8 bits, VPDPBUSD on ymm: halves of what the zmm kernel has
// in a register.
#include "kernels/x86/grouped_ymm.h"

namespace octet {
namespace {

struct Machine : GroupedYmm<Machine>, DottedOrder {
  using GroupedYmm::GroupedYmm;
  template <int quads>
  static constexpr int kVectors = 2 * quads;
  template <int quads>
  static constexpr int kAccs = quads == 1 ? 2 : 4;
  template <int quads>
  static constexpr int kWide = quads == 1 ? 4 : 3;
  template <int quads>
  static constexpr int kTail = quads == 1 ? 4 : 2;

  template <int quads>
  OCTET_INLINE static inline Vector load(const uint8_t* p, int part) {
    if (quads < 4) return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i*)p));
    return _mm256_set1_epi64x(half_of(p, part));
  }
  template <int quads, typename Index>
  OCTET_INLINE static inline Vector dot(Vector acc, Vector pixel, Vector weights, Index) {
    return _mm256_dpbusd_avx_epi32(acc, pixel, weights);
  }
  template <int quads, int accs>
  OCTET_INLINE static inline Raw sum(const Vector (&acc)[accs]) {
    if constexpr (accs == 2) return {{acc[0], acc[1]}};
    if constexpr (accs == 4)
      return {{add_neighbours(acc[0], acc[2]), add_neighbours(acc[1], acc[3])}};
  }
};

}  // namespace

const DepthwiseKernel avxvnni_u8s8_group64 = grouped_kernel<Machine>(
    "avxvnni_u8s8_group64", Isa::kAvxVnni, Domain::kU8, kGroupedLayout, Machine::leave);

}  // namespace octet
