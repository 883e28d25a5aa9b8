// The epilogue on x86: in registers where create has certified it, else plain loops; then what
// works on bytes, TFLite's ADD and the look-up table.
#pragma once

#include "kernels/generic/epilogue.h"
#include "kernels/x86/shared/epilogue_float.h"
#include "kernels/x86/shared/epilogue_tflite.h"
#include "kernels/x86/shared/look_up.h"
#include "kernels/x86/shared/tflite_add.h"

namespace octet {
namespace {

template <typename F>
void by_width(const FinishTile& t, const F& f) {
  if (t.cols <= 16)
    f(Int<16>{}, t);
  else if (t.cols <= 32)
    f(Int<32>{}, t);
  else
    f(Int<kExitBytes>{}, t);
}

// f(width, part) with a tile's parts that are no wider than a vector: `width` bytes of it. Whoever
// made a copy of a kernel's tile would wait for what was written to it last.
template <typename F>
OCTET_INLINE inline void for_parts(const FinishTile& t, const F& f) {
  if (t.cols <= kExitBytes) return by_width(t, f);
  for (size_t column = 0; column < t.cols; column += kExitBytes) {
    FinishTile part = t;
    part.cols = t.cols - column < kExitBytes ? t.cols - column : kExitBytes;
    part.to = t.to.column(column, 1);
    by_width(part, f);
  }
}

void exit_tflite(const Finish& f, const FinishTile& t) {
  Narrow narrow = narrow_of(f);
  const TfliteTile tile = {t.rows,  t.cols,   t.acc,      t.acc_stride, f.tflite.rows + t.column,
                           &narrow, t.to.dst, t.to.stride};
  if (!f.has_residual) return tflite_exit(tile);
  const int32_t zero_point = f.intermediate_zero_point + (f.dst_u8 ? 0 : 128);
  narrow = {zero_point, zero_point + f.product_lo, zero_point + f.product_hi, true, f.tflite.apart};
  if (f.byte_sum)
    exit_tile<TfliteScaler<kExitBytes>>(tile, Added<ShortSum>(f, t.to));
  else
    exit_tile<TfliteScaler<kExitBytes>>(tile, Added<ExactSum>(f, t.to));
}

// Whether it has come to that.
bool finish_exits(const Finish& f, const FinishTile& t) {
  if (f.mode == FinishMode::kFloat8 && !t.row_scale) {
    (f.has_residual ? float_exit<true> : float_exit<false>)(f, t);
    return true;
  }
  if (f.mode != FinishMode::kTflite8 || !f.tflite.rows) return false;
  exit_tflite(f, t);
  return true;
}

void finish_x86(const Finish& f, const FinishTile& t) {
  if (!finish_exits(f, t)) return finish_tile(f, t);
  if (f.lut)
    for_parts(t, [&](auto width, const FinishTile& part) {
      look_up_rows<width.value>(f.lut_rows, part.to.dst, part.to.stride, part.rows, part.cols);
    });
}

}  // namespace
}  // namespace octet
