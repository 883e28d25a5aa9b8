// SPDX-License-Identifier: Apache-2.0
// Emulates AMX's tile registers, of each thread its own: LDTILECFG, STTILECFG, TILERELEASE,
// TILEZERO, TILELOADD, TILELOADDT1, TILESTORED and the products of bytes. Unlike other
// instructions, these trap each time.
#pragma once

#include <ucontext.h>

#include <cstddef>

namespace emulated_isa {

// Executes the instruction at which a thread was interrupted, and those right behind it. False if
// the first is none of these, or one that a CPU would refuse in this state.
bool emulate_tiles(ucontext_t* context);

// Instructions of this thread so far.
struct TileCounts {
  size_t configurations, releases, loads, stores, products;
};
TileCounts tile_counts();

}  // namespace emulated_isa
