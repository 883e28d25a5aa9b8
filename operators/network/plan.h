// How a network runs: parts, and where everything lies.
#pragma once

#include "operators/network/network.h"

namespace octet {

// From tensors and ops to parts and offsets.
octet_status plan_network(const octet_network_desc& desc, octet_network* network,
                          octet_error* error);

}  // namespace octet
