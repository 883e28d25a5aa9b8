// SPDX-License-Identifier: Apache-2.0
// The loop that reads a file whole, by a system's own `read`.
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

namespace octet::os {

// read(to, most) returns how many bytes it has read, 0 at the end, less than 0 with errno set if it
// fails. Reads until the end, because a file may grow meanwhile. Returns a reason, as read_whole
// does.
template <typename Read>
int read_all(const Read& read, size_t most, char** text, size_t* bytes) {
  size_t room = 0;
  int reason = ENOMEM;
  for (*bytes = 0; *bytes <= most;) {
    if (*bytes == room) {
      char* const larger = (char*)realloc(*text, room = room ? 2 * room : 16384);
      if (!larger) break;
      *text = larger;
    }
    const ptrdiff_t length = read(*text + *bytes, room - *bytes);
    if (length == 0) return 0;
    if (length < 0) {
      reason = errno;
      break;
    }
    *bytes += (size_t)length;
  }
  if (*bytes > most) reason = EFBIG;
  free(*text);
  *text = nullptr, *bytes = 0;
  return reason;
}

}  // namespace octet::os
