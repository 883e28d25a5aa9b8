// Packed filters, as far as octet_blob_* ask: apart, so that a library without convolutions has an
// answer, too.
#pragma once

#include "dispatch/error.h"
#include "octet/octet.h"

namespace octet {

// blob is aligned and begins with the mark of a filter.
octet_status describe_conv_blob(const void* blob, size_t bytes, octet_blob_info* info,
                                octet_error* error);
octet_status verify_conv_blob(const void* blob, size_t bytes, octet_error* error);

}  // namespace octet
