// In a library without sparse weights.
#pragma once

#include "dispatch/error.h"

namespace octet {

octet_status refuse_sparse(octet_error* error);

}  // namespace octet
