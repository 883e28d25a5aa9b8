// SPDX-License-Identifier: Apache-2.0
// A tier's costs as text: names, writing and reading.
#include "dispatch/tuning/costs.h"

#include <stdio.h>
#include <string.h>

namespace octet {
namespace {

constexpr CostName kNames[] = {
    {"macs", &TierCosts::macs, true},
    {"tile", &TierCosts::tile, false},
    {"tile_tap", &TierCosts::tile_tap, false},
    {"gather", &TierCosts::gather, true},
    {"gather_row", &TierCosts::gather_row, false},
    {"point", &TierCosts::point, false},
    {"copy", &TierCosts::copy, false},
    {"copy_bytes", &TierCosts::copy_bytes, true},
    {"int16_macs", &TierCosts::int16_macs, true},
    {"int16_exposed", &TierCosts::int16_exposed, false},
    {"int16_in", &TierCosts::int16_in, false},
    {"int16_out", &TierCosts::int16_out, false},
    {"int16_call", &TierCosts::int16_call, false},
    {"transform_call", &TierCosts::transform_call, false},
    {"depthwise", &TierCosts::depthwise, false},
    {"depthwise_line", &TierCosts::depthwise_line, false},
    {"depthwise_s16", &TierCosts::depthwise_int16, false},
    {"grouped_macs", &TierCosts::grouped_macs, true},
    {"grouped_exit", &TierCosts::grouped_store, false},
    {"grouped_partial", &TierCosts::grouped_partial, false},
    {"l2_bytes", &TierCosts::l2_bytes, true},
    {"l3_bytes", &TierCosts::l3_bytes, true},
    {"memory_bytes", &TierCosts::memory_bytes, true},
};
constexpr size_t kCount = sizeof kNames / sizeof kNames[0];

constexpr const char* kOrigins[] = {nullptr, nullptr, "calibrated", "assumed"};

constexpr double kLeast = 0.001, kMost = 1e6;

const CostName* find_name(const char* text, size_t length) {
  for (const CostName& name : kNames)
    if (strlen(name.name) == length && memcmp(name.name, text, length) == 0) return &name;
  return nullptr;
}

// Reads "12" or "12.345". Returns the text behind it, or null if there is no number.
const char* read_decimal(const char* text, double* value) {
  const char* at = text;
  double read = 0, unit = 1;
  bool fraction = false;
  size_t digits = 0;
  for (; (*at >= '0' && *at <= '9') || (*at == '.' && !fraction); ++at) {
    if (*at == '.') {
      fraction = true;
      continue;
    }
    if (++digits > 12) return nullptr;
    read = 10 * read + (*at - '0');
    if (fraction) unit *= 10;
  }
  *value = read / unit;
  return digits ? at : nullptr;
}

}  // namespace

const CostName* cost_name(size_t index) { return index < kCount ? &kNames[index] : nullptr; }

void to_text(const TierCosts& costs, CostsOrigin origin, char (&text)[kCostsBytes]) {
  size_t used = (size_t)snprintf(text, sizeof text, "%s", kOrigins[(size_t)origin]);
  for (const CostName& name : kNames) {
    const uint64_t thousandths = (uint64_t)(costs.*name.cost * 1000 + 0.5);
    if (!thousandths) continue;
    used +=
        (size_t)snprintf(text + used, sizeof text - used, " %s=%llu.%03u", name.name,
                         (unsigned long long)(thousandths / 1000), (unsigned)(thousandths % 1000));
  }
}

octet_status read_cost_values(const char* text, TierCosts* costs, octet_error* error) {
  TierCosts read = *costs;
  for (const char* at = text; *(at = skip_blanks(at));) {
    const size_t length = word_length(at, '=');
    const CostName* const name = find_name(at, length);
    if (!name)
      return fail(error, OCTET_UNKNOWN_ENUM, "'%.*s' is not the name of a cost", (int)length, at);
    double value = 0;
    const char* const end = at[length] == '=' ? read_decimal(at + length + 1, &value) : nullptr;
    if (!end || (*end && !is_blank(*end)) || value < kLeast || value > kMost)
      return fail(error, OCTET_BAD_SIZE, "%s is '%.40s'; it must be a number, 0.001 to 1000000",
                  name->name, at + length);
    if (costs->*name->cost == 0)
      return fail(error, OCTET_UNSUPPORTED, "the tier has no use for %s", name->name);
    read.*name->cost = value;
    at = end;
  }
  *costs = read;
  return OCTET_OK;
}

octet_status read_costs(const char* text, TierCosts* costs, CostsOrigin* origin,
                        octet_error* error) {
  constexpr CostsOrigin kKnown[] = {CostsOrigin::kCalibrated, CostsOrigin::kAssumed};
  for (const CostsOrigin known : kKnown) {
    const char* const word = kOrigins[(size_t)known];
    const size_t length = strlen(word);
    if (strncmp(text, word, length) != 0 || (text[length] && text[length] != ' ')) continue;
    OCTET_TRY(read_cost_values(text + length, costs, error));
    *origin = known;
    return OCTET_OK;
  }
  return fail(error, OCTET_UNKNOWN_ENUM, "costs are 'calibrated' or 'assumed', not '%.40s'", text);
}

}  // namespace octet
