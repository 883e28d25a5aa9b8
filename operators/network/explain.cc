// SPDX-License-Identifier: Apache-2.0
// octet_network_workspace and octet_network_explain: sizes and the plan of a created network.
#include "dispatch/api/struct_size.h"
#include "operators/network/network.h"

using namespace octet;

octet_status octet_network_workspace(const octet_network* network, size_t* bytes,
                                     octet_error* error) {
  if (!network || !bytes)
    return fail(error, OCTET_NULL_POINTER, "%s is null", network ? "bytes" : "network");
  *bytes = network->workspace_bytes;
  return OCTET_OK;
}

octet_status octet_network_explain(const octet_network* network, size_t index,
                                   octet_network_explanation* explanation, octet_error* error) {
  if (!network) return fail(error, OCTET_NULL_POINTER, "network is null");
  OCTET_TRY(check_out(explanation, "explanation", error));
  if (index >= network->part_count)
    return fail(error, OCTET_BAD_SIZE, "index = %zu, but the network runs in %zu part%s", index,
                network->part_count, network->part_count == 1 ? "" : "s");
  const NetworkPart& part = network->parts[index];
  octet_network_explanation filled = OCTET_NETWORK_EXPLANATION_INIT;
  filled.part = {part.first, part.end, part.band | (part.by_image ? OCTET_NETWORK_BY_IMAGE : 0)};
  filled.tasks = part.tasks;
  filled.ring_bytes = part.band ? part.ring_bytes * part.tasks : 0;
  filled.scratch_bytes = part.scratch_bytes * part.tasks;
  filled.workspace_bytes = network->workspace_bytes;
  filled.map_bytes = network->map_bytes;
  filled.separate_bytes = network->separate_bytes;
  filled.kept_bytes = network->kept_bytes;
  return give(filled, explanation);
}
