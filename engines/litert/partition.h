// SPDX-License-Identifier: Apache-2.0
// Runs some nodes of a LiteRT interpreter as one program.
#pragma once

#include <tensorflow/lite/core/c/common.h>

#include <memory>
#include <string>
#include <vector>

#include "engines/graph/program.h"
#include "engines/litert/options.h"
#include "engines/litert/translate.h"
#include "engines/threads/threads.h"

namespace octet::litert {

// The options, threads and weights that all partitions of one delegate share.
struct Shared {
  Options options;
  bool in_double = true;  // Rounding's, which the delegate finds out
  engines::Threads threads;
  std::shared_ptr<graph::PackedWeights> weights = std::make_shared<graph::PackedWeights>();

  Rounding rounding() const { return {options.arithmetic, in_double}; }
};

class Partition {
 public:
  // nodes, and the tensors that come from outside and that are wanted, as TfLiteDelegateParams has
  // them; constants among the inputs are left out.
  Partition(TfLiteContext* context, const TfLiteDelegateParams& params,
            std::shared_ptr<const Shared> shared);

  const std::vector<int>& nodes() const { return nodes_; }

  // Makes the program for the tensors' sizes, unless it is there already. Weights are packed once.
  octet_status prepare(TfLiteContext* context, octet_error* error);
  octet_status run(TfLiteContext* context, octet_error* error);

  // A sentence about how much runs, of a partition that is prepared.
  std::string report() const;

 private:
  std::vector<std::vector<int>> sizes_of_inputs(const TfLiteContext& context) const;

  std::shared_ptr<const Shared> shared_;
  std::vector<int> nodes_, inputs_, outputs_;
  std::vector<std::vector<int>> sizes_;  // of the inputs that the program was made for
  std::unique_ptr<graph::Program> program_;
  std::vector<const void*> from_;
  std::vector<void*> to_;
};

}  // namespace octet::litert
