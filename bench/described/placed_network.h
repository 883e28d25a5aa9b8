// SPDX-License-Identifier: Apache-2.0
// Holds a network with the memory of a run: its workspace and the tensors that are the caller's.
#pragma once

#include <vector>

#include "bench/problems/objects.h"

namespace tool {

size_t tensor_bytes(const octet_network_tensor& tensor);

class PlacedNetwork {
 public:
  // desc's arrays may be freed; the objects that it points to must outlive this one. Throws the
  // refusals of octet_network_create and octet_network_workspace.
  explicit PlacedNetwork(const octet_network_desc& desc);
  // room: the bytes for each kept tensor, if more than its own.
  PlacedNetwork(const octet_network_desc& desc, const std::vector<size_t>& room);
  PlacedNetwork(const PlacedNetwork&) = delete;
  PlacedNetwork& operator=(const PlacedNetwork&) = delete;

  void run() const;
  const octet_network* get() const { return network_.get(); }
  octet_network_args* args() { return &args_; }
  // Null if the tensor is not kept.
  uint8_t* tensor(size_t index) const { return (uint8_t*)tensors_[index]; }
  const std::vector<octet_network_explanation>& parts() const { return parts_; }

 private:
  const Network network_;
  const std::vector<octet_network_explanation> parts_;
  Buffer buffer_;  // the workspace, then tensors, each from a page on
  std::vector<void*> tensors_;
  octet_network_args args_ = OCTET_NETWORK_ARGS_INIT;
};

}  // namespace tool
