// SPDX-License-Identifier: Apache-2.0
// Describes the epilogue of a product or a convolution by a few fields: its arrays are drawn,
// applied slowly by the reference, and handed to a descriptor of the API.
#pragma once

#include <iosfwd>
#include <vector>

#include "octet/octet.h"
#include "support/draw.h"
#include "support/guarded.h"

namespace octet_test {

constexpr octet_type kNoResidual = octet_type(0);

// A converter's numbers for an output channel, and the sums of its positive and of its negative
// weights.
struct Channel {
  int32_t positive = 0, negative = 0, bias = 0;
  int32_t multiplier = 0, shift = 0;  // TFLite mode
  float scale = 0;                    // float mode
};
// `depth` weights with these sums; n varies their order.
std::vector<int32_t> weights_of(const Channel& channel, size_t depth, size_t n);

struct EpilogueCase {
  octet_type dst = OCTET_S32;
  bool bias = true, bias_s64 = false;  // bias_s64: in 64 bits, instead of 32
  bool per_channel = true;             // scales, multipliers, factors
  octet_requant requant = OCTET_REQUANT_FLOAT;
  octet_activation activation = OCTET_ACTIVATION_NONE;
  octet_type residual = kNoResidual;
  octet_activation product_activation = OCTET_ACTIVATION_NONE;  // before the residual
  bool residual_is_dst = false;
  bool lut = false;
  bool bias_f32 = false;
  // If not null: bias, scales and weights of the channels, repeated
  const std::vector<Channel>* channels = nullptr;
};

std::ostream& operator<<(std::ostream& out, const EpilogueCase& c);

bool is_8bit(octet_type type);
int32_t least(octet_type type);
int32_t most(octet_type type);
int32_t centre(octet_type type);  // the zero point of symmetric values
size_t element_bytes(octet_type type);
const char* name_of(octet_type type);

std::vector<int32_t> draw_integers(Random* random, size_t count, int32_t lo, int32_t hi);

// The arrays between guard pages, until create has copied them.
struct EpilogueArrays {
  Guarded bias, bias_s64, scales, multipliers, shifts, factors, bias_f32, lut;
};

class Epilogue {
 public:
  Epilogue() = default;
  // base_scale brings the accumulators into dst's range. Channels differ from it: some saturate,
  // some stay near zero.
  Epilogue(const EpilogueCase& c, size_t channels, double base_scale, Random* random);

  int64_t bias(size_t n) const { return !c_.bias ? 0 : c_.bias_s64 ? bias_s64_[n] : bias_[n]; }
  // The bits of one output. lhs_scale: null if it is part of the scales.
  uint32_t expected_output(size_t n, const float* lhs_scale, int64_t acc, int32_t residual) const;

  template <typename Desc>  // octet_gemm_desc, octet_conv2d_desc
  EpilogueArrays describe(Side side, Desc* d) const;

 private:
  EpilogueArrays describe(Side side, octet_epilogue* e) const;
  void fill(octet_epilogue* e) const;  // with pointers into this object
  octet_residual residual() const;

  EpilogueCase c_;
  std::vector<int32_t> bias_, multipliers_, shifts_;
  std::vector<int64_t> bias_s64_;
  std::vector<float> scales_, bias_f32_;
  std::vector<double> factors_;
  std::vector<uint8_t> lut_;
};

int32_t dst_zero_point(octet_type dst);
constexpr float kDstScale = 0.05f, kProductScale = 0.08f;

template <typename Desc>
EpilogueArrays Epilogue::describe(Side side, Desc* d) const {
  d->dst_type = c_.dst;
  return describe(side, &d->epilogue);
}

}  // namespace octet_test
