// The epilogue on x86 in vectors, where create has certified it, and the steps on bytes: TFLite's
// ADD and the look-up table.
#pragma once

#include "kernels/x86/shared/epilogue_f32.h"
#include "kernels/x86/shared/epilogue_float.h"
#include "kernels/x86/shared/look_up.h"
#include "kernels/x86/shared/requantize_tile.h"
#include "kernels/x86/shared/tflite_add.h"

namespace octet {
namespace {

template <typename F>
void by_width(const EpilogueTile& t, const F& f) {
  if (t.cols <= 16)
    f(Int<16>{}, t);
  else if (t.cols <= 32)
    f(Int<32>{}, t);
  else
    f(Int<kEpilogueBytes>{}, t);
}

// Calls f(width, part) for the parts of a tile that are at most a vector (`width` bytes) wide.
// Parts point into the tile: copying a tile that a kernel has just stored would stall.
template <typename F>
OCTET_INLINE inline void for_parts(const EpilogueTile& t, const F& f) {
  if (t.cols <= kEpilogueBytes) return by_width(t, f);
  for (size_t column = 0; column < t.cols; column += kEpilogueBytes) {
    EpilogueTile part = t;
    part.cols = t.cols - column < kEpilogueBytes ? t.cols - column : kEpilogueBytes;
    part.to = t.to.column(column, 1);
    by_width(part, f);
  }
}

void epilogue_tflite_rows(const Epilogue& f, const EpilogueTile& t) {
  Requantization requantization = requantization_of(f);
  const StoredTile tile = {
      t.rows,          t.cols,   t.acc,      t.acc_stride, f.tflite.rows + t.column,
      &requantization, t.to.dst, t.to.stride};
  if (!f.has_residual) return requantize_tflite(tile);
  const int32_t zero_point = f.intermediate_zero_point + (f.dst_type == ElementType::kU8 ? 0 : 128);
  requantization = {zero_point, zero_point + f.product_lo, zero_point + f.product_hi,
                    ElementType::kU8, f.tflite.apart};
  if (f.tflite_add)
    store_vectors<TfliteScaler<kEpilogueBytes>>(tile, Added<ShortSum>(f, t.to));
  else
    store_vectors<TfliteScaler<kEpilogueBytes>>(tile, Added<ExactSum>(f, t.to));
}

// Does the steps up to bytes. Returns false if it cannot.
bool epilogue_to_bytes(const Epilogue& f, const EpilogueTile& t) {
  if (f.mode == EpilogueMode::kFloat8 && !t.row_scale) {
    const Requantization requantization = requantization_of(f);
    if (f.has_residual)
      float_epilogue(f, t);
    else
      store_vectors<FloatScaler>(StoredTile{t.rows, t.cols, t.acc, t.acc_stride, f.scale + t.column,
                                            &requantization, t.to.dst, t.to.stride},
                                 AsTheyAre());
    return true;
  }
  if (f.mode != EpilogueMode::kTflite8 || !f.tflite.rows) return false;
  epilogue_tflite_rows(f, t);
  return true;
}

// Does the epilogue. Returns false, and writes nothing, if vectors cannot do it.
bool epilogue_by_vectors(const Epilogue& f, const EpilogueTile& t) {
  if (f.mode == EpilogueMode::kF32) {
    epilogue_f32_rows(f, t);
    return true;
  }
  if (!epilogue_to_bytes(f, t)) return false;
  if (f.look_up)
    f.look_up(f.lut, t.to.dst, t.to.stride, t.rows, t.cols);
  else if (f.lut)
    for_parts(t, [&](auto width, const EpilogueTile& part) {
      look_up_rows<width.value>(f.lut_rows, part.to.dst, part.to.stride, part.rows, part.cols);
    });
  return true;
}

}  // namespace
}  // namespace octet
