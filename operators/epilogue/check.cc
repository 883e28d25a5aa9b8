// SPDX-License-Identifier: Apache-2.0
// The checks of an epilogue, and of the few fields beside it that products and convolutions share.
#include "operators/common/check.h"
#include "dispatch/tables/tiers.h"
#include "operators/epilogue/s16.h"
#include "operators/epilogue/tflite_floats.h"

namespace octet {
namespace {

// The name of the first field that is set; null if none is.
const char* set_field(const octet_residual& r) {
  const struct {
    const char* name;
    bool set;
  } fields[] = {{"zero_point", r.zero_point != 0},
                {"scale", r.scale != 0},
                {"intermediate_zero_point", r.intermediate_zero_point != 0},
                {"product_multiplier", r.product_multiplier != 0},
                {"product_shift", r.product_shift != 0},
                {"residual_multiplier", r.residual_multiplier != 0},
                {"residual_shift", r.residual_shift != 0},
                {"dst_multiplier", r.dst_multiplier != 0},
                {"dst_shift", r.dst_shift != 0}};
  for (const auto& field : fields)
    if (field.set) return field.name;
  return nullptr;
}

// A residual whose type was forgotten would be a residual that is silently not added.
octet_status check_residual_type(const octet_residual& r, octet_error* error) {
  const char* const field = r.type ? nullptr : set_field(r);
  if (!field) return OCTET_OK;
  return fail(error, OCTET_UNSUPPORTED,
              "desc.epilogue.residual.%s is set, but desc.epilogue.residual.type is 0, which means "
              "that there is no residual; set the type, or leave all of desc.epilogue.residual 0",
              field);
}

octet_status check_lhs(EpilogueBuilder* builder) {
  if (builder->lhs_quant == OCTET_LHS_STATIC) {
    OCTET_TRY(check_zero_point(builder->lhs_zero_point, builder->lhs_type, "desc.lhs_zero_point",
                               kScalar, builder->error));
    builder->lhs_element_type = element_type_of(builder->lhs_type);
    builder->lhs_lo = least(builder->lhs_type) - builder->lhs_zero_point;
    builder->lhs_hi = most(builder->lhs_type) - builder->lhs_zero_point;
  } else if (builder->lhs_quant == OCTET_LHS_PER_BLOCK) {
    builder->lhs_element_type = ElementType::kS8;
    builder->lhs_lo = -128;
    builder->lhs_hi = 127;
  } else if (builder->lhs_quant == OCTET_LHS_SYMMETRIC || scales_blocks(builder->lhs_quant)) {
    builder->lhs_element_type = ElementType::kS8;
    builder->lhs_lo = -127;
    builder->lhs_hi = 127;
  } else {
    builder->lhs_element_type = builder->lhs_quant == OCTET_LHS_ASYMMETRIC
                                    ? ElementType::kU8
                                    : element_type_of(builder->lhs_type);
    builder->lhs_lo = -255;
    builder->lhs_hi = 255;
  }
  return OCTET_OK;
}

octet_status check_count(size_t count, const char* of, const EpilogueBuilder& builder) {
  if (count == 1 || count == builder.columns) return OCTET_OK;
  return fail(builder.error, OCTET_BAD_SIZE,
              "desc.epilogue.%s_count is %zu; it must be 1 or n = %zu", of, count, builder.columns);
}

// values: `count` floats or doubles of the array `name`, whose count is `of`_count.
template <typename Float>
octet_status check_scales(const Float* values, size_t count, const char* name, const char* of,
                          const EpilogueBuilder& builder) {
  if (!values) return fail(builder.error, OCTET_NULL_POINTER, "%s is null", name);
  OCTET_TRY(check_count(count, of, builder));
  for (size_t i = 0; i < count; ++i) OCTET_TRY(check_scale(values[i], name, i, builder.error));
  return OCTET_OK;
}

octet_status check_scales(const EpilogueBuilder& builder) {
  const octet_epilogue& e = builder.desc;
  octet_error* error = builder.error;
  if (builder.dst_type == OCTET_S32) return OCTET_OK;
  if (e.requant == OCTET_REQUANT_FLOAT)
    return check_scales(e.scales, e.scale_count, "desc.epilogue.scales", "scale", builder);
  if (e.requant == OCTET_REQUANT_DOUBLE)
    return check_scales(e.factors, e.factor_count, "desc.epilogue.factors", "factor", builder);
  if (!e.multipliers || !e.shifts)
    return fail(error, OCTET_NULL_POINTER, "desc.epilogue.%s is null",
                e.multipliers ? "shifts" : "multipliers");
  OCTET_TRY(check_count(e.multiplier_count, "multiplier", builder));
  for (size_t i = 0; i < e.multiplier_count; ++i) {
    if (e.multipliers[i] != 0 && e.multipliers[i] < 1 << 30)
      return fail(error, OCTET_BAD_SCALE,
                  "desc.epilogue.multipliers[%zu] is %d; it must be 0 or in [2^30, 2^31)", i,
                  (int)e.multipliers[i]);
    if (e.shifts[i] < -31 || e.shifts[i] > 30)
      return fail(error, OCTET_BAD_SCALE,
                  "desc.epilogue.shifts[%zu] is %d; it must be in [-31, 30]", i, (int)e.shifts[i]);
  }
  return OCTET_OK;
}

// The largest magnitude of run-time weights with zero points.
int64_t any_zero_points(const EpilogueBuilder& builder) {
  const int64_t reach = builder.lhs_hi > -builder.lhs_lo ? builder.lhs_hi : -builder.lhs_lo;
  return (int64_t)builder.depth * reach * 255;
}

}  // namespace

octet_status check_reserved(const uintptr_t* reserved, size_t count, octet_error* error) {
  for (size_t i = 0; i < count; ++i)
    if (reserved[i])
      return fail(error, OCTET_UNSUPPORTED,
                  "desc.reserved[%d] is not 0; this version has no use for it", (int)i);
  return OCTET_OK;
}

octet_status check_resources(octet_isa max_isa, const octet_allocator& allocator,
                             octet_error* error) {
  if (max_isa != OCTET_ISA_AUTO && !find_tier((int)max_isa))
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.max_isa is %d, not an octet_isa", (int)max_isa);
  if ((allocator.allocate == nullptr) != (allocator.release == nullptr))
    return fail(error, OCTET_NULL_POINTER,
                "desc.allocator has one of allocate and release, but not the other");
  return OCTET_OK;
}

octet_status check_enums(const EpilogueBuilder& builder) {
  const octet_epilogue& e = builder.desc;
  octet_error* error = builder.error;
  if (builder.lhs_quant < OCTET_LHS_STATIC || builder.lhs_quant > OCTET_LHS_PER_BLOCK)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.lhs_quant is %d, not an octet_lhs_quant",
                (int)builder.lhs_quant);
  const auto is_s16 = [&](octet_type type) { return builder.takes_s16 && type == OCTET_S16; };
  const char* const or_s16 = builder.takes_s16 ? ", OCTET_S16" : "";
  if (!is_8bit(builder.lhs_type) && builder.lhs_type != OCTET_F32 && !is_s16(builder.lhs_type))
    return fail(error, OCTET_UNKNOWN_ENUM,
                "desc.lhs_type is %d; it must be OCTET_S8, OCTET_U8%s or OCTET_F32",
                (int)builder.lhs_type, or_s16);
  if (!is_weight(builder.rhs_type))
    return fail(error, OCTET_UNKNOWN_ENUM,
                "desc.rhs_type is %d; it must be OCTET_S8, OCTET_U8, OCTET_S4 or OCTET_U4",
                (int)builder.rhs_type);
  if ((builder.dst_type < OCTET_S8 || builder.dst_type > OCTET_F32) && !is_s16(builder.dst_type))
    return fail(error, OCTET_UNKNOWN_ENUM,
                "desc.dst_type is %d; it must be OCTET_S8, OCTET_U8%s, OCTET_S32 or OCTET_F32",
                (int)builder.dst_type, or_s16);
  if (e.requant < OCTET_REQUANT_FLOAT || e.requant > OCTET_REQUANT_DOUBLE)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.epilogue.requant is %d, not an octet_requant",
                (int)e.requant);
  if (e.activation < OCTET_ACTIVATION_NONE || e.activation > OCTET_ACTIVATION_RELU_N1_TO_1)
    return fail(error, OCTET_UNKNOWN_ENUM,
                "desc.epilogue.activation is %d, not an octet_activation", (int)e.activation);
  if (e.product_activation < OCTET_ACTIVATION_NONE ||
      e.product_activation > OCTET_ACTIVATION_RELU_N1_TO_1)
    return fail(error, OCTET_UNKNOWN_ENUM,
                "desc.epilogue.product_activation is %d, not an octet_activation",
                (int)e.product_activation);
  if (e.residual.type != 0 && !is_8bit(e.residual.type))
    return fail(error, OCTET_UNKNOWN_ENUM,
                "desc.epilogue.residual.type is %d; it must be OCTET_S8, OCTET_U8 or 0",
                (int)e.residual.type);
  return OCTET_OK;
}

