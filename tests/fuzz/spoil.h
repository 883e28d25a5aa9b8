// SPDX-License-Identifier: Apache-2.0
// Makes valid descriptors and arguments invalid, by tables of rules, each of which makes one thing
// wrong.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "dispatch/tables/tiers.h"
#include "fuzz/data.h"
#include "fuzz/fuzz.h"
#include "fuzz/memory.h"

namespace octet_fuzz {

template <typename Spoiler>
struct Rule {
  const char* what;           // the error that it makes
  bool (*apply)(Spoiler& s);  // false: does not apply to this case
};

// Applies one of the rules. Returns the error that it made, or null.
template <typename Spoiler, size_t count>
const char* apply_one(const Rule<Spoiler> (&rules)[count], Spoiler& s) {
  const Rule<Spoiler>& rule = rules[s.c->below(count)];
  return rule.apply(s) ? rule.what : nullptr;
}

struct SpoilerBase {
  Choices* c;
  Scratch* scratch;

  template <typename Field, typename Value>
  static bool set(Field* field, Value value) {
    *field = (Field)value;
    return true;
  }
  // `beyond` is the first value above the enumeration.
  template <typename Enum>
  bool set_enum(Enum* field, int beyond) {
    return set(field, c->any({-1, beyond, std::numeric_limits<int>::max(),
                              std::numeric_limits<int>::min()}));
  }
  // Too small, no multiple of an alignment, or too large; other sizes may be right.
  bool wrong_size(size_t* struct_size) {
    return set(struct_size, c->any<size_t>({c->below(sizeof(void*) * 2), *struct_size - 1,
                                            *struct_size + 1, 4096 + sizeof(void*), SIZE_MAX - 7}));
  }
  bool wrong_scale(float* scale) {
    const float infinity = std::numeric_limits<float>::infinity();
    return set(scale, c->any({0.0f, -0.0f, -1.0f, infinity, -infinity, std::nanf(""),
                              std::nextafter(0x1p48f, infinity)}));
  }
  bool wrong_zero_point(int32_t* zero_point, octet_type type) {
    const bool word = type == OCTET_S16;  // 0 only
    return set(zero_point, c->any({word ? -1 : least(type) - 1, word ? 1 : most(type) + 1,
                                   INT32_MAX, INT32_MIN}));
  }
  bool wrong_multiplier(int32_t* multiplier) {
    return set(multiplier, c->any({1, (1 << 30) - 1, -1, INT32_MIN}));
  }

  bool wrong_machine(const octet_machine** machine) {
    octet_machine* const m = copy(machine, 1);
    if (!m) return false;
    const size_t no_cache = c->any<size_t>({1, 4095, (size_t{1} << 31) + 1, SIZE_MAX});
    switch (c->below(5)) {
      case 0:
        return set(&m->l2_bytes, c->one_in(2) ? 0 : no_cache);
      case 1:
        return set(&m->l3_bytes, no_cache);
      case 2:
        return set_enum(&m->in_order, 2);
      case 3:
        return set_enum(&m->design, OCTET_DESIGN_NEOVERSE_V2 + 1);
      default:
        return wrong_size(&m->struct_size);
    }
  }

  // A copy of an array, and one of its elements to spoil.
  template <typename T>
  T* copy(const T** array, size_t count) {
    if (!*array || !count) return nullptr;
    scratch->emplace_back(c, std::vector<T>(*array, *array + count));
    T* const values = scratch->back().template data<T>();
    *array = values;
    return values + c->below(count);
  }
};

// The fields that octet_gemm_desc and octet_conv2d_desc share, and the epilogue.
template <typename Desc>
struct DescSpoiler : SpoilerBase {
  Desc* d;
  octet_epilogue* e = &d->epilogue;
  bool is_8bit_dst() const { return is_8bit(d->dst_type); }
  bool s16() const { return d->lhs_type == OCTET_S16; }
  bool is_requantized() const { return is_8bit_dst() || d->dst_type == OCTET_S16; }
  octet_type multiplied_lhs() const { return multiplied_lhs(*d); }
  bool tflite() const { return e->requant == OCTET_REQUANT_TFLITE; }
  bool in_double() const { return e->requant == OCTET_REQUANT_DOUBLE; }

