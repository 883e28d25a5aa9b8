// SPDX-License-Identifier: Apache-2.0
// Draws, applies and prints an epilogue.
#include "support/epilogue_case.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "support/reference.h"

namespace octet_test {
namespace {

constexpr int32_t kResidualZeroPoint = 5, kIntermediateZeroPoint = -3;
constexpr float kResidualScale = 0.7f;
// TFLite's ADD: both inputs at about half of the common scale, the sum back from 2^20.
constexpr TfliteAdd kAdd = {
    kIntermediateZeroPoint, 1932735283, -1, kResidualZeroPoint, 1503238553, -1, 1288490189, -18};

int32_t intermediate_zero_point(octet_type dst) {
  return dst == OCTET_U8 ? -kIntermediateZeroPoint : kIntermediateZeroPoint;
}

}  // namespace

bool is_8bit(octet_type type) { return type == OCTET_S8 || type == OCTET_U8; }
int32_t least(octet_type type) {
  return type == OCTET_S16 ? -32768 : type == OCTET_S8 ? -128 : type == OCTET_S4 ? -8 : 0;
}
int32_t most(octet_type type) {
  return type == OCTET_S16  ? 32767
         : type == OCTET_U8 ? 255
         : type == OCTET_U4 ? 15
         : type == OCTET_S4 ? 7
                            : 127;
}
int32_t centre(octet_type type) { return type == OCTET_U8 ? 128 : type == OCTET_U4 ? 8 : 0; }
size_t element_bytes(octet_type type) { return is_8bit(type) ? 1 : type == OCTET_S16 ? 2 : 4; }

const char* name_of(octet_type type) {
  switch (type) {
    case OCTET_S8: return "s8";
    case OCTET_U8: return "u8";
    case OCTET_S32: return "s32";
    case OCTET_F32: return "f32";
    case OCTET_S4: return "s4";
    case OCTET_U4: return "u4";
    case OCTET_F16: return "f16";
    case OCTET_S16: return "s16";
  }
  return "none";
}

int32_t dst_zero_point(octet_type dst) { return dst == OCTET_U8 ? 3 : dst == OCTET_S8 ? -10 : 0; }

std::ostream& operator<<(std::ostream& out, const EpilogueCase& c) {
  out << "->" << name_of(c.dst);
  if (!c.bias) out << ", no bias";
  if (c.bias_s64) out << ", bias_s64";
  if (c.requant == OCTET_REQUANT_TFLITE) out << ", tflite";
  if (c.requant == OCTET_REQUANT_DOUBLE) out << ", double";
  if (!c.per_channel) out << ", per tensor";
  if (c.activation) out << ", activation " << c.activation;
  if (c.residual)
    out << ", residual " << name_of(c.residual) << (c.residual_is_dst ? " = dst" : "");
  if (c.product_activation) out << ", activation of the product " << c.product_activation;
  if (c.lut) out << ", lut";
  if (c.bias_f32) out << ", bias_f32";
  if (c.channels) out << ", given channels";
  return out;
}

std::vector<int32_t> draw_integers(Random* random, size_t count, int32_t lo, int32_t hi) {
  std::vector<int32_t> out(count);
  const uint64_t values = (uint64_t)((int64_t)hi - lo) + 1;
  for (int32_t& one : out) one = (int32_t)(lo + (int64_t)((*random)() * values >> 32));
  return out;
}

std::vector<int32_t> weights_of(const Channel& channel, size_t depth, size_t n) {
  std::vector<int32_t> weights(depth);
  for (const int32_t sign : {1, -1}) {
    int32_t rest = sign > 0 ? channel.positive : -channel.negative;
    auto places = (int32_t)((depth + (sign > 0)) / 2);
    for (size_t k = sign > 0 ? 0 : 1; k < depth; k += 2, --places) {
      const int32_t weight = std::min(127, (rest + places - 1) / places);
      weights[(k + n) % depth] = sign * weight;
      rest -= weight;
    }
  }
  return weights;
}

Epilogue::Epilogue(const EpilogueCase& c, size_t channels, double base_scale, Random* random)
    : c_(c) {
  for (size_t n = 0; c.channels && n < channels; ++n) {
    const Channel& channel = (*c.channels)[n % c.channels->size()];
    bias_.push_back(channel.bias);
    scales_.push_back(channel.scale);
    multipliers_.push_back(channel.multiplier);
    shifts_.push_back(channel.shift);
    factors_.push_back(channel.multiplier ? std::ldexp(channel.multiplier, channel.shift - 31)
                       : channel.scale    ? (double)channel.scale
                                          : 1e-30);
  }
  if (c.bias && !c.channels) bias_ = draw_integers(random, channels, -100000, 100000);
  for (size_t n = 0; c.bias_s64 && n < bias_.size(); ++n) {
    const int64_t factors[] = {8, 1 << 14, 1 << 30};
    bias_s64_.push_back(bias_[n] * factors[n % 3]);
  }
  if (c.dst != OCTET_S32 && !c.channels) {
    for (size_t n = 0; n < (c.per_channel ? channels : 1); ++n) {
      const double factors[] = {base_scale, base_scale / 4, 5.0, base_scale / 100, base_scale * 3};
      int32_t multiplier, shift;
      quantize_multiplier(factors[n % 5], &multiplier, &shift);
      scales_.push_back(fl(factors[n % 5]));
      multipliers_.push_back(multiplier);
      shifts_.push_back(shift);
      factors_.push_back(factors[n % 5]);
    }
  }
  if (c.bias_f32)
    for (size_t n = 0; n < channels; ++n) bias_f32_.push_back((float)(n % 11) * 0.37f - 1.5f);
  if (c.lut)
    for (uint32_t i = 0; i < 256; ++i) lut_.push_back((uint8_t)(i * 167 + 13));
}

void Epilogue::fill(octet_epilogue* e) const {
  e->requant = c_.requant;
  if (c_.bias && !c_.bias_s64) e->bias = bias_.data();
  if (c_.bias && c_.bias_s64) e->bias_s64 = bias_s64_.data();
  if (c_.dst != OCTET_S32 && c_.requant == OCTET_REQUANT_FLOAT) {
    e->scales = scales_.data();
    e->scale_count = scales_.size();
  }
  if (c_.requant == OCTET_REQUANT_TFLITE) {
    e->multipliers = multipliers_.data();
    e->shifts = shifts_.data();
    e->multiplier_count = multipliers_.size();
  }
  if (c_.requant == OCTET_REQUANT_DOUBLE) {
    e->factors = factors_.data();
    e->factor_count = factors_.size();
  }
  if (c_.bias_f32) e->bias_f32 = bias_f32_.data();
  e->dst_zero_point = dst_zero_point(c_.dst);
  e->activation = c_.activation;
  if (c_.activation == OCTET_ACTIVATION_CLAMP) {
    e->clamp_min = c_.dst == OCTET_F32 ? -0.5f : (float)(e->dst_zero_point + 1);
    e->clamp_max = c_.dst == OCTET_F32 ? 1.25f : (float)(e->dst_zero_point + 37);
  }
  e->dst_scale = kDstScale;
  if (c_.residual) {
    e->residual = residual();
    const bool tflite = c_.requant == OCTET_REQUANT_TFLITE;
    const float zero_point = (float)e->residual.intermediate_zero_point;
    e->product_activation = c_.product_activation;
    e->product_clamp_min = tflite ? zero_point + 1 : -7.25f;
    e->product_clamp_max = tflite ? zero_point + 37 : 21.4f;
    e->product_scale = kProductScale;
  }
  if (c_.lut) e->lut = lut_.data();
}

EpilogueArrays Epilogue::describe(Side side, octet_epilogue* e) const {
  EpilogueArrays a = {Guarded(bias_, side),     Guarded(bias_s64_, side),
                      Guarded(scales_, side),   Guarded(multipliers_, side),
                      Guarded(shifts_, side),   Guarded(factors_, side),
                      Guarded(bias_f32_, side), Guarded(lut_, side)};
  fill(e);
  if (e->bias) e->bias = a.bias.data<int32_t>();
  if (e->bias_s64) e->bias_s64 = a.bias_s64.data<int64_t>();
  if (e->scales) e->scales = a.scales.data<float>();
  if (e->multipliers) e->multipliers = a.multipliers.data<int32_t>();
  if (e->shifts) e->shifts = a.shifts.data<int32_t>();
  if (e->factors) e->factors = a.factors.data<double>();
  if (e->bias_f32) e->bias_f32 = a.bias_f32.data<float>();
  if (e->lut) e->lut = a.lut.data();
  return a;
}

octet_residual Epilogue::residual() const {
  return {c_.residual,
          kResidualZeroPoint,
          kResidualScale,
          intermediate_zero_point(c_.dst),
          kAdd.product_multiplier,
          kAdd.product_shift,
          kAdd.residual_multiplier,
          kAdd.residual_shift,
          kAdd.dst_multiplier,
          kAdd.dst_shift};
}

uint32_t Epilogue::expected_output(size_t n, const float* lhs_scale, int64_t acc,
                                   int32_t residual) const {
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  d.dst_type = c_.dst;
  fill(&d.epilogue);
  return octet_test::expected_output(d, n, lhs_scale, acc, residual);
}

}  // namespace octet_test
