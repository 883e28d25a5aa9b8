// SPDX-License-Identifier: Apache-2.0
// Describes the operands of products and convolutions: types, fillings, scales and biases.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/machine/api.h"
#include "bench/machine/buffer.h"
#include "bench/problems/contract.h"

namespace tool {

struct OperandTypes {
  octet_type lhs, rhs, dst;
  std::string name() const;  // "u8s8s32"
};
OperandTypes parse_types(const std::string& text);  // "u8s8s32"

// The values of an operand's type. Operands have a byte each, weights of 4 bits, too.
struct Range {
  int32_t least, most;
};
constexpr bool is_4bit(octet_type type) { return type == OCTET_S4 || type == OCTET_U4; }
constexpr Range range_of(octet_type type) {
  return type == OCTET_U8   ? Range{0, 255}
         : type == OCTET_U4 ? Range{0, 15}
         : type == OCTET_S4 ? Range{-8, 7}
                            : Range{-128, 127};
}
// Two in a byte, as the library takes weights of 4 bits.
Buffer nibbles_of(const Buffer& bytes);

// xorshift64*: fast and the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  uint64_t next();
  int32_t between(int32_t lo, int32_t hi);
  int32_t zero_point(octet_type type);  // any value of the type

 private:
  uint64_t state_;
};

// The values that operands are filled with.
enum class Fill { kRandom, kLeast, kMost, kExtremes, kNoInt8Min };
constexpr Fill kFills[] = {Fill::kRandom, Fill::kLeast, Fill::kMost, Fill::kExtremes,
                           Fill::kNoInt8Min};
const char* fill_name(Fill fill);
void fill(Buffer* buffer, octet_type type, Fill how, uint64_t seed);
void fill_s16(Buffer* buffer, Fill how, uint64_t seed);  // OCTET_S16

// The conversion of accumulators to 8 bits.
enum class Requant { kFloat, kTflite, kDouble };
const char* requant_name(Requant requant);
Requant parse_requant(const std::string& text);
std::optional<octet_rhs_order> parse_order(const std::string& text);  // "kn", "nk"; "": none

// The distribution of a bench's operands: uniform bytes; like quantized layers'; or a model's own,
// but for the activations.
enum class Likeness { kUniform, kReal, kModel };
const char* likeness_name(Likeness likeness);
Likeness parse_likeness(const std::string& text);

// The operands that a bench draws.
struct Operands {
  Likeness likeness = Likeness::kUniform;
  Requant requant = Requant::kFloat;
  std::optional<int32_t> rhs_zero_point = {};  // all weights' zero point
  bool residual = false, table = false;        // the steps after the product; for outputs of 8 bits
                                               // only
  bool sparse = false;                         // weights are made 2:4
  // Products only: weights come with each run, unpacked, in this order
  std::optional<octet_rhs_order> run_time = {};
  size_t scale_block = 0;  // weights of 4 bits, for f32 outputs: octet_rhs_desc.scale_block
  int32_t lhs_zero_point = 0;

  // Real u8 weights have a zero point.
  std::optional<int32_t> zero_point_of(octet_type rhs) const;
};

// Activations, calibrated to four standard deviations from the zero point: u8 of zero point 0 as
// after a ReLU, half of them 0; s8 of zero point 0 on both sides of it, never -128.
void fill_activations(Buffer* buffer, octet_type type, int32_t zero_point, uint64_t seed);

// The place of a channel's weights.
struct Channels {
  size_t count, depth, channel_step, depth_step;
};
// Draws weights, Gaussian around the zero point, scaled so that the largest of each channel is 127
// away from it: no s8 weight of zero point 0 is -128.
void fill_weights(Buffer* buffer, octet_type type, const Channels& channels, int32_t zero_point,
                  uint64_t seed);

// One channel in 16 is dead, as in layers of 8-bit outputs that converters write: all its weights
// are the zero point, and its bias, near 2^30 or minus that, times a tiny scale is its only output.
// Every other dead channel has a scale so small that TFLite's multiplier is 0.
void make_dead(const Channels& channels, int32_t zero_point, Buffer* weights,
               std::vector<int32_t>* bias, std::vector<float>* scales);

// An epilogue's activation, and the bounds of its outputs if it is no ReLU.
struct Activation {
  octet_activation kind = OCTET_ACTIVATION_NONE;
  float clamp_min = 0, clamp_max = 0, dst_scale = 0;
  float least = -INFINITY, most = INFINITY;

  bool relu() const { return kind == OCTET_ACTIVATION_RELU; }
  void set(octet_epilogue* epilogue) const;
  OutputStage stage(octet_type dst, int32_t zero_point) const {
    return {dst, zero_point, relu(), least, most};
  }
};
// An activation of 8-bit outputs, with TFLite's bounds.
Activation activation_of(const octet_epilogue& epilogue);

// Keeps two random weights of every four along depth, counted from multiples of `run`; the others
// become the zero point.
void make_sparse(Buffer* buffer, const Channels& channels, size_t run, int32_t zero_point,
                 uint64_t seed);

// The typical size of an lhs byte times that of a weight, less their zero points.
constexpr double kUniformProduct = 147 * 73;
double typical_product(const Buffer& lhs, octet_type lhs_type, int32_t lhs_zero_point,
                       const Buffer& rhs, octet_type rhs_type, int32_t rhs_zero_point);

// A scale per output channel. They spread the outputs of random operands of depth k over the 8-bit
// range, differently per channel.
std::vector<float> spread_scales(size_t channels, size_t k, double product = kUniformProduct);
// The same factors as TFLite's multipliers and shifts, or in double; none of them for float mode.
struct TfliteScales {
  std::vector<int32_t> multipliers, shifts;
  std::vector<double> factors = {};
  Requant requant() const {
    if (!factors.empty()) return Requant::kDouble;
    return multipliers.empty() ? Requant::kFloat : Requant::kTflite;
  }
};
// The zero point of column n: one for all columns, or one for each; none: 0.
template <typename Number>
Number of_column(const std::vector<Number>& all, size_t n) {
  return all.empty() ? Number{} : all[all.size() == 1 ? 0 : n];
}
// The factor that the contract multiplies column n by.
Factor factor_of(const std::vector<float>& scales, const TfliteScales& tflite, size_t n);
TfliteScales tflite_scales(const std::vector<float>& scales, Requant requant);
// tflite: null forces float mode
void set_scales(const std::vector<float>& scales, const TfliteScales* tflite,
                octet_epilogue* epilogue);
std::vector<int32_t> spread_bias(size_t channels, size_t k, double product = kUniformProduct);
// The zero point; throws, with the option's name, if the type lacks it. That of s16 is always 0.
int32_t checked_zero_point(const char* option, int32_t zero_point, octet_type type);
// Zero points of the channels: the same for all, or none. Throws if the type lacks the value.
std::vector<int32_t> zero_points(std::optional<int32_t> zero_point, octet_type type,
                                 size_t channels);
// The zero point of symmetric weights; static.
const int32_t* centre(octet_type type);

// Element i of an 8-bit operand.
inline int32_t byte_at(const Buffer& buffer, octet_type type, size_t i) {
  return range_of(type).least ? (int32_t)buffer.as<int8_t>()[i] : buffer.as()[i];
}

}  // namespace tool
