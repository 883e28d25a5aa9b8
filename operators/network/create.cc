// SPDX-License-Identifier: Apache-2.0
// octet_network_create and octet_network_destroy: reads a description, plans it, and keeps both in
// one allocation.
#include "dispatch/api/struct_size.h"
#include "operators/common/arena.h"
#include "operators/network/plan.h"
#include "operators/network/read.h"

namespace octet {
namespace {

octet_network* build(const octet_network_desc& desc, Arena* arena) {
  octet_network* n = arena->take<octet_network>(1);
  NetworkTensor* const tensors = arena->take<NetworkTensor>(desc.tensor_count);
  NetworkOp* const ops = arena->take<NetworkOp>(desc.op_count);
  NetworkPart* const parts = arena->take<NetworkPart>(desc.op_count);
  size_t* const callers = arena->take<size_t>(desc.tensor_count);
  BoundNetwork* const bound = arena->take<BoundNetwork>(1);
  BoundNetwork made = {};
  made.tensors = arena->take<const void*>(desc.tensor_count);
  made.calls = arena->take<octet_network_call>(desc.op_count);
  made.steps = arena->take<BoundStep>(desc.op_count);
  if (!n) return nullptr;
  *n = {};
  n->tensors = tensors, n->ops = ops, n->parts = parts, n->callers = callers, n->bound = bound;
  *bound = made;
  n->tensor_count = desc.tensor_count, n->op_count = desc.op_count;
  n->concurrency = desc.concurrency ? desc.concurrency : 1;
  return n;
}

// Notes the memory that each run checks.
void note_memory(octet_network* n) {
  for (size_t i = 0; i < n->tensor_count; ++i)
    if (n->tensors[i].kept && n->tensors[i].alias_root == i) n->callers[n->caller_count++] = i;
  n->weights = {UINTPTR_MAX, 0};
  for (size_t i = 0; i < n->op_count; ++i) {
    const NetworkOp& op = n->ops[i];
    n->outline |= op.conv ? is_outline(*op.conv) : op.gemm && is_outline(*op.gemm);
    const Extent packed = packed_of(op);
    if (packed.begin >= packed.end) continue;
    n->weights = {smaller(n->weights.begin, packed.begin), larger(n->weights.end, packed.end)};
  }
}

octet_status fill(const octet_network_desc& desc, octet_network* n, octet_error* error) {
  OCTET_TRY(read_tensors(desc, n->tensors, error));
  OCTET_TRY(read_ops(desc, n->tensors, n->ops, error));
  OCTET_TRY(check_order(*n, error));
  note_memory(n);
  OCTET_TRY(plan_network(desc, n, error));
  prepare_ops(n);
  return OCTET_OK;
}

octet_status create(const octet_network_desc& desc, octet_network** network, octet_error* error) {
  if (!desc.tensors || !desc.ops)
    return fail(error, OCTET_NULL_POINTER, "desc.%s is null", desc.tensors ? "ops" : "tensors");
  if (!desc.tensor_count || !desc.op_count)
    return fail(error, OCTET_BAD_SIZE, "desc.%s_count is 0", desc.tensor_count ? "op" : "tensor");
  if (desc.goal < OCTET_NETWORK_TIME || desc.goal > OCTET_NETWORK_LAYERS)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.goal = %d is no octet_network_goal",
                (int)desc.goal);
  if (desc.reserved) return fail(error, OCTET_UNSUPPORTED, "desc.reserved must be 0");
  if (desc.memory_bytes && desc.goal != OCTET_NETWORK_MEMORY)
    return fail(error, OCTET_UNSUPPORTED, "desc.memory_bytes is only for OCTET_NETWORK_MEMORY");
  if (desc.part_count && !desc.parts) return fail(error, OCTET_NULL_POINTER, "desc.parts is null");
  if (desc.part_count > desc.op_count)
    return fail(error, OCTET_BAD_NETWORK, "desc.part_count = %zu, but there are %zu ops",
                desc.part_count, desc.op_count);
  octet_network* n = nullptr;
  OCTET_TRY(allocate_and_build(build, desc, desc.allocator, &n, error));
  const octet_status status = fill(desc, n, error);
  if (status)
    octet_network_destroy(n);
  else
    *network = n;
  return status;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_network_create(const octet_network_desc* desc, octet_network** network,
                                  octet_error* error) {
  if (!desc || !network)
    return fail(error, OCTET_NULL_POINTER, "%s is null", desc ? "network" : "desc");
  *network = nullptr;
  CallerStruct<octet_network_desc> given;
  OCTET_TRY(given.read(desc, "desc", error));
  return create(*given, network, error);
}

void octet_network_destroy(octet_network* network) {
  if (!network) return;
  const octet_allocator allocator = network->allocator;
  allocator.release(allocator.context, network);
}
