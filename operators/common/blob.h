// What packed weights say of themselves, checked.
#pragma once

#include "dispatch/api/error.h"
#include "dispatch/tables/formats.h"
#include "packing/container.h"
#include "packing/paired.h"

namespace octet {

// OCTET_OK, or OCTET_BAD_BLOB with a sentence about `name`.
inline octet_status blob_status(BlobProblem problem, const char* name, size_t bytes,
                                octet_error* error) {
  return problem == BlobProblem::kNone
             ? OCTET_OK
             : fail(error, OCTET_BAD_BLOB, "%s (%zu bytes) %s", name, bytes, describe(problem));
}

// Of filters, apart, so that a library without convolutions has an answer, too: their head, which
// is refused there, and what it says.
octet_status check_filter_blob(const void* blob, size_t bytes, const char* name,
                               Container* container, octet_error* error);
void describe_filter(const Container& container, octet_blob_info* info);
// Of a filter whose form is in pairs.
PairedWeights pairs_of_filter(const Container& container, const void* blob);

}  // namespace octet
