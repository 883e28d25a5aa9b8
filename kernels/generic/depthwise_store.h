// SPDX-License-Identifier: Apache-2.0
// Stores the sums of a depthwise machine: as s32 or raw, as bytes, as f32 or as s16 values.
#pragma once

#include "kernels/core/compiler.h"
#include "kernels/core/depthwise_kernel.h"

namespace octet {
namespace {

// kS16 is sums or 16 bits in either mode, told apart at run time: the branch costs less than
// copies of the loops. The same holds for kSumsOrFloats, of machines that do not shuffle, in f32,
// and kSumsOrFloat, of machines that do, in float mode.
enum class DepthwiseOutput { kSums, kSumsOrFloats, kSumsOrFloat, kFloat, kTflite, kS16 };

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
struct DepthwiseStore<M, DepthwiseOutput::kSums> {
  OCTET_INLINE inline explicit DepthwiseStore(const DepthwiseTile& t) : raw(t.raw) {}
  OCTET_INLINE inline void operator()(const typename M::Acc& acc, const typename M::Ends&,
                                      uint8_t* dst) const {
    if constexpr (M::kShuffles)
      if (raw) return M::store_raw(acc, dst);
    M::store_s32(acc, dst);
  }
  bool raw;
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

template <typename M>
struct DepthwiseStore<M, DepthwiseOutput::kSumsOrFloat> {
  OCTET_INLINE inline explicit DepthwiseStore(const DepthwiseTile& t)
      : requantizes(t.requantization != nullptr), sums(t), requantization(requantized(t)) {}
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
  DepthwiseStore<M, DepthwiseOutput::kSums> sums;
  typename M::Requantizing requantization;
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

}  // namespace
}  // namespace octet
