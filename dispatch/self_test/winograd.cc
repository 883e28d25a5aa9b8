// SPDX-License-Identifier: Apache-2.0
// Self-test of the transforms of Winograd's convolutions.
#include <string.h>

#include "dispatch/self_test/cases.h"
#include "dispatch/self_test/conv.h"
#include "dispatch/self_test/product.h"
#include "dispatch/self_test/requantize.h"
#include "dispatch/self_test/self_test.h"
#include "dispatch/tables/tiers.h"
#include "dispatch/tables/transforms.h"

namespace octet {
namespace {

// A whole tile of 2x2 outputs whose taps all read the same products.
template <typename T>
WinogradOutput winograd_tile(const WinogradOps& winograd, const FloatCases& cases,
                             const int32_t* products, T (&out)[4][kTileColumns]) {
  WinogradOutput o = {};
  o.products = products;
  o.cols = winograd.columns;
  o.height = o.width = 2;
  o.dst = out;
  o.dst_pixel = sizeof out[0];
  o.dst_line = 2 * o.dst_pixel;
  o.tap_scale = cases.scale;
  return o;
}

// In the last of four outputs, (a - a) + a of lines (a - a) + a, each product appears unchanged.
bool rounds(const WinogradOps& winograd, const FloatCases& cases) {
  int32_t out[4][kTileColumns];
  WinogradOutput o = winograd_tile(winograd, cases, cases.acc, out);
  o.init = kNoInit;
  winograd.output[(size_t)Winograd::k2x2Int8](o);
  return memcmp(out[3], cases.rounded, 4 * o.cols) == 0;
}

bool requantizes(const WinogradOps& winograd, const FloatCases& cases) {
  uint8_t out[4][kTileColumns];
  WinogradOutput o = winograd_tile(winograd, cases, kNoInit, out);
  o.init = cases.acc;
  o.init_stride = kApart;
  o.scale = cases.scale;
  o.requantization = &kRequantizeU8;
  for (size_t variant = 0; variant < kWinogradVariants; ++variant) {
    winograd.output[variant](o);
    const size_t line = variant == (size_t)Winograd::k4x4 ? 4 : 2;  // outputs of a whole tile
    for (size_t i = 0; i < 4; ++i)
      if (memcmp(out[i], cases.u8 + (i / 2 * line + i % 2) * kApart, o.cols) != 0) return false;
  }
  return true;
}

bool converts_to_floats(const WinogradOps& winograd, const FloatCases& cases) {
  float out[4][kTileColumns];
  WinogradOutput o = winograd_tile(winograd, cases, kNoInit, out);
  Requantization floats = {};
  floats.to_floats = true;
  floats.bias_apart = cases.bias - cases.scale;
  o.init = cases.acc;
  o.scale = cases.scale;
  o.requantization = &floats;
  o.row_scale = 1;
  for (size_t variant = 0; variant < kWinogradVariants; ++variant) {
    memset(out, 0, sizeof out);
    winograd.output[variant](o);
    for (size_t i = 0; i < 4; ++i)
      if (memcmp(out[i], cases.f32, o.cols * sizeof(float)) != 0) return false;
  }
  return true;
}

}  // namespace

bool passes(const WinogradOps& transforms, uint16_t kernel_flags) {
  if (!transforms.columns) return true;  // this library has no transforms
  const FloatCases all(Accumulators::kAll);
  if (!rounds_to_nearest()) return true;
  if (!rounds(transforms, all)) return false;
  if (!(kernel_flags & kRequantizes)) return true;
  if (transforms.stores_floats && !converts_to_floats(transforms, all)) return false;
  return requantizes(transforms,
                     kernel_flags & kRequantizes16 ? FloatCases(Accumulators::kInt16) : all);
}

TierMask failing_transforms(TierMask tiers) {
  TierMask failing = 0;
  for (size_t i = 0; const Tier* tier = nth_tier(i); ++i)
    if (has(tiers, *tier) && !passes(transforms_of(tier->tier_id), 0))
      failing |= mask_of(tier->tier_id);
  return failing;
}

}  // namespace octet
