// SPDX-License-Identifier: Apache-2.0
// Resizes bytes by linear interpolation, with the bytes of kernels/generic/functions/resize.h, by
// floats in another order: an input line is interpolated once for all output lines beside it. The
// result is near the engine's own; where it is so near to a step between two bytes that theirs may
// be the other one, the pixel is computed as the engine does.
#pragma once

#include "kernels/generic/functions/resize.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/vector.h"

namespace octet {
namespace {

#if defined(__AVX512BW__)
using FloatVector = __m512;
#else
using FloatVector = __m256;
#endif
constexpr size_t kLanes = sizeof(FloatVector) / sizeof(float);

// A near result is the float 512.5 + output, whose lowest bit is a step of 2^-kFraction.
constexpr int kFraction = 14;
// Steps, more than separate a near result from the engine's. TFLite's floats: weights of both axes
// are at most 2 * 2 in size, so that the engine rounds away 2 steps in products and 0.9 in sums,
// and near results 0.9 along a line and 1.4 across. Integers are exact, and near results of them
// lack 1.3; halves_down adds up to 2 and takes 1.
constexpr int kNear = 8, kNearIntegers = 4;

template <typename Sum>
struct Near {
  Sum sum;
  uint8_t flip;         // makes bytes unsigned
  bool exact;           // weights are so coarse that near results are exact
  int32_t near;         // kNear or kNearIntegers
  int32_t halves_down;  // 1: negative halves round down, or 0
};

// An output as the engine computes it.
inline uint8_t blended(const TfliteFloats& by, uint8_t a, uint8_t b, uint8_t c, uint8_t d,
                       const ResizePlace& v, const ResizePlace& h) {
  return by.blended(a, b, c, d, v.weights[0], v.weights[1], h.weights[0], h.weights[1]);
}
template <typename Sum>
inline uint8_t blended(const Sum& by, uint8_t a, uint8_t b, uint8_t c, uint8_t d,
                       const ResizePlace& v, const ResizePlace& h) {
  const int32_t low = by.value(a) * (Sum::kOne - h.part) + by.value(b) * h.part,
                high = by.value(c) * (Sum::kOne - h.part) + by.value(d) * h.part;
  return by.rounded(low * (Sum::kOne - v.part) + high * v.part);
}

// kLanes bytes as floats, or the first n if they are fewer.
OCTET_INLINE inline FloatVector floats_of(const uint8_t* from, size_t n, uint8_t flip) {
#if defined(__AVX512BW__)
  const __m128i bytes = n < kLanes ? _mm_maskz_loadu_epi8((__mmask16)((1u << n) - 1), from)
                                   : _mm_loadu_si128((const __m128i*)from);
#else
  uint64_t some = 0;
  if (n >= kLanes)
    __builtin_memcpy(&some, from, kLanes);
  else
    for (size_t i = 0; i < n; ++i) some |= (uint64_t)from[i] << 8 * i;
  const __m128i bytes = _mm_loadl_epi64((const __m128i*)&some);
#endif
  return OCTET_MM(cvtepi32_ps)(
      OCTET_MM(cvtepu8_epi32)(_mm_xor_si128(bytes, _mm_set1_epi8((char)flip))));
}

// a * b + c, rounded once or twice.
OCTET_INLINE inline FloatVector near_sum(FloatVector a, FloatVector b, FloatVector c) {
#if defined(__AVX512BW__)
  return _mm512_fmadd_ps(a, b, c);
#else
  return _mm256_add_ps(_mm256_mul_ps(a, b), c);
#endif
}

// The upper bytes of the lanes of four vectors, in order.
OCTET_INLINE inline Vector upper_bytes(const Vector* v) {
  Vector all = OCTET_MM(srli_epi32)(v[0], 24);
  all |= OCTET_MM(srli_epi32)(v[1], 16) & OCTET_MM(set1_epi32)(0xff00);
  all |= OCTET_MM(srli_epi32)(v[2], 8) & OCTET_MM(set1_epi32)(0xff0000);
  all |= v[3] & OCTET_MM(set1_epi32)((int32_t)0xff000000);
  const __m128i quads = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
#if defined(__AVX512BW__)
  return _mm512_permutexvar_epi32(
      _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
      _mm512_shuffle_epi8(all, _mm512_broadcast_i32x4(quads)));
#else
  return _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(all, _mm256_broadcastsi128_si256(quads)),
                                     _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
#endif
}

// A bit for each lane of four vectors that has none of `bits`.
OCTET_INLINE inline uint64_t lanes_without(const Vector* v, Vector bits) {
#if defined(__AVX512BW__)
  __mmask16 with = _mm512_test_epi32_mask(v[0], bits);
  unroll<3>([&](auto i) OCTET_INLINE { with = _mm512_mask_test_epi32_mask(with, v[i + 1], bits); });
  if (__builtin_expect(with == 0xffff, 1)) return 0;
  uint64_t lanes = 0;
  unroll<4>([&](auto i) OCTET_INLINE {
    lanes |= (uint64_t)_mm512_testn_epi32_mask(v[i], bits) << kLanes * i;
  });
  return lanes;
#else
  const Vector zero = _mm256_setzero_si256();
  uint64_t lanes = 0;
  Vector least = v[0] & bits;
  unroll<3>([&](auto i) OCTET_INLINE { least = _mm256_min_epu32(least, v[i + 1] & bits); });
  if (__builtin_expect(!_mm256_movemask_epi8(_mm256_cmpeq_epi32(least, zero)), 1)) return 0;
  unroll<4>([&](auto i) OCTET_INLINE {
    lanes |=
        (uint64_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(v[i] & bits, zero)))
        << kLanes * i;
  });
  return lanes;
#endif
}

OCTET_INLINE inline void store_some(uint8_t* to, Vector bytes, size_t n) {
  if (n >= sizeof bytes) return store(to, bytes);
#if defined(__AVX512BW__)
  _mm512_mask_storeu_epi8(to, ((__mmask64)1 << n) - 1, bytes);
#else
  __builtin_memcpy(to, &bytes, n);
#endif
}

template <typename Sum>
struct NearLine {
  // An output line's piece is so long that the next lines' pieces, pages away, are written at the
  // speed of memory, and two lines take 17 KB of the stack.
  static constexpr size_t kMost = 2048;
  alignas(sizeof(Vector)) float values[kMost + sizeof(Vector)];
  const uint8_t* line;
  size_t pixel_bytes;
  Columns columns;

