// SPDX-License-Identifier: Apache-2.0
// Asks the library's table for the tiers, so that tests name none: all of them, those of this CPU's
// architecture, and those that a run of a test looks at.
#pragma once

#include <vector>

#include "dispatch/tables/formats.h"
#include "kernels/core/tier_id.h"
#include "octet/octet.h"

namespace octet_test {

// The tier that every build has and every CPU runs.
constexpr octet_isa kPortableTier = (octet_isa)octet::kPortableTier;

// All tiers that the library knows, built in or not, the best first.
std::vector<octet_isa> all_tiers();
std::vector<octet_isa> native_tiers();   // of this architecture, the portable one included
std::vector<octet_isa> foreign_tiers();  // all others

// The tiers that this machine runs; if OCTET_TEST_TIERS is set, only the ones in its list,
// separated by commas, and else, under AddressSanitizer, the best, the portable one, and every
// second one of the others: in programs whose names have an even length, and in the others, not the
// same ones. The code around the kernels is the same for all, and kernels work between guard pages.
std::vector<octet_isa> tiers_to_test();
bool is_to_test(octet_isa isa);

// Compares tiers by the order of the table; an enumerator's value says nothing. AUTO is no tier,
// and below all.
bool is_better(octet_isa tier, octet_isa than);

// Whether a limit to `limit` allows the tier: it needs no CPU feature beyond those of the limit. Of
// two tiers neither may allow the other. AUTO is no limit.
bool is_allowed(octet_isa tier, octet_isa limit);

// The format that dense matrices of s8 or u8 weights are packed in for a tier.
const octet::WeightFormat& format_for(octet_isa tier, octet_type weights);

// Whether this machine runs all tiers of OCTET_TEST_TIERS: a run that skips everything would pass.
bool has_tiers_to_test();

}  // namespace octet_test
