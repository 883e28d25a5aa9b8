// Runs a single op of a network on whole tensors.
#include "operators/common/check.h"
#include "operators/common/task_size.h"
#include "operators/network/run.h"

namespace octet {
namespace {

// Elements from one pixel to the next.
size_t stride_of(const NetworkTensor& t) { return t.pixel / element_bytes(t.type); }

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
  const NetworkTensor& in = run.network.tensors[op.inputs[0]];
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  const size_t images = images_of(part, in);
  args.m = op.flat ? images : images * in.h * in.w;
  fill(&args, run, part, op, first);
  return run.by.gemm(run.by, op, args, error);
}

// all: the lines of all images, which follow each other, as one image.
octet_network_image image_of(const NetworkRun& run, size_t tensor, size_t image, bool all) {
  const NetworkTensor& t = run.network.tensors[tensor];
  const size_t h = all ? t.batch * t.h : t.h;
  return {run.data(tensor, image), t.pixel, t.line, h, t.w, t.channels, 0, 0};
}

// Lines [first, end) of an image, or, of a function of all images, of all of them.
void call_function(const NetworkRun& run, const NetworkOp& op, size_t image, size_t first,
                   size_t end) {
  octet_network_call call;
  call.image = image, call.first = first, call.end = end;
  for (size_t k = 0; k < op.input_count; ++k)
    call.inputs[k] = image_of(run, op.inputs[k], image, op.all_images);
  for (size_t k = op.input_count; k < OCTET_NETWORK_INPUTS_MAX; ++k) call.inputs[k] = {};
  call.output = image_of(run, op.output, image, op.all_images);
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
  const size_t images = images_of(part, out), lines = images * out.h,
               h = op.all_images ? lines : out.h;
  // A function's cost is unknown; a cycle per value is more than vector code needs
  const double values = (double)lines * (double)out.w * (double)out.channels;
  const size_t tasks = tasks_worth(values, run.concurrency);
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

const Performer the_objects = {perform_conv2d, perform_gemm, perform_lines, perform_function};

octet_status run_op(const NetworkRun& run, const NetworkPart& part, const NetworkOp& op,
                    size_t first, octet_error* error) {
  if (op.conv) return run_conv(run, part, op, first, error);
  if (op.gemm) return run_gemm(run, part, op, first, error);
  run_function(run, part, op, first);
  return OCTET_OK;
}

}  // namespace octet
