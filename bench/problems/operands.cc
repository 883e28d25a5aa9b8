// SPDX-License-Identifier: Apache-2.0
// Draws values by each kind of filling.
#include "bench/problems/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tool {
namespace {

constexpr int32_t kDeviation = 209;

// Eight bytes added up: close to a Gaussian of that standard deviation, in integers, so that every
// machine draws the same.
int32_t gaussian(Random* random) {
  int32_t sum = -1020;
  for (uint64_t bits = random->next(); bits; bits >>= 8) sum += (int32_t)(bits & 0xff);
  return sum;
}

int32_t rounded(int32_t a, int32_t b) { return (2 * a + (a < 0 ? -b : b)) / (2 * b); }

double root_mean_square(const Buffer& buffer, octet_type type, int32_t zero_point) {
  double sum = 0;
  for (size_t i = 0; i < buffer.size(); ++i) {
    const double value = byte_at(buffer, type, i) - zero_point;
    sum += value * value;
  }
  return std::max(1.0, std::sqrt(sum / (double)buffer.size()));
}

}  // namespace

std::string OperandTypes::name() const {
  return fmt::format("{}{}{}", octet_type_name(lhs), octet_type_name(rhs), octet_type_name(dst));
}

OperandTypes parse_types(const std::string& text) {
  for (const octet_type lhs : {OCTET_U8, OCTET_S8})
    for (const octet_type rhs : {OCTET_S8, OCTET_U8, OCTET_S4, OCTET_U4})
      for (const octet_type dst : {OCTET_S32, OCTET_U8, OCTET_S8, OCTET_F32})
        if (const OperandTypes types = {lhs, rhs, dst}; types.name() == text) return types;
  for (const octet_type dst : {OCTET_S16, OCTET_F32})
    if (const OperandTypes types = {OCTET_S16, OCTET_S8, dst}; types.name() == text) return types;
  throw Error(fmt::format(
      "'{}' is not a combination of types: give lhs, rhs and dst, such as u8s8s32 "
      "(lhs: u8, s8; rhs: u8, s8, u4, s4; dst: s32, u8, s8, f32), or s16s8s16 or s16s8f32",
      text));
}

uint64_t Random::next() {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  return state_ * 0x2545F4914F6CDD1Du;
}

int32_t Random::between(int32_t lo, int32_t hi) {
  return lo + (int32_t)((next() >> 32) % (uint64_t)(hi - lo + 1));
}

int32_t Random::zero_point(octet_type type) {
  const Range range = range_of(type);
  return between(range.least, range.most);
}

const char* fill_name(Fill fill) {
  switch (fill) {
    case Fill::kRandom: return "random";
    case Fill::kLeast: return "least";
    case Fill::kMost: return "most";
    case Fill::kExtremes: return "extremes";
    case Fill::kNoInt8Min: return "no least";
  }
  return "?";
}

void fill(Buffer* buffer, octet_type type, Fill how, uint64_t seed) {
  const uint8_t least = (uint8_t)range_of(type).least, most = (uint8_t)range_of(type).most;
  Random random(seed);
  uint64_t bits = 0;
  uint8_t* bytes = buffer->as();
  for (size_t i = 0; i < buffer->size(); ++i, bits >>= 8) {
    if (i % 8 == 0) bits = random.next();
    const uint8_t byte = (uint8_t)(is_4bit(type) ? (bits & 15) + least : bits);
    switch (how) {
      case Fill::kRandom: bytes[i] = byte; break;
      case Fill::kLeast: bytes[i] = least; break;
      case Fill::kMost: bytes[i] = most; break;
      case Fill::kExtremes: bytes[i] = byte & 1 ? least : most; break;
      case Fill::kNoInt8Min: bytes[i] = byte == least ? most : byte; break;
    }
  }
}

void fill_s16(Buffer* buffer, Fill how, uint64_t seed) {
  Random random(seed);
  int16_t* const s16 = buffer->as<int16_t>();
  for (size_t i = 0; i < buffer->size() / sizeof *s16; ++i) {
    const int16_t word = (int16_t)random.between(INT16_MIN, INT16_MAX),
                  end = word & 1 ? INT16_MIN : INT16_MAX;
    s16[i] = how == Fill::kLeast      ? INT16_MIN
             : how == Fill::kMost     ? INT16_MAX
             : how == Fill::kExtremes ? end
                                      : word;
  }
}

Buffer nibbles_of(const Buffer& bytes) {
  Buffer nibbles((bytes.size() + 1) / 2);
  for (size_t i = 0; i < bytes.size(); ++i)
    nibbles.as()[i / 2] |= (uint8_t)((bytes.as()[i] & 15) << i % 2 * 4);
  return nibbles;
}

