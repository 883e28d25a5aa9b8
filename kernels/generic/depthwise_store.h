// SPDX-License-Identifier: Apache-2.0
// Stores the sums of a depthwise machine: as s32 or raw, as bytes, as f32 or as s16 values; and
// writes where they begin and what scales them.
#pragma once

#include "kernels/core/compiler.h"
#include "kernels/core/depthwise_kernel.h"

namespace octet {
namespace {

// kS16 is sums or 16 bits in either mode, told apart at run time: the branch costs less than
// copies of the loops. The same holds for kSumsOrFloats, of machines that do not shuffle, in f32,
// and kSumsOrFloat, of machines that do, in float mode. Of machines that shuffle and have Floats
// (kFloats), kSums is f32, too, and kAny is sums, f32 or bytes.
// kAdds is bytes in float mode with a residual, of machines with Adds.
enum class DepthwiseOutput {
  kSums,
  kSumsOrFloats,
  kSumsOrFloat,
  kAny,
  kFloat,
  kTflite,
  kS16,
  kAdds
};

template <typename M, DepthwiseOutput>
struct DepthwiseStore;

template <typename M>
struct DepthwiseStore<M, DepthwiseOutput::kFloat> {
  OCTET_INLINE inline explicit DepthwiseStore(const DepthwiseTile& t) : requantization(t) {}
  OCTET_INLINE inline void operator()(const typename M::Acc& acc, const typename M::Ends& ends,
                                      uint8_t* dst) const {
    requantization.store(acc, ends, dst);
  }
  typename M::Requantizing requantization;
};

template <typename M>
struct DepthwiseStore<M, DepthwiseOutput::kTflite> {
  OCTET_INLINE inline explicit DepthwiseStore(const DepthwiseTile& t) : requantization(t) {}
  OCTET_INLINE inline void operator()(const typename M::Acc& acc, const typename M::Ends&,
                                      uint8_t* dst) const {
    requantization.store(acc, dst);
  }
  typename M::Tflite requantization;
};

template <typename M>
struct DepthwiseStore<M, DepthwiseOutput::kAdds> : M::Adds {
  using M::Adds::Adds;
};

template <typename M>
constexpr bool stores_floats() {
  if constexpr (M::kShuffles) return M::kFloats;
  return false;
}

// Sums, or floats, too.
template <typename M, bool floats = false>
struct DepthwiseSums {
  OCTET_INLINE inline explicit DepthwiseSums(const DepthwiseTile& t) : raw(t.raw) {}
  OCTET_INLINE inline void operator()(const typename M::Acc& acc, const typename M::Ends&,
                                      uint8_t* dst) const {
    if constexpr (M::kShuffles)
      if (raw) return M::store_raw(acc, dst);
    M::store_s32(acc, dst);
  }
  bool raw;
};
template <typename M>
struct DepthwiseSums<M, true> {
  OCTET_INLINE inline explicit DepthwiseSums(const DepthwiseTile& t)
      : to_floats(t.requantization && t.requantization->to_floats), floats(t), sums(t) {}
  OCTET_INLINE inline void operator()(const typename M::Acc& acc, const typename M::Ends& ends,
                                      uint8_t* dst) const {
    to_floats ? floats.store(acc, dst) : sums(acc, ends, dst);
  }
  bool to_floats;
  typename M::Floats floats;
  DepthwiseSums<M> sums;
};

template <typename M>
struct DepthwiseStore<M, DepthwiseOutput::kSums> : DepthwiseSums<M, stores_floats<M>()> {
  using DepthwiseSums<M, stores_floats<M>()>::DepthwiseSums;
};

template <typename M>
struct DepthwiseStore<M, DepthwiseOutput::kSumsOrFloats> {
  OCTET_INLINE inline explicit DepthwiseStore(const DepthwiseTile& t)
      : to_floats(t.requantization != nullptr), floats(t) {}
  OCTET_INLINE inline void operator()(const typename M::Acc& acc, const typename M::Ends&,
                                      uint8_t* dst) const {
    if (__builtin_expect(to_floats, 1)) return floats.store(acc, dst);
    M::store_s32(acc, dst);
  }
  bool to_floats;
  typename M::Floats floats;
};

template <typename M, bool floats>
struct DepthwiseSumsOrBytes {
  OCTET_INLINE inline explicit DepthwiseSumsOrBytes(const DepthwiseTile& t)
      : requantizes(t.requantization && !t.requantization->to_floats),
        sums(t),
        requantization(requantized(t)) {}
  OCTET_INLINE inline void operator()(const typename M::Acc& acc, const typename M::Ends& ends,
                                      uint8_t* dst) const {
    requantizes ? requantization.store(acc, ends, dst) : sums(acc, ends, dst);
  }

