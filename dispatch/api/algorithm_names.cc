// SPDX-License-Identifier: Apache-2.0
// The public names of the convolution algorithms, and the way back from a name.
#include "dispatch/api/algorithm_names.h"

namespace octet {

const char* algorithm_name(octet_conv_algorithm algorithm) {
  switch (algorithm) {
    case OCTET_CONV_AUTO: return "auto";
    case OCTET_CONV_DIRECT: return "direct";
    case OCTET_CONV_IM2COL: return "im2col";
    case OCTET_CONV_DEPTHWISE: return "depthwise";
    case OCTET_CONV_WINOGRAD_2X2: return "winograd2x2";
    case OCTET_CONV_WINOGRAD_4X4: return "winograd4x4";
    case OCTET_CONV_WINOGRAD_2X2_S2: return "winograd2x2_s2";
    case OCTET_CONV_WINOGRAD_2X2_INT8: return "winograd2x2_int8";
    case OCTET_CONV_GROUPED: return "grouped";
  }
  return "unknown";
}

}  // namespace octet

const char* octet_conv_algorithm_name(octet_conv_algorithm algorithm) {
  return octet::algorithm_name(algorithm);
}
