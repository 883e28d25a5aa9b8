// SPDX-License-Identifier: Apache-2.0
// Creates objects of the library from descriptors; Error has the reason of a refusal.
#pragma once

#include <vector>

#include "bench/machine/api.h"
#include "bench/machine/buffer.h"
#include "octet/network.h"

namespace tool {

// Packs weights and sets their address in `to`; they must outlive its object.
Buffer pack(const octet_filter_desc& filter, octet_isa isa, octet_conv2d_desc* to);
Buffer pack(const octet_rhs_desc& rhs, octet_isa isa, octet_gemm_desc* to);

Conv create(const octet_conv2d_desc& desc);
Gemm create(const octet_gemm_desc& desc);

struct NetworkDeleter {
  void operator()(octet_network* network) const { octet_network_destroy(network); }
};
using Network = std::unique_ptr<octet_network, NetworkDeleter>;
Network create(const octet_network_desc& desc);
size_t workspace_of(const octet_network& network);  // bytes
std::vector<octet_network_explanation> parts_of(const octet_network& network);

}  // namespace tool
