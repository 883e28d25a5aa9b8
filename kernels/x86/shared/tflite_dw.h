// SPDX-License-Identifier: Apache-2.0
// Floats of the x86 depthwise kernels; and requantizes their accumulators in TFLite mode, or adds a
// residual, from memory and in the kernels' own order, which the packs undo. That is a function of
// its own, so that the scales of four vectors fit in registers; larger blocks are done four at a
// time.
#pragma once

#include "kernels/core/depthwise_kernel.h"
#include "kernels/x86/shared/epilogue_float.h"
#include "kernels/x86/shared/tflite_add.h"

namespace octet {
namespace {

// The bits of floats: of fl(fl(acc) * scale) + bias, of the greater and the lesser of two, or b.
#define OCTET_FLOATS(bits)                                                                    \
  OCTET_INLINE inline __m##bits##i floats_of(__m##bits##i acc, __m##bits##i scale,            \
                                             __m##bits##i bias) {                             \
    return (__m##bits##i)(_mm##bits##_cvtepi32_ps(acc) * (__m##bits)scale + (__m##bits)bias); \
  }                                                                                           \
  OCTET_INLINE inline __m##bits##i greater_floats(__m##bits##i a, __m##bits##i b) {           \
    return (__m##bits##i)_mm##bits##_max_ps((__m##bits)a, (__m##bits)b);                      \
  }                                                                                           \
  OCTET_INLINE inline __m##bits##i lesser_floats(__m##bits##i a, __m##bits##i b) {            \
    return (__m##bits##i)_mm##bits##_min_ps((__m##bits)a, (__m##bits)b);                      \
  }
OCTET_FLOATS(256)
#ifdef __AVX512BW__
OCTET_FLOATS(512)
#endif
#undef OCTET_FLOATS

// The steps from four vectors of scaled sums to bytes: none but packs, or the residual.
struct OnlyPacks {
  static constexpr bool kAdds = false;
  const Requantizer<kEpilogueBytes> requantizer;
  explicit OnlyPacks(const DepthwiseRaw& r) : requantizer(*r.requantization) {}
  OCTET_INLINE inline EpilogueVector bytes(const EpilogueVector (&q)[4], EpilogueVector) const {
    return requantizer.bytes(pack_int16(q[0], q[1]), pack_int16(q[2], q[3]));
  }
};
struct AddsFloats {
  static constexpr bool kAdds = true;
  const Requantizer<kEpilogueBytes> requantizer;
  const FloatAddend<kEpilogueBytes> addend;
  explicit AddsFloats(const DepthwiseRaw& r) : requantizer(*r.requantization), addend(*r.adds) {}
  OCTET_INLINE inline EpilogueVector bytes(const EpilogueVector (&q)[4],
                                           EpilogueVector residual) const {
    EpilogueVector sum[4];
    addend.add(residual, {as_floats(q[0]), as_floats(q[1]), as_floats(q[2]), as_floats(q[3])}, sum);
    return requantizer.bytes(pack_int16(sum[0], sum[1]), pack_int16(sum[2], sum[3]));
  }
};
struct AddsTflite {
  static constexpr bool kAdds = true;
  const Requantizer<kEpilogueBytes> product;
  const Added<ShortSum> added;
  explicit AddsTflite(const DepthwiseRaw& r) : product(product_of(*r.adds)), added(*r.adds, {}) {}
  OCTET_INLINE inline EpilogueVector bytes(const EpilogueVector (&q)[4],
                                           EpilogueVector residual) const {
    return added.of(product.bytes(pack_int16(q[0], q[1]), pack_int16(q[2], q[3])), residual);
  }
};

// Makes products of float mode, as bits.
struct FloatProducts {
  EpilogueFloats scales;
  OCTET_INLINE inline void load(const int32_t* columns, size_t) {
    scales = as_floats(epilogue_vector(columns));
  }
  OCTET_INLINE inline EpilogueVector scale_at(const int32_t* x) const {
    return as_bits(to_floats(epilogue_vector(x)) * scales);
  }
};

// Calls output(scaler, after) for the types that a line needs.
template <typename Output>
OCTET_INLINE inline void with_mode(const DepthwiseRaw& r, const Output& output) {
  if (!r.adds)
    r.requantization->tflite_form == TfliteForm::kAll
        ? output(TfliteScaler<kEpilogueBytes>(), OnlyPacks(r))
        : output(TfliteFormScaler(), OnlyPacks(r));
  else if (r.adds->mode == EpilogueMode::kFloat8)
    output(FloatProducts(), AddsFloats(r));
  else
    with_product_scaler(*r.adds, [&](auto scaler) OCTET_INLINE { output(scaler, AddsTflite(r)); });
}

template <typename M, typename Scaler, typename After>
__attribute__((noinline)) void store_line(const DepthwiseRaw& raw, const After& steps) {
  constexpr int lanes = kEpilogueLanes;
  // Copies: as far as compilers know, stores of bytes change the values
  const DepthwiseRaw r = raw;
  const After after = steps;
  const TowardsZero rounding(kByFloats<Scaler>);
  Scaler scaler[4];
  unroll<4>([&](auto v) OCTET_INLINE {
    scaler[v].load((const int32_t*)r.prepared + M::kChannels + v * lanes, M::kChannels);
  });
  const int32_t* acc = r.acc;
  const uint8_t* residual = r.residual;
  uint8_t* dst = r.dst;
  OCTET_NO_UNROLL
  for (size_t i = 0; i < r.pixels; ++i, acc += r.acc_pixel, dst += r.dst_pixel) {
    EpilogueVector q[4], more = {};
    unroll<4>([&](auto v) OCTET_INLINE { q[v] = scaler[v].scale_at(acc + v * lanes); });
    if constexpr (After::kAdds) {
      more = load_rows<kEpilogueBytes>(residual, 0, 1, r.channels);
      residual += r.residual_pixel;
    }
    M::store_bytes(dst, after.bytes(q, more), r.channels);
  }
}

template <typename M, typename Vector>
void depthwise_output(const DepthwiseRaw& r) {
  constexpr size_t together = sizeof(Vector);  // channels done at once
  static_assert(together == kEpilogueBytes, "the widest vectors");
  DepthwiseRaw part = r;
  for (size_t channel = 0; channel < r.channels; channel += together) {
    part.prepared = (const int32_t*)r.prepared + channel;
    part.acc = r.acc + channel;
    part.channels = r.channels - channel < together ? r.channels - channel : together;
    part.dst = r.dst + channel;
    part.residual = r.residual + channel;
    with_mode(part, [&](auto scaler, const auto& after)
                        OCTET_INLINE { store_line<M, decltype(scaler)>(part, after); });
  }
}

// Grouped: takes a block's 16 channels of as many pixels as fill four vectors.
template <typename M, typename Vector, typename Scaler>
void store_blocks(const DepthwiseRaw& r) {
  constexpr int lanes = sizeof(Vector) / 4, vectors = 16 / lanes, together = 4 / vectors;
  const Requantizer<sizeof(Vector)> requantizer(*r.requantization);
  const TowardsZero rounding(kByFloats<Scaler>);
  const Vector order = M::channel_order(r.quads);
  for (size_t channel = 0; channel < r.channels; channel += kGroupedBlock) {
    Scaler scaler[vectors];
    unroll<vectors>([&](auto v) OCTET_INLINE {
      scaler[v].load((const int32_t*)r.prepared + M::kChannels + channel + v * lanes, M::kChannels);
    });
    const int32_t* acc = r.acc + channel;
    uint8_t* dst = r.dst + channel;
    OCTET_NO_UNROLL
    for (size_t i = 0; i < r.pixels; i += together) {
      const size_t count = r.pixels - i < together ? r.pixels - i : together;
      Vector q[4];
      unroll<4>([&](auto v) OCTET_INLINE {
        const size_t pixel = v / vectors;
        q[v] = scaler[v % vectors].scale_at(acc + (pixel < count ? pixel : 0) * r.acc_pixel +
                                            v % vectors * lanes);
      });
      const Vector bytes = requantizer.bytes(pack_int16(q[0], q[1]), pack_int16(q[2], q[3]));
      M::store_pixels(M::to_channels(bytes, order), dst, r.dst_pixel, count, r.channels - channel);
      acc += together * r.acc_pixel;
      dst += together * r.dst_pixel;
    }
  }
}

template <typename M, typename Vector>
void grouped_output(const DepthwiseRaw& r) {
  (r.requantization->tflite_form == TfliteForm::kAll
       ? store_blocks<M, Vector, TfliteScaler<sizeof(Vector)>>
       : store_blocks<M, Vector, TfliteFormScaler>)(r);
}

}  // namespace
}  // namespace octet
