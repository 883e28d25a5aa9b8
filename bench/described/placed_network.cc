// SPDX-License-Identifier: Apache-2.0
// Allocates the memory of a network's run, and runs it.
#include "bench/described/placed_network.h"

#include <algorithm>

namespace tool {
namespace {

constexpr size_t kPage = 4096, kHugePage = 2 << 20;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

size_t tensor_bytes(const octet_network_tensor& t) {
  return t.batch * t.h * t.w * t.channels * type_bytes(t.type);
}

PlacedNetwork::PlacedNetwork(const octet_network_desc& desc)
    : PlacedNetwork(desc, std::vector<size_t>(desc.tensor_count)) {}

PlacedNetwork::PlacedNetwork(const octet_network_desc& desc, const std::vector<size_t>& room)
    : network_(create(desc)), parts_(parts_of(*network_)), tensors_(desc.tensor_count) {
  const size_t bytes = workspace_of(*network_);
  size_t all = round_up(bytes, kPage);
  std::vector<size_t> at(desc.tensor_count);
  for (size_t i = 0; i < desc.tensor_count; ++i) {
    if (!desc.tensors[i].keep) continue;
    at[i] = all;
    all += round_up(std::max(room[i], tensor_bytes(desc.tensors[i])), kPage);
  }
  buffer_ = Buffer(all + kHugePage);
  uint8_t* const memory = (uint8_t*)round_up((uintptr_t)buffer_.as(), kHugePage);
  for (size_t i = 0; i < desc.tensor_count; ++i)
    if (desc.tensors[i].keep) tensors_[i] = memory + at[i];
  args_.tensors = tensors_.data();
  args_.workspace = memory;
  args_.workspace_bytes = bytes;
}

void PlacedNetwork::run() const {
  octet_error error = {};
  check(octet_network_run(network_.get(), &args_, &error), error);
}

}  // namespace tool
