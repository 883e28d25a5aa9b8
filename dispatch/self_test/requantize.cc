#include "dispatch/self_test/requantize.h"

#include <string.h>

#include "dispatch/self_test/cases.h"
#include "dispatch/self_test/exact_float.h"

namespace octet {
namespace {

// Operands of kernels whose accumulators shall stay what they are.
alignas(64) constexpr uint8_t kZeros[512] = {};

// Whether row i holds the bytes from i * kApart on.
bool same_rows(const uint8_t* out, const uint8_t* cases, size_t rows, size_t columns) {
  for (size_t i = 0; i < rows; ++i)
    if (memcmp(out + i * kTileColumns, cases + i * kApart, columns) != 0) return false;
  return true;
}

Finish finish_of(FinishMode mode, const Narrow& narrow) {
  Finish f = {};
  f.mode = mode;
  f.dst_u8 = narrow.dst_u8;
  f.zero_point = narrow.zero_point;
  f.lo = narrow.lo;
  f.hi = narrow.hi;
  f.lo_f32 = (float)(narrow.lo - narrow.zero_point);
  f.hi_f32 = (float)(narrow.hi - narrow.zero_point);
  return f;
}

FinishTile finish_tile_of(const int32_t* acc, void* out) {
  FinishTile tile = {};
  tile.acc = acc;
  tile.rows = 1;
  tile.cols = kTileColumns;
  tile.to.dst = (uint8_t*)out;
  return tile;
}

bool finishes_float(FinishFn finish, const Narrow& narrow, const uint8_t* cases) {
  uint8_t out[kTileRows * kTileColumns];
  Finish f = finish_of(FinishMode::kFloat8, narrow);
  f.scale = kFloatCases.scale;
  FinishTile tile = finish_tile_of(kFloatCases.acc, out);
  tile.acc_stride = kApart;
  tile.to.stride = kTileColumns;
  tile.rows = kTileRows;
  finish(f, tile);
  return same_rows(out, cases, kTileRows, kTileColumns);
}

bool finishes_residual(FinishFn finish) {
  uint8_t out[kTileColumns];
  Finish f = finish_of(FinishMode::kFloat8, kNarrowU8);
  f.scale = kFloatCases.scale;
  f.has_residual = f.residual_u8 = true;
  f.residual_zero_point = kResidualZeroPoint;
  f.residual_scale = kResidualScale;
  FinishTile tile = finish_tile_of(kFloatCases.acc, out);
  tile.to.residual = kFloatCases.residual;
  finish(f, tile);
  return memcmp(out, kFloatCases.sum, sizeof out) == 0;
}

bool finishes_f32(FinishFn finish) {
  float out[kTileColumns];
  Finish f = {};
  f.mode = FinishMode::kF32;
  f.scale = kFloatCases.scale;
  f.bias_f32 = kFloatCases.bias;
  f.lo_f32 = -__builtin_inff();
  f.hi_f32 = __builtin_inff();
  finish(f, finish_tile_of(kFloatCases.acc, out));
  return memcmp(out, kFloatCases.f32, sizeof out) == 0;
}

bool finishes_tflite(FinishFn finish, const Narrow& narrow, const TfliteCases& cases) {
  uint8_t out[kTileColumns];
  Finish f = finish_of(FinishMode::kTflite8, narrow);
  f.multiplier = cases.multiplier;
  f.shift = cases.shift;
  finish(f, finish_tile_of(cases.acc, out));
  if (memcmp(out, cases.bytes, sizeof out) != 0) return false;
  f.tflite = {cases.rows, kTileColumns, narrow.tflite_right_only};
  finish(f, finish_tile_of(cases.acc, out));
  return memcmp(out, cases.bytes, sizeof out) == 0;
}

// Of bytes: a sum of two, here with any factors, then a table.
constexpr ByteSum kSum = {{14013, 9801}, {101, 3}, -2950823, 7, 22};
struct Table {
  alignas(64) uint8_t lut[256], rows[256];
};
constexpr Table make_table() {
  Table t = {};
  for (int i = 0; i < 256; ++i) t.lut[i] = (uint8_t)(i * 151 + 17 + i / 16 * 8);
  for (int i = 0; i < 256; ++i)
    t.rows[i] = (uint8_t)(t.lut[i] ^ (i % 128 < 16 ? 0 : t.lut[i - 16]));
  return t;
}
constexpr Table kTable = make_table();

bool finishes_bytes(FinishFn finish) {
  uint8_t out[kTileColumns];
  const TfliteCases& cases = kTfliteCases;
  Finish f = finish_of(FinishMode::kTflite8, kTfliteS8);
  f.tflite = {cases.rows, kTileColumns, false};
  f.has_residual = f.residual_u8 = true;
  f.intermediate_zero_point = kTfliteS8.zero_point;
  f.product_lo = kTfliteS8.lo - kTfliteS8.zero_point;
  f.product_hi = kTfliteS8.hi - kTfliteS8.zero_point;
  f.byte_sum = &kSum;
  f.lut = kTable.lut;
  f.lut_rows = kTable.rows;
  FinishTile tile = finish_tile_of(cases.acc, out);
  tile.to.residual = kFloatCases.residual;
  finish(f, tile);
  for (size_t j = 0; j < kTileColumns; ++j) {
    const int32_t sum = kSum.of(cases.bytes[j] ^ 0x80, kFloatCases.residual[j]),
                  clamped = sum < f.lo   ? f.lo
                            : sum > f.hi ? f.hi
                                         : sum;
    if (out[j] != kTable.lut[(uint8_t)clamped]) return false;
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
  const RowQuant quant = ops.quantize_row(row, kQuarters + 2, asymmetric, out);
  const int32_t zero_point = asymmetric ? 64 : 0;
  if (quant.scale != 1.0f || quant.zero_point != zero_point) return false;
  if (out[0] != (asymmetric ? 0 : 0x81) || out[1] != (asymmetric ? 254 : 126)) return false;
  for (size_t i = 0; i < kQuarters; ++i)
    if (out[i + 2] != (uint8_t)(shift_half_even((int)i - 30, 2) + zero_point)) return false;
  // In two steps, as a convolution takes an image
  uint8_t again[kQuarters + 2];
  const RowQuant measured = ops.measure_rows({row, kQuarters + 2, 1, kQuarters + 2}, asymmetric);
  ops.quantize_floats(dynamic_quantization(measured, asymmetric), row, kQuarters + 2, again);
  if (measured.scale != quant.scale || measured.zero_point != zero_point) return false;
  return memcmp(again, out, sizeof out) == 0;
}

// Whether every row of a tile becomes the same bytes, those of the cases from one on.
bool narrows_alike(const MicroKernel& kernel, Tile tile, const Narrow& narrow,
                   const TfliteCases& cases, size_t from) {
  tile.init = cases.acc + from;
  tile.init_stride = 0;
  tile.scale = (const float*)(cases.rows + from);
  tile.narrow = &narrow;
  kernel.multiply(tile);
  for (size_t i = 0; i < tile.rows; ++i)
    if (memcmp((const uint8_t*)tile.dst + i * tile.dst_stride, cases.bytes + from, tile.cols) != 0)
      return false;
  return true;
}

}  // namespace

bool finishes(const TierOps& ops) {
  const FinishFn finish = ops.finish;
  return (!ops.find_byte_sum || finishes_bytes(finish)) &&
         finishes_float(finish, kNarrowU8, kFloatCases.u8) &&
         finishes_float(finish, kNarrowS8, kFloatCases.s8) && finishes_residual(finish) &&
         finishes_f32(finish) && finishes_tflite(finish, kTfliteS8, kTfliteCases) &&
         finishes_tflite(finish, kTfliteRelu, kTfliteReluCases);
}

bool quantizes(const TierOps& ops) {
  return quantizes_quarters(ops, false) && quantizes_quarters(ops, true);
}

bool narrows_strips(const MicroKernel& kernel) {
  uint8_t out[kTileRows * kTileColumns];
  const FloatCases& cases = kernel.is(kNarrows16) ? kFloatCases16 : kFloatCases;
  MicroKernel strip = kernel;
  strip.multiply = kernel.multiply_strip;
  Tile tile = {};
  tile.lhs = tile.rhs = kZeros;
  tile.depth = kernel.strip_depth.least;
  tile.rows = kTileRows;
  tile.cols = kernel.nr;
  tile.dst = out;
  tile.dst_stride = kTileColumns;
  tile.scale = cases.scale;
  if (tile.depth * kernel.nr > sizeof kZeros) return false;
  for (size_t turn = 0; turn < 2 * kTileRows; ++turn) {
    const size_t first = turn / 2 * kApart;
    const bool u8 = turn % 2;
    tile.init = cases.acc + first;
    tile.narrow = u8 ? &kNarrowU8 : &kNarrowS8;
    strip.multiply(tile);
    for (size_t i = 0; i < tile.rows; ++i)
      if (memcmp(out + i * kTileColumns, (u8 ? cases.u8 : cases.s8) + first, tile.cols) != 0)
        return false;
  }
  const size_t from = kTfliteRightFrom;
  tile.cols = smaller(tile.cols, kTileColumns - from);
  return !kernel.is(kTfliteRight) || tile.cols < kernel.nr ||
         narrows_alike(strip, tile, kTfliteS8, kTfliteCases, from);
}

bool narrows(const MicroKernel& kernel, size_t rows, size_t columns) {
  uint8_t out[kTileRows * kTileColumns];
  const FloatCases& cases = kernel.is(kNarrows16) ? kFloatCases16 : kFloatCases;
  Tile tile = {};
  tile.lhs = tile.rhs = kZeros;
  tile.depth = 1;
  tile.rows = rows;
  tile.cols = columns;
  tile.init = cases.acc;
  tile.init_stride = kApart;
  tile.dst = out;
  tile.dst_stride = kTileColumns;
  tile.scale = cases.scale;
  tile.narrow = &kNarrowU8;
  kernel.multiply(tile);
  if (!same_rows(out, cases.u8, rows, columns)) return false;
  tile.narrow = &kNarrowS8;
  kernel.multiply(tile);
  if (!same_rows(out, cases.s8, rows, columns)) return false;
  if (!kernel.is(kNarrowsTflite)) return true;
  const bool right = kernel.is(kTfliteRight);
  const size_t from = right ? kTfliteRightFrom : 0;
  tile.cols = smaller(columns, kTileColumns - from);
  return narrows_alike(kernel, tile, kTfliteS8, kTfliteCases, from) &&
         (right ? narrows_alike(kernel, tile, kTflitePlainRelu, kTflitePlainReluCases, from)
                : narrows_alike(kernel, tile, kTfliteRelu, kTfliteReluCases, from));
}

}  // namespace octet
