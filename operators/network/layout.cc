// SPDX-License-Identifier: Apache-2.0
// Places pieces of memory by their lifetimes, the largest first.
#include "operators/network/layout.h"

#include <stdlib.h>

#include "kernels/core/packed_layout.h"

namespace octet {
namespace {

int larger_first(const void* a, const void* b) {
  const Piece &x = *(const Piece*)a, &y = *(const Piece*)b;
  if (x.bytes != y.bytes) return x.bytes > y.bytes ? -1 : 1;
  return x.offset < y.offset ? -1 : 1;  // breaks ties, so that the order is always the same
}

bool meet(const Piece& a, const Piece& b) { return a.first <= b.last && b.first <= a.last; }

// The lowest offset that is free beside the placed pieces, which are sorted by offset.
size_t free_place(const Piece& piece, const Piece* placed, size_t count) {
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!meet(piece, placed[i])) continue;
    if (*placed[i].offset >= at + piece.bytes) break;
    at = larger(at, round_up(*placed[i].offset + placed[i].bytes, kAlignment));
  }
  return at;
}

size_t place(Piece* pieces, size_t first, size_t count) {
  qsort(pieces + first, count - first, sizeof *pieces, larger_first);
  for (size_t i = first; i < count; ++i) {
    const Piece piece = pieces[i];
    *piece.offset = free_place(piece, pieces, i);
    size_t to = i;  // where it goes among the placed pieces
    for (; to > 0 && *pieces[to - 1].offset > *piece.offset; --to) pieces[to] = pieces[to - 1];
    pieces[to] = piece;
  }
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i)
    bytes = larger(bytes, round_up(*pieces[i].offset + pieces[i].bytes, kAlignment));
  return bytes;
}

}  // namespace

size_t lay_out(Piece* pieces, size_t count, size_t late, size_t* all) {
  const size_t early = place(pieces, 0, late);
  *all = place(pieces, late, count);
  return early;
}

}  // namespace octet
