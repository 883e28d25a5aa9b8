// What the system says of a file, in words of our own: its own ones are in the caller's language,
// and not of one thread.
#pragma once

#include "dispatch/api/error.h"

namespace octet {

// "NAME cannot be WHAT: WORDS (error N of the system): 'PATH'"; the words come first, as paths may
// be longer than a message.
octet_status fail_file(octet_error* error, octet_status status, const char* name, const char* what,
                       int number, const char* path);

}  // namespace octet
