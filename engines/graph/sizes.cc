// Computes images' sizes from shapes, and the bytes at which activations end.
#include "engines/graph/sizes.h"

#include <algorithm>
#include <cmath>

#include "engines/graph/check.h"
#include "engines/graph/refused.h"

namespace octet::graph {

Sizes sizes_of(const Graph& g, int tensor, bool moved) { return sizes_of(g, tensor, moved, 0); }

Sizes sizes_of(const Graph& g, int tensor, bool moved, size_t rank) {
  const Tensor& t = g.tensors[(size_t)tensor];
  if (!known_sizes(t)) refuse("the sizes of ", tensor_name(g, tensor), " are not known");
  if (element_count(t) == 0) refuse(tensor_name(g, tensor), " has no elements");
  std::vector<size_t> shape(t.shape.begin(), t.shape.end());
  if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
  if (moved && shape.size() > 2) std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  Sizes s;
  if (!shape.empty()) s.channels = shape.back();
  if (shape.size() > 1) s.batch = shape[0];
  if (shape.size() > 2) s.w = shape[shape.size() - 2];
  for (size_t i = 1; i + 2 < shape.size(); ++i) s.h *= shape[i];
  return s;
}

octet_network_tensor network_tensor(const Sizes& s, octet_type type) {
  return {s.batch, s.h, s.w, s.channels, type, 0, 0, 0, 0, 0};
}

Bounds bounds_of_type(octet_type type) {
  return type == OCTET_S8    ? Bounds{-128, 127}
         : type == OCTET_S16 ? Bounds{-32768, 32767}
         : type == OCTET_S4  ? Bounds{-8, 7}
         : type == OCTET_U4  ? Bounds{0, 15}
                             : Bounds{0, 255};
}

Bounds bounds_of_descriptor(const Bounds& bounds, octet_type type) {
  const Bounds all = bounds_of_type(type);
  if (bounds.least == all.least && bounds.most == all.most) return {0, 0};
  if (bounds.least == 0 && bounds.most == 0)
    refuse("its activation leaves nothing but the byte 0; it would need bounds of 0 and 0");
  return bounds;
}

Bounds bounds_of(const Clamp& clamp, octet_type type, float scale, int32_t zero_point,
                 Arithmetic arithmetic) {
  constexpr float kFar = 1 << 20;  // leaves 8 and 16 bits by far, and stays in int32
  Bounds bounds = bounds_of_type(type);
  const Bounds all = bounds;
  const auto quantized = [&](float x) {
    const float steps = std::clamp(x / scale, -kFar, kFar);
    const int32_t byte = arithmetic == Arithmetic::kTflite ? zero_point + (int32_t)std::round(steps)
                         : arithmetic == Arithmetic::kXnnpack
                             ? (int32_t)std::nearbyint(steps + (float)zero_point)
                             : zero_point + (int32_t)std::nearbyint(steps);
    return std::clamp(byte, all.least, all.most);
  };
  const bool divides =
      clamp.activation != Activation::kNone && clamp.activation != Activation::kRelu;
  if (divides && !(scale > 0)) refuse("its output has no scale");
  switch (clamp.activation) {
    case Activation::kNone: break;
    case Activation::kRelu: bounds.least = std::max(bounds.least, zero_point); break;
    case Activation::kRelu6: bounds = {quantized(0), quantized(6)}; break;
    case Activation::kReluN1To1: bounds = {quantized(-1), quantized(1)}; break;
    case Activation::kClip:
      if (std::isnan(clamp.least) || std::isnan(clamp.most) || clamp.least > clamp.most)
        refuse("its bounds ", clamp.least, " and ", clamp.most, " have nothing between them");
      bounds = {quantized(clamp.least), quantized(clamp.most)};
  }
  return bounds;
}

}  // namespace octet::graph