// Refuses combinations that have no meaning, rather than ignoring a field quietly.
octet_status check_combination(const EpilogueBuilder& builder) {
  const octet_epilogue& e = builder.desc;
  octet_error* error = builder.error;
  const auto refuse = [&](const char* what) { return fail(error, OCTET_UNSUPPORTED, "%s", what); };
  if ((builder.lhs_type == OCTET_F32) != quantizes(builder.lhs_quant))
    return refuse(
        "desc.lhs_type OCTET_F32 goes with OCTET_LHS_SYMMETRIC, OCTET_LHS_ASYMMETRIC, "
        "OCTET_LHS_SYMMETRIC_BLOCKS or OCTET_LHS_SYMMETRIC_BLOCKS_F16, and only with them");
  if (builder.lhs_quant == OCTET_LHS_PER_BLOCK && builder.lhs_type != OCTET_S8)
    return refuse("desc.lhs_quant OCTET_LHS_PER_BLOCK goes with desc.lhs_type OCTET_S8");
  if (quantizes(builder.lhs_quant) && builder.dst_type != OCTET_F32)
    return refuse(
        "an f32 lhs that is quantized on the fly gives an f32 dst; desc.dst_type must be "
        "OCTET_F32");
  if (builder.lhs_quant != OCTET_LHS_STATIC && builder.lhs_zero_point != 0)
    return refuse(
        "desc.lhs_zero_point is for OCTET_LHS_STATIC; with run-time quantization it comes with "
        "each run");
  OCTET_TRY(check_s16_combination(builder));
  if (builder.dst_type != OCTET_F32 && e.bias_f32)
    return refuse("desc.epilogue.bias_f32 is for an f32 dst; use desc.epilogue.bias");
  OCTET_TRY(check_residual_type(e.residual, error));
  if (!is_8bit(builder.dst_type)) {
    if (e.residual.type) return refuse("desc.epilogue.residual needs an s8 or u8 dst");
    if (e.lut) return refuse("desc.epilogue.lut needs an s8 or u8 dst");
    if (e.dst_zero_point) return refuse("desc.epilogue.dst_zero_point needs an s8 or u8 dst");
    if (e.requant != OCTET_REQUANT_FLOAT && builder.dst_type != OCTET_S16)
      return refuse("OCTET_REQUANT_TFLITE and OCTET_REQUANT_DOUBLE need an s8, u8 or s16 dst");
  }
  if (e.requant == OCTET_REQUANT_DOUBLE && e.residual.type)
    return refuse("OCTET_REQUANT_DOUBLE takes no desc.epilogue.residual: add it in another step");
  if (e.product_activation && !e.residual.type)
    return refuse(
        "desc.epilogue.product_activation is for a product to which a residual is added; without "
        "desc.epilogue.residual use desc.epilogue.activation");
  if (builder.dst_type == OCTET_S32) {
    if (e.scales || e.scale_count)
      return refuse(
          "desc.epilogue.scales has no meaning for an s32 dst: it holds the accumulators");
    if (e.activation)
      return refuse(
          "desc.epilogue.activation has no meaning for an s32 dst: it holds the accumulators");
  }
  const bool given[] = {e.scales || e.scale_count, e.multipliers || e.shifts || e.multiplier_count,
                        e.factors || e.factor_count};  // in the order of octet_requant
  for (int requant = 0; requant <= OCTET_REQUANT_DOUBLE; ++requant)
    if (given[requant] && requant != e.requant)
      return refuse(
          "desc.epilogue.scales is for OCTET_REQUANT_FLOAT, desc.epilogue.multipliers and "
          "desc.epilogue.shifts are for OCTET_REQUANT_TFLITE, desc.epilogue.factors is for "
          "OCTET_REQUANT_DOUBLE");
  if (e.requant != OCTET_REQUANT_FLOAT && builder.runtime_scales())
    return refuse(
        "OCTET_REQUANT_TFLITE and OCTET_REQUANT_DOUBLE need OCTET_LHS_STATIC: their multipliers "
        "and factors hold the lhs scale");
  return OCTET_OK;
}

