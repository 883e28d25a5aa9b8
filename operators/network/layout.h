// Where things lie in a memory that they share, each while it lives.
#pragma once

#include <stddef.h>

namespace octet {

struct Piece {
  size_t bytes;
  size_t first, last;  // it lives in parts first .. last
  size_t* offset;      // where it goes
};

// Gives all pieces their offsets, at multiples of the alignment: the largest first, each to the
// lowest place that is free while it lives. Those from `late` on come after all others. Sorts the
// pieces. Returns the bytes that the early ones take, and sets *all to those of all.
size_t lay_out(Piece* pieces, size_t count, size_t late, size_t* all);

}  // namespace octet
