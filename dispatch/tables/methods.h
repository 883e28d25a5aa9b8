// The algorithms of convolution by their public names.
#pragma once

#include "dispatch/conv_names.h"
#include "kernels/conv/conv.h"

namespace octet {

const ConvMethod* method_of(uint8_t algorithm);  // null: AUTO, no algorithm, or not built in

}  // namespace octet
