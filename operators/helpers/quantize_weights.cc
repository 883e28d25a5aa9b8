// SPDX-License-Identifier: Apache-2.0
// Quantizes f32 weights to 4 bits, with a scale for each block.
#include <math.h>
#include <string.h>

#include "octet/quantized_weights.h"
#include "operators/helpers/weight_arrays.h"

namespace octet {
namespace {

constexpr double kRoundDouble = 6755399441055744.0;    // as in quantize.cc
constexpr float kLeastScale = 7.888609052210118e-31f;  // 2^-100: far from numbers that some flush

int32_t rounded(float x) { return (int32_t)(((double)x + kRoundDouble) - kRoundDouble); }

int32_t saturated(int32_t x, octet_type type) {
  return x < least(type) ? least(type) : x > most(type) ? most(type) : x;
}

struct BlockQuant {
  float scale;
  int32_t zero_point;
};

float most_scale(octet_type scale_type) { return scale_type == OCTET_F16 ? 65504.0f : kMaxScale; }

// The scale is above the most, or NaN, if a weight is not finite or the scale leaves its type.
BlockQuant measure(const float* values, size_t count, octet_type type, octet_type scale_type) {
  float lo = 0, hi = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!__builtin_isfinite(values[i])) return {NAN, 0};
    lo = values[i] < lo ? values[i] : lo;
    hi = values[i] > hi ? values[i] : hi;
  }
  float scale = type == OCTET_U4 ? (hi - lo) / 15 : (hi > -lo ? hi : -lo) / 7;
  if (scale_type == OCTET_F16 && scale < kHalfOverflow) scale = float_of_half(half_of_float(scale));
  if (scale < kLeastScale) scale = 1;
  return {scale, type == OCTET_U4 ? saturated(rounded(-lo / scale), type) : 0};
}

octet_status check_values(const float* values, size_t blocks, size_t block, octet_type type,
                          octet_type scale_type, octet_error* error) {
  for (size_t b = 0; b < blocks; ++b)
    if (!(measure(values + b * block, block, type, scale_type).scale <= most_scale(scale_type)))
      return fail(error, OCTET_BAD_SCALE,
                  "values[%zu...%zu], which share a scale: one is NaN or infinite, or the scale is "
                  "above %s",
                  b * block, b * block + block - 1, scale_type == OCTET_F16 ? "65504" : "2^48");
  return OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_quantize_weights(const float* values, size_t n, size_t k, size_t block,
                                    octet_type type, uint8_t* weights, octet_type scale_type,
                                    void* scales, int32_t* zero_points, octet_error* error) {
  if (!is_4bit(type))
    return fail(error, OCTET_UNKNOWN_ENUM, "type is %d; it must be OCTET_S4 or OCTET_U4",
                (int)type);
  OCTET_TRY(check_scale_type(scale_type, error));
  OCTET_TRY(check_rows({"n", n}, {"k", k}, error));
  OCTET_TRY(check_divides({"block", block}, {"k", k}, error));
  const bool has_zeros = type == OCTET_U4;
  if (!has_zeros && zero_points)
    return fail(error, OCTET_BAD_ZERO_POINT, "zero_points is set; those of OCTET_S4 are 0");
  const size_t blocks = n * (k / block), bytes = nibble_bytes(n * k),
               size = scale_bytes(scale_type);
  const WeightArray arrays[] = {{"values", values, n * k * sizeof *values, sizeof *values, false},
                                {"weights", weights, bytes, 1, true},
                                {"scales", scales, blocks * size, size, true},
                                {"zero_points", zero_points, blocks * 4, 4, true}};
  OCTET_TRY(check_weight_arrays(arrays, has_zeros ? 4 : 3, error));
  OCTET_TRY(check_values(values, blocks, block, type, scale_type, error));
  memset(weights, 0, bytes);
  for (size_t b = 0; b < blocks; ++b) {
    const BlockQuant by = measure(values + b * block, block, type, scale_type);
    if (scale_type == OCTET_F16)
      ((uint16_t*)scales)[b] = half_of_float(by.scale);
    else
      ((float*)scales)[b] = by.scale;
    if (has_zeros) zero_points[b] = by.zero_point;
    for (size_t i = b * block; i < (b + 1) * block; ++i)
      set_nibble(weights, i,
                 (uint32_t)saturated(rounded(values[i] / by.scale) + by.zero_point, type) & 15);
  }
  return OCTET_OK;
}
