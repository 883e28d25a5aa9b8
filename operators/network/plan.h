// SPDX-License-Identifier: Apache-2.0
// Plans a network: its parts, and the offsets of its tensors.
#pragma once

#include "operators/network/network.h"

namespace octet {

// Fills the network's parts and offsets from its tensors and ops.
octet_status plan_network(const octet_network_desc& desc, octet_network* network,
                          octet_error* error);

// Fills what runs read of the planned network's tensors and ops.
void prepare_ops(octet_network* network);

}  // namespace octet
