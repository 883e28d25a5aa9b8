// All that is chosen for a product or a convolution, and that no output byte depends on. A plain
// value: made by pure functions (gemm_choice.h, conv_choice.h), kept by the object, written to one
// line of text and read back, so that whoever measures choices can keep what they found.
#pragma once

#include "dispatch/api/error.h"
#include "dispatch/tables/kernel_names.h"
#include "kernels/core/packed_layout.h"
#include "kernels/macro/partition.h"

namespace octet {

struct Choice {
  octet_conv_algorithm algorithm;  // AUTO: a product
  RhsLayout layout;                // of the weights
  const KernelName* kernel;
  // For runs of at most its m_max rows; null: a convolution's
  const KernelName* small_kernel;
  // Done together: rows, a multiple of mr; Winograd's tiles; lines of the depthwise kernel's tiles
  size_t block;
  // Columns that meet all rows of a task before the next ones do, whole panels; 0: all
  size_t pass;
  // Of a convolution: of the cache that bands of lines stay in half of; 0 of a product
  size_t cache_bytes;
  // Tasks along rows (a convolution's units) and columns (channels)
  TaskLimits tasks;

  bool operator==(const Choice& o) const {
    return algorithm == o.algorithm && layout == o.layout && kernel == o.kernel &&
           small_kernel == o.small_kernel && block == o.block && pass == o.pass &&
           cache_bytes == o.cache_bytes && tasks.rows == o.tasks.rows &&
           tasks.columns == o.tasks.columns;
  }
};

constexpr size_t kChoiceBytes = 256;  // of a text, its end included

// "direct weights=s8_16x4 kernel=avx2_s16s8_6x16x4 few=- block=60 pass=0 cache=1048576 cut=0x0"
void to_text(const Choice& choice, char (&text)[kChoiceBytes]);
// What is damaged is refused with the place and what should stand there. A kernel that this library
// lacks is unknown to it.
octet_status from_text(const char* text, Choice* choice, octet_error* error);

// The status of a choice that cannot be used: why completes "cannot be used: ".
inline octet_status refuse_choice(const char* why, octet_error* error) {
  return fail(error, OCTET_KERNEL_UNUSABLE, "the choice cannot be used: %s", why);
}
inline octet_status refuse_named(octet_error* error) {
  return refuse_choice("desc.kernel names a kernel, and so does it", error);
}

}  // namespace octet
