// SPDX-License-Identifier: Apache-2.0
// Checks the arguments of octet_network_run.
#include "operators/common/check.h"
#include "operators/network/run.h"

namespace octet {
namespace {

bool writes(const octet_network& n, size_t alias_root) { return n.tensors[alias_root].written; }

Extent extent_of_tensor(const octet_network& n, const octet_network_args& args, size_t tensor) {
  return extent_of(args.tensors[tensor], n.tensors[tensor].bytes);
}

octet_status check_overlap(const octet_network& n, const octet_network_args& args,
                           octet_error* error) {
  const Extent workspace = extent_of(args.workspace, n.workspace_bytes);
  for (size_t c = 0; c < n.caller_count; ++c) {
    const size_t i = n.callers[c];
    const Extent a = extent_of_tensor(n, args, i);
    if (meet(a, workspace))
      return fail(error, OCTET_OVERLAP, "args.tensors[%zu] overlaps args.workspace", i);
    if (!writes(n, i)) continue;
    for (size_t d = 0; d < n.caller_count; ++d)
      if (d != c && meet(a, extent_of_tensor(n, args, n.callers[d])))
        return fail(error, OCTET_OVERLAP,
                    "args.tensors[%zu], which is written, overlaps "
                    "args.tensors[%zu]",
                    i, n.callers[d]);
  }
  return OCTET_OK;
}

octet_status check_weights(const octet_network& n, const octet_network_args& args,
                           octet_error* error) {
  const auto finds = [&](const Extent& written, size_t* o) {
    if (!meet(written, n.weights)) return false;
    for (*o = 0; *o < n.op_count; ++*o)
      if (meet(written, packed_of(n.ops[*o]))) return true;
    return false;
  };
  size_t o;
  if (finds(extent_of(args.workspace, n.workspace_bytes), &o))
    return fail(error, OCTET_OVERLAP, "args.workspace overlaps the packed weights of ops[%zu]", o);
  for (size_t c = 0; c < n.caller_count; ++c)
    if (writes(n, n.callers[c]) && finds(extent_of_tensor(n, args, n.callers[c]), &o))
      return fail(error, OCTET_OVERLAP, "args.tensors[%zu] overlaps the packed weights of ops[%zu]",
                  n.callers[c], o);
  return OCTET_OK;
}

}  // namespace

octet_status check_args(const octet_network& n, const octet_network_args& args,
                        octet_error* error) {
  if (n.outline) return refuse_outline("an op of the network", error);
  if (args.parallel_for && args.concurrency > n.concurrency)
    return fail(error, OCTET_SIZE_ABOVE_MAXIMUM,
                "args.concurrency = %zu is above the declared concurrency = %zu", args.concurrency,
                n.concurrency);
  for (size_t c = 0; c < n.caller_count; ++c) {
    const size_t i = n.callers[c], element = element_bytes(n.tensors[i].type);
    if (!args.tensors) return fail(error, OCTET_NULL_POINTER, "args.tensors is null");
    if (!args.tensors[i])
      return fail(error, OCTET_NULL_POINTER, "args.tensors[%zu], which is kept, is null", i);
    if ((uintptr_t)args.tensors[i] % element)
      return fail(error, OCTET_MISALIGNED,
                  "args.tensors[%zu] is at %p; it must be a multiple of %zu", i, args.tensors[i],
                  element);
  }
  if (n.workspace_bytes) {
    if (!args.workspace)
      return fail(error, OCTET_NULL_POINTER, "args.workspace is null; this run needs %zu bytes",
                  n.workspace_bytes);
    if (args.workspace_bytes < n.workspace_bytes)
      return fail(error, OCTET_WORKSPACE_TOO_SMALL,
                  "args.workspace_bytes = %zu, this run needs %zu", args.workspace_bytes,
                  n.workspace_bytes);
    OCTET_TRY(check_aligned(args.workspace, "args.workspace", error));
  }
  OCTET_TRY(check_overlap(n, args, error));
  return check_weights(n, args, error);
}

}  // namespace octet
