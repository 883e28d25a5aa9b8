// SPDX-License-Identifier: Apache-2.0
// Declares functions of networks: one that reads its whole window, and the library's.
#pragma once

#include <memory>

#include "fuzz/data.h"
#include "octet/image_functions.h"

namespace octet_fuzz {

// A function of its whole window, of bytes or s16 values; its result differs for each line, pixel
// and channel.
struct Mix {
  octet_network_function lines = {};
  size_t elements[OCTET_NETWORK_INPUTS_MAX] = {}, out_element = 1;  // bytes of one
};
void mix(void* context, const octet_network_call* call);

struct DestroyFunction {
  void operator()(octet_function* function) const { octet_function_destroy(function); }
};

// A function of octet/functions.h or octet/image_functions.h, in TensorFlow Lite's arithmetic, and
// the output that it asks for. Of two inputs both are like the first.
struct LibraryFunction {
  std::unique_ptr<octet_function, DestroyFunction> object;
  octet_network_function lines = {};
  size_t inputs = 1;
  size_t h, w, channels;
  octet_type type;
};
LibraryFunction draw_function(Choices* c, const octet_network_tensor& in);

}  // namespace octet_fuzz
