// SPDX-License-Identifier: Apache-2.0
// Requantizes accumulators of the x86 depthwise kernels in TFLite mode, from memory and in the
// kernels' own order, which the packs undo. It is a function of its own, so that the scales of four
// vectors fit in registers; larger blocks are done four vectors at a time.
#pragma once

#include "kernels/core/depthwise_kernel.h"
#include "kernels/x86/shared/requantize.h"
#include "kernels/x86/shared/tflite.h"

namespace octet {
namespace {

template <typename M, typename Vector, typename Scaler>
void store_line(const DepthwiseRaw& r) {
  constexpr int bytes = sizeof(Vector), lanes = bytes / 4;
  const Requantizer<bytes> requantizer(*r.requantization);
  Scaler scaler[4];
  unroll<4>([&](auto v) OCTET_INLINE {
    scaler[v].load((const int32_t*)r.prepared + M::kChannels + v * lanes, M::kChannels);
  });
  const int32_t* acc = r.acc;
  uint8_t* dst = r.dst;
  OCTET_NO_UNROLL
  for (size_t i = 0; i < r.pixels; ++i, acc += r.acc_pixel, dst += r.dst_pixel) {
    Vector q[4];
    unroll<4>([&](auto v) OCTET_INLINE { q[v] = scaler[v].scale_at(acc + v * lanes); });
    M::store_bytes(dst, requantizer.bytes(pack_int16(q[0], q[1]), pack_int16(q[2], q[3])),
                   r.channels);
  }
}

template <typename M, typename Vector>
void depthwise_output(const DepthwiseRaw& r) {
  constexpr size_t together = sizeof(Vector);  // channels done at once
  DepthwiseRaw part = r;
  for (size_t channel = 0; channel < r.channels; channel += together) {
    part.prepared = (const int32_t*)r.prepared + channel;
    part.acc = r.acc + channel;
    part.channels = r.channels - channel < together ? r.channels - channel : together;
    part.dst = r.dst + channel;
    (r.requantization->tflite_right_only
         ? store_line<M, Vector, TfliteRightScaler<sizeof(Vector)>>
         : store_line<M, Vector, TfliteScaler<sizeof(Vector)>>)(part);
  }
}

// Grouped: takes a block's 16 channels of as many pixels as fill four vectors.
template <typename M, typename Vector, typename Scaler>
void store_blocks(const DepthwiseRaw& r) {
  constexpr int lanes = sizeof(Vector) / 4, vectors = 16 / lanes, together = 4 / vectors;
  const Requantizer<sizeof(Vector)> requantizer(*r.requantization);
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
  (r.requantization->tflite_right_only ? store_blocks<M, Vector, TfliteRightScaler<sizeof(Vector)>>
                                       : store_blocks<M, Vector, TfliteScaler<sizeof(Vector)>>)(r);
}

}  // namespace
}  // namespace octet
