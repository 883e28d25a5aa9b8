// SPDX-License-Identifier: Apache-2.0
// Creates functions of one value where input or output are of 16 bits.
#pragma once

#include "octet/functions.h"

namespace octet {

// desc: as octet_unary_create has checked it, in TensorFlow Lite's arithmetic. bounds: the output's
// least and most.
octet_status create_s16(const octet_unary_desc& desc, const int32_t (&bounds)[2],
                        octet_function** function, octet_error* error);

}  // namespace octet
