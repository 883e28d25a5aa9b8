// SPDX-License-Identifier: Apache-2.0
// Sums, quantizes and copies lhs rows in plain loops, compiled once per tier like epilogue.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/compiler.h"
#include "kernels/core/lhs_rows.h"
#include "kernels/generic/round.h"

namespace octet {
namespace {

// Sums up to 31 bytes, eight at a time; the last eight may overlap the bytes before, which a
// shift removes.
inline uint32_t sum_tail(const uint8_t* bytes, size_t count, uint8_t flip) {
  const uint64_t flips = 0x0101010101010101u * flip;
  uint32_t sum = 0;
  if (count < 8) {
    for (size_t k = 0; k < count; ++k) sum += (uint8_t)(bytes[k] ^ flip);
    return sum;
  }
  const auto eight = [&](uint64_t x) {
    constexpr uint64_t kEven = 0x00ff00ff00ff00ff;
    const uint64_t pairs = (x & kEven) + (x >> 8 & kEven);
    return (uint32_t)(pairs * 0x0001000100010001u >> 48);
  };
  uint64_t x;
  for (; count >= 8; bytes += 8, count -= 8) {
    __builtin_memcpy(&x, bytes, sizeof x);
    sum += eight(x ^ flips);
  }
  if (!count) return sum;
  __builtin_memcpy(&x, bytes + count - 8, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return sum + eight((x ^ flips) << 8 * (8 - count) >> 8 * (8 - count));
#else
  return sum + eight((x ^ flips) >> 8 * (8 - count));
#endif
}

[[maybe_unused]] void sum_rows(const Rows& r, bool is_signed, int32_t* sums) {
  // A signed byte is the unsigned byte with the top bit flipped, minus 128.
  const uint8_t flip = (uint8_t)(r.flip ^ (is_signed ? 0x80 : 0));
  const int32_t bias = is_signed ? 128 : 0;
  // Compilers turn a sum of |a - b| of bytes into one instruction (as in packing/weight_sums.cc).
  // They must not know that `none` is 0, else they simplify the sum first.
  uint8_t none = 0;
  __asm__("" : "+r"(none));
  const size_t whole = r.depth / 32 * 32;
  for (size_t i = 0; i < r.rows; ++i) {
    const uint8_t* row = r.row(i);
    uint32_t sum = 0;
    for (size_t k = 0; k < whole; ++k)
      sum += (uint32_t)__builtin_abs((uint8_t)(row[k] ^ flip) - none);
    sum += sum_tail(row + whole, r.depth - whole, flip);
    sums[i] = (int32_t)(sum - (uint32_t)bias * (uint32_t)r.depth);
  }
}

// A row whose range is below this counts as zero. It is far above the denormals, so FTZ and DAZ
// change nothing.
constexpr float kTinyRange = 7.888609052210118e-31f;  // 2^-100

// Bits of floats above 0 are in the order of integers, and those of floats below 0 in the reverse
// order of unsigned integers. Integer maxima are the same on every ISA; float ones differ on NaN.
[[maybe_unused]] FloatEnds find_ends(const FloatRows& r) {
  int32_t most = 0;
  uint32_t last = 0;
  for (size_t i = 0; i < r.rows; ++i) {
    const float* row = r.data + i * r.stride;
    for (size_t k = 0; k < r.depth; ++k) {
      const int32_t bits = float_bits(row[k]);
      most = bits > most ? bits : most;
      last = (uint32_t)bits > last ? (uint32_t)bits : last;
    }
  }
  return {last >> 31 ? bits_float((int32_t)last) : 0, bits_float(most)};
}

inline RowQuant quant_between(const FloatEnds& ends, bool asymmetric) {
  const int32_t below = float_bits(ends.least) & 0x7fffffff, above = float_bits(ends.most);
  const int32_t largest = below > above ? below : above;
  const float range = asymmetric ? ends.most - ends.least : bits_float(largest);
  if (largest >= 0x7f800000 || float_bits(range) == 0x7f800000) return {bits_float(0x7fc00000), 0};
  if (range < kTinyRange) return {1.0f, 0};
  const float scale = range / (asymmetric ? 255.0f : 127.0f);
  if (!asymmetric) return {scale, 0};
  const int32_t zero_point = round_half_even(0.0f - ends.least / scale);
  return {scale, zero_point > 255 ? 255 : zero_point};
}

template <FindEndsFn find>
RowQuant measure_rows_by(const FloatRows& r, bool asymmetric) {
  return quant_between(find(r), asymmetric);
}
constexpr MeasureRowsFn measure_rows = measure_rows_by<find_ends>;

[[maybe_unused]] void quantize_floats(const Quantization& by, const float* x, size_t count,
                                      uint8_t* out) {
  const float scale = by.scale;  // a copy, because stores of bytes may alias `by`
  const int32_t zero_point = by.zero_point;
  const float lo = (float)(by.lo - zero_point), hi = (float)(by.hi - zero_point);
  for (size_t k = 0; k < count; ++k) {
    float v = x[k] / scale;
    v = v == v ? v : 0;
    v = v < lo ? lo : v;
    v = v > hi ? hi : v;
    out[k] = (uint8_t)(round_half_even(v) + zero_point);
  }
}

// For vectors, which multiply by 1 / scale where quantize_floats divides. x * (1 / scale) is within
// 2^-22 of x / scale, relatively, and quotients that are not clamped are below 2^9: so only a
// product within 2^-13 of half an integer may round to another integer than the quotient. Vectors
// with such a product, one in some hundred, are divided.
constexpr float kUndecided = 0.5f - 1.0f / 8192;
// Whether 1 / scale can be used: neither it nor the scale is denormal, and the scale is not NaN.
inline bool has_inverse(float scale) { return scale > 0x1p-120f && scale < 0x1p120f; }

template <QuantizeFloatsFn quantize, FindEndsFn find = find_ends>
void quantize_rows_by(const FloatRows& r, bool asymmetric, uint8_t* out, size_t stride,
                      float* scales, int32_t* zero_points) {
  for (size_t i = 0; i < r.rows; ++i) {
    const float* const row = r.data + i * r.stride;
    const RowQuant quant = quant_between(find({row, r.depth, 1, r.depth}), asymmetric);
    quantize(dynamic_quantization(quant, asymmetric), row, r.depth, out + i * stride);
    scales[i] = quant.scale;
    if (zero_points) zero_points[i] = quant.zero_point;
  }
}

// Copies each run in `chunks` moves, or, if 0, in as many as it needs. All windows get their first
// line, then all get their second: a loop over one window's lines is too short.
template <size_t chunk, int chunks>
void copy_windows_by(const Windows& w) {
  const Windows own = w;  // a copy, because stores of bytes may alias `w`
  const auto move = [](const uint8_t* source, uint8_t* target) OCTET_INLINE {
#if defined(__clang__) || __GNUC__ > 10
    // One move where the tier has one: GCC 12 makes two of a memcpy of 32 bytes
    typedef uint8_t Chunk __attribute__((vector_size(chunk), aligned(1), may_alias));
    *(Chunk*)target = *(const Chunk*)source;
#else  // GCC 10 forgets the alignment of this type, and crashes
    __builtin_memcpy(target, source, chunk);
#endif
  };
  for (size_t line = 0; line < own.lines; ++line) {
    const uint8_t* from = own.from + line * own.line;
    uint8_t* to = own.to + line * own.bytes;
    for (size_t i = 0; i < own.count; ++i, from += own.step, to += own.stride) {
      unroll<chunks>([&](auto c) OCTET_INLINE { move(from + chunk * c, to + chunk * c); });
      for (size_t b = 0; chunks == 0 && b < own.bytes; b += chunk) move(from + b, to + b);
    }
  }
}

[[maybe_unused]] void copy_windows(const Windows& w) {
  if (w.bytes <= 16) return copy_windows_by<16, 1>(w);
  if (w.bytes <= 32) return copy_windows_by<32, 1>(w);
  if (w.bytes <= 64) return copy_windows_by<32, 2>(w);
  if (w.bytes <= 96) return copy_windows_by<32, 3>(w);
  copy_windows_by<32, 0>(w);
}

}  // namespace
}  // namespace octet
