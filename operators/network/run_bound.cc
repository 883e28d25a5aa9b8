// SPDX-License-Identifier: Apache-2.0
// Runs a network whose ops keep the addresses of the run before.
#include "operators/network/run.h"

namespace octet {
namespace {

// Whether the arguments, which were checked, are those of the run before.
bool same(const octet_network& n, const octet_network_args& a) {
  const BoundNetwork& bound = *n.bound;
  if (!bound.filled || a.workspace != bound.workspace || a.workspace_bytes < n.workspace_bytes ||
      (a.parallel_for && a.concurrency > n.concurrency))
    return false;
  if (!a.tensors) return n.caller_count == 0;
  for (size_t c = 0; c < n.caller_count; ++c)
    if (a.tensors[n.callers[c]] != bound.tensors[c]) return false;
  return true;
}

void bind(const NetworkRun& run) {
  const octet_network& n = run.network;
  BoundNetwork& bound = *n.bound;
  bound.workspace = run.args.workspace;
  for (size_t c = 0; c < n.caller_count; ++c) bound.tensors[c] = run.args.tensors[n.callers[c]];
  for (size_t i = 0; i < n.op_count; ++i) {
    const NetworkOp& op = n.ops[i];
    octet_network_call& call = bound.calls[i];
    for (size_t k = 0; k < op.input_count; ++k) call.inputs[k].data = run.data(op.inputs[k], 0);
    call.output.data = run.data(op.output, 0);
  }
  bound.filled = true;
}

octet_status run_steps(const NetworkRun& run, octet_error* error) {
  const octet_network& n = run.network;
  const BoundNetwork& bound = *n.bound;
  for (size_t p = 0; p < n.part_count; ++p) {
    const NetworkPart& part = n.parts[p];
    for (size_t i = part.first; i < part.end; ++i) {
      const NetworkOp& op = n.ops[i];
      const octet_network_call& call = bound.calls[i];
      if (bound.steps[i] == BoundStep::kCall)
        op.function.run(op.function.context, &call);
      else if (bound.steps[i] == BoundStep::kDirect)
        run_direct(run, part, op, call.inputs[0].data, call.output.data);
      else
        OCTET_TRY(run_op(run, part, op, 0, error));
    }
  }
  return OCTET_OK;
}

}  // namespace

bool run_bound(const NetworkRun& run, octet_status* status, octet_error* error) {
  const octet_network& n = run.network;
  BoundNetwork& bound = *n.bound;
  if (!bound.can_be || __atomic_exchange_n(&bound.busy, 1, __ATOMIC_ACQUIRE)) return false;
  const bool as_before = same(n, run.args);
  *status = as_before ? OCTET_OK : check_args(n, run.args, error);
  if (!*status) {
    if (!as_before) bind(run);
    *status = run_steps(run, error);
  }
  __atomic_store_n(&bound.busy, 0, __ATOMIC_RELEASE);
  return true;
}

}  // namespace octet
