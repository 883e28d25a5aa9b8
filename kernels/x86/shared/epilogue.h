// SPDX-License-Identifier: Apache-2.0
// The epilogue on x86 in vectors, where create has certified it, and the steps on bytes: TFLite's
// ADD and the look-up table.
#pragma once

#include "kernels/x86/shared/epilogue_f32.h"
#include "kernels/x86/shared/look_up.h"
#include "kernels/x86/shared/requantize_tile.h"
#include "kernels/x86/shared/tflite_add.h"

namespace octet {
namespace {

StoredTile stored_tile(const EpilogueTile& t, const void* scales, const Requantization& to) {
  return {t.rows, t.cols, t.acc, t.acc_stride, scales, &to, t.to.dst, t.to.stride};
}

void epilogue_tflite_rows(const Epilogue& f, const EpilogueTile& t) {
  const Requantization requantization = f.has_residual ? product_of(f) : requantization_of(f);
  const StoredTile tile = stored_tile(t, f.tflite.rows + t.column, requantization);
  if (!f.has_residual) return requantize_tflite(tile);
  store_vectors<TfliteScaler<kEpilogueBytes>>(tile, Added<ExactSum>(f, t.to));
}

// Does the steps up to bytes. Returns false if it cannot. add_residual does them with a residual,
// in float mode and with a TfliteAdd.
template <EpilogueFn add_residual>
bool epilogue_to_bytes(const Epilogue& f, const EpilogueTile& t) {
  const bool tflite = f.mode == EpilogueMode::kTflite8 && f.tflite.rows,
             floats = f.mode == EpilogueMode::kFloat8 && !t.row_scale;
  if (f.has_residual && (floats || (tflite && f.tflite_add))) {
    add_residual(f, t);
    return true;
  }
  const Requantization requantization = requantization_of(f);
  if (floats) {
    store_vectors<FloatScaler>(stored_tile(t, f.scale + t.column, requantization), AsTheyAre());
  } else if (f.mode == EpilogueMode::kDouble8) {
    store_vectors<DoubleScaler>(stored_tile(t, f.factor + t.column, requantization), AsTheyAre());
  } else {
    if (!tflite) return false;
    epilogue_tflite_rows(f, t);
  }
  return true;
}

// Does the epilogue. Returns false, and writes nothing, if vectors cannot do it.
template <EpilogueFn add_residual>
bool epilogue_by_vectors(const Epilogue& f, const EpilogueTile& t) {
  if (f.mode == EpilogueMode::kF32) {
    epilogue_f32_rows(f, t);
    return true;
  }
  if (!epilogue_to_bytes<add_residual>(f, t)) return false;
  f.finish_in_place(t.to.dst, t.to.stride, t.rows, t.cols);
  return true;
}

}  // namespace
}  // namespace octet
