// SPDX-License-Identifier: Apache-2.0
// Shapes parts of a network as chains: ops that run together, band by band.
#pragma once

#include "operators/network/schedule.h"

namespace octet {

// Estimated cycles of an op, for all images that the part runs at once. A function counts one cycle
// per value.
double cycles_of(const octet_network& network, const NetworkPart& part, const NetworkOp& op);
// Null if ops [first, end) can run as a chain, else the reason, a clause that completes "cannot be
// a chain: ".
const char* refuse_chain(const octet_network& network, size_t first, size_t end);
// The same for op `index` of a chain that begins with op `first`.
const char* refuse_link(const octet_network& network, size_t first, size_t index);
// Values of scratch memory for shaping parts of so many ops.
size_t shaping_values(size_t ops);
// Sets is_ring of the tensors that a chain writes.
void mark_rings(octet_network* network, const NetworkPart& part);
// Sets the tasks of a chain whose rings are marked.
RowSlices cut_chain(const octet_network& network, NetworkPart* part);
// Computes slots, rings, tasks and scratch from first, end and band. memory: shaping_values values.
// tight: rings have only the lines that are needed, though writes may then wrap.
octet_status shape_part(octet_network* network, NetworkPart* part, bool tight, size_t* memory,
                        octet_error* error);

}  // namespace octet
