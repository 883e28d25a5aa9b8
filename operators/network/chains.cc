// SPDX-License-Identifier: Apache-2.0
// Checks which ops can form a chain, and computes its rings, tasks and scratch.
#include "operators/network/chains.h"

#include "operators/network/repeats.h"

namespace octet {
namespace {

// True if only ops of the part use the tensor, and one of them reads it.
bool is_inner(const octet_network& n, const NetworkPart& part, size_t alias_root) {
  const NetworkTensor& t = n.tensors[alias_root];
  if (t.kept || t.first_use < part.first || t.last_use >= part.end) return false;
  for (size_t i = t.last_use + 1; i-- > t.first_use;)
    for (size_t k = 0; k < n.ops[i].input_count; ++k)
      if (n.tensors[n.ops[i].inputs[k]].alias_root == alias_root) return true;
  return false;
}

// The slot of a tensor that ops [part.first, end) write; kNoSlot if none does.
size_t find_slot(const octet_network& n, const NetworkPart& part, size_t end, size_t alias_root) {
  for (size_t i = end; i-- > part.first;)
    if (n.tensors[n.ops[i].output].alias_root == alias_root) return n.ops[i].out_slot;
  return kNoSlot;
}

void number_slots(octet_network* n, const NetworkPart& part) {
  size_t slots = 0;
  for (size_t i = part.first; i < part.end; ++i) {
    NetworkOp& op = n->ops[i];
    for (size_t k = 0; k < op.input_count; ++k)
      op.in_slots[k] = find_slot(*n, part, i, n->tensors[op.inputs[k]].alias_root);
    op.out_slot = find_slot(*n, part, i, n->tensors[op.output].alias_root);
    if (op.out_slot == kNoSlot) op.out_slot = slots++;
    op.most = 0;
  }
}

// The number of tasks. More than one only if no two tasks write the same line, or read each other's
// lines, outside of rings.
size_t tasks_of(const octet_network& n, const NetworkPart& part) {
  if (n.concurrency == 1) return 1;
  const NetworkTensor& last = n.tensors[n.ops[part.end - 1].output];
  for (size_t i = part.first; i < part.end; ++i) {
    const NetworkOp& op = n.ops[i];
    const NetworkTensor& out = n.tensors[op.output];
    if (out.alias_root != last.alias_root && !n.tensors[out.alias_root].is_ring) return 1;
    for (size_t k = 0; k < op.input_count; ++k)
      if (n.tensors[op.inputs[k]].alias_root == last.alias_root) return 1;
  }
  double cycles = 0;
  for (size_t i = part.first; i < part.end; ++i) cycles += cycles_of(n, part, n.ops[i]);
  return tasks_worth(cycles, smaller(n.concurrency, images_of(part, last) * last.h));
}

// Measures the rings and the scratch that one row slice needs.
void measure(octet_network* n, const NetworkPart& part, LineRange row_slice, size_t* memory) {
  BandWalk walk(*n, part, row_slice, memory);
  Repeats repeats(*n, part, memory + BandWalk::values(part));
  for (bool first = true; walk.next(); first = false) {
    for (size_t i = 0; i < part.end - part.first; ++i) {
      NetworkOp& op = n->ops[part.first + i];
      const LineRange lines = walk.lines(i);
      if (lines.count() == 0) continue;
      op.most = larger(op.most, lines.count());
      NetworkTensor& alias_root = n->tensors[n->tensors[op.output].alias_root];
      alias_root.span =
          larger(alias_root.span, lines.end - smaller(walk.oldest(op.out_slot), lines.first));
      if (!first && lines.end < alias_root.h)
        alias_root.step = larger(alias_root.step, lines.count());
      walk.mark_done(i);
    }
    repeats.after_band(&walk);
  }
}

octet_status scratch_of_lines(const octet_network& n, const NetworkOp& op, size_t* bytes,
                              octet_error* error) {
  const NetworkTensor& in = n.tensors[op.inputs[0]];
  *bytes = 0;
  if (!op.most) return OCTET_OK;  // no line of it is needed
  if (op.conv) *bytes = lines_workspace(*op.conv, in.h, in.w, op.most);
  return op.gemm ? octet_gemm_workspace(op.gemm, op.most * in.w, 1, bytes, error) : OCTET_OK;
}

octet_status shape_chain(octet_network* n, NetworkPart* part, bool tight, size_t* memory,
                         octet_error* error) {
  number_slots(n, *part);
  mark_rings(n, *part);
  for (size_t i = part->first; i < part->end; ++i) {
    NetworkTensor& t = n->tensors[n->tensors[n->ops[i].output].alias_root];
    t.ring_lines = t.h;  // for now; the real size is known after all bands
    t.span = t.step = 0;
    t.offset = kNoUse;
  }
  const RowSlices row_slices = cut_chain(*n, part);
  for (size_t task = 0; task < part->tasks; ++task) {
    LineRange row_slice;
    for (size_t at = task * row_slices.step; (row_slice = row_slices.piece(task, at)).count();
         at += row_slice.count())
      measure(n, *part, row_slice, memory);
  }
  part->ring_bytes = 0;
  part->scratch_bytes = 0;
  for (size_t i = part->first; i < part->end; ++i) {
    size_t bytes;
    OCTET_TRY(scratch_of_lines(*n, n->ops[i], &bytes, error));
    part->scratch_bytes = larger(part->scratch_bytes, bytes);
    NetworkTensor& t = n->tensors[n->tensors[n->ops[i].output].alias_root];
    if (t.is_ring && t.offset == kNoUse) {
      const size_t lines = tight || !t.step ? t.span : round_up(t.span, t.step);
      t.ring_lines = smaller(lines, t.h);
      t.offset = part->ring_bytes;
      part->ring_bytes += round_up(t.ring_lines * t.line, kAlignment);
    }
  }
  part->scratch_bytes = round_up(BandWalk::values(*part) * sizeof(size_t), kAlignment) +
                        round_up(part->scratch_bytes, kAlignment);
  return OCTET_OK;
}

octet_status shape_layers(octet_network* n, NetworkPart* part, octet_error* error) {
  part->tasks = 1;
  part->ring_bytes = part->scratch_bytes = 0;
  for (size_t i = part->first; i < part->end; ++i) {
    const NetworkOp& op = n->ops[i];
    const NetworkTensor& in = n->tensors[op.inputs[0]];
    n->tensors[n->tensors[op.output].alias_root].is_ring = false;
    const size_t images = images_of(*part, in);
    size_t bytes = 0;
    if (op.conv)
      OCTET_TRY(octet_conv2d_workspace(op.conv, images, in.h, in.w, n->concurrency, &bytes, error));
    if (op.gemm)
      OCTET_TRY(octet_gemm_workspace(op.gemm, op.flat ? images : images * in.h * in.w,
                                     n->concurrency, &bytes, error));
    part->scratch_bytes = larger(part->scratch_bytes, bytes);
  }
  return OCTET_OK;
}

}  // namespace

double cycles_of(const octet_network& n, const NetworkPart& part, const NetworkOp& op) {
  const NetworkTensor &in = n.tensors[op.inputs[0]], &out = n.tensors[op.output];
  const double pixels = (double)images_of(part, out) * (double)out.h * (double)out.w;
  if (op.conv) return pixels * op.conv->pixel_cycles;
  if (op.gemm) return (double)images_of(part, in) * (double)(in.h * in.w) * op.gemm->row_cycles;
  return pixels * (double)out.channels;
}

const char* refuse_link(const octet_network& n, size_t first, size_t index) {
  const NetworkOp& op = n.ops[index];
  if (op.conv && !has_lines(*op.conv))
    return "one of its convolutions quantizes whole images, or is approximate";
  if (op.flat) return "one of its products reads whole images";
  if (op.all_images) return "one of its functions reads all images";
  if (n.tensors[op.output].batch != n.tensors[n.ops[first].output].batch)
    return "its batches differ";
  return nullptr;
}

const char* refuse_chain(const octet_network& n, size_t first, size_t end) {
  for (size_t i = first; i < end; ++i)
    if (const char* const why = refuse_link(n, first, i)) return why;
  return nullptr;
}

void mark_rings(octet_network* n, const NetworkPart& part) {
  for (size_t i = part.first; i < part.end; ++i) {
    const size_t alias_root = n->tensors[n->ops[i].output].alias_root;
    n->tensors[alias_root].is_ring = part.band && is_inner(*n, part, alias_root);
  }
}

RowSlices cut_chain(const octet_network& n, NetworkPart* part) {
  part->tasks = tasks_of(n, *part);
  const RowSlices row_slices(n, *part);
  part->tasks = divide_up(row_slices.units, row_slices.step);
  return row_slices;
}

size_t shaping_values(size_t ops) { return BandWalk::values(ops) + Repeats::values(ops); }

octet_status shape_part(octet_network* n, NetworkPart* part, bool tight, size_t* memory,
                        octet_error* error) {
  return part->band ? shape_chain(n, part, tight, memory, error) : shape_layers(n, part, error);
}

}  // namespace octet
