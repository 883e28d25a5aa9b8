// SPDX-License-Identifier: Apache-2.0
// Checks that a network writes everything before it is read, and only once.
#include "operators/network/read.h"

namespace octet {
namespace {

// A range of channels in an alias root, in bytes.
struct Channels {
  size_t alias_root, first, end;

  explicit Channels(const octet_network& n, size_t tensor)
      : alias_root(n.tensors[tensor].alias_root), first(n.tensors[tensor].at) {
    const NetworkTensor& t = n.tensors[tensor];
    end = first + t.pixel / n.tensors[alias_root].channels * t.channels;
  }
  // Of another tensor: few are of the same root, and a division finds a tensor's channels.
  bool is_of(const octet_network& n, size_t tensor) const {
    return n.tensors[tensor].alias_root == alias_root;
  }
  size_t shared(const Channels& other) const {
    const size_t from = larger(first, other.first), to = smaller(end, other.end);
    return from < to ? to - from : 0;
  }
};

octet_status check_output(const octet_network& n, size_t i, octet_error* error) {
  const NetworkOp& op = n.ops[i];
  const Channels output(n, op.output);
  for (size_t j = 0; j < i; ++j) {
    if (!output.is_of(n, n.ops[j].output) || !output.shared(Channels(n, n.ops[j].output))) continue;
    if (op.output == n.ops[j].output)
      return fail(error, OCTET_BAD_NETWORK,
                  "tensors[%zu] is written twice: by ops[%zu] and ops[%zu]", op.output, j, i);
    return fail(error, OCTET_BAD_NETWORK,
                "tensors[%zu] and tensors[%zu] share channels, and are written by ops[%zu] and "
                "ops[%zu]",
                n.ops[j].output, op.output, j, i);
  }
  return OCTET_OK;
}

octet_status check_input(const octet_network& n, size_t i, size_t k, octet_error* error) {
  const size_t tensor = n.ops[i].inputs[k];
  const Channels input(n, tensor);
  size_t there = 0, writer = SIZE_MAX;  // writer: the first op that writes them too late
  bool written = false;
  for (size_t j = 0; j < n.op_count; ++j) {
    if (!input.is_of(n, n.ops[j].output)) continue;
    written = true;
    const size_t shared = input.shared(Channels(n, n.ops[j].output));
    if (j < i)
      there += shared;
    else if (shared && writer == SIZE_MAX)
      writer = j;
  }
  if (there == input.end - input.first) return OCTET_OK;
  if (!written && n.tensors[tensor].kept) return OCTET_OK;  // the caller's run brings it
  if (writer != SIZE_MAX)
    return fail(error, OCTET_BAD_NETWORK,
                "ops[%zu].inputs[%zu] = %zu is read before it is written, by ops[%zu]", i, k,
                tensor, writer);
  return fail(error, OCTET_BAD_NETWORK, "ops[%zu].inputs[%zu] = %zu is %s", i, k, tensor,
              written ? "written in part only" : "neither written by an op nor kept");
}

}  // namespace

octet_status check_order(const octet_network& n, octet_error* error) {
  for (size_t i = 0; i < n.op_count; ++i) {
    for (size_t k = 0; k < n.ops[i].input_count; ++k) OCTET_TRY(check_input(n, i, k, error));
    OCTET_TRY(check_output(n, i, error));
  }
  return OCTET_OK;
}

}  // namespace octet
