// The epilogue on x86: TFLite mode in registers where create has certified it, else plain loops.
#pragma once

#include "kernels/simd/finish.h"
#include "kernels/x86/tflite_exit.h"

namespace octet {
namespace {

void finish_x86(const Finish& f, const FinishTile& t) {
  if (f.mode != FinishMode::kTflite8 || !f.tflite.rows || f.has_residual) return finish_tile(f, t);
  const Narrow narrow = {f.zero_point, f.lo, f.hi, f.dst_u8, f.tflite.apart};
  Tile tile = {};
  tile.rows = t.rows;
  tile.cols = t.cols;
  tile.dst = t.to.dst;
  tile.dst_stride = t.to.stride;
  tile.scale = (const float*)(f.tflite.rows + t.column);
  tile.narrow = &narrow;
  tflite_exit(tile, t.acc, t.acc_stride);
  if (!f.lut) return;
  for (size_t i = 0; i < t.rows; ++i) {
    uint8_t* const row = t.to.dst + i * t.to.stride;
    for (size_t j = 0; j < t.cols; ++j) row[j] = f.lut[row[j]];
  }
}

}  // namespace
}  // namespace octet
