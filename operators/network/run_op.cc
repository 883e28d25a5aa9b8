// SPDX-License-Identifier: Apache-2.0
// Runs a single op of a network on whole tensors.
#include "operators/common/check.h"
#include "operators/common/task_size.h"
#include "operators/gemm/loops.h"
#include "operators/network/run.h"

namespace octet {
namespace {

// Arguments that convolutions and products share.
template <typename Args>
void fill(Args* args, const NetworkRun& run, const NetworkPart& part, const NetworkOp& op,
          size_t first) {
  const octet_network& n = run.network;
  args->lhs = run.data(op.inputs[0], first);
  args->lhs_stride = op.flat ? 0 : stride_of(n.tensors[op.inputs[0]]);
  args->dst = run.data(op.output, first), args->dst_stride = stride_of(n.tensors[op.output]);
  if (op.input_count > 1) {
    args->residual = run.data(op.inputs[1], first);
    args->residual_stride = stride_of(n.tensors[op.inputs[1]]);
  }
  // An empty workspace would lie in a tensor, which keeps products from their fast path
  if (part.scratch_bytes) args->workspace = (uint8_t*)run.args.workspace + part.scratch;
  args->workspace_bytes = part.scratch_bytes;
  args->parallel_for = run.args.parallel_for;
  args->parallel_context = run.args.parallel_context;
  args->concurrency = run.concurrency;
}

octet_status run_conv(const NetworkRun& run, const NetworkPart& part, const NetworkOp& op,
                      size_t first, octet_error* error) {
  const NetworkTensor& in = run.network.tensors[op.inputs[0]];
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  args.batch = images_of(part, in), args.in_h = in.h, args.in_w = in.w;
  fill(&args, run, part, op, first);
  return run.by.conv2d(run.by, op, args, error);
}

octet_status run_gemm(const NetworkRun& run, const NetworkPart& part, const NetworkOp& op,
                      size_t first, octet_error* error) {
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = rows_of(run.network, part, op);
  fill(&args, run, part, op, first);
  return run.by.gemm(run.by, op, args, error);
}

// Lines [first, end) of an image, or, of a function of all images, of all of them.
void call_function(const NetworkRun& run, const NetworkOp& op, size_t image, size_t first,
                   size_t end) {
  octet_network_call call;
  call.image = image, call.first = first, call.end = end;
  for (size_t k = 0; k < op.input_count; ++k) {
    call.inputs[k] = op.call.inputs[k];
    call.inputs[k].data = run.data(op.inputs[k], image);
  }
  for (size_t k = op.input_count; k < OCTET_NETWORK_INPUTS_MAX; ++k) call.inputs[k] = {};
  call.output = op.call.output;
  call.output.data = run.data(op.output, image);
  run.by.function(run.by, op, call);
}

// A function's task: lines of images from `first` on, counted through all images.
struct FunctionTasks {
  const NetworkRun& run;
  const NetworkOp& op;
  size_t first, h, lines, step;  // h: of an image; lines: of all images; step: of one task
};

void run_function_task(void* context, size_t index) {
  const FunctionTasks& tasks = *(const FunctionTasks*)context;
  const size_t end = smaller(tasks.lines, (index + 1) * tasks.step);
  for (size_t line = index * tasks.step, next; line < end; line = next) {
    next = smaller(end, round_up(line + 1, tasks.h));
    const size_t y = line % tasks.h;
    call_function(tasks.run, tasks.op, tasks.first + line / tasks.h, y, y + (next - line));
  }
}

void run_function(const NetworkRun& run, const NetworkPart& part, const NetworkOp& op,
                  size_t first) {
  const NetworkTensor& out = run.network.tensors[op.output];
  const size_t images = images_of(part, out), lines = images * out.h, h = op.call.end;
  const size_t tasks = run.concurrency < 2 ? 1 : tasks_worth(op.cycles, run.concurrency);
  // Small functions take less time than divisions of lines by tasks
  if (tasks == 1 || lines == 1) {
    const size_t end = op.all_images ? first + 1 : first + images;
    for (size_t image = first; image < end; ++image) call_function(run, op, image, 0, h);
    return;
  }
  const size_t step = divide_up(lines, tasks);
  FunctionTasks all = {run, op, first, h, lines, step};
  run.args.parallel_for(run.args.parallel_context, divide_up(lines, step), run_function_task, &all);
}

// ---- the objects --------------------------------------------------------------------------------

octet_status perform_conv2d(const Performer&, const NetworkOp& op, const octet_conv2d_args& args,
                            octet_error* error) {
  return octet_conv2d_run(op.conv, &args, error);
}
octet_status perform_gemm(const Performer&, const NetworkOp& op, const octet_gemm_args& args,
                          octet_error* error) {
  return octet_gemm_run(op.gemm, &args, error);
}
void perform_lines(const Performer&, const NetworkOp& op, const LineTensor& lhs,
                   const LineTensor* residual, const LineTensor& dst, LineRange out,
                   uint8_t* workspace) {
  run_lines(*op.conv, lhs, residual, dst, out, op.most, workspace);
}
void perform_function(const Performer&, const NetworkOp& op, const octet_network_call& call) {
  op.function.run(op.function.context, &call);
}

}  // namespace

void run_direct(const NetworkRun& run, const NetworkPart& part, const NetworkOp& op, void* lhs,
                void* dst) {
  const octet_network& n = run.network;
  const GemmPlan& plan = op.gemm->plan;
  run_matrix(plan, rows_of(n, part, op), (const uint8_t*)lhs,
             op.flat ? plan.k : n.tensors[op.inputs[0]].pixel, (uint8_t*)dst,
             n.tensors[op.output].pixel, (uint8_t*)run.args.workspace + part.scratch);
}

const Performer the_objects = {perform_conv2d, perform_gemm, perform_lines, perform_function};

octet_status run_op(const NetworkRun& run, const NetworkPart& part, const NetworkOp& op,
                    size_t first, octet_error* error) {
  if (op.conv) return run_conv(run, part, op, first, error);
  if (op.gemm) {
    if (!op.direct || &run.by != &the_objects || tasks_worth(op.cycles, run.concurrency) > 1)
      return run_gemm(run, part, op, first, error);
    run_direct(run, part, op, run.data(op.inputs[0], first), run.data(op.output, first));
    return OCTET_OK;
  }
  run_function(run, part, op, first);
  return OCTET_OK;
}

}  // namespace octet
