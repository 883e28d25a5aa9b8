// SPDX-License-Identifier: Apache-2.0
// octet_tuning_assume: reads the costs of a machine that was not measured from a text.
#include <stdlib.h>
#include <string.h>

#include "dispatch/select/machine.h"
#include "dispatch/tables/designs.h"
#include "dispatch/tuning/cache.h"
#include "dispatch/tuning/costs.h"

namespace octet {
namespace {

constexpr size_t kLineBytes = 1024;

// Reads "TIER name=value ...". A '#' begins a comment.
octet_status read_line(const char* text, octet_tuning* tuning, octet_error* error) {
  const size_t length = word_length(text);
  const Tier* tier = nullptr;
  for (size_t i = 0; (tier = nth_tier(i)); ++i)
    if (strlen(tier->name) == length && memcmp(tier->name, text, length) == 0) break;
  if (!tier)
    return fail(error, OCTET_UNKNOWN_ENUM, "'%.*s' is not a tier", (int)smaller(length, 40), text);
  const char* const values = skip_blanks(text + length);
  if (!*values) return fail(error, OCTET_BAD_FILE, "it names no cost of %s", tier->name);
  TierCosts costs = costs_of(*tier, this_microarchitecture().design);
  OCTET_TRY(read_cost_values(values, &costs, error));
  char line[kCostsBytes];
  to_text(costs, CostsOrigin::kAssumed, line);
  return keep_costs(tier->tier_id, line, tuning, error);
}

octet_status read_lines(const char* path, const char* text, size_t bytes, octet_tuning* tuning,
                        octet_error* error) {
  size_t tiers = 0;
  TuningReader reader(text, bytes);
  for (TuningWords whole; reader.next(&whole);) {
    char line[kLineBytes];
    if (whole.length >= sizeof line || memchr(whole.text, 0, whole.length))
      return fail(error, OCTET_BAD_FILE, "'%.120s', line %zu: it is no text, or too long", path,
                  reader.number());
    memcpy(line, whole.text, whole.length);
    line[whole.length] = 0;
    for (size_t i = 0; i < whole.length; ++i)
      if (line[i] == '#' || line[i] == '\r') line[i] = 0;
    const char* const words = skip_blanks(line);
    if (!*words) continue;
    octet_error why = {};
    const octet_status status = read_line(words, tuning, &why);
    if (status != OCTET_OK)
      return fail(error, status, "'%.120s', line %zu: %s", path, reader.number(), why.message);
    ++tiers;
  }
  return tiers ? OCTET_OK : fail(error, OCTET_BAD_FILE, "'%.120s' names no tier", path);
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_tuning_assume(octet_tuning* tuning, const char* path, octet_error* error) {
  if (!tuning || !path)
    return fail(error, OCTET_NULL_POINTER, "%s is null", tuning ? "path" : "tuning");
  char* text;
  size_t bytes;
  OCTET_TRY(read_tuning_file(path, "path", true, OCTET_BAD_FILE, &text, &bytes, error));
  octet_tuning read = {};
  octet_status status = read_lines(path, text, bytes, &read, error);
  if (status == OCTET_OK) status = add_tuning(read, tuning, error);
  free(read.text);
  free(text);
  return status;
}
