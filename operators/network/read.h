// From the caller's description to a network's tensors and ops, checked.
#pragma once

#include "operators/network/network.h"

namespace octet {

octet_status read_tensors(const octet_network_desc& desc, NetworkTensor* tensors,
                          octet_error* error);
// Each by itself: objects, tensors' types and sizes.
octet_status read_ops(const octet_network_desc& desc, const NetworkTensor* tensors, NetworkOp* ops,
                      octet_error* error);
// All that is read has been written, and nothing is twice.
octet_status check_order(const octet_network& network, octet_error* error);

}  // namespace octet
