// For a library without measured choices.
#pragma once

#include "dispatch/environment.h"

namespace octet {

octet_status refuse_tuning(octet_error* error);
// Refuses OCTET_TUNING, else finds nothing.
octet_status no_tuning(const Environment& environment, octet_error* error);

}  // namespace octet
