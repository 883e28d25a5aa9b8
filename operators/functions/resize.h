// SPDX-License-Identifier: Apache-2.0
// Describes where the lines and pixels of a resized image come from.
#pragma once

#include "kernels/core/strict_float.h"
#include "kernels/generic/functions/image_function.h"
#include "octet/image_functions.h"

namespace octet {

enum class PlaceKind : uint8_t {
  kNearest,    // of ONNX's four and TFLite's ways to take a neighbour
  kTfliteInt,  // 10 bits, between the neighbours that rounding up and down gives
  kTfliteFloat,
  kXnnpack,  // 11 bits
  kOnnx,
};

// One axis: `in` lines or pixels become `out`.
struct ResizeAxis {
  size_t in, out;
  octet_coordinates coordinates;
  octet_nearest_pixel nearest;
  PlaceKind kind;
};

void find_places(const ResizeAxis& axis, ResizePlace* places);

// The lines that output lines read, as octet_network_function describes them; kernel_h is 0 where
// all lines are hardly more.
octet_network_function lines_of(const ResizePlace* places, size_t in, size_t out);

}  // namespace octet
