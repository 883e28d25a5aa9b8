// SPDX-License-Identifier: Apache-2.0
// Limits the size of tiles, because their accumulators and per-row and per-column values live on
// the stack. A test checks every kernel of the tables against these limits.
#pragma once

#include <stddef.h>

namespace octet {

constexpr size_t kMaxTileRows = 32, kMaxTileColumns = 64;
constexpr size_t kMaxTile = 1024;  // rows x columns: 16 x 64, or 32 x 32

}  // namespace octet
