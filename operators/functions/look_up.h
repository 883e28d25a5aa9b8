// Creates functions of one byte by a table, which other functions make.
#pragma once

#include "operators/functions/function.h"

namespace octet {

octet_status create_look_up(const octet_lut_desc& desc, octet_function** function,
                            octet_error* error);

}  // namespace octet
