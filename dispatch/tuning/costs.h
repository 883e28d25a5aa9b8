// SPDX-License-Identifier: Apache-2.0
// A tier's costs as text. Calibration fits them, a profile assumes them, and a line of a tuning
// file keeps them.
#pragma once

#include "dispatch/api/error.h"
#include "kernels/core/strict_float.h"
#include "kernels/core/tier_costs.h"

namespace octet {

// kNotMeasured: built in, but fitted to another design of CPU or to none.
enum class CostsOrigin : uint8_t { kBuiltIn, kNotMeasured, kCalibrated, kAssumed };
inline bool is_built_in(CostsOrigin origin) {
  return origin == CostsOrigin::kBuiltIn || origin == CostsOrigin::kNotMeasured;
}

struct CostName {
  const char* name;
  double TierCosts::*cost;
  bool rate;  // true: operations per cycle; false: cycles
};
// Null past the last. A cost of 0 means that the tier does not use it.
const CostName* cost_name(size_t index);

constexpr size_t kCostsBytes = 640;  // size of a text with its final zero

// "calibrated macs=100 tile=165.25 ...": in thousandths, whatever the locale.
void to_text(const TierCosts& costs, CostsOrigin origin, char (&text)[kCostsBytes]);

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline const char* skip_blanks(const char* text) {
  while (is_blank(*text)) ++text;
  return text;
}
// Length up to a blank, `stop` or the end
inline size_t word_length(const char* text, char stop = 0) {
  size_t length = 0;
  while (text[length] && !is_blank(text[length]) && text[length] != stop) ++length;
  return length;
}

// Reads a text of to_text over *costs; costs that it does not name keep their values. The error
// names the mistake.
octet_status read_costs(const char* text, TierCosts* costs, CostsOrigin* origin,
                        octet_error* error);
// The same without the word of the origin.
octet_status read_cost_values(const char* text, TierCosts* costs, octet_error* error);

}  // namespace octet
