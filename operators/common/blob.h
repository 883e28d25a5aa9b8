// SPDX-License-Identifier: Apache-2.0
// Reads and checks the header of packed weights.
#pragma once

#include "dispatch/api/error.h"
#include "dispatch/tables/formats.h"
#include "packing/container.h"

namespace octet {

// OCTET_OK, or OCTET_BAD_BLOB with a message about `name`.
inline octet_status blob_status(BlobProblem problem, const char* name, size_t bytes,
                                octet_error* error) {
  return problem == BlobProblem::kNone
             ? OCTET_OK
             : fail(error, OCTET_BAD_BLOB, "%s (%zu bytes) %s", name, bytes, describe(problem));
}

// Filter blobs: check the header, and describe it. A library without convolutions refuses them in
// its own versions.
octet_status check_filter_blob(const void* blob, size_t bytes, const char* name,
                               Container* container, octet_error* error);
void describe_filter(const Container& container, octet_blob_info* info);
// The weights of a filter whose algorithm's kernels are int8.
PackedPanels panels_of_filter(const Container& container, const void* blob);

}  // namespace octet
