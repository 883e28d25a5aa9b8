// An octet_tuning's lines.
#pragma once

#include "tune/search.h"

namespace octet {

// Adds a line, or puts it in place of the one that the key has.
octet_status keep(const TuningKey& key, const TuneFound& found, octet_tuning* tuning,
                  octet_error* error);

struct Lines {
  const char* text;
  size_t bytes;
};

// The lines of both that are right, in order of their keys; of a key that both have, the second's.
// To be freed; null if there is no memory.
char* merge_lines(const Lines& first, const Lines& second, size_t* bytes);

}  // namespace octet