const char* likeness_name(Likeness likeness) {
  switch (likeness) {
    case Likeness::kUniform: return "uniform";
    case Likeness::kReal: return "real";
    case Likeness::kModel: return "model";
  }
  return "?";
}

Likeness parse_likeness(const std::string& text) {
  for (const Likeness likeness : {Likeness::kUniform, Likeness::kReal, Likeness::kModel})
    if (text == likeness_name(likeness)) return likeness;
  throw Error(fmt::format("'{}' are no operands: uniform, real or model", text));
}

std::optional<int32_t> Operands::zero_point_of(octet_type rhs) const {
  if (rhs_zero_point || likeness != Likeness::kReal || !*centre(rhs)) return rhs_zero_point;
  return *centre(rhs);
}

void fill_activations(Buffer* buffer, octet_type type, int32_t zero_point, uint64_t seed) {
  const int32_t most = type == OCTET_U8 ? 255 : 127, least = type == OCTET_U8 ? 0
                                                             : zero_point     ? -128
                                                                              : -127;
  const int32_t farthest = std::max(most - zero_point, zero_point - least);
  const int32_t range = 4 * kDeviation;
  Random random(seed);
  uint8_t* bytes = buffer->as();
  for (size_t i = 0; i < buffer->size(); ++i)
    bytes[i] =
        (uint8_t)std::clamp(zero_point + rounded(gaussian(&random) * farthest, range), least, most);
}

void fill_weights(Buffer* buffer, octet_type type, const Channels& channels, int32_t zero_point,
                  uint64_t seed) {
  const auto [least, most] = range_of(type);
  const int32_t farthest = (most - least) / 2;
  Random random(seed);
  uint8_t* bytes = buffer->as();
  std::vector<int32_t> drawn(channels.depth);
  for (size_t channel = 0; channel < channels.count; ++channel) {
    int32_t largest = 1;
    for (int32_t& weight : drawn) {
      weight = gaussian(&random);
      largest = std::max(largest, std::abs(weight));
    }
    uint8_t* at = bytes + channel * channels.channel_step;
    for (size_t k = 0; k < channels.depth; ++k, at += channels.depth_step)
      *at = (uint8_t)std::clamp(zero_point + rounded(drawn[k] * farthest, largest), least, most);
  }
}

void make_dead(const Channels& channels, int32_t zero_point, Buffer* weights,
               std::vector<int32_t>* bias, std::vector<float>* scales) {
  constexpr size_t kOneIn = 16, kFirst = 3;
  constexpr int32_t kBias = 1 << 30;
  constexpr float kMultiplierOfZero = 0x1p-40f;
  for (size_t channel = kFirst, dead = 0; channel < channels.count; channel += kOneIn, ++dead) {
    for (size_t k = 0; k < channels.depth; ++k)
      weights->as()[channel * channels.channel_step + k * channels.depth_step] =
          (uint8_t)zero_point;
    // float32, in which converters compute, rounds some of them to a neighbour of 2^30
    (*bias)[channel] = (dead % 3 == 1 ? kBias : -kBias) + (dead % 3 == 2 ? 64 : 0);
    const float output = (float)(10 + dead % 50);
    (*scales)[channel] = dead % 2 ? kMultiplierOfZero : output / (float)kBias;
  }
}

void make_sparse(Buffer* buffer, const Channels& channels, size_t run, int32_t zero_point,
                 uint64_t seed) {
  constexpr unsigned kPairs[] = {0x3, 0x5, 0x9, 0x6, 0xa, 0xc};
  Random random(seed);
  for (size_t channel = 0; channel < channels.count; ++channel)
    for (size_t first = 0; first < channels.depth; first += run) {
      unsigned kept = 0;
      for (size_t k = 0; k < run; ++k) {
        if (k % 4 == 0) kept = kPairs[random.between(0, 5)];
        if (!(kept >> k % 4 & 1))
          buffer->as()[channel * channels.channel_step + (first + k) * channels.depth_step] =
              (uint8_t)zero_point;
      }
    }
}

void Activation::set(octet_epilogue* epilogue) const {
  epilogue->activation = kind;
  epilogue->clamp_min = clamp_min, epilogue->clamp_max = clamp_max;
  epilogue->dst_scale = dst_scale;
}

Activation activation_of(const octet_epilogue& e) {
  Activation a = {e.activation, e.clamp_min, e.clamp_max, e.dst_scale};
  const auto bound = [&e](float value) {
    return (float)e.dst_zero_point + std::round(value / e.dst_scale);
  };
  if (a.kind == OCTET_ACTIVATION_RELU6) a.least = bound(0), a.most = bound(6);
  if (a.kind == OCTET_ACTIVATION_RELU_N1_TO_1) a.least = bound(-1), a.most = bound(1);
  if (a.kind == OCTET_ACTIVATION_CLAMP) a.least = a.clamp_min, a.most = a.clamp_max;
  return a;
}

