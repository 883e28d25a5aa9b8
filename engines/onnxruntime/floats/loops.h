// SPDX-License-Identifier: Apache-2.0
// The loops over floats of the tier that the library's products run on.
#pragma once

#include "engines/onnxruntime/floats/attention_rows.h"
#include "engines/onnxruntime/floats/rows.h"
#include "octet/octet.h"

namespace octet::onnxruntime {

struct FloatLoops {
  Attend attend;
  Normalize normalize;
  Gelu gelu;
};
FloatLoops best_loops();
bool find_loops(octet_isa tier, FloatLoops* to);  // false: the tier is not built

}  // namespace octet::onnxruntime
