// SPDX-License-Identifier: Apache-2.0
// The environment variables. They are read at every pack and create, so a test or a program may
// change them in between.
#pragma once

#include "dispatch/cpu/features.h"
#include "octet/octet.h"

namespace octet {

struct Environment {
  TierMask allowed;                // from OCTET_MAX_ISA; all ones if unset
  const char* kernel;              // from OCTET_KERNEL; null if unset
  octet_conv_algorithm algorithm;  // from OCTET_CONV; AUTO if unset
  int verbose;                     // from OCTET_VERBOSE
  const char* tuning;              // from OCTET_TUNING, a path; null if unset
};

// The tiers that OCTET_MAX_ISA allows; none if its value is refused.
TierMask allowed_tiers();

octet_status read_environment(Environment* environment, octet_error* error);

}  // namespace octet
