// The tiers that a run of a test looks at: those that this machine runs; or, where several runs
// share them out, those of them that OCTET_TEST_TIERS lists, separated by commas.
#pragma once

#include <vector>

#include "octet/octet.h"

namespace octet_test {

std::vector<octet_isa> tiers_to_test();
bool is_to_test(octet_isa isa);

// As the tables order them: an enumerator's value says nothing. AUTO is no tier, and below all.
bool is_better(octet_isa tier, octet_isa than);

// This machine runs all that OCTET_TEST_TIERS lists: a run that skips everything passes.
bool has_tiers_to_test();

}  // namespace octet_test
