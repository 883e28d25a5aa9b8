// SPDX-License-Identifier: Apache-2.0
// Reads the delegate's options, which a host gives as pairs of strings.
#pragma once

#include <cstddef>
#include <string>

#include "engines/graph/graph.h"
#include "octet/network.h"

namespace octet::litert {

struct Options {
  // "as": "reference" (the default) or "xnnpack": whose bytes outputs equal.
  graph::Arithmetic arithmetic = graph::Arithmetic::kTflite;
  size_t threads = 0;                            // "threads": 0 means as many as the host has
  octet_network_goal goal = OCTET_NETWORK_TIME;  // "goal": "time", "layers", "traffic", "memory"
  bool report = false;  // "report": "1" writes a line about each partition to stderr
};

// Returns a sentence about the first pair that is none; empty: *options is set.
std::string read_options(const char* const* keys, const char* const* values, size_t count,
                         Options* options);

}  // namespace octet::litert
