// An octet_tuning's lines.
#pragma once

#include "dispatch/tuning/tuning.h"

namespace octet {

// Adds a line, or puts it in place of the one that the key has.
octet_status keep(const TuningKey& key, const TuningEntry& found, octet_tuning* tuning,
                  octet_error* error);

// Of this machine and a tier; as text.
octet_status keep_costs(Isa tier, const char* costs, octet_tuning* tuning, octet_error* error);

// Adds all lines of `from`; where both have a key, its own count.
octet_status add_tuning(const octet_tuning& from, octet_tuning* to, octet_error* error);

// Whether a line has this key, for so many threads: fills *result from it then, but for its size.
bool is_known(const octet_tuning& tuning, const TuningKey& key, const Choice& plan, size_t threads,
              octet_tune_result* result);

struct Lines {
  const char* text;
  size_t bytes;
};

// The lines of both that are right, in order of their keys; of a key that both have, the second's.
// To be freed; null if there is no memory.
char* merge_lines(const Lines& first, const Lines& second, size_t* bytes);

}  // namespace octet