 private:
  static octet_type multiplied_lhs(const octet_gemm_desc& d) { return d.lhs_type; }
  static octet_type multiplied_lhs(const octet_conv2d_desc& d) {
    return d.lhs_type == OCTET_F32 ? d.lhs_quantized_type : d.lhs_type;
  }
};

constexpr float kOne = 1;
constexpr int32_t kNothing = 0;
constexpr int64_t kLong = 0;
constexpr uint8_t kTable[256] = {};

// The best tier of another architecture.
inline octet_isa foreign_tier() {
  const octet::TierMask native = octet::tiers_of_this_architecture();
  size_t i = 0;
  while (has(native, *octet::nth_tier(i))) ++i;
  return (octet_isa)octet::nth_tier(i)->tier_id;
}

template <typename Desc, typename S = DescSpoiler<Desc>>
constexpr Rule<S> kDescRules[] = {
    {"a wrong struct_size", [](S& s) { return s.wrong_size(&s.d->struct_size); }},
    {"an unknown lhs_type", [](S& s) { return s.set_enum(&s.d->lhs_type, 5); }},
    {"an s32 lhs", [](S& s) { return s.set(&s.d->lhs_type, OCTET_S32); }},
    {"an unknown rhs_type", [](S& s) { return s.set_enum(&s.d->rhs_type, 3); }},
    {"an unknown dst_type", [](S& s) { return s.set_enum(&s.d->dst_type, 5); }},
    {"an unknown lhs_quant", [](S& s) { return s.set_enum(&s.d->lhs_quant, 5); }},
    {"an unknown requant", [](S& s) { return s.set_enum(&s.e->requant, 3); }},
    {"an unknown activation", [](S& s) { return s.set_enum(&s.e->activation, 5); }},
    {"an unknown product_activation", [](S& s) { return s.set_enum(&s.e->product_activation, 5); }},
    {"an unknown residual.type", [](S& s) { return s.set_enum(&s.e->residual.type, 3); }},
    {"an unknown max_isa", [](S& s) { return s.set_enum(&s.d->max_isa, 31); }},
    {"a max_isa of another architecture",
     [](S& s) { return s.set(&s.d->max_isa, foreign_tier()); }},
    {"an unknown kernel",
     [](S& s) {
       return s.set(&s.d->kernel, s.c->any({"", "%s%n", "avx2", "scalar_u8s8_4x4x4 "}));
     }},
    {"a reserved field in use",
     [](S& s) {
       return s.set(&s.d->reserved[s.c->below(std::size(s.d->reserved))],
                    uintptr_t{1} << s.c->below(32));
     }},
    {"a wrong machine", [](S& s) { return s.wrong_machine(&s.d->machine); }},
    {"half an allocator", [](S& s) { return s.set(&s.d->allocator.release, nullptr); }},

    {"a wrong lhs_zero_point",
     [](S& s) {
       return s.d->lhs_quant == OCTET_LHS_STATIC &&
              s.wrong_zero_point(&s.d->lhs_zero_point, s.multiplied_lhs());
     }},
    {"an lhs_zero_point beside those of the run",
     [](S& s) { return s.d->lhs_quant != OCTET_LHS_STATIC && s.set(&s.d->lhs_zero_point, 1); }},
    {"a wrong dst_zero_point",
     [](S& s) {
       return s.is_8bit_dst() ? s.wrong_zero_point(&s.e->dst_zero_point, s.d->dst_type)
                              : s.set(&s.e->dst_zero_point, 1);
     }},

    {"misaligned weights",
     [](S& s) {
       return s.d->packed && s.set(&s.d->packed, (const uint8_t*)s.d->packed + 1 + s.c->below(63));
     }},
    {"weights that end too early",
     [](S& s) { return s.d->packed && s.set(&s.d->packed_bytes, s.c->below(s.d->packed_bytes)); }},
    {"no weights, but their size",
     [](S& s) { return s.d->packed && s.set(&s.d->packed, nullptr); }},

    {"a null in place of scales", [](S& s) { return s.e->scales && s.set(&s.e->scales, nullptr); }},
    {"a wrong scale",
     [](S& s) {
       float* const scale = s.copy(&s.e->scales, s.e->scale_count);
       return scale && s.wrong_scale(scale);
     }},
    {"a wrong scale_count",
     [](S& s) {
       return s.set(&s.e->scale_count, s.e->scale_count == 1 ? 0 : s.e->scale_count + 1);
     }},
    {"scales without a use",
     [](S& s) {
       return (s.d->dst_type == OCTET_S32 || s.e->requant != OCTET_REQUANT_FLOAT) &&
              s.set(&s.e->scales, &kOne) && s.set(&s.e->scale_count, 1);
     }},
    {"a null in place of multipliers",
     [](S& s) { return s.tflite() && s.set(&s.e->multipliers, nullptr); }},
    {"a null in place of shifts", [](S& s) { return s.tflite() && s.set(&s.e->shifts, nullptr); }},
    {"a wrong multiplier",
     [](S& s) {
       int32_t* const multiplier = s.copy(&s.e->multipliers, s.e->multiplier_count);
       return multiplier && s.wrong_multiplier(multiplier);
     }},
    {"a wrong shift",
     [](S& s) {
       int32_t* const shift = s.copy(&s.e->shifts, s.e->multiplier_count);
       return shift && s.set(shift, s.c->any({-32, 31, INT32_MAX, INT32_MIN}));
     }},
    {"a wrong multiplier_count",
     [](S& s) { return s.set(&s.e->multiplier_count, s.tflite() ? 0 : 1); }},
    {"a null in place of factors",
     [](S& s) { return s.in_double() && s.set(&s.e->factors, nullptr); }},
    {"a wrong factor",
     [](S& s) {
       double* const factor = s.copy(&s.e->factors, s.e->factor_count);
       return factor && s.set(factor, s.c->any({0.0, -1.0, std::nan(""), HUGE_VAL, 0x1.01p48}));
     }},
    {"a wrong factor_count", [](S& s) { return s.set(&s.e->factor_count, s.in_double() ? 0 : 1); }},
    {"a residual of double mode",
     [](S& s) { return s.in_double() && s.set(&s.e->residual.type, OCTET_S8); }},
    {"TFLite's arithmetic for scales of the run",
     [](S& s) {
       return s.is_8bit_dst() && s.d->lhs_quant != OCTET_LHS_STATIC &&
              s.set(&s.e->requant, OCTET_REQUANT_TFLITE) && s.set(&s.e->scales, nullptr) &&
              s.set(&s.e->scale_count, 0) && s.set(&s.e->multipliers, &kNothing) &&
              s.set(&s.e->shifts, &kNothing) && s.set(&s.e->multiplier_count, 1);
     }},
    {"TFLite's arithmetic for another output",
     [](S& s) { return !s.is_requantized() && s.set(&s.e->requant, OCTET_REQUANT_TFLITE); }},
    {"bias_f32 for an integer output",
     [](S& s) { return s.d->dst_type != OCTET_F32 && s.set(&s.e->bias_f32, &kOne); }},
    {"a bias of 64 bits for an lhs of 8",
     [](S& s) { return !s.s16() && s.set(&s.e->bias_s64, &kLong); }},
    {"an output of 16 bits for an lhs of 8",
     [](S& s) { return !s.s16() && s.set(&s.d->dst_type, OCTET_S16); }},
    {"an lhs of 16 bits for another output",
     [](S& s) {
       return !s.s16() && s.d->dst_type != OCTET_F32 && s.set(&s.d->lhs_type, OCTET_S16);
     }},
    {"another output of s16 values",
     [](S& s) {
       return s.s16() && s.set(&s.d->dst_type, s.c->any({OCTET_S8, OCTET_U8, OCTET_S32}));
     }},
    {"two biases of s16 values",
     [](S& s) { return s.s16() && s.set(&s.e->bias, &kNothing) && s.set(&s.e->bias_s64, &kLong); }},
    {"s16 values whose scale comes with the run",
     [](S& s) {
       return s.s16() && s.set(&s.d->lhs_quant, s.c->any({OCTET_LHS_PER_TENSOR, OCTET_LHS_SYMMETRIC,
                                                          OCTET_LHS_ASYMMETRIC}));
     }},
    {"a table for another output",
     [](S& s) { return !s.is_8bit_dst() && s.set(&s.e->lut, kTable); }},
    {"an activation of accumulators",
     [](S& s) {
       return s.d->dst_type == OCTET_S32 && s.set(&s.e->activation, OCTET_ACTIVATION_RELU);
     }},
    {"a clamp that is not an interval",
     [](S& s) {
       const float nan = std::nanf("");
       return s.d->dst_type != OCTET_S32 && s.set(&s.e->activation, OCTET_ACTIVATION_CLAMP) &&
              s.set(&s.e->clamp_min, s.c->any({3.0f, nan, 2.0f})) &&
              s.set(&s.e->clamp_max, s.c->any({1.0f, 0.0f, nan}));
     }},
    {"a clamp without bounds",
     [](S& s) {
       return s.d->dst_type != OCTET_S32 && s.set(&s.e->activation, OCTET_ACTIVATION_CLAMP) &&
              s.set(&s.e->clamp_min, s.c->any({0.0f, -0.0f})) && s.set(&s.e->clamp_max, 0);
     }},
    {"a clamp outside the output's type, or not of integers",
     [](S& s) {
       return s.is_requantized() && s.set(&s.e->activation, OCTET_ACTIVATION_CLAMP) &&
              s.set(&s.e->clamp_min, 1) &&
              s.set(&s.e->clamp_max, s.c->any({(float)most(s.d->dst_type) + 1, 2.5f, 3e38f}));
     }},
    {"a wrong dst_scale",
     [](S& s) {
       return s.is_requantized() &&
              s.set(&s.e->activation,
                    s.c->any({OCTET_ACTIVATION_RELU6, OCTET_ACTIVATION_RELU_N1_TO_1})) &&
              s.wrong_scale(&s.e->dst_scale);
     }},
    {"a residual for another output",
     [](S& s) { return !s.is_8bit_dst() && s.set(&s.e->residual.type, OCTET_S8); }},
    {"an activation of the product without a residual",
     [](S& s) {
       return !s.e->residual.type && s.set(&s.e->product_activation, OCTET_ACTIVATION_RELU);
     }},
    {"a clamp of the product that is not an interval",
     [](S& s) {
       return s.e->residual.type && s.set(&s.e->product_activation, OCTET_ACTIVATION_CLAMP) &&
              s.set(&s.e->product_clamp_min, s.c->any({3.0f, std::nanf(""), 2.0f})) &&
              s.set(&s.e->product_clamp_max, s.c->any({1.0f, 0.0f}));
     }},
    {"a clamp of the product outside the intermediate's type, or not of integers",
     [](S& s) {
       return s.e->residual.type && s.tflite() &&
              s.set(&s.e->product_activation, OCTET_ACTIVATION_CLAMP) &&
              s.set(&s.e->product_clamp_min, 1) &&
              s.set(&s.e->product_clamp_max,
                    s.c->any({(float)most(s.d->dst_type) + 1, 2.5f, 3e38f}));
     }},
    {"a wrong product_scale",
     [](S& s) {
       return s.e->residual.type && s.tflite() &&
              s.set(&s.e->product_activation, OCTET_ACTIVATION_RELU6) &&
              s.wrong_scale(&s.e->product_scale);
     }},
    {"a residual whose type is missing",
     [](S& s) {
       octet_residual& r = s.e->residual;
       return !r.type && s.set(s.c->any({&r.zero_point, &r.intermediate_zero_point,
                                         &r.product_multiplier, &r.dst_shift}),
                               s.c->any({1, -32, INT32_MIN}));
     }},
    {"a wrong residual.zero_point",
     [](S& s) {
       return s.e->residual.type &&
              s.wrong_zero_point(&s.e->residual.zero_point, s.e->residual.type);
     }},
    {"a wrong residual.scale",
     [](S& s) { return s.e->residual.type && !s.tflite() && s.wrong_scale(&s.e->residual.scale); }},
    {"a wrong multiplier of the residual",
     [](S& s) {
       octet_residual& r = s.e->residual;
       return r.type && s.tflite() &&
              s.wrong_multiplier(
                  s.c->any({&r.product_multiplier, &r.residual_multiplier, &r.dst_multiplier}));
     }},
    {"a wrong shift of the residual",
     [](S& s) {
       octet_residual& r = s.e->residual;
       return r.type && s.tflite() &&
              s.set(s.c->any({&r.product_shift, &r.residual_shift, &r.dst_shift}),
                    s.c->any({1, -32, INT32_MIN}));
     }},
    {"a wrong intermediate_zero_point",
     [](S& s) {
       return s.e->residual.type && s.tflite() &&
              s.wrong_zero_point(&s.e->residual.intermediate_zero_point, s.d->dst_type);
     }},
};

}  // namespace octet_fuzz
