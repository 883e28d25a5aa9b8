// SPDX-License-Identifier: Apache-2.0
// Runs a chain: band by band, op by op, in rings.
#include "operators/common/check.h"
#include "operators/network/run.h"
#include "operators/network/schedule.h"

namespace octet {
namespace {

// Runs one image of a chain in the memory of one task.
class Image {
 public:
  Image(const NetworkRun& run, const NetworkPart& part, size_t task, size_t image)
      : run_(run),
        n_(run.network),
        part_(part),
        image_(image),
        rings_((uint8_t*)run.args.workspace + part.rings + task * part.ring_bytes),
        words_((size_t*)((uint8_t*)run.args.workspace + part.scratch + task * part.scratch_bytes)),
        scratch_((uint8_t*)words_ + round_up(BandWalk::values(part) * sizeof(size_t), kAlignment)) {
  }

  void row_slice(LineRange lines) {
    BandWalk walk(n_, part_, lines, words_);
    while (walk.next())
      for (size_t i = 0; i < part_.end - part_.first; ++i) {
        if (walk.lines(i).count() == 0) continue;
        compute(n_.ops[part_.first + i], walk, walk.lines(i));
        walk.mark_done(i);
      }
  }

 private:
  LineTensor tensor(size_t index, const BandWalk& walk, size_t slot) const {
    const NetworkTensor &t = n_.tensors[index], &alias_root = n_.tensors[t.alias_root];
    if (alias_root.is_ring)
      return {rings_ + alias_root.offset + t.at,
              t.h,
              t.w,
              t.pixel,
              t.line,
              alias_root.ring_lines,
              walk.origin(slot)};
    return {run_.data(index, image_), t.h, t.w, t.pixel, t.line, 0, 0};
  }

  void compute(const NetworkOp& op, const BandWalk& walk, LineRange lines) const {
    LineTensor in[OCTET_NETWORK_INPUTS_MAX];
    for (size_t k = 0; k < op.input_count; ++k) in[k] = tensor(op.inputs[k], walk, op.in_slots[k]);
    const LineTensor out = tensor(op.output, walk, op.out_slot);
    if (!op.conv && !op.gemm) return call(op, in, out, lines);
    const LineTensor* const residual = op.input_count > 1 ? &in[1] : nullptr;
    // In pieces that wrap nowhere except in a convolution's input.
    for (size_t y = lines.first, end; y < lines.end; y = end) {
      end = y + smaller(lines.end - y, out.together(y));
      if (residual) end = y + smaller(end - y, residual->together(y));
      if (op.conv) {
        run_.by.lines(run_.by, op, in[0], residual, out, {y, end}, scratch_);
        continue;
      }
      end = y + smaller(end - y, in[0].together(y));
      multiply(op, in[0], residual, out, {y, end});
    }
  }

  // Cannot fail: create and check_args have checked everything.
  void multiply(const NetworkOp& op, const LineTensor& in, const LineTensor* residual,
                const LineTensor& out, LineRange lines) const {
    const auto stride = [&](size_t tensor) {
      return n_.tensors[tensor].pixel / element_bytes(n_.tensors[tensor].type);
    };
    octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
    args.m = lines.count() * in.w;
    args.lhs = in.at(lines.first), args.lhs_stride = stride(op.inputs[0]);
    args.dst = out.at(lines.first), args.dst_stride = stride(op.output);
    if (residual) {
      args.residual = residual->at(lines.first);
      args.residual_stride = stride(op.inputs[1]);
    }
    args.workspace = scratch_;
    args.workspace_bytes = part_.scratch_bytes - (size_t)(scratch_ - (uint8_t*)words_);
    run_.by.gemm(run_.by, op, args, nullptr);
  }

  void call(const NetworkOp& op, const LineTensor* in, const LineTensor& out,
            LineRange lines) const {
    const auto image = [&](size_t tensor, const LineTensor& t) {
      return octet_network_image{t.data, t.pixel, t.line, t.h, t.w, n_.tensors[tensor].channels,
                                 t.ring, t.first};
    };
    octet_network_call call = {};
    call.image = image_, call.first = lines.first, call.end = lines.end;
    for (size_t k = 0; k < op.input_count; ++k) call.inputs[k] = image(op.inputs[k], in[k]);
    call.output = image(op.output, out);
    run_.by.function(run_.by, op, call);
  }

  const NetworkRun& run_;
  const octet_network& n_;
  const NetworkPart& part_;
  const size_t image_;
  uint8_t* const rings_;
  size_t* const words_;
  uint8_t* const scratch_;
};

// The plan's tasks, divided among the tasks of the run.
struct Chain {
  const NetworkRun& run;
  const NetworkPart& part;
  const RowSlices row_slices;
  const size_t first;  // first image
  const size_t deal;
};

void run_tasks(void* context, size_t index) {
  const Chain& c = *(const Chain*)context;
  for (size_t task = index; task < c.part.tasks; task += c.deal) {
    LineRange row_slice;
    for (size_t at = task * c.row_slices.step; (row_slice = c.row_slices.piece(task, at)).count();
         at += row_slice.count())
      Image(c.run, c.part, task, c.first + at / c.row_slices.h).row_slice(row_slice);
  }
}

}  // namespace

void run_chain(const NetworkRun& run, const NetworkPart& part, size_t first) {
  const size_t deal = smaller(run.concurrency, part.tasks);
  Chain chain = {run, part, RowSlices(run.network, part), first, deal};
  if (deal == 1)
    run_tasks(&chain, 0);
  else
    run.args.parallel_for(run.args.parallel_context, deal, run_tasks, &chain);
}

}  // namespace octet
