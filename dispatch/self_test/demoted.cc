// SPDX-License-Identifier: Apache-2.0
// Demotes the tiers that fail the self-test. A test links another file in place of this one.
#include "dispatch/self_test/self_test.h"

namespace octet {

TierMask demoted_tiers(const CpuFeatures& cpu) { return failing_tiers(conv_kernels(), cpu); }

}  // namespace octet
