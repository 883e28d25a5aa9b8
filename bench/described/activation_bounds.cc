// Computes the bounds of each fused activation.
#include "bench/described/activation_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tool {
namespace {

constexpr float kFar = 1 << 20;  // values that leave 8 bits by far stay within int32

}  // namespace

Bounds bounds_of_type(octet_type type) {
  return type == OCTET_S8 ? Bounds{-128, 127} : Bounds{0, 255};
}

Bounds quantize_bounds(octet_type type, float scale, int32_t zero_point, std::optional<float> least,
                       std::optional<float> most) {
  const Bounds all = bounds_of_type(type);
  const auto bound = [&](const std::optional<float>& x, int32_t none) {
    if (!x) return none;
    const auto steps = (int32_t)std::nearbyint(std::clamp(*x / scale, -kFar, kFar));
    return std::clamp(steps + zero_point, all.least, all.most);
  };
  return {bound(least, all.least), bound(most, all.most)};
}

Bounds tflite_bounds(octet_type type, const std::string& activation, float scale,
                     int32_t zero_point) {
  Bounds bounds = bounds_of_type(type);
  const auto quantized = [&](float x) {
    return zero_point + (int32_t)std::clamp(std::round(x / scale), -kFar, kFar);
  };
  const auto within = [&](float low, float high) {
    bounds.least = std::max(bounds.least, quantized(low));
    bounds.most = std::min(bounds.most, quantized(high));
  };
  if (activation == "RELU")
    bounds.least = std::max(bounds.least, zero_point);
  else if (activation == "RELU6")
    within(0, 6);
  else if (activation == "RELU_N1_TO_1")
    within(-1, 1);
  else if (activation != "NONE")
    throw Error(fmt::format("its activation {} is not Octet's", activation));
  return bounds;
}

}  // namespace tool
