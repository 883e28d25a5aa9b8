// Winograd's transforms for the baseline. On aarch64 that is NEON, which has a file of its own for its narrow exit.
#include "kernels/simd/portable.h"
#include "kernels/simd/winograd.h"

namespace octet {
namespace {

struct Lanes {
  typedef uint16_t Words __attribute__((vector_size(16)));
  typedef uint32_t Sums __attribute__((vector_size(16)));
  template <typename Byte>
  OCTET_INLINE static inline Words widen(const uint8_t* bytes) {
    Words words;
    for (int i = 0; i < 8; ++i) words[i] = (uint16_t)(Byte)bytes[i];
    return words;
  }
  OCTET_INLINE static inline Words widen_u8(const uint8_t* bytes) { return widen<uint8_t>(bytes); }
  OCTET_INLINE static inline Words widen_s8(const uint8_t* bytes) { return widen<int8_t>(bytes); }
};

}  // namespace

const WinogradOps portable_winograd = {{input_tile<Form2x2, Lanes>, input_tile<Form4x4, Lanes>, input_tile<Form2x2Stride2, Lanes>},
                                       {output_s32<Form2x2, Lanes>, output_s32<Form4x4, Lanes>, output_s32<Form2x2Stride2, Lanes>}};

}  // namespace octet
