// SPDX-License-Identifier: Apache-2.0
// Computes outputs from accumulators by DESIGN.md's contract.
#include "bench/problems/contract.h"

#include <algorithm>
#include <cmath>

namespace tool {

namespace {

double tflite_product(int64_t acc, const Factor& f) {
  const int64_t high =
      ((acc << std::max(f.shift, 0)) * f.multiplier + (int64_t{1} << 30)) >> 31;  // halves up
  return std::round(std::ldexp((double)high, std::min(f.shift, 0)));
}

// Of s16 values: a multiplier of 15 bits, halves up.
double tflite_s16(int64_t acc, const Factor& f) {
  const int64_t multiplier =
      f.multiplier >= 0x7fff0000 ? 0x7fff : ((int64_t)f.multiplier + (1 << 15)) >> 16;
  return (double)((acc * multiplier + (int64_t{1} << (14 - f.shift))) >> (15 - f.shift));
}

double tflite_sum(octet_type type, double product, const Addend& addend) {
  const octet_residual& by = addend.by;
  const double least = (type == OCTET_U8 ? 0 : -128) - by.intermediate_zero_point;
  const auto shifted = [](double value) { return (int64_t)value * (1 << 20); };
  const double a = tflite_product(shifted(std::clamp(product, least, least + 255)),
                                  {0, by.product_multiplier, by.product_shift, true}),
               b = tflite_product(shifted(addend.value - by.zero_point),
                                  {0, by.residual_multiplier, by.residual_shift, true});
  return tflite_product((int64_t)(a + b), {0, by.dst_multiplier, by.dst_shift, true});
}

}  // namespace

double contract_output(const OutputStage& stage, int64_t acc, const Factor& factor,
                       const Addend* addend) {
  if (stage.type == OCTET_S32) return (double)acc;
  if (stage.type == OCTET_S16) {
    const double word = factor.tflite ? tflite_s16(acc, factor)
                                      : std::nearbyint((double)((float)acc * factor.scale));
    const double least = stage.relu ? 0 : std::max(-32768.0, (double)stage.least);
    return std::min(std::max(word, least), std::min(32767.0, (double)stage.most));
  }
  float scaled = factor.in_double != 0 ? (float)std::round((double)(int32_t)acc * factor.in_double)
                 : factor.tflite       ? (float)tflite_product(acc, factor)
                                       : (float)acc * factor.scale;
  if (addend && factor.tflite)
    scaled = (float)tflite_sum(stage.type, (double)scaled, *addend);
  else if (addend)
    scaled += (float)(addend->value - addend->by.zero_point) * addend->by.scale;
  if (stage.type == OCTET_F32) return stage.relu ? std::max(scaled, 0.0f) : scaled;
  const float zero = (float)stage.zero_point;
  const float least = stage.type == OCTET_U8 ? 0.0f : -128.0f;
  const float first = std::max(least, stage.least), last = std::min(least + 255.0f, stage.most);
  const float lo = stage.relu ? std::max(first - zero, 0.0f) : first - zero, hi = last - zero;
  return std::nearbyint(std::min(std::max(scaled, lo), hi)) + zero;
}

double value_at(octet_type type, const void* dst, size_t i) {
  switch (type) {
    case OCTET_S8: return ((const int8_t*)dst)[i];
    case OCTET_U8: return ((const uint8_t*)dst)[i];
    case OCTET_S16: return ((const int16_t*)dst)[i];
    case OCTET_S32: return ((const int32_t*)dst)[i];
    case OCTET_F32: return ((const float*)dst)[i];
    default: break;
  }
  return NAN;
}

}  // namespace tool
