// SPDX-License-Identifier: Apache-2.0
// Converts tensors between float and 8 bits, and makes tables from 8 bits to 8 bits, with the
// contract's rounding.
#include <string.h>

#include "dispatch/select/machine.h"
#include "dispatch/tables/tier_ops.h"
#include "dispatch/tables/tiers.h"
#include "octet/helpers.h"
#include "operators/common/check.h"
#include "operators/common/measure.h"

namespace octet {
namespace {

// Adding 1.5 * 2^52 and subtracting it rounds a small value half to even.
constexpr double kRoundDouble = 6755399441055744.0;

octet_status check_8bit(octet_type type, octet_error* error) {
  if (is_8bit(type)) return OCTET_OK;
  return fail(error, OCTET_UNKNOWN_ENUM, "type is %d; it must be OCTET_S8 or OCTET_U8", (int)type);
}

// Null pointers are allowed if there is nothing to read or write.
octet_status check_arrays(const void* values, const void* quantized, octet_type type, size_t count,
                          octet_error* error) {
  if (count && (!values || !quantized))
    return fail(error, OCTET_NULL_POINTER, "%s is null", values ? "quantized" : "values");
  if ((uintptr_t)values % sizeof(float) || (uintptr_t)quantized % element_bytes(type))
    return fail(error, OCTET_MISALIGNED, "%s is not a multiple of 4 bytes",
                (uintptr_t)values % sizeof(float) ? "values" : "quantized");
  if (count > PTRDIFF_MAX / sizeof(float))
    return fail(error, OCTET_BAD_SIZE, "count = %zu: the values leave size_t", count);
  if (meet(extent_of(values, count * sizeof(float)),
           extent_of(quantized, count * element_bytes(type))))
    return fail(error, OCTET_OVERLAP, "values overlap quantized");
  return OCTET_OK;
}

template <typename Q>
void dequantize(const Q* quantized, size_t count, float scale, int32_t zero_point, float* values) {
  for (size_t i = 0; i < count; ++i) values[i] = (float)(quantized[i] - zero_point) * scale;
}

struct Pass {
  const TierOps& ops;
  const Quantization by;
  const float* values;
  size_t count, tasks;
  uint8_t* out;
};

void quantize_part(void* context, size_t index) {
  const Pass& p = *(const Pass*)context;
  const size_t share = p.count / p.tasks, begin = index * share;
  const size_t size = index + 1 == p.tasks ? p.count - begin : share;
  p.ops.quantize_floats(p.by, p.values + begin, size, p.out + begin);
}

void quantize_in_tasks(const TierOps& ops, const Quantization& by, const float* values,
                       size_t count, const Pool& pool, uint8_t* out) {
  Pass pass = {ops, by, values, count, tasks_of_floats(count, pool), out};
  if (pass.tasks == 1) return quantize_part(&pass, 0);
  pool.parallel_for(pool.context, pass.tasks, quantize_part, &pass);
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_quantize(const float* values, size_t count, float scale, int32_t zero_point,
                            octet_type type, void* quantized, octet_error* error) {
  OCTET_TRY(check_8bit(type, error));
  OCTET_TRY(check_arrays(values, quantized, type, count, error));
  OCTET_TRY(check_scale(scale, "scale", kScalar, error));
  OCTET_TRY(check_zero_point(zero_point, type, "zero_point", kScalar, error));
  const TierOps& ops = ops_of(best_of(this_machine().cpu.tiers));
  ops.quantize_floats({scale, zero_point, least(type), most(type)}, values, count,
                      (uint8_t*)quantized);
  return OCTET_OK;
}

octet_status octet_dequantize(const void* quantized, octet_type type, size_t count, float scale,
                              int32_t zero_point, float* values, octet_error* error) {
  if (!is_8bit(type) && type != OCTET_S32)
    return fail(error, OCTET_UNKNOWN_ENUM, "type is %d; it must be OCTET_S8, OCTET_U8 or OCTET_S32",
                (int)type);
  OCTET_TRY(check_arrays(values, quantized, type, count, error));
  OCTET_TRY(check_scale(scale, "scale", kScalar, error));
  if (type != OCTET_S32)
    OCTET_TRY(check_zero_point(zero_point, type, "zero_point", kScalar, error));
  else if (zero_point)
    return fail(error, OCTET_BAD_ZERO_POINT, "zero_point is %d; that of OCTET_S32 is 0",
                (int)zero_point);
  switch (type) {
    case OCTET_S8: dequantize((const int8_t*)quantized, count, scale, zero_point, values); break;
    case OCTET_U8: dequantize((const uint8_t*)quantized, count, scale, zero_point, values); break;
    default: dequantize((const int32_t*)quantized, count, scale, 0, values);
  }
  return OCTET_OK;
}

octet_status octet_dynamic_quantize(octet_lhs_quant quant, const float* values, size_t count,
                                    void* quantized, float* scale, int32_t* zero_point,
                                    octet_error* error) {
  return octet_dynamic_quantize_in_tasks(quant, values, count, nullptr, nullptr, 1, quantized,
                                         scale, zero_point, error);
}

octet_status octet_dynamic_quantize_in_tasks(octet_lhs_quant quant, const float* values,
                                             size_t count, octet_parallel_for parallel_for,
                                             void* parallel_context, size_t concurrency,
                                             void* quantized, float* scale, int32_t* zero_point,
                                             octet_error* error) {
  if (quant != OCTET_LHS_SYMMETRIC && quant != OCTET_LHS_ASYMMETRIC)
    return fail(error, OCTET_UNKNOWN_ENUM,
                "quant is %d; it must be OCTET_LHS_SYMMETRIC or OCTET_LHS_ASYMMETRIC", (int)quant);
  if (!scale || !zero_point)
    return fail(error, OCTET_NULL_POINTER, "%s is null", scale ? "zero_point" : "scale");
  OCTET_TRY(check_arrays(values, quantized, OCTET_U8, count, error));
  const TierOps& ops = ops_of(best_of(this_machine().cpu.tiers));
  const Pool pool = {parallel_for, parallel_context, concurrency};
  const bool asymmetric = quant == OCTET_LHS_ASYMMETRIC;
  const RowQuant made = measure_in_tasks(ops, {values, count, 1, count}, asymmetric, pool);
  quantize_in_tasks(ops, dynamic_quantization(made, asymmetric), values, count, pool,
                    (uint8_t*)quantized);
  *scale = made.scale;
  *zero_point = made.zero_point;
  return OCTET_OK;
}

octet_status octet_make_lut(double (*function)(void* context, double x), void* context,
                            octet_type type, float src_scale, int32_t src_zero_point,
                            float dst_scale, int32_t dst_zero_point, uint8_t lut[256],
                            octet_error* error) {
  if (!function || !lut)
    return fail(error, OCTET_NULL_POINTER, "%s is null", function ? "lut" : "function");
  OCTET_TRY(check_8bit(type, error));
  OCTET_TRY(check_scale(src_scale, "src_scale", kScalar, error));
  OCTET_TRY(check_scale(dst_scale, "dst_scale", kScalar, error));
  OCTET_TRY(check_zero_point(src_zero_point, type, "src_zero_point", kScalar, error));
  OCTET_TRY(check_zero_point(dst_zero_point, type, "dst_zero_point", kScalar, error));
  const double lo = least(type) - dst_zero_point, hi = most(type) - dst_zero_point;
  uint8_t made[256];
  for (int32_t q = least(type); q <= most(type); ++q) {
    const double x = (q - src_zero_point) * (double)src_scale;
    double y = function(context, x) / (double)dst_scale;
    if (y != y)
      return fail(error, OCTET_UNSUPPORTED, "function gives NaN at x = %g, which is the byte %d", x,
                  (int)q);
    y = y < lo ? lo : y;
    y = y > hi ? hi : y;
    made[(uint8_t)q] = (uint8_t)((int32_t)((y + kRoundDouble) - kRoundDouble) + dst_zero_point);
  }
  memcpy(lut, made, sizeof made);
  return OCTET_OK;
}
