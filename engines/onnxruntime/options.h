// SPDX-License-Identifier: Apache-2.0
// Reads the provider's options, which a session has as entries of its configuration.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "engines/graph/graph.h"
#include "engines/graph/weights.h"
#include "octet/network.h"

namespace octet::onnxruntime {

struct Options {
  // "as": "onnxruntime" (the default) or "standard": whose bytes outputs equal.
  graph::Arithmetic arithmetic = graph::Arithmetic::kOnnxruntime;
  size_t threads = 1;  // "threads": tasks at once, on the session's threads
  octet_network_goal goal = OCTET_NETWORK_TIME;  // "goal": "time", "layers", "traffic", "memory"
  // "accuracy_level": "model" (the default) or "4", which takes a MatMulNBits of any accuracy_level
  // as one of 4.
  bool any_accuracy = false;
  bool floats = true;   // "floats": "0" leaves operators of floats to ONNX Runtime
  std::string cache;    // "cache": a folder for packed weights, which has to exist; empty: none
  bool report = false;  // "report": "1" logs what runs where as warnings, which are shown
};

// Throws a sentence about the first entry that is none.
Options read_options(const std::map<std::string, std::string>& entries);

// The options and weights that all groups of one session share.
struct Shared {
  explicit Shared(const Options& with)
      : options(with), weights(std::make_shared<graph::PackedWeights>(with.cache)) {}
  const Options options;
  const std::shared_ptr<graph::PackedWeights> weights;
};

}  // namespace octet::onnxruntime