 private:
  static constexpr Requantization kNone = {};
  OCTET_INLINE static inline DepthwiseTile requantized(DepthwiseTile t) {
    if (!t.requantization) t.requantization = &kNone;
    return t;
  }
  bool requantizes;
  DepthwiseSums<M, floats> sums;
  typename M::Requantizing requantization;
};

template <typename M>
struct DepthwiseStore<M, DepthwiseOutput::kSumsOrFloat> : DepthwiseSumsOrBytes<M, false> {
  using DepthwiseSumsOrBytes<M, false>::DepthwiseSumsOrBytes;
};
template <typename M>
struct DepthwiseStore<M, DepthwiseOutput::kAny> : DepthwiseSumsOrBytes<M, stores_floats<M>()> {
  using DepthwiseSumsOrBytes<M, stores_floats<M>()>::DepthwiseSumsOrBytes;
};

template <typename M>
struct DepthwiseStore<M, DepthwiseOutput::kS16> {
  OCTET_INLINE inline explicit DepthwiseStore(const DepthwiseTile& t)
      : sums(!t.requantization),
        tflite(!sums && t.requantization->tflite_apart),
        s16(t.channels, sums ? Requantization{} : *t.requantization) {}
  OCTET_INLINE inline void operator()(const typename M::Acc& acc, const typename M::Ends& ends,
                                      uint8_t* dst) const {
    if (sums) return M::store_s32(acc, dst);
    typename M::Acc q;
    if (tflite)
      unroll<4>([&](auto v)
                    OCTET_INLINE { q.a[v] = M::scaled_tflite(acc.a[v], ends.scale(v), s16); });
    else
      unroll<4>([&](auto v)
                    OCTET_INLINE { q.a[v] = M::scaled_float(acc.a[v], ends.scale(v), s16); });
    s16.store(q, dst);
  }
  bool sums, tflite;
  typename M::S16 s16;
};

// Writes init and scale in the order of the accumulators.
template <typename M>
OCTET_INLINE inline void write_ends(const DepthwiseBlock& b, void* prepared) {
  constexpr size_t bytes = M::kChannels;  // bytes of a vector
  uint8_t* out = (uint8_t*)prepared;
  const auto spread = [&](const void* from) OCTET_INLINE {
    for (size_t v = 0; v < 4; ++v)
      for (size_t lane = 0; lane < bytes; lane += 16, out += 16)
        __builtin_memcpy(out, (const uint8_t*)from + 4 * lane + 16 * v, 16);
  };
  spread(b.init);
  spread(b.scale ? (const void*)b.scale : b.init);
  if constexpr (M::kShuffles) {
    for (size_t row = 1; row < kTfliteRows; ++row)
      spread(b.tflite_apart ? (const void*)(b.scale + row * b.tflite_apart) : b.init);
    if constexpr (M::kFloats)
      if (b.to_floats) {
        float scale[M::kChannels], bias[M::kChannels];
        for (size_t c = 0; c < bytes; ++c) {
          scale[c] = b.lhs_scale * b.scale[c];
          bias[c] = b.bias_f32 ? b.bias_f32[c] : -0.0f;  // changes no float
        }
        out = (uint8_t*)prepared + 4 * bytes;
        spread(scale);
        spread(bias);
      }
  } else {
    if (b.tflite_apart) M::write_right((const int32_t*)b.scale, b.tflite_apart, out);
    if (b.to_floats) M::write_floats(b, out);
  }
}

}  // namespace
}  // namespace octet