octet_status check_quantization(EpilogueBuilder* builder) {
  OCTET_TRY(check_lhs(builder));
  return check_scales(*builder);
}

SumRange sum_range(const EpilogueBuilder& builder, const PackedRhs& packed, size_t n) {
  const int64_t lo = builder.lhs_lo, hi = builder.lhs_hi;
  if (packed.positive)
    return {packed.positive[n] * lo + packed.negative[n] * hi,
            packed.positive[n] * hi + packed.negative[n] * lo};
  const int64_t k = (int64_t)builder.depth, up = most(builder.rhs_type),
                down = least(builder.rhs_type);
  return {k * (up * lo < down * hi ? up * lo : down * hi),
          k * (up * hi > down * lo ? up * hi : down * lo)};
}

octet_status check_range(EpilogueBuilder* builder, const PackedRhs& packed) {
  const octet_epilogue& e = builder->desc;
  // Whether one column stands for all
  const bool alike = !packed.positive && !e.bias && e.scale_count <= 1 && e.multiplier_count <= 1 &&
                     e.factor_count <= 1;
  for (size_t n = 0; n < (alike ? 1 : builder->columns); ++n) {
    const int64_t bias = settled_bias(*builder, packed, n);
    const SumRange range = sum_range(*builder, packed, n);
    const int64_t hi = range.hi + bias, lo = range.lo + bias;
    const bool overflows = !builder->outline && (hi > INT32_MAX || lo < INT32_MIN);
    if (overflows && (range.hi > INT32_MAX || range.lo < INT32_MIN))
      return fail(builder->error, OCTET_ACCUMULATOR_OVERFLOW,
                  "the sums of %s %zu may reach %lld, outside int32: %s = %zu is too deep",
                  builder->column_name, n, (long long)(range.hi > INT32_MAX ? range.hi : range.lo),
                  builder->depth_name, builder->depth);
    if (overflows)
      return fail(
          builder->error, OCTET_ACCUMULATOR_OVERFLOW,
          "the accumulator of %s %zu may reach %lld, outside int32: desc.epilogue.bias[%zu] "
          "is %lld, and its sums reach from %lld to %lld",
          builder->column_name, n, (long long)(hi > INT32_MAX ? hi : lo), n, (long long)bias,
          (long long)range.lo, (long long)range.hi);
    const int64_t magnitude = hi > -lo ? hi : -lo, bias_magnitude = bias < 0 ? -bias : bias;
    builder->max_bias = bias_magnitude > builder->max_bias ? bias_magnitude : builder->max_bias;
    if (builder->dst_type == OCTET_S32) continue;
    const double factor = factor_of(e, n), scaled = (double)magnitude * factor * builder->stretch;
    builder->max_scaled = scaled > builder->max_scaled ? scaled : builder->max_scaled;
    if (!packed.positive) {
      const double any = ((double)any_zero_points(*builder) + (double)bias_magnitude) * factor;
      builder->max_scaled_any = any > builder->max_scaled_any ? any : builder->max_scaled_any;
    }
    if (e.requant != OCTET_REQUANT_TFLITE) continue;
    const int32_t shift = shift_of(e, n) > 0 ? shift_of(e, n) : 0;
    builder->max_shift = shift > builder->max_shift ? shift : builder->max_shift;
    if (shift_of(e, n) < kLeastTfliteShift)
      builder->one_output &=
          packed.positive && builder->stretch == 1 &&
          gives_one_output(lo, hi, e.multipliers[e.multiplier_count == 1 ? 0 : n], shift_of(e, n));
    const int64_t one = (int64_t)1 << shift;
    if (!builder->outline && (hi * one > INT32_MAX || lo * one < INT32_MIN))
      return fail(
          builder->error, OCTET_BAD_SCALE,
          "desc.epilogue.shifts: %s %zu shifts left by %d, but its accumulator may reach %lld",
          builder->column_name, n, (int)shift, (long long)(hi * one > INT32_MAX ? hi : lo));
  }
  return OCTET_OK;
}

}  // namespace octet
