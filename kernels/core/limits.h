// How large tiles may get: they, and what is kept for each of their rows and columns, live on the
// stack. A test holds every kernel of the tables to it.
#pragma once

#include <stddef.h>

namespace octet {

constexpr size_t kMaxTileRows = 32, kMaxTileColumns = 64;
constexpr size_t kMaxTile = 1024;  // rows x columns: 16 x 64, or 32 x 32

}  // namespace octet
