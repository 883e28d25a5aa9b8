#include "contract.h"

#include <algorithm>
#include <cmath>

namespace tool {

namespace {

double tflite_product(int64_t acc, const Factor& f) {
  const int64_t high =
      ((acc << std::max(f.shift, 0)) * f.multiplier + (int64_t{1} << 30)) >> 31;  // halves up
  return std::round(std::ldexp(static_cast<double>(high), std::min(f.shift, 0)));
}

}  // namespace

double contract_output(const OutputStage& stage, int64_t acc, const Factor& factor) {
  if (stage.type == OCTET_S32) return static_cast<double>(acc);
  const float scaled = factor.multiplier
                           ? static_cast<float>(tflite_product(acc, factor))
                           : static_cast<float>(static_cast<int32_t>(acc)) * factor.scale;
  if (stage.type == OCTET_F32) return stage.relu ? std::max(scaled, 0.0f) : scaled;
  const float zero = static_cast<float>(stage.zero_point);
  const float least = stage.type == OCTET_U8 ? 0.0f : -128.0f;
  const float lo = stage.relu ? std::max(least - zero, 0.0f) : least - zero,
              hi = least + 255.0f - zero;
  return std::nearbyint(std::min(std::max(scaled, lo), hi)) + zero;
}

double value_at(octet_type type, const void* dst, size_t i) {
  switch (type) {
    case OCTET_S8: return static_cast<const int8_t*>(dst)[i];
    case OCTET_U8: return static_cast<const uint8_t*>(dst)[i];
    case OCTET_S32: return static_cast<const int32_t*>(dst)[i];
    case OCTET_F32: return static_cast<const float*>(dst)[i];
  }
  return NAN;
}

}  // namespace tool
