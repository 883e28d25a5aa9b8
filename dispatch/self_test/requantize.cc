// SPDX-License-Identifier: Apache-2.0
// Self-test of requantization, epilogues, float input and TFLite additions.
#include "dispatch/self_test/requantize.h"

#include <string.h>

#include "dispatch/self_test/exact_float.h"
#include "dispatch/tables/tier_ops.h"

namespace octet {
namespace {

// Zero operands, so that accumulators keep their initial values.
alignas(64) constexpr uint8_t kZeros[1024] = {};

// True if row i of out holds the cases from i * kApart on.
bool same_rows(const uint8_t* out, const uint8_t* cases, size_t rows, size_t columns) {
  for (size_t i = 0; i < rows; ++i)
    if (memcmp(out + i * kTileColumns, cases + i * kApart, columns) != 0) return false;
  return true;
}

Epilogue epilogue_of(EpilogueMode mode, const Requantization& requantization) {
  Epilogue f = {};
  f.mode = mode;
  f.dst_type = requantization.dst_type;
  f.zero_point = requantization.zero_point;
  f.lo = requantization.lo;
  f.hi = requantization.hi;
  f.lo_f32 = (float)(requantization.lo - requantization.zero_point);
  f.hi_f32 = (float)(requantization.hi - requantization.zero_point);
  return f;
}

EpilogueTile epilogue_tile_of(const int32_t* acc, void* out) {
  EpilogueTile tile = {};
  tile.acc = acc;
  tile.rows = 1;
  tile.cols = kTileColumns;
  tile.to.dst = (uint8_t*)out;
  return tile;
}

bool epilogue_float_is_right(EpilogueFn epilogue, const FloatCases& cases,
                             const Requantization& requantization, const uint8_t* bytes) {
  uint8_t out[kTileRows * kTileColumns];
  Epilogue f = epilogue_of(EpilogueMode::kFloat8, requantization);
  f.scale = cases.scale;
  EpilogueTile tile = epilogue_tile_of(cases.acc, out);
  tile.acc_stride = kApart;
  tile.to.stride = kTileColumns;
  tile.rows = kTileRows;
  epilogue(f, tile);
  return same_rows(out, bytes, kTileRows, kTileColumns);
}

// accumulators: those of the cases.
bool epilogue_residual_is_right(EpilogueFn epilogue, const FloatCases& cases,
                                Accumulators accumulators) {
  uint8_t out[kTileColumns];
  Epilogue f = residual_epilogue();
  f.fits_int16 = accumulators == Accumulators::kInt16;
  f.scale = cases.scale;
  EpilogueTile tile = epilogue_tile_of(cases.acc, out);
  tile.to.residual = cases.residual;
  epilogue(f, tile);
  return memcmp(out, cases.sum, sizeof out) == 0;
}

bool epilogue_f32_is_right(EpilogueFn epilogue, const FloatCases& cases) {
  float out[kTileColumns];
  Epilogue f = {};
  f.mode = EpilogueMode::kF32;
  f.scale = cases.scale;
  f.bias_f32 = cases.bias;
  f.lo_f32 = -__builtin_inff();
  f.hi_f32 = __builtin_inff();
  epilogue(f, epilogue_tile_of(cases.acc, out));
  return memcmp(out, cases.f32, sizeof out) == 0;
}

bool epilogue_tflite_is_right(EpilogueFn epilogue, const Requantization& requantization) {
  const TfliteCases cases(requantization);
  uint8_t out[kTileColumns];
  Epilogue f = epilogue_of(EpilogueMode::kTflite8, requantization);
  f.multiplier = cases.multiplier;
  f.shift = cases.shift;
  epilogue(f, epilogue_tile_of(cases.acc, out));
  if (memcmp(out, cases.bytes, sizeof out) != 0) return false;
  f.tflite = {cases.rows, kTileColumns, requantization.tflite_form};
  epilogue(f, epilogue_tile_of(cases.acc, out));
  return memcmp(out, cases.bytes, sizeof out) == 0;
}

// Values on halves and 2^-25 below them, on both sides of zero and beyond both ends of the clamp.
bool epilogue_double_is_right(EpilogueFn epilogue) {
  const Requantization requantization = {-3, -15, 11, ElementType::kS8};
  int32_t acc[kTileColumns];
  double factor[kTileColumns];
  uint8_t out[kTileColumns];
  for (int32_t j = 0; j < (int32_t)kTileColumns; ++j) {
    const int32_t odd = j / 4 * 2 + 1, magnitude = odd * (1 << 24) - (j >> 1 & 1);
    acc[j] = j & 1 ? -magnitude : magnitude;
    factor[j] = 1.0 / (1 << 25);
  }
  Epilogue f = epilogue_of(EpilogueMode::kDouble8, requantization);
  f.factor = factor;
  epilogue(f, epilogue_tile_of(acc, out));
  for (int32_t j = 0; j < (int32_t)kTileColumns; ++j) {
    const int32_t steps = j / 4 + (j >> 1 & 1 ? 0 : 1),
                  value = (j & 1 ? -steps : steps) + f.zero_point;
    if (out[j] != (uint8_t)(value < f.lo ? f.lo : value > f.hi ? f.hi : value)) return false;
  }
  return true;
}

// TfliteAdd with arbitrary factors, which `rounds` with the zero points of kTfliteS8 and of u8
// residuals of 0; then a lookup table.
constexpr int32_t kSumFactor = (14013 << 7) + 101, kSumRight = 22;
constexpr TfliteAdd kSum = {{14013, 9801},
                            {101, 3},
                            (2 * kTfliteS8.zero_point + 1) * (1 << (kSumRight - 1)) -
                                kSumFactor*(kTfliteS8.zero_point + 128),
                            7,
                            kSumRight,
                            true};
struct Table {
  alignas(64) uint8_t lut[512];  // as Epilogue::lut
  Table() {
    for (int i = 0; i < 256; ++i) lut[i] = (uint8_t)(i * 151 + 17 + i / 16 * 8);
    for (int i = 0; i < 256; ++i)
      lut[256 + i] = (uint8_t)(lut[i] ^ (i % 128 < 16 ? 0 : lut[i - 16]));
  }
};

// from: 0, or the first of the columns that are shifted to the right only.
bool epilogue_bytes_are_right(const TierOps& ops, const FloatCases& floats, size_t from) {
  constexpr size_t kColumns = kTileColumns - 8;  // as sixteens and eight
  uint8_t out[kTileColumns];
  const TfliteCases cases(kTfliteS8);
  const Table table;
  Epilogue f = epilogue_of(EpilogueMode::kTflite8, kTfliteS8);
  f.tflite = {cases.rows, kTileColumns, TfliteForm::kAll, from > 0};
  f.multiplier = cases.multiplier;
  f.shift = cases.shift;
  f.has_residual = true;
  f.residual_type = ElementType::kU8;
  f.intermediate_zero_point = kTfliteS8.zero_point;
  f.product_lo = kTfliteS8.lo - kTfliteS8.zero_point;
  f.product_hi = kTfliteS8.hi - kTfliteS8.zero_point;
  f.tflite_add = &kSum;
  f.lut = table.lut;
  f.look_up = ops.look_up;
  EpilogueTile tile = epilogue_tile_of(cases.acc + from, out);
  tile.column = from;
  tile.cols = kColumns - from;
  tile.to.residual = floats.residual;
  ops.epilogue(f, tile);
  for (size_t j = 0; j < tile.cols; ++j) {
    const int32_t sum = kSum.of(cases.bytes[from + j] ^ 0x80, floats.residual[j]),
                  clamped = sum < f.lo   ? f.lo
                            : sum > f.hi ? f.hi
                                         : sum;
    if (out[j] != table.lut[(uint8_t)clamped]) return false;
  }
  return true;
}

// Rows of one byte, of one more than a vector of 64, and of one more than two.
bool looks_up(LookUpFn look_up) {
  constexpr size_t kRows = 2, kBytes = 2 * 65;
  const Table table;
  for (size_t cols = 1; cols <= kBytes; cols += 64) {
    uint8_t bytes[kRows * kBytes];
    for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = (uint8_t)i;
    look_up(table.lut, bytes, kBytes, kRows, cols);
    for (size_t i = 0; i < sizeof bytes; ++i)
      if (bytes[i] != (i % kBytes < cols ? table.lut[(uint8_t)i] : (uint8_t)i)) return false;
  }
  return true;
}

// Quarters around zero, and two values that make the scale 1.
bool quantizes_quarters(const TierOps& ops, bool asymmetric) {
  constexpr size_t kQuarters = 61;
  float row[kQuarters + 2];
  uint8_t out[kQuarters + 2];
  row[0] = asymmetric ? -64.5f : -127.0f;
  row[1] = asymmetric ? 190.5f : 126.5f;
  for (size_t i = 0; i < kQuarters; ++i) row[i + 2] = (float)((int)i - 30) * 0.25f;
  RowQuant quant;
  ops.quantize_rows({row, kQuarters + 2, 1, kQuarters + 2}, asymmetric, out, sizeof out,
                    &quant.scale, &quant.zero_point);
  const int32_t zero_point = asymmetric ? 64 : 0;
  if (quant.scale != 1.0f || quant.zero_point != zero_point) return false;
  if (out[0] != (asymmetric ? 0 : 0x81) || out[1] != (asymmetric ? 254 : 126)) return false;
  for (size_t i = 0; i < kQuarters; ++i)
    if (out[i + 2] != (uint8_t)(shift_half_even((int)i - 30, 2) + zero_point)) return false;
  // Measures and quantizes in two steps, as a convolution does with an image
  uint8_t again[kQuarters + 2];
  const RowQuant measured = ops.measure_rows({row, kQuarters + 2, 1, kQuarters + 2}, asymmetric);
  ops.quantize_floats(dynamic_quantization(measured, asymmetric), row, kQuarters + 2, again);
  if (measured.scale != quant.scale || measured.zero_point != zero_point) return false;
  return memcmp(again, out, sizeof out) == 0;
}

FloatCases cases_of(const MicroKernel& kernel) {
  return FloatCases(kernel.is(kRequantizes16) ? Accumulators::kInt16 : Accumulators::kAll);
}

// True if every row of a tile becomes the same bytes: those of the cases from `from` on.
bool requantize_alike(MultiplyFn multiply, Tile tile, const Requantization& requantization,
                      size_t from) {
  const TfliteCases cases(requantization);
  tile.init = cases.acc + from;
  tile.init_stride = 0;
  tile.scale = (const float*)(cases.rows + from);
  tile.requantization = &requantization;
  multiply(tile);
  for (size_t i = 0; i < tile.rows; ++i)
    if (memcmp((const uint8_t*)tile.dst + i * tile.dst_stride, cases.bytes + from, tile.cols) != 0)
      return false;
  return true;
}

// True if the first row of a tile becomes the floats of the cases, and half of them where a row
// scale says so. Not inlined: requantizes() needs none of its stack for other outputs.
__attribute__((noinline)) bool converts_to_floats(const MicroKernel& kernel, Tile tile,
                                                  const FloatCases& cases) {
  float out[kTileRows * kTileColumns], half[kTileRows];
  for (float& scale : half) scale = 0.5f;
  Requantization floats = {};
  floats.to_floats = true;
  tile.dst = out;
  tile.dst_stride = kTileColumns * sizeof(float);
  tile.requantization = &floats;
  floats.bias_apart = cases.bias - tile.scale;
  kernel.multiply(tile);
  if (memcmp(out, cases.f32, tile.cols * sizeof(float)) != 0) return false;
  floats.bias_apart = 0;
  float whole[kTileColumns];
  kernel.multiply(tile);
  memcpy(whole, out, tile.cols * sizeof(float));
  tile.row_scale = half;
  kernel.multiply(tile);
  for (size_t j = 0; j < tile.cols; ++j)
    if (out[j] * 2 != whole[j]) return false;
  return true;
}

}  // namespace

Epilogue residual_epilogue() {
  Epilogue f = epilogue_of(EpilogueMode::kFloat8, kRequantizeU8);
  f.has_residual = true;
  f.residual_type = ElementType::kU8;
  f.residual_zero_point = kResidualZeroPoint;
  f.residual_scale = kResidualScale;
  return f;
}

bool epilogue_is_right(const TierOps& ops, const FloatCases& cases) {
  const EpilogueFn epilogue = ops.epilogue;
  return (!ops.find_tflite_add || (epilogue_bytes_are_right(ops, cases, 0) &&
                                   epilogue_bytes_are_right(ops, cases, kTfliteRightFrom))) &&
         epilogue_float_is_right(epilogue, cases, kRequantizeU8, cases.u8) &&
         epilogue_float_is_right(epilogue, cases, kRequantizeS8, cases.s8) &&
         epilogue_residual_is_right(epilogue, cases, Accumulators::kAll) &&
         epilogue_residual_is_right(epilogue, FloatCases(Accumulators::kInt16),
                                    Accumulators::kInt16) &&
         epilogue_f32_is_right(epilogue, cases) && epilogue_tflite_is_right(epilogue, kTfliteS8) &&
         are_right(
             ops, [&](const Requantization& r) { return epilogue_tflite_is_right(epilogue, r); }) &&
         epilogue_double_is_right(epilogue);
}

bool looks_up(const TierOps& ops, Features has) {
  const LookUpFn best = ops.look_up_for(has);
  return (!ops.look_up || looks_up(ops.look_up)) && (best == ops.look_up || looks_up(best));
}

bool quantizes(const TierOps& ops) {
  return quantizes_quarters(ops, false) && quantizes_quarters(ops, true);
}

bool requantizes_micro_panels(const MicroKernel& kernel) {
  uint8_t out[kTileRows * kTileColumns];
  const FloatCases cases = cases_of(kernel);
  Tile tile = {};
  tile.lhs = tile.rhs = kZeros;
  tile.rhs_decoded = kernel.decoder.decode;
  tile.depth = kernel.micro_panel.least;
  tile.rows = kTileRows;
  tile.cols = kernel.micro_panel.most_columns;
  tile.dst = out;
  tile.dst_stride = kTileColumns;
  tile.scale = cases.scale;
  if (tile.depth * kernel.nr > sizeof kZeros) return false;
  for (size_t turn = 0; turn < 2 * kTileRows; ++turn) {
    const size_t first = turn / 2 * kApart;
    const bool u8 = turn % 2;
    tile.init = cases.acc + first;
    tile.requantization = u8 ? &kRequantizeU8 : &kRequantizeS8;
    kernel.multiply_micro_panel(tile);
    for (size_t i = 0; i < tile.rows; ++i)
      if (memcmp(out + i * kTileColumns, (u8 ? cases.u8 : cases.s8) + first, tile.cols) != 0)
        return false;
  }
  const size_t from = kTfliteRightFrom;
  tile.cols = smaller(tile.cols, kTileColumns - from);
  return !kernel.is(kTfliteRightShiftOnly) || tile.cols < kernel.micro_panel.most_columns ||
         requantize_alike(kernel.multiply_micro_panel, tile, kTfliteS8, from);
}

bool requantizes(const MicroKernel& kernel, size_t rows, size_t columns) {
  uint8_t out[kTileRows * kTileColumns];
  const FloatCases cases = cases_of(kernel);
  Tile tile = {};
  tile.lhs = tile.rhs = kZeros;
  tile.rhs_decoded = kernel.decoder.room;
  tile.depth = 1;
  tile.rows = rows;
  tile.cols = columns;
  tile.init = cases.acc;
  tile.init_stride = kApart;
  tile.dst = out;
  tile.dst_stride = kTileColumns;
  tile.scale = cases.scale;
  tile.requantization = &kRequantizeU8;
  kernel.multiply(tile);
  if (!same_rows(out, cases.u8, rows, columns)) return false;
  tile.requantization = &kRequantizeS8;
  kernel.multiply(tile);
  if (!same_rows(out, cases.s8, rows, columns)) return false;
  if (kernel.is(kStoresFloats) && !converts_to_floats(kernel, tile, cases)) return false;
  if (kernel.is(kAddsResidual)) {
    Tile alike = tile;
    alike.init_stride = 0;
    if (!adds_residuals(kernel, alike, rows, columns, cases)) return false;
  }
  if (!kernel.is(kRequantizesTflite)) return true;
  const bool right = kernel.is(kTfliteRightShiftOnly);
  const size_t from = right ? kTfliteRightFrom : 0;
  tile.cols = smaller(columns, kTileColumns - from);
  const auto alike = [&](const Requantization& r) {
    return requantize_alike(kernel.multiply, tile, r, from);
  };
  return alike(kTfliteS8) &&
         (right ? alike(kTflitePlainRelu) : are_right(ops_of(kernel.tier_id), alike));
}

}  // namespace octet
