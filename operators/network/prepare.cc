// SPDX-License-Identifier: Apache-2.0
// Works out at creation what runs of an op need besides the addresses of a run's arguments: small
// networks have ops of some nanoseconds, of which walking through tensors would be a third.
#include "operators/common/check.h"
#include "operators/common/task_size.h"
#include "operators/network/plan.h"
#include "operators/network/run.h"

namespace octet {
namespace {

void place(const octet_network& n, NetworkTensor* t) {
  const NetworkTensor& alias_root = n.tensors[t->alias_root];
  t->caller = t->kept ? t->alias_root : kNoUse;
  t->first = t->at + (t->kept ? 0 : alias_root.offset);
  t->step_image = alias_root.one_image ? 0 : t->image;
}

octet_network_image image_of(const NetworkTensor& t, bool all_images) {
  return {nullptr, t.pixel, t.line, all_images ? t.batch * t.h : t.h, t.w, t.channels, 0, 0};
}

void prepare_function(const octet_network& n, const NetworkPart& part, NetworkOp* op) {
  const NetworkTensor& out = n.tensors[op->output];
  op->call = {};
  for (size_t k = 0; k < op->input_count; ++k)
    op->call.inputs[k] = image_of(n.tensors[op->inputs[k]], op->all_images);
  op->call.output = image_of(out, op->all_images);
  op->call.end = op->call.output.h;
  // A function's cost is unknown; a cycle per value is more than vector code needs
  op->cycles = (double)(images_of(part, out) * out.h) * (double)out.w * (double)out.channels;
}

void prepare_product(const octet_network& n, const NetworkPart& part, NetworkOp* op) {
  const octet_gemm& gemm = *op->gemm;
  const size_t m = rows_of(n, part, *op);
  op->cycles = gemm.matrix_cycles + (double)m * gemm.row_cycles;
  // m_fast is 0 for a product with a residual or a trace. Sizes of 2^30 leave the fast path
  op->direct =
      m <= gemm.m_fast && op->input_count == 1 &&
      (m | stride_of(n.tensors[op->inputs[0]]) | stride_of(n.tensors[op->output])) >> 30 == 0;
}

// Finds whether the network can be bound and prepares the bound form but for its addresses.
void prepare_bound(const octet_network& n) {
  BoundNetwork& bound = *n.bound;
  bound.can_be = true;
  for (size_t p = 0; p < n.part_count; ++p) {
    const NetworkPart& part = n.parts[p];
    bound.can_be &= part.band == 0;
    for (size_t i = part.first; i < part.end; ++i) {
      const NetworkOp& op = n.ops[i];
      const bool one = n.tensors[op.output].batch == 1;
      bound.can_be &= one || !part.by_image;
      bound.calls[i] = op.call;
      const bool cut = tasks_worth(op.cycles, n.concurrency) > 1;
      bound.steps[i] = cut                                              ? BoundStep::kOther
                       : op.direct                                      ? BoundStep::kDirect
                       : !op.conv && !op.gemm && (one || op.all_images) ? BoundStep::kCall
                                                                        : BoundStep::kOther;
    }
  }
}

}  // namespace

void prepare_ops(octet_network* n) {
  for (size_t i = 0; i < n->tensor_count; ++i) place(*n, &n->tensors[i]);
  for (size_t p = 0; p < n->part_count; ++p) {
    const NetworkPart& part = n->parts[p];
    for (size_t i = part.first; i < part.end; ++i) {
      NetworkOp* const op = &n->ops[i];
      if (op->gemm)
        prepare_product(*n, part, op);
      else if (!op->conv)
        prepare_function(*n, part, op);
    }
  }
  prepare_bound(*n);
}

}  // namespace octet
