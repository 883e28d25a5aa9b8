// SPDX-License-Identifier: Apache-2.0
// Places pieces in shared memory: pieces that live at different times may overlap.
#pragma once

#include <stddef.h>

namespace octet {

struct Piece {
  size_t bytes;
  size_t first, last;  // lives in parts first .. last
  size_t* offset;      // the offset is written here
};

// Sets all offsets, at multiples of the alignment: the largest piece first, each at the lowest
// offset that is free during its life. Pieces from `late` on are placed after all others. Sorts the
// pieces. Returns the bytes of the early pieces, and sets *all to the bytes of all pieces.
size_t lay_out(Piece* pieces, size_t count, size_t late, size_t* all);

}  // namespace octet
