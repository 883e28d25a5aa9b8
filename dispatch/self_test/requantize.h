// SPDX-License-Identifier: Apache-2.0
// Self-test of rounding, against the numeric contract. The thread must round to nearest.
#pragma once

#include <string.h>

#include "dispatch/self_test/cases.h"
#include "kernels/core/depthwise_kernel.h"
#include "kernels/core/epilogue.h"
#include "kernels/core/micro_kernel.h"
#include "kernels/core/tier_ops.h"

namespace octet {

// cases: kAll.
bool epilogue_is_right(const TierOps& ops, const FloatCases& cases);
// Adds a residual of FloatCases and makes bytes of kRequantizeU8; its scale is not set.
Epilogue residual_epilogue();

// True if a kernel adds the residual of the cases to each of a tile's outputs, which are rows or
// pixels, kTileColumns apart; accumulators start at the cases.
template <typename Kernel, typename AnyTile>
__attribute__((noinline)) bool adds_residuals(const Kernel& kernel, AnyTile tile, size_t outputs,
                                              size_t columns, const FloatCases& cases) {
  uint8_t out[2][kTileRows * kTileColumns];
  Epilogue f = residual_epilogue();
  f.scale = cases.scale;
  f.fits_int16 = kernel.flags & kRequantizes16;
  tile.requantization = &kRequantizeU8;
  tile.adds = &f;
  tile.dst = out[0];
  tile.residual = sizeof out[0];
  for (size_t i = 0; i < outputs; ++i) memcpy(out[1] + i * kTileColumns, cases.residual, columns);
  kernel.multiply(tile);
  for (size_t i = 0; i < outputs; ++i)
    if (memcmp(out[0] + i * kTileColumns, cases.sum, columns) != 0) return false;
  return true;
}

bool quantizes(const TierOps& ops);
bool looks_up(const TierOps& ops, Features has);  // by TierOps::look_up
// Tests a kernel that requantizes its tile.
bool requantizes(const MicroKernel& kernel, size_t rows, size_t columns);
// Tests a kernel that requantizes a whole micro-panel, any number of rows at once.
bool requantizes_micro_panels(const MicroKernel& kernel);

}  // namespace octet
