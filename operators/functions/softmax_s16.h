// SPDX-License-Identifier: Apache-2.0
// Creates softmax functions of 16-bit numbers.
#pragma once

#include "kernels/generic/functions/image_function.h"
#include "octet/image_functions.h"

namespace octet {

// desc: as octet_softmax_create has checked it, but for what 16 bits ask for.
octet_status create_softmax_of_s16(const octet_softmax_desc& desc,
                                   void (*kernel)(const S16Softmax& f, const ImageCall& call),
                                   octet_function** function, octet_error* error);

}  // namespace octet
