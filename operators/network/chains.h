// Parts of a network as chains.
#pragma once

#include "operators/network/schedule.h"

namespace octet {

// Null if ops [first, end) can run as a chain, else why not, in a clause that completes
// "cannot be a chain: ".
const char* refuse_chain(const octet_network& network, size_t first, size_t end);
// Values of memory that shaping parts of so many ops takes.
size_t shaping_words(size_t ops);
// Fills in what follows from first, end and band: slots, rings, tasks, scratch. memory:
// shaping_words values. tight: rings have no line more than is wanted, though writes may wrap then.
octet_status shape_part(octet_network* network, NetworkPart* part, bool tight, size_t* memory,
                        octet_error* error);

}  // namespace octet
