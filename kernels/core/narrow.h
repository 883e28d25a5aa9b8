// How accumulators become 8 bits while they are still in registers.
#pragma once

#include <stdint.h>

namespace octet {

// The last steps of float mode that fit in registers. Used only where create has certified max|acc|
// * scale < 2^31, or what kNarrows16 asks for.
struct Narrow {
  int32_t zero_point, lo, hi;
  bool dst_u8;
};

}  // namespace octet