  struct Weights {
    explicit Weights(const Columns&) {}
  };
  OCTET_LOOP void read(const Sum& sum, const uint8_t* from, size_t bytes, const Columns& c) {
    line = from, pixel_bytes = bytes, columns = c;
    float* to = values;
    for (size_t x = 0; x < c.count; ++x, to += c.channels) {
      const ResizePlace& at = c.pixels[x];
      const uint8_t *const low = from + at.low * bytes, *const high = from + at.high * bytes;
      const FloatVector h0 = OCTET_MM(set1_ps)(at.weights[0]),
                        h1 = OCTET_MM(set1_ps)(at.weights[1]);
      for (size_t i = 0, n = c.read_at(at.high); i < n; i += kLanes) {
        const FloatVector right = OCTET_MM(mul_ps)(floats_of(high + i, n - i, sum.flip), h1);
        OCTET_MM(storeu_ps)(to + i, near_sum(floats_of(low + i, n - i, sum.flip), h0, right));
      }
    }
  }
  OCTET_LOOP static void blend(const Sum& sum, const NearLine& low, const NearLine& high,
                               const Weights&, const ResizePlace& place, size_t first, uint8_t* to,
                               size_t n) {
    constexpr size_t kBlock = sizeof(Vector);
    constexpr float kStep = 1.0f / (1 << kFraction);
    const int near = sum.exact ? 0 : sum.near;
    const FloatVector v0 = OCTET_MM(set1_ps)(place.weights[0]),
                      v1 = OCTET_MM(set1_ps)(place.weights[1]),
                      above = OCTET_MM(set1_ps)(512.5f + (float)(near - sum.halves_down) * kStep);
    const Vector flip = OCTET_MM(set1_epi8)((char)sum.flip),
                 fraction =
                     OCTET_MM(set1_epi32)((int32_t)((1u << 24) - ((uint32_t)sum.near << 11)));
    const float *const l = low.values + first, *const h = high.values + first;
    for (size_t i = 0; i < n; i += kBlock) {
#if !defined(__AVX512BW__)
      if (n - i < kBlock && n > kBlock) i = n - kBlock;
#endif
      Vector block[4];
      unroll<4>([&](auto j) OCTET_INLINE {
        const FloatVector beyond = near_sum(OCTET_MM(loadu_ps)(h + i + j * kLanes), v1, above);
        const FloatVector sums = near_sum(OCTET_MM(loadu_ps)(l + i + j * kLanes), v0, beyond);
        Vector bits;
        __builtin_memcpy(&bits, &sums, sizeof bits);
        block[j] = OCTET_MM(slli_epi32)(bits, 24 - kFraction);
        // The highest bit is that of outputs from 0 on, whose halves go up: by 1 to 2 steps
        if (sum.halves_down)
          block[j] =
              OCTET_MM(add_epi32)(block[j], OCTET_MM(srli_epi32)(block[j], 31 - (24 - kFraction)));
      });
      const Vector bytes = upper_bytes(block) ^ flip;
      store_some(to + i, bytes, n - i);
      if (sum.exact) continue;
      const uint64_t lanes = lanes_without(block, fraction);
      if (__builtin_expect(lanes != 0, 0))
        compute(sum, low, high, place, first + i, n - i, lanes, to + i);
    }
  }
  // Computes, as the engine does, those of n outputs from number `first` on whose bit of `lanes` is
  // set.
  OCTET_LOOP static void compute(const Sum& sum, const NearLine& low, const NearLine& high,
                                 const ResizePlace& place, size_t first, size_t n, uint64_t lanes,
                                 uint8_t* to) {
    const Columns& c = low.columns;
    for (size_t x = 0, end = 0; lanes; lanes &= lanes - 1) {
      const size_t lane = (size_t)__builtin_ctzll(lanes), at = first + lane;
      if (lane >= n) return;
      if (at >= end) x = at / c.channels, end = (x + 1) * c.channels;
      const ResizePlace& pixel = c.pixels[x];
      const size_t channel = at + c.channels - end, left = pixel.low * low.pixel_bytes + channel,
                   right = pixel.high * low.pixel_bytes + channel;
      to[lane] = blended(sum.sum, low.line[left], low.line[right], high.line[left],
                         high.line[right], place, pixel);
    }
  }
};

// The kinds that gain by it.
inline void resize_near(const Resize& f, const ImageCall& call) {
  const Bytes bytes(f.is_signed);
  switch (f.kind) {
    case ResizeKind::kTfliteFloat:
      return resize_bytes<NearLine>(Near<TfliteFloats>{{}, 0, f.coarse, kNear, 0}, f, call);
#if defined(__AVX512BW__)
    case ResizeKind::kTflite:
      return resize_bytes<NearLine>(
          Near<TfliteSum>{{bytes}, bytes.flip, f.coarse, kNearIntegers, 1}, f, call);
    case ResizeKind::kXnnpack:
      return resize_bytes<NearLine>(
          Near<XnnpackSum>{{{bytes.flip}}, bytes.flip, f.coarse, kNearIntegers, 0}, f, call);
    case ResizeKind::kOnnx: return resize_bytes<SpreadLine>(OnnxFloats{bytes}, f, call);
    case ResizeKind::kStandard: return resize_bytes<SpreadLine>(StandardFloats(f), f, call);
    default: return avx2_image_functions.resize(f, call);
#else
    default: return resize(f, call);
#endif
  }
}

}  // namespace
}  // namespace octet
