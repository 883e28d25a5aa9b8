#include "gemm_data.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace tool {
namespace {

// xorshift64*: fast and the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Du;
  }
  int32_t between(int32_t lo, int32_t hi) { return lo + static_cast<int32_t>((next() >> 32) % static_cast<uint64_t>(hi - lo + 1)); }

 private:
  uint64_t state_;
};

void fill(Buffer* buffer, octet_type type, Fill how, uint64_t seed) {
  const uint8_t least = type == OCTET_S8 ? 0x80 : 0, most = type == OCTET_S8 ? 0x7f : 0xff;
  Random random(seed);
  uint64_t bits = 0;
  uint8_t* bytes = buffer->as();
  for (size_t i = 0; i < buffer->size(); ++i, bits >>= 8) {
    if (i % 8 == 0) bits = random.next();
    const uint8_t byte = static_cast<uint8_t>(bits);
    switch (how) {
      case Fill::kRandom: bytes[i] = byte; break;
      case Fill::kLeast: bytes[i] = least; break;
      case Fill::kMost: bytes[i] = most; break;
      case Fill::kExtremes: bytes[i] = byte & 1 ? least : most; break;
      case Fill::kNoLeast: bytes[i] = byte == least ? most : byte; break;
    }
  }
}

// Spreads the outputs of random operands over the 8-bit range, differently per channel.
std::vector<float> spread_scales(size_t n, size_t k) {
  std::vector<float> scales(n);
  const float middle = 40.0f / (std::sqrt(static_cast<float>(k)) * 147 * 73);
  for (size_t i = 0; i < n; ++i) scales[i] = middle * (1 + 0.1f * static_cast<float>(i % 7));
  return scales;
}

std::vector<int32_t> spread_bias(size_t n, size_t k) {
  std::vector<int32_t> bias(n);
  const int32_t step = static_cast<int32_t>(std::sqrt(static_cast<float>(k)) * 2000);
  for (size_t i = 0; i < n; ++i) bias[i] = step * (static_cast<int32_t>(i % 5) - 2);
  return bias;
}

GemmData operands(const GemmShape& shape, const GemmTypes& types, Fill how) {
  GemmData data = {shape, types, Buffer(shape.m * shape.k), Buffer(shape.k * shape.n)};
  fill(&data.lhs, types.lhs, how, shape.m + shape.k);
  fill(&data.rhs, types.rhs, how, shape.n + 2 * shape.k);
  if (types.dst != OCTET_S32) data.scales = spread_scales(shape.n, shape.k);
  return data;
}

}  // namespace

std::string GemmShape::name() const { return fmt::format("{}x{}x{}", m, n, k); }

bool parse_triple(const std::string& text, size_t (&numbers)[3]) {
  constexpr size_t kLargest = 999999999;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (size_t& number : numbers) {
    if (&number != numbers && (at == end || *at++ != 'x')) return false;
    const auto [rest, problem] = std::from_chars(at, end, number);
    if (problem != std::errc() || number == 0 || number > kLargest) return false;
    at = rest;
  }
  return at == end;
}

GemmShape parse_shape(const std::string& text) {
  size_t numbers[3];
  if (!parse_triple(text, numbers))
    throw Error(fmt::format("'{}' is not a case: give MxNxK, such as 128x768x3072, or a suite: gemm", text));
  return {numbers[0], numbers[1], numbers[2]};
}

std::string GemmTypes::name() const { return fmt::format("{}{}{}", octet_type_name(lhs), octet_type_name(rhs), octet_type_name(dst)); }

GemmTypes parse_types(const std::string& text) {
  for (const octet_type lhs : {OCTET_U8, OCTET_S8})
    for (const octet_type rhs : {OCTET_S8, OCTET_U8})
      for (const octet_type dst : {OCTET_S32, OCTET_U8, OCTET_S8, OCTET_F32})
        if (const GemmTypes types = {lhs, rhs, dst}; types.name() == text) return types;
  throw Error(fmt::format(
      "'{}' is not a combination of types: give lhs, rhs and dst, such as u8s8s32 (lhs, rhs: u8, s8; dst: s32, u8, s8, f32)", text));
}

const char* fill_name(Fill fill) {
  switch (fill) {
    case Fill::kRandom: return "random";
    case Fill::kLeast: return "least";
    case Fill::kMost: return "most";
    case Fill::kExtremes: return "extremes";
    case Fill::kNoLeast: return "no least";
  }
  return "?";
}

int32_t GemmData::lhs_at(size_t row, size_t depth) const {
  const size_t i = row * shape.k + depth;
  return (types.lhs == OCTET_U8 ? static_cast<int32_t>(lhs.as()[i]) : lhs.as<int8_t>()[i]) - lhs_zero_point;
}

int32_t GemmData::rhs_at(size_t depth, size_t column) const {
  const size_t i = depth * shape.n + column;
  return (types.rhs == OCTET_U8 ? static_cast<int32_t>(rhs.as()[i]) : rhs.as<int8_t>()[i]) -
         (rhs_zero_points.empty() ? 0 : rhs_zero_points[column]);
}

GemmData plain_data(const GemmShape& shape, const GemmTypes& types) {
  GemmData data = operands(shape, types, Fill::kRandom);
  if (types.dst != OCTET_S32) data.bias = spread_bias(shape.n, shape.k);
  return data;
}

GemmData full_data(const GemmShape& shape, const GemmTypes& types, Fill how) {
  GemmData data = operands(shape, types, how);
  const auto any = [](Random* random, octet_type type) { return type == OCTET_U8 ? random->between(0, 255) : random->between(-128, 127); };
  Random random(shape.m + shape.n + shape.k);
  data.bias = spread_bias(shape.n, shape.k);
  data.lhs_zero_point = any(&random, types.lhs);
  for (size_t n = 0; n < shape.n; ++n) data.rhs_zero_points.push_back(any(&random, types.rhs));
  if (types.dst == OCTET_S8 || types.dst == OCTET_U8) data.dst_zero_point = any(&random, types.dst);
  return data;
}

}  // namespace tool
