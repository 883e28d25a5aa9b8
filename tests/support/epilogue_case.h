// What follows the accumulators of a product or a convolution: described by a few fields, its
// arrays drawn, applied slowly by the reference, and handed to a descriptor of the API.
// octet_gemm_desc and octet_conv2d_desc have the same fields for it.
#pragma once

#include <iosfwd>
#include <random>
#include <vector>

#include "octet/octet.h"
#include "support/guarded.h"

namespace octet_test {

constexpr octet_type kNoResidual = octet_type(0);

struct EpilogueCase {
  octet_type dst = OCTET_S32;
  bool bias = true;
  bool per_channel = true;  // scales, multipliers
  octet_requant requant = OCTET_REQUANT_FLOAT;
  octet_activation activation = OCTET_ACTIVATION_NONE;
  octet_type residual = kNoResidual;
  bool residual_is_dst = false;
  bool lut = false;
  bool bias_f32 = false;
};

std::ostream& operator<<(std::ostream& out, const EpilogueCase& c);

bool is_8bit(octet_type type);
int32_t least(octet_type type);
int32_t most(octet_type type);
size_t element_bytes(octet_type type);
const char* name_of(octet_type type);

using Random = std::mt19937;
std::vector<int32_t> draw_integers(Random* random, size_t count, int32_t lo, int32_t hi);

// The arrays between guard pages, for the time that create copies them.
struct EpilogueArrays {
  Guarded bias, scales, multipliers, shifts, bias_f32, lut;
};

class Epilogue {
 public:
  Epilogue() = default;
  // base_scale brings the accumulators into dst's range. Channels differ from it: some saturate,
  // some hardly leave zero.
  Epilogue(const EpilogueCase& c, size_t channels, double base_scale, Random* random);

  int32_t bias(size_t n) const { return c_.bias ? bias_[n] : 0; }
  // The bits of one output. lhs_scale: null if it is part of the scales.
  uint32_t finish(size_t n, const float* lhs_scale, int64_t acc, int32_t residual) const;

  template <typename Desc>
  EpilogueArrays describe(Side side, Desc* d) const;

 private:
  template <typename Desc>
  void fill(Desc* d) const;  // with pointers into this
  octet_residual residual() const;

  EpilogueCase c_;
  std::vector<int32_t> bias_, multipliers_, shifts_;
  std::vector<float> scales_, bias_f32_;
  std::vector<uint8_t> lut_;
};

int32_t dst_zero_point(octet_type dst);
constexpr float kDstScale = 0.05f;

template <typename Desc>
void Epilogue::fill(Desc* d) const {
  d->dst_type = c_.dst;
  d->requant = c_.requant;
  if (c_.bias) d->bias = bias_.data();
  if (c_.dst != OCTET_S32 && c_.requant == OCTET_REQUANT_FLOAT) {
    d->scales = scales_.data();
    d->scale_count = scales_.size();
  }
  if (c_.requant == OCTET_REQUANT_TFLITE) {
    d->multipliers = multipliers_.data();
    d->shifts = shifts_.data();
    d->multiplier_count = multipliers_.size();
  }
  if (c_.bias_f32) d->bias_f32 = bias_f32_.data();
  d->dst_zero_point = dst_zero_point(c_.dst);
  d->activation = c_.activation;
  if (c_.activation == OCTET_ACTIVATION_CLAMP) {
    d->clamp_min = c_.dst == OCTET_F32 ? -0.5f : static_cast<float>(d->dst_zero_point + 1);
    d->clamp_max = c_.dst == OCTET_F32 ? 1.25f : static_cast<float>(d->dst_zero_point + 37);
  }
  d->dst_scale = kDstScale;
  if (c_.residual) d->residual = residual();
  if (c_.lut) d->lut = lut_.data();
}

template <typename Desc>
EpilogueArrays Epilogue::describe(Side side, Desc* d) const {
  EpilogueArrays a = {Guarded(bias_, side),   Guarded(scales_, side),   Guarded(multipliers_, side),
                      Guarded(shifts_, side), Guarded(bias_f32_, side), Guarded(lut_, side)};
  fill(d);
  if (d->bias) d->bias = a.bias.template data<int32_t>();
  if (d->scales) d->scales = a.scales.template data<float>();
  if (d->multipliers) d->multipliers = a.multipliers.template data<int32_t>();
  if (d->shifts) d->shifts = a.shifts.template data<int32_t>();
  if (d->bias_f32) d->bias_f32 = a.bias_f32.template data<float>();
  if (d->lut) d->lut = a.lut.data();
  return a;
}

}  // namespace octet_test
