// Requantizes a tile of accumulators in memory in TFLite mode, for a kernel that has just stored it
// or for the epilogue. One function serves all tile heights and is not inlined, so that float
// mode's code has all registers.
#pragma once

#include "kernels/x86/shared/epilogue_rows.h"
#include "kernels/x86/shared/tflite.h"

namespace octet {
namespace {

struct TfliteTile {
  size_t rows, cols;
  const int32_t* acc;  // readable up to cols rounded up to kEpilogueLanes
  size_t acc_stride;   // elements
  const int32_t* scales;
  const Requantization* requantization;
  uint8_t* dst;
  size_t dst_stride;
};

// The last step on the bytes before they are stored; this one does nothing. The bytes are `count`
// columns from `column` on of `rows` rows from `row` on; see load_rows.
struct AsTheyAre {
  static constexpr int kMostVectors = 4;
  template <int width>
  OCTET_INLINE inline EpilogueVector of(EpilogueVector bytes, size_t, size_t, size_t,
                                        size_t) const {
    return bytes;
  }
};

// Does `count` columns, in one vector or in two.
template <int vectors, typename Scaler, typename Then>
OCTET_INLINE inline void epilogue_columns(const TfliteTile& t, const Then& then, size_t column,
                                          size_t count) {
  constexpr int width = vectors * (int)kEpilogueLanes;
  constexpr size_t together = 4 / vectors;  // rows
  const Requantizer<kEpilogueBytes> requantizer(*t.requantization);
  Scaler scaler[vectors];
  unroll<vectors>([&](auto v) OCTET_INLINE {
    scaler[v].load(t.scales + column + v * kEpilogueLanes, t.requantization->tflite_apart);
  });
  const int32_t* acc = t.acc + column;
  uint8_t* dst = t.dst + column;
  for (size_t rows = t.rows;;) {
    EpilogueVector q[4];
    unroll<4>([&](auto at) OCTET_INLINE {
      constexpr int v = at.value % vectors;
      constexpr size_t row = at.value / vectors;
      const int32_t* const from = acc + (row < rows ? row * t.acc_stride : 0);
      q[at] = scaler[v].scale_at(from + v * kEpilogueLanes);
    });
    const EpilogueVector bytes = then.template of<width>(
        in_order(requantizer.bytes(pack_int16(q[0], q[1]), pack_int16(q[2], q[3]))), t.rows - rows,
        rows, column, count);
    store_rows<width>(dst, t.dst_stride, bytes, rows, count);
    if (rows <= together) return;
    rows -= together;
    acc += together * t.acc_stride;
    dst += together * t.dst_stride;
  }
}

template <typename Scaler, typename Then>
__attribute__((noinline)) void store_vectors(const TfliteTile& t, const Then& then) {
  constexpr int together =
      Then::kMostVectors < Scaler::kMostVectors ? Then::kMostVectors : Scaler::kMostVectors;
  constexpr size_t width = together * kEpilogueLanes;
  OCTET_NO_UNROLL
  for (size_t column = 0; column < t.cols; column += width) {
    const size_t left = t.cols - column;
    if (together > 1 && left <= kEpilogueLanes)
      return epilogue_columns<1, Scaler>(t, then, column, left);
    if constexpr (together > 2) {
      constexpr size_t half = 2 * kEpilogueLanes;
      if (left <= half) return epilogue_columns<2, Scaler>(t, then, column, left);
      if (left <= half + kEpilogueLanes) {  // a fourth vector must not be read
        epilogue_columns<2, Scaler>(t, then, column, half);
        return epilogue_columns<1, Scaler>(t, then, column + half, left - half);
      }
    }
    epilogue_columns<together, Scaler>(t, then, column, left < width ? left : width);
  }
}

void tflite_epilogue(const TfliteTile& t) {
  (t.requantization->tflite_right_only
       ? store_vectors<TfliteRightScaler<kEpilogueBytes>, AsTheyAre>
       : store_vectors<TfliteScaler<kEpilogueBytes>, AsTheyAre>)(t, {});
}

// Requantizes a kernel's tile, which it has just stored to `acc`.
OCTET_INLINE inline void tflite_epilogue(const Tile& t, const int32_t* acc, size_t acc_stride) {
  tflite_epilogue({t.rows, t.cols, acc, acc_stride, (const int32_t*)t.scale, t.requantization,
                   (uint8_t*)t.dst, t.dst_stride});
}

}  // namespace
}  // namespace octet
