// SPDX-License-Identifier: Apache-2.0
// A weight format is one layout of packed weights. Kernels are found by its layout, tiers name the
// formats that they want, and blobs store its id. dispatch/tables/formats.cc has a row for each;
// docs/add-a-format.md says how to add one.
#pragma once

#include "kernels/core/kernel_kind.h"
#include "packing/packed_rhs.h"

namespace octet {

// The values are stored in blobs, so they never change. Names give element, width and kr.
enum class FormatId : uint16_t {
  kNone = 0,
  kS8_16x4 = 1,
  kS8_8x8 = 2,
  kU8_8x8 = 3,
  kS8_16x4_step8 = 4,
  kS8_4x16 = 5,
  kS8_4x4 = 6,
  kS8_5x2 = 7,
  kS16_16x2 = 8,
  kS16_8x1 = 9,
  kS16_4x2 = 10,
  kS8_64x4_depthwise = 11,
  kS16_64x4_depthwise = 12,
  kS8_64x4_grouped = 13,
  kS8_16x16_2of4 = 14,
  kS8_16x32_2of4 = 16,
  kS4_16x8 = 18,
  kS4_8x16 = 19,
  kS4_16x8_step8 = 20,
  kS4_4x32 = 21,
  kS4_4x8 = 22,
  kS8_16x4_paired = 24,    // 15 had gaps between its weights, 23 one order for 64 columns
  kS16_64x4_grouped = 25,  // 17 was a sum of two int8
};

struct WeightFormat {
  FormatId id;
  const char* name;  // of the id, for octet_blob_info and errors; it never changes
  RhsLayout layout;  // unique: kernels are found by it
  KernelKind kind;   // the kernels that read it
  // Null where only one algorithm of convolution uses the format: it packs the weights itself
  const Packing* packing = nullptr;
  bool tests_only = false;  // no tier wants it
};

}  // namespace octet
