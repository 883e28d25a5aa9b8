// SPDX-License-Identifier: Apache-2.0
// Requantizes a tile of accumulators in memory, for kernels that have just stored it there and for
// the epilogue. Each mode is one function for all heights of tiles, and is not inlined.
#pragma once

#include "kernels/x86/shared/epilogue_rows.h"
#include "kernels/x86/shared/tflite.h"

namespace octet {
namespace {

struct StoredTile {
  size_t rows, cols;
  const int32_t* acc;  // readable up to cols rounded up to kEpilogueLanes
  size_t acc_stride;   // elements
  const void* scales;  // float, double, or the first row of TfliteColumns: Scaler::Scale
  const Requantization* requantization;
  uint8_t* dst;
  size_t dst_stride;
};

// Scales columns in float mode. A conversion that overflows would be negative: the limit is above
// all outputs.
struct FloatScaler {
  using Scale = float;
  static constexpr int kMostVectors = 4;
  EpilogueFloats scales;
  OCTET_INLINE inline void load(const float* columns, size_t) {
    scales = as_floats(epilogue_vector(columns));
  }
  OCTET_INLINE inline EpilogueVector scale_at(const int32_t* x) const {
    return rounded(least_of(to_floats(epilogue_vector(x)) * scales, all(32767.0f)));
  }
};

// Scales columns in double mode (kernels/core/double_scale.h). The bytes are clamped to the ends of
// the output after rounding: all ends are integers, so that the order does not matter.
struct DoubleScaler {
  using Scale = double;
  static constexpr int kMostVectors = 2;
  EpilogueDoubles low, high;  // of both halves of a vector
  OCTET_INLINE inline void load(const double* columns, size_t) {
    low = all_doubles_at(columns);
    high = all_doubles_at(columns + kEpilogueLanes / 2);
  }
  OCTET_INLINE inline EpilogueVector scale_at(const int32_t* x) const {
    return joined(rounded_away(doubles_of(x) * low),
                  rounded_away(doubles_of(x + kEpilogueLanes / 2) * high));
  }
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

// Does `count` columns in `vectors` vectors.
template <int vectors, typename Scaler, typename Then>
OCTET_INLINE inline void store_columns(const StoredTile& t, const Then& then, size_t column,
                                       size_t count) {
  constexpr int width = vectors * (int)kEpilogueLanes;
  constexpr size_t together = 4 / vectors;  // rows
  const Requantizer<kEpilogueBytes> requantizer(*t.requantization);
  Scaler scaler[vectors];
  unroll<vectors>([&](auto v) OCTET_INLINE {
    scaler[v].load((const typename Scaler::Scale*)t.scales + column + v * kEpilogueLanes,
                   t.requantization->tflite_apart);
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
__attribute__((noinline)) void store_vectors(const StoredTile& tile, const Then& last) {
  // Copies: as far as compilers know, stores of bytes change the values
  const StoredTile t = tile;
  const Then then = last;
  const TowardsZero rounding(kByFloats<Scaler>);
  constexpr int together =
      Then::kMostVectors < Scaler::kMostVectors ? Then::kMostVectors : Scaler::kMostVectors;
  constexpr size_t width = together * kEpilogueLanes;
  OCTET_NO_UNROLL
  for (size_t column = 0; column < t.cols; column += width) {
    const size_t left = t.cols - column;
    if (together > 1 && left <= kEpilogueLanes)
      return store_columns<1, Scaler>(t, then, column, left);
    if constexpr (together > 2) {
      constexpr size_t half = 2 * kEpilogueLanes;
      if (left <= half) return store_columns<2, Scaler>(t, then, column, left);
      if (left <= half + kEpilogueLanes) {  // a fourth vector must not be read
        store_columns<2, Scaler>(t, then, column, half);
        return store_columns<1, Scaler>(t, then, column + half, left - half);
      }
    }
    store_columns<together, Scaler>(t, then, column, left < width ? left : width);
  }
}

// Scales columns of all forms of the tier but kAll.
using TfliteFormScaler = TfliteFloatScaler<true>;

// Calls output(scaler) for products that a residual is added to.
template <typename Output>
OCTET_INLINE inline void with_product_scaler(const Epilogue& f, const Output& output) {
  if (f.tflite.form != TfliteForm::kAll) return output(TfliteFormScaler());
  output(TfliteScaler<kEpilogueBytes>());
}

inline void requantize_tflite(const StoredTile& t) {
  (t.requantization->tflite_form == TfliteForm::kAll
       ? store_vectors<TfliteScaler<kEpilogueBytes>, AsTheyAre>
       : store_vectors<TfliteFormScaler, AsTheyAre>)(t, {});
}

template <EpilogueFn add_residual = nullptr>
inline void requantize_tile(const Tile& t, const int32_t* acc, size_t acc_stride) {
  constexpr EpilogueFn add = add_residual;
  if constexpr (add != nullptr)
    if (t.adds)
      return add(*t.adds,
                 {acc,
                  acc_stride,
                  t.rows,
                  t.cols,
                  (size_t)(t.scale - t.adds->scale),
                  nullptr,
                  {(uint8_t*)t.dst, t.dst_stride, (uint8_t*)t.dst + t.residual, t.dst_stride}});
  const StoredTile tile = {t.rows,           t.cols,          acc,         acc_stride, t.scale,
                           t.requantization, (uint8_t*)t.dst, t.dst_stride};
  t.requantization->tflite_apart ? requantize_tflite(tile)
                                 : store_vectors<FloatScaler, AsTheyAre>(tile, {});
}

}  // namespace
}  // namespace octet
