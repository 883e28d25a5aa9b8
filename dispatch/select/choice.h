// SPDX-License-Identifier: Apache-2.0
// Choice: everything that is chosen for a product or a convolution and that no output byte depends
// on. It is a plain value: pure functions make it (gemm/choice.h, conv/choice.h), the object keeps
// it, and it can be written as one line of text and read back, so that measured choices can be
// saved.
#pragma once

#include "dispatch/api/error.h"
#include "dispatch/tables/kernel_names.h"
#include "kernels/core/packed_layout.h"
#include "kernels/macro/partition.h"

namespace octet {

struct Choice {
  octet_conv_algorithm algorithm;  // AUTO for a product
  RhsLayout layout;                // layout of the packed weights
  const KernelName* kernel;
  // The kernel for runs of at most its m_max rows; null for a convolution.
  const KernelName* small_kernel;
  // Size of the work that is done together: rows (a multiple of mr), Winograd tiles, or lines of
  // the depthwise kernel's tiles.
  size_t block;
  // Columns that all rows of a task are multiplied by before the next columns: whole panels, 0 =
  // all.
  size_t pass;
  // Convolutions: the cache size that bands of lines are planned for; they use half of it. 0 for a
  // product.
  size_t cache_bytes;
  // The most tasks along rows (a convolution's units) and along columns (channels).
  TaskLimits tasks;

  bool operator==(const Choice& o) const {
    return algorithm == o.algorithm && layout == o.layout && kernel == o.kernel &&
           small_kernel == o.small_kernel && block == o.block && pass == o.pass &&
           cache_bytes == o.cache_bytes && tasks.rows == o.tasks.rows &&
           tasks.columns == o.tasks.columns;
  }
};

constexpr size_t kChoiceBytes = 256;  // size of a text with its final zero

// "direct weights=s8_16x4 kernel=avx2_s16s8_6x16x4 few=- block=60 pass=0 cache=1048576 cut=0x0"
void to_text(const Choice& choice, char (&text)[kChoiceBytes]);
// Refuses damaged text and says where, and what it expects there. A kernel that is not compiled in
// is refused as unknown.
octet_status from_text(const char* text, Choice* choice, octet_error* error);

// Fails for a choice that cannot be used; `why` completes "cannot be used: ".
inline octet_status refuse_choice(const char* why, octet_error* error) {
  return fail(error, OCTET_KERNEL_UNUSABLE, "the choice cannot be used: %s", why);
}
inline octet_status refuse_named(octet_error* error) {
  return refuse_choice("desc.kernel names a kernel, and so does it", error);
}

}  // namespace octet
