// SPDX-License-Identifier: Apache-2.0
// Adds, finds and merges the lines of an octet_tuning.
#pragma once

#include "dispatch/tuning/tuning.h"

namespace octet {

// Adds a line, or replaces the line of the same key.
octet_status keep(const TuningKey& key, const TuningEntry& found, octet_tuning* tuning,
                  octet_error* error);

// Keeps the costs of a tier on this machine, as text.
octet_status keep_costs(TierId tier, const char* costs, octet_tuning* tuning, octet_error* error);

// Adds all lines of `from`. They replace lines with the same key.
octet_status add_tuning(const octet_tuning& from, octet_tuning* to, octet_error* error);

// True if a line has this key for so many threads. Then *result is filled from it, except its
// struct_size.
bool is_known(const octet_tuning& tuning, const TuningKey& key, const Choice& plan, size_t threads,
              octet_tune_result* result);

struct Lines {
  const char* text;
  size_t bytes;
};

// All intact lines of both, sorted by key; where both have a key, the second's line. The caller
// frees it; null if there is no memory.
char* merge_lines(const Lines& first, const Lines& second, size_t* bytes);

}  // namespace octet
