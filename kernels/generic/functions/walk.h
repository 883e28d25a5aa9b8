// SPDX-License-Identifier: Apache-2.0
// Finds the lines of a call's tensors.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/compiler.h"
#include "octet/network.h"

namespace octet {
namespace {

OCTET_INLINE inline const uint8_t* input_line(const octet_network_image& image, size_t y) {
  return (const uint8_t*)octet_network_line(&image, y);
}
OCTET_INLINE inline uint8_t* output_line(const octet_network_call& call, size_t y) {
  return (uint8_t*)octet_network_line(&call.output, y);
}

}  // namespace
}  // namespace octet
