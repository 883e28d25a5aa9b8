// SPDX-License-Identifier: Apache-2.0
// Cuts a workspace into aligned sections, one after the other. The same code computes the size and
// the offsets, so that both always agree.
#pragma once

#include "kernels/core/packed_layout.h"

namespace octet {

struct Sections {
  size_t bytes = 0;

  size_t take(size_t size) {  // returns the section's offset
    const size_t at = bytes;
    bytes += round_up(size, kAlignment);
    return at;
  }
};

}  // namespace octet
