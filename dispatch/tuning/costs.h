// Costs of a tier that are a machine's own: what calibration fits, what a profile assumes, and how
// a line of a tuning keeps them.
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
  bool rate;  // per cycle, else cycles
};
// Null past the last. A cost that is 0 is none: its tier has no use for it.
const CostName* cost_name(size_t index);

constexpr size_t kCostsBytes = 640;  // of a text, its end included

// "calibrated macs=100 tile=165.25 ...": in thousandths, whatever the locale.
void to_text(const TierCosts& costs, CostsOrigin origin, char (&text)[kCostsBytes]);

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline const char* skip_blanks(const char* text) {
  while (is_blank(*text)) ++text;
  return text;
}
// Up to a blank, `stop` or the end
inline size_t word_length(const char* text, char stop = 0) {
  size_t length = 0;
  while (text[length] && !is_blank(text[length]) && text[length] != stop) ++length;
  return length;
}

// The same, read over the costs that are there: what is not named stays. Names what is wrong.
octet_status read_costs(const char* text, TierCosts* costs, CostsOrigin* origin,
                        octet_error* error);
// Without the word of the origin.
octet_status read_cost_values(const char* text, TierCosts* costs, octet_error* error);

}  // namespace octet
