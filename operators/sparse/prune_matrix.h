// SPDX-License-Identifier: Apache-2.0
// Shared by the pruning of matrices and of filters.
#pragma once

#include "operators/common/check.h"
#include "operators/sparse/prune.h"

namespace octet {

struct PruneCall {
  const void* pruned;
  const void* data;
  size_t data_bytes;
  const int32_t* zero_points;
  size_t zero_point_count;
  const octet_sparse_loss* losses;
  size_t batch, channels;
  const char* name;  // name of the descriptor, for messages
};

inline octet_status check_pruned(const PruneCall& c, octet_error* error) {
  if (!c.pruned) return fail(error, OCTET_NULL_POINTER, "pruned is null");
  if ((uintptr_t)c.losses % alignof(octet_sparse_loss))
    return fail(error, OCTET_MISALIGNED, "losses is at %p; it must be a multiple of %zu", c.losses,
                alignof(octet_sparse_loss));
  size_t loss_bytes = 0;
  if (c.losses && (__builtin_mul_overflow(c.batch, c.channels, &loss_bytes) ||
                   __builtin_mul_overflow(loss_bytes, sizeof *c.losses, &loss_bytes)))
    return fail(error, OCTET_BAD_SIZE, "losses of %zu times %zu channels leave size_t", c.batch,
                c.channels);
  const Extent pruned = extent_of(c.pruned, c.data_bytes), data = extent_of(c.data, c.data_bytes),
               zero_points = extent_of(c.zero_points, c.zero_point_count * sizeof *c.zero_points),
               losses = extent_of(c.losses, loss_bytes);
  if (c.pruned != c.data && meet(pruned, data))
    return fail(error, OCTET_OVERLAP, "pruned overlaps %s.data, and is not the same", c.name);
  if (meet(pruned, zero_points))
    return fail(error, OCTET_OVERLAP, "pruned overlaps %s.zero_points", c.name);
  if (meet(losses, data) || meet(losses, pruned) || meet(losses, zero_points))
    return fail(error, OCTET_OVERLAP, "losses overlap weights or zero points");
  return OCTET_OK;
}

}  // namespace octet
