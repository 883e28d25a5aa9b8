// SPDX-License-Identifier: Apache-2.0
// Finds operators of f32 as encoders have them between quantized products.
#pragma once

#include <set>

#include "engines/onnxruntime/groups.h"
#include "engines/onnxruntime/host/known.h"
#include "engines/onnxruntime/options.h"

namespace octet::onnxruntime {

// LayerNormalization and SkipLayerNormalization with the Add before them, GELU, and attention, each
// as one operator or as the operators that exporters write. taken: nodes that belong to units
// already. refused: gets the reason of each LayerNormalization and GELU that Octet does not
// compute.
std::vector<Unit> find_floats(const HostGraph& host, const Known& known,
                              const std::set<size_t>& taken, const Options& options,
                              std::map<size_t, std::string>* refused);

}  // namespace octet::onnxruntime
