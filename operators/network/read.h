// SPDX-License-Identifier: Apache-2.0
// Reads and checks the caller's description of a network.
#pragma once

#include "operators/network/network.h"

namespace octet {

octet_status read_tensors(const octet_network_desc& desc, NetworkTensor* tensors,
                          octet_error* error);
// Each tensor and op by itself: objects, types and sizes.
octet_status read_ops(const octet_network_desc& desc, const NetworkTensor* tensors, NetworkOp* ops,
                      octet_error* error);
// Checks that tensors are written before they are read, and only once.
octet_status check_order(const octet_network& network, octet_error* error);

}  // namespace octet
