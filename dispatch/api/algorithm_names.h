// The algorithms' public names. Refers to none of them.
#pragma once

#include "octet/octet.h"

namespace octet {

constexpr int kAlgorithms = OCTET_CONV_GROUPED + 1;  // AUTO included
const char* algorithm_name(octet_conv_algorithm algorithm);

}  // namespace octet
