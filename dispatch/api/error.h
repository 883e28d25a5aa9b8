// SPDX-License-Identifier: Apache-2.0
// How a function reports an error: fail() writes the message, OCTET_TRY passes the status on.
#pragma once

#include "octet/octet.h"

namespace octet {

// Fills *error unless it is null, and returns status.
[[gnu::format(printf, 3, 4)]] octet_status fail(octet_error* error, octet_status status,
                                                const char* format, ...);

}  // namespace octet

// Returns the status of `expression` from the enclosing function unless it is OCTET_OK.
#define OCTET_TRY(expression)                  \
  do {                                         \
    const octet_status status_ = (expression); \
    if (status_ != OCTET_OK) return status_;   \
  } while (false)

// A function of a part that this library was built without: `refuse` makes its error. The other
// arguments are the parameters before `error`.
#define OCTET_LACKS(function, refuse, ...) \
  octet_status function(__VA_ARGS__, octet_error* error) { return refuse(error); }