double typical_product(const Buffer& lhs, octet_type lhs_type, int32_t lhs_zero_point,
                       const Buffer& rhs, octet_type rhs_type, int32_t rhs_zero_point) {
  return root_mean_square(lhs, lhs_type, lhs_zero_point) *
         root_mean_square(rhs, rhs_type, rhs_zero_point);
}

std::vector<float> spread_scales(size_t channels, size_t k, double product) {
  std::vector<float> scales(channels);
  const float middle = 40.0f / (std::sqrt((float)k) * (float)product);
  for (size_t i = 0; i < channels; ++i) scales[i] = middle * (1 + 0.1f * (float)(i % 7));
  return scales;
}

const char* requant_name(Requant requant) {
  return requant == Requant::kTflite ? "tflite" : requant == Requant::kDouble ? "double" : "float";
}

std::optional<octet_rhs_order> parse_order(const std::string& text) {
  if (text.empty()) return {};
  if (text == "kn") return OCTET_KN;
  if (text == "nk") return OCTET_NK;
  throw Error("'" + text + "' is no order of weights: kn or nk");
}

Requant parse_requant(const std::string& text) {
  for (const Requant requant : {Requant::kFloat, Requant::kTflite, Requant::kDouble})
    if (text == requant_name(requant)) return requant;
  throw Error(fmt::format("'{}' is no requantization: float, tflite or double", text));
}

TfliteScales tflite_scales(const std::vector<float>& scales, Requant requant) {
  TfliteScales all;
  if (requant == Requant::kFloat) return all;
  if (requant == Requant::kDouble) {  // no floats, as quotients of scales are none
    for (const float scale : scales) all.factors.push_back((double)scale * (1 + 0x1p-30));
    return all;
  }
  all.multipliers.resize(scales.size());
  all.shifts.resize(scales.size());
  octet_error error = {};
  for (size_t i = 0; i < scales.size(); ++i)
    check(octet_quantize_multiplier(scales[i], &all.multipliers[i], &all.shifts[i], &error), error);
  return all;
}

Factor factor_of(const std::vector<float>& scales, const TfliteScales& tflite, size_t n) {
  if (!tflite.factors.empty()) return {0, 0, 0, false, of_column(tflite.factors, n)};
  if (!tflite.multipliers.empty())
    return {0, of_column(tflite.multipliers, n), of_column(tflite.shifts, n), true};
  return {of_column(scales, n), 0, 0, false};
}

void set_scales(const std::vector<float>& scales, const TfliteScales* tflite,
                octet_epilogue* epilogue) {
  if (tflite && !tflite->factors.empty()) {
    epilogue->requant = OCTET_REQUANT_DOUBLE;
    epilogue->factors = tflite->factors.data();
    epilogue->factor_count = tflite->factors.size();
  } else if (tflite && !tflite->multipliers.empty()) {
    epilogue->requant = OCTET_REQUANT_TFLITE;
    epilogue->multipliers = tflite->multipliers.data();
    epilogue->shifts = tflite->shifts.data();
    epilogue->multiplier_count = tflite->multipliers.size();
  } else if (!scales.empty()) {
    epilogue->scales = scales.data();
    epilogue->scale_count = scales.size();
  }
}

int32_t checked_zero_point(const char* option, int32_t zero_point, octet_type type) {
  const auto [least, most] = type == OCTET_S16 ? Range{0, 0} : range_of(type);
  if (zero_point < least || zero_point > most)
    throw Error(
        fmt::format("{} {} is no zero point of {}", option, zero_point, octet_type_name(type)));
  return zero_point;
}

std::vector<int32_t> zero_points(std::optional<int32_t> zero_point, octet_type type,
                                 size_t channels) {
  if (!zero_point) return {};
  return std::vector<int32_t>(channels, checked_zero_point("--rhs-zero-point", *zero_point, type));
}

const int32_t* centre(octet_type type) {
  static constexpr int32_t kSigned = 0, kU8 = 128, kU4 = 8;
  return type == OCTET_U8 ? &kU8 : type == OCTET_U4 ? &kU4 : &kSigned;
}

std::vector<int32_t> spread_bias(size_t channels, size_t k, double product) {
  std::vector<int32_t> bias(channels);
  const int32_t step = (int32_t)(std::sqrt((float)k) * 2000 * (product / kUniformProduct));
  for (size_t i = 0; i < channels; ++i) bias[i] = step * ((int32_t)(i % 5) - 2);
  return bias;
}

}  // namespace tool
