// SPDX-License-Identifier: Apache-2.0
// Errors of the file system as octet_error messages. strerror depends on the locale and is not
// thread-safe, so the library has its own words.
#pragma once

#include "dispatch/api/error.h"

namespace octet {

// The message is "NAME cannot be WHAT: WORDS (error N of the system): 'PATH'". The path comes last,
// because it may be longer than the message has room for.
octet_status fail_file(octet_error* error, octet_status status, const char* name, const char* what,
                       int number, const char* path);

}  // namespace octet
