// SPDX-License-Identifier: Apache-2.0
// octet_function_run: checks the tensors of a call, and cuts its lines into tasks.
#include "dispatch/api/struct_size.h"
#include "operators/common/check.h"
#include "operators/common/task_size.h"
#include "operators/functions/function.h"

namespace octet {
namespace {

bool add_product(size_t count, size_t stride, size_t* bytes) {
  size_t all;
  return !__builtin_mul_overflow(count - 1, stride, &all) &&
         !__builtin_add_overflow(*bytes, all, bytes) && *bytes <= PTRDIFF_MAX;
}

// One level of a tensor: `count` pieces of *bytes bytes each, a stride from one to the next, which
// is filled in where it is 0. Grows *bytes to all of them.
octet_status check_level(const char* name, const char* level, size_t count, size_t element,
                         size_t dense, size_t* stride, size_t* bytes, octet_error* error) {
  if (!*stride) *stride = dense;
  if (*stride < *bytes)
    return fail(error, OCTET_BAD_STRIDE, "%s.%s = %zu is smaller than the %zu bytes of one", name,
                level, *stride, *bytes);
  if (*stride % element)
    return fail(error, OCTET_MISALIGNED, "%s.%s = %zu is no multiple of %zu", name, level, *stride,
                element);
  if (add_product(count, *stride, bytes)) return OCTET_OK;
  return fail(error, OCTET_BAD_SIZE, "%s exceeds the address space", name);
}

// Fills in strides and gives the memory of a tensor.
octet_status check_tensor(const char* name, octet_type type, size_t batch, octet_function_tensor* t,
                          Extent* extent, octet_error* error) {
  if (!t->data) return fail(error, OCTET_NULL_POINTER, "%s.data is null", name);
  if (!t->h || !t->w || !t->channels)
    return fail(error, OCTET_BAD_SIZE, "%s.%s is 0", name, !t->h ? "h" : !t->w ? "w" : "channels");
  const size_t element = element_bytes(type);
  size_t bytes = element, dense;
  if ((uintptr_t)t->data % element)
    return fail(error, OCTET_MISALIGNED, "%s.data is not at a multiple of %zu", name, element);
  if (!add_product(t->channels, element, &bytes))
    return fail(error, OCTET_BAD_SIZE, "%s exceeds the address space", name);
  OCTET_TRY(check_level(name, "pixel", t->w, element, bytes, &t->pixel, &bytes, error));
  if (__builtin_mul_overflow(t->w, t->pixel, &dense)) dense = bytes;
  OCTET_TRY(check_level(name, "line", t->h, element, dense, &t->line, &bytes, error));
  if (__builtin_mul_overflow(t->h, t->line, &dense)) dense = bytes;
  OCTET_TRY(check_level(name, "image", batch, element, dense, &t->image, &bytes, error));
  *extent = extent_of(t->data, bytes);
  return OCTET_OK;
}

octet_status check_args(const octet_function& f, const octet_function_args& args, FunctionShapes* s,
                        octet_error* error) {
  *s = {args.batch ? args.batch : 1, f.input_count, {}, args.output};
  Extent output, input;
  OCTET_TRY(check_tensor("args.output", f.output_type, s->batch, &s->output, &output, error));
  for (size_t i = 0; i < f.input_count; ++i) {
    s->inputs[i] = args.inputs[i];
    OCTET_TRY(check_tensor(input_name(i), f.types[i], s->batch, &s->inputs[i], &input, error));
    if (meet(output, input))
      return fail(error, OCTET_OVERLAP, "args.output overlaps %s", input_name(i));
  }
  return f.check(f.network.context, *s, error);
}

octet_network_image image_of(const octet_function_tensor& t, size_t index) {
  return {(uint8_t*)t.data + index * t.image, t.pixel, t.line, t.h, t.w, t.channels, 0, 0};
}

struct FunctionRun {
  const octet_network_function& network;
  const FunctionShapes& shapes;
  size_t tasks;
};

// Lines [first, end) of all images
void run_lines(const FunctionRun& run, size_t first, size_t end) {
  const FunctionShapes& s = run.shapes;
  const size_t h = s.output.h;
  while (first < end) {
    octet_network_call call = {};
    call.image = first / h;
    call.first = first % h;
    const size_t rest = end - call.image * h;
    call.end = rest < h ? rest : h;
    for (size_t i = 0; i < s.input_count; ++i) call.inputs[i] = image_of(s.inputs[i], call.image);
    call.output = image_of(s.output, call.image);
    run.network.run(run.network.context, &call);
    first = call.image * h + call.end;
  }
}

void run_task(void* argument, size_t index) {
  const FunctionRun& run = *(const FunctionRun*)argument;
  const size_t lines = run.shapes.batch * run.shapes.output.h, some = lines / run.tasks,
               more = lines % run.tasks;
  const auto begin = [&](size_t i) { return i * some + (i < more ? i : more); };
  run_lines(run, begin(index), begin(index + 1));
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_function_run(const octet_function* function, const octet_function_args* args,
                                octet_error* error) {
  if (!function) return fail(error, OCTET_NULL_POINTER, "function is null");
  CallerStruct<octet_function_args> given;
  OCTET_TRY(given.read(args, "args", error));
  FunctionShapes shapes;
  OCTET_TRY(check_args(*function, *given, &shapes, error));
  const size_t lines = shapes.batch * shapes.output.h;
  const double bytes = (double)lines * (double)(shapes.output.w * shapes.output.channels);
  size_t tasks = given->parallel_for && given->concurrency > 1
                     ? tasks_worth(bytes * function->cycles, given->concurrency)
                     : 1;
  if (tasks > lines) tasks = lines;
  FunctionRun run = {function->network, shapes, tasks};
  if (tasks > 1)
    given->parallel_for(given->parallel_context, tasks, run_task, &run);
  else
    run_lines(run, 0, lines);
  return OCTET_OK;
}
