// Converts floats to 8 bits, and back.
#pragma once

#include "kernels/core/strict_float.h"
#include "kernels/generic/functions/pairs.h"
#include "kernels/generic/round.h"

namespace octet {
namespace {

constexpr size_t kConvertChunk = 32;

// Calls chunk(from, to) for all elements, kConvertChunk at a time; the last chunk of a run is a
// copy where it is not whole.
template <typename From, typename To, typename Chunk>
OCTET_INLINE inline void for_each_conversion(const octet_network_call& call, const Chunk& chunk) {
  const octet_network_image &in = call.inputs[0], &out = call.output;
  const bool dense =
      in.pixel == out.channels * sizeof(From) && out.pixel == out.channels * sizeof(To);
  const size_t runs = dense ? 1 : out.w, count = dense ? out.w * out.channels : out.channels;
  From last_from[kConvertChunk];
  To last_to[kConvertChunk];
  for (size_t y = call.first; y < call.end; ++y)
    for (size_t x = 0; x < runs; ++x) {
      const From* from = (const From*)(input_line(in, y) + x * in.pixel);
      To* to = (To*)(output_line(call, y) + x * out.pixel);
      size_t left = count;
      for (; left >= kConvertChunk; left -= kConvertChunk) {
        chunk(from, to);
        from += kConvertChunk, to += kConvertChunk;
      }
      if (!left) continue;
      __builtin_memset(last_from, 0, sizeof last_from);
      __builtin_memcpy(last_from, from, left * sizeof(From));
      chunk(last_from, last_to);
      __builtin_memcpy(to, last_to, left * sizeof(To));
    }
}

// Halves away from zero, of |x| <= 2^21: the difference to the nearest integer is exact.
OCTET_INLINE inline int32_t round_half_away(float x) {
  const float size = bits_float(float_bits(x) & 0x7fffffff);
  const int32_t sign = float_bits(x) >> 31, even = round_half_even(size);
  const int32_t away = even + (size - (float)even == 0.5f ? 1 : 0);
  return (away ^ sign) - sign;
}

template <Rounding rounding>
inline void quantize(void* plan, const octet_network_call* call) {
  const ConvertPlan& p = *(const ConvertPlan*)plan;
  const int32_t zero = p.zero;
  const float scale = p.scale, least = (float)(p.least - zero), most = (float)(p.most - zero);
  for_each_conversion<float, uint8_t>(
      *call, [&](const float* from, uint8_t* to) __attribute__((always_inline)) {
        int32_t made[kConvertChunk];
        for (size_t i = 0; i < kConvertChunk; ++i) {
          float x = from[i];
          if (rounding == Rounding::kXnnpack) {
            x = x * scale;
            x = x < most ? x : most;  // NaN, too
            x = x > least ? x : least;
          } else {
            x = (x == x ? x : 0) / scale;
            x = within(x, least, most);
          }
          made[i] = (rounding == Rounding::kAway ? round_half_away(x) : round_half_even(x)) + zero;
        }
        for (size_t i = 0; i < kConvertChunk; ++i) to[i] = (uint8_t)made[i];
      });
}

inline void dequantize(void* plan, const octet_network_call* call) {
  const ConvertPlan& p = *(const ConvertPlan*)plan;
  const uint8_t flip = p.flip;
  const int32_t zero = p.zero;
  const float scale = p.scale;
  for_each_conversion<uint8_t, float>(
      *call, [&](const uint8_t* from, float* to) __attribute__((always_inline)) {
        for (size_t i = 0; i < kConvertChunk; ++i)
          to[i] = (float)((uint8_t)(from[i] ^ flip) - zero) * scale;
      });
}

}  // namespace
}  // namespace octet
