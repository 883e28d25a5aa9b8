// SPDX-License-Identifier: Apache-2.0
// octet_gemm_workspace and octet_gemm_run. The fast path, run_fast, takes a run of one plain matrix
// by one task whose arguments are all in order. The general path, run_general, takes every other
// call: it checks them by name and cuts the run into tasks.
#include "dispatch/api/struct_size.h"
#include "operators/gemm/call.h"
#include "operators/gemm/trace.h"

namespace octet {
namespace {

// Fills the operand's steps; strides in elements on the way in and in bytes on the way out.
octet_status resolve(Operand* o, size_t rows, size_t cols, size_t stride, size_t batch_stride,
                     size_t* stride_bytes, octet_error* error) {
  if (!o->data == !o->array)
    return fail(error, OCTET_NULL_POINTER,
                "args.%s and args.%s_array are both %s; give one of them", o->name, o->name,
                o->data ? "set" : "null");
  const size_t element = element_bytes(o->type), batch = o->count;
  if (stride == 0) stride = cols;
  if (stride < cols)
    return fail(error, OCTET_BAD_STRIDE, "args.%s_stride = %zu is smaller than a row of %zu",
                o->name, stride, cols);
  size_t all;
  // Cannot overflow: the usual case costs no checks
  if (batch == 1 && (rows | stride) >> 30 == 0) {
    o->span = ((rows - 1) * stride + cols) * element;
    *stride_bytes = stride * element;
    return OCTET_OK;
  }
  if (!span_bytes(1, 0, rows, stride, cols, element, &o->span) ||
      (batch_stride == 0 && __builtin_mul_overflow(rows, stride, &batch_stride)) ||
      !span_bytes(batch, batch_stride, rows, stride, cols, element, &all))
    return fail(error, OCTET_BAD_SIZE,
                "args.%s: %zu matrices of %zu rows with stride %zu leave size_t", o->name, batch,
                rows, stride);
  // A single row has no next one, and its stride may be anything
  *stride_bytes = (rows == 1 ? cols : stride) * element;
  o->step = batch_stride * element;
  return OCTET_OK;
}

octet_status check_sizes(const octet_gemm& gemm, const octet_gemm_args& a, GemmSizes* z,
                         octet_error* error) {
  z->m = a.m;
  z->batch = a.batch ? a.batch : 1;
  z->n = a.n && gemm.plan.runtime_rhs ? a.n : gemm.plan.n;
  z->k = a.k && gemm.plan.runtime_rhs ? a.k : gemm.plan.k;
  if (z->m == 0) return fail(error, OCTET_BAD_SIZE, "args.m is 0");
  if (z->m > gemm.m_max)
    return fail(error, OCTET_SIZE_ABOVE_MAXIMUM, "args.m = %zu is above the declared m_max = %zu",
                z->m, gemm.m_max);
  if (z->batch > gemm.batch_max)
    return fail(error, OCTET_SIZE_ABOVE_MAXIMUM,
                "args.batch = %zu is above the declared batch_max = %zu", z->batch, gemm.batch_max);
  if (a.n && a.n != z->n)
    return fail(error, OCTET_BAD_SIZE, "args.n = %zu, but the packed weights have n = %zu", a.n,
                z->n);
  if (a.k && a.k != z->k)
    return fail(error, OCTET_BAD_SIZE, "args.k = %zu, but the packed weights have k = %zu", a.k,
                z->k);
  if (z->n > gemm.plan.n)
    return fail(error, OCTET_SIZE_ABOVE_MAXIMUM, "args.n = %zu is above the declared n = %zu", z->n,
                gemm.plan.n);
  if (z->k > gemm.plan.k)
    return fail(error, OCTET_SIZE_ABOVE_MAXIMUM, "args.k = %zu is above the declared k = %zu", z->k,
                gemm.plan.k);
  return OCTET_OK;
}

// Rows of different matrices may interleave, but two of them may not share an element.
octet_status check_dst_batch(const Call& call, octet_error* error) {
  const GemmSizes& z = call.sizes();
  const Operand& dst = call.dst;
  if (dst.array || z.batch == 1) return OCTET_OK;
  const size_t stride = call.run.dst_stride, row = dst.span - (z.m - 1) * stride;
  const bool apart = dst.step >= dst.span;
  const bool interleaved =
      dst.step >= row && (z.m == 1 || (z.batch - 1) * dst.step + row <= stride);
  if (apart || interleaved) return OCTET_OK;
  return fail(error, OCTET_OVERLAP,
              "args.dst_batch_stride: the output matrices overlap each other");
}

octet_status check_lhs_quant(const octet_gemm& gemm, const Call& call, octet_error* error) {
  const octet_gemm_args& a = call.args;
  const LhsQuant quant = gemm.plan.lhs_quant;
  if (quant == LhsQuant::kPerBlock && a.lhs_zero_points)
    return fail(error, OCTET_UNSUPPORTED,
                "args.lhs_zero_points: OCTET_LHS_PER_BLOCK has the zero point 0");
  if (quant != LhsQuant::kPerTensor && quant != LhsQuant::kPerRow && quant != LhsQuant::kPerBlock) {
    if (!a.lhs_zero_points && !a.lhs_scales) return OCTET_OK;
    return fail(error, OCTET_UNSUPPORTED,
                "args.%s is only for OCTET_LHS_PER_TENSOR, OCTET_LHS_PER_ROW and "
                "OCTET_LHS_PER_BLOCK",
                a.lhs_scales ? "lhs_scales" : "lhs_zero_points");
  }
  return check_lhs_quants(a.lhs_zero_points, a.lhs_scales,
                          call.sizes().batch * call.run.lhs_quant_count, gemm.lhs_type,
                          gemm.dst_type, error);
}

octet_status check_rhs(const octet_gemm& gemm, Call* call, octet_error* error) {
  const octet_gemm_args& a = call->args;
  GemmRun& run = call->run;
  const size_t n = call->sizes().n, k = call->sizes().k;
  if (!gemm.plan.runtime_rhs) {
    if (!a.rhs && !a.rhs_array && !a.rhs_zero_points) return OCTET_OK;
    return fail(error, OCTET_UNSUPPORTED, "args.%s: this GEMM was created with packed weights",
                a.rhs         ? "rhs"
                : a.rhs_array ? "rhs_array"
                              : "rhs_zero_points");
  }
  const bool kn = gemm.rhs_order == OCTET_KN;
  size_t stride;
  OCTET_TRY(resolve(&call->rhs, kn ? k : n, kn ? n : k, a.rhs_stride, a.rhs_batch_stride, &stride,
                    error));
  run.rhs_k_stride = kn ? stride : 1;
  run.rhs_n_stride = kn ? 1 : stride;
  OCTET_TRY(check_zero_points(a.rhs_zero_points, a.rhs_zero_point_count, n, gemm.rhs_type,
                              "args.rhs_zero_points", error));
  run.rhs_zero_points = a.rhs_zero_points;
  run.rhs_zero_point_count = a.rhs_zero_point_count;

  // create bounded the accumulator for weights without zero points.
  if (run.rhs_zero_point_count == 0) return OCTET_OK;
  int32_t reach = 0;  // largest |r - zero point|
  for (size_t n = 0; n < run.rhs_zero_point_count; ++n) {
    const int32_t up = most(gemm.rhs_type) - run.rhs_zero_points[n],
                  down = run.rhs_zero_points[n] - least(gemm.rhs_type);
    reach = up > reach ? up : reach;
    reach = down > reach ? down : reach;
  }
  const int64_t lhs_reach = gemm.plan.lhs_quant == LhsQuant::kSymmetric ? 127 : 255;
  const int64_t bound = lhs_reach * reach * (int64_t)k + gemm.max_bias;
  if (bound > gemm.max_acc)
    return fail(
        error, OCTET_ACCUMULATOR_OVERFLOW,
        "args.rhs_zero_points with k = %zu: the accumulator may reach %lld, outside int32%s", k,
        (long long)bound,
        gemm.max_acc < INT32_MAX ? " once desc.epilogue.shifts moved it to the left" : "");
  return OCTET_OK;
}

GemmMatrix matrix_at(const void* context, size_t i) {
  const Call& call = *(const Call*)context;
  const octet_gemm_args& a = call.args;
  const size_t quants = call.run.lhs_quant_count * i;
  return {call.lhs.at(i),
          a.lhs_zero_points ? a.lhs_zero_points + quants : nullptr,
          a.lhs_scales ? a.lhs_scales + quants : nullptr,
          call.rhs.at(i),
          call.residual.at(i),
          (uint8_t*)call.dst.at(i)};
}

// Whether the workspace will do for one matrix. Not inlined: most products need no workspace.
__attribute__((noinline)) bool workspace_suffices(const octet_gemm& gemm,
                                                  const octet_gemm_args& a) {
  const GemmPlan& plan = gemm.plan;
  const size_t bytes = a.workspace ? a.workspace_bytes : 0;
  return (uintptr_t)a.workspace % OCTET_ALIGNMENT == 0 &&
         (bytes >= gemm.fast_workspace ||
          bytes >= schedule(plan, {1, a.m, plan.n, plan.k}, 1).workspace(1));
}

// The fast path: runs one matrix of packed weights, on one task or without a workspace, if all its
// arguments are in order, which it checks in as few instructions as possible. Returns false for
// every other run and for every mistake: run_general knows the names that errors need.
bool run_fast(const octet_gemm& gemm, const octet_gemm_args& a) {
  const GemmPlan& plan = gemm.plan;
  const auto set = [](const void* pointer) { return (uintptr_t)pointer; };
  if (set(a.lhs_array) | set(a.dst_array) | set(a.residual) | set(a.residual_array) | set(a.rhs) |
      set(a.rhs_array) | set(a.rhs_zero_points) | set(a.lhs_zero_points) | set(a.lhs_scales) | a.n |
      a.k | a.batch >> 1)
    return false;
  const size_t m = a.m, lhs_stride = a.lhs_stride ? a.lhs_stride : plan.k,
               stride = a.dst_stride ? a.dst_stride : plan.n;
  // No span overflows
  if (m - 1 >= gemm.m_fast || lhs_stride < plan.k || stride < plan.n ||
      (m | lhs_stride | stride) >> 30)
    return false;
  const size_t tasks =
      a.concurrency > 1 && a.parallel_for ? tasks_of(gemm, {1, m, 0, 0}, a.concurrency) : 1;
  if (tasks > 1 && (!plan.tasks_need_none || !plan.first.rhs)) return false;
  const size_t dst_stride = stride * plan.dst_bytes, lhs_bytes = (m - 1) * lhs_stride + plan.k,
               dst_bytes = (m - 1) * dst_stride + gemm.row_bytes;
  if (!a.lhs || !a.dst || (uintptr_t)a.dst & (plan.dst_bytes - 1)) return false;
  // Two unsigned differences tell whether ranges meet. A null pointer here is an address like any
  // other: run_general finds nothing wrong with it.
  const auto apart = [](const void* x, size_t x_bytes, const void* y, size_t y_bytes) {
    const uintptr_t p = (uintptr_t)x, q = (uintptr_t)y;
    return q - p >= x_bytes && p - q >= y_bytes;
  };
  if (!apart(a.dst, dst_bytes, a.lhs, lhs_bytes) ||
      !apart(a.dst, dst_bytes, gemm.packed, gemm.packed_bytes) ||
      !apart(a.workspace, a.workspace_bytes, a.dst, dst_bytes) ||
      !apart(a.workspace, a.workspace_bytes, a.lhs, lhs_bytes) ||
      !apart(a.workspace, a.workspace_bytes, gemm.packed, gemm.packed_bytes))
    return false;
  if (plan.needs_workspace && tasks == 1 && !workspace_suffices(gemm, a)) return false;
  const uint8_t* const lhs = (const uint8_t*)a.lhs;
  uint8_t* const dst = (uint8_t*)a.dst;
  if (tasks > 1)
    run_matrix_in_tasks(plan, m, lhs, lhs_stride, dst, dst_stride,
                        {a.parallel_for, a.parallel_context, tasks});
  else
    run_matrix(plan, m, lhs, lhs_stride, dst, dst_stride, (uint8_t*)a.workspace);
  return true;
}

// Checks all arguments but the sizes, and fills in their defaults.
octet_status check_call(const octet_gemm& gemm, Call* call, octet_error* error) {
  const octet_gemm_args& a = call->args;
  const GemmSizes& z = call->sizes();
  GemmRun& run = call->run;
  run.lhs_quant_count = per_row(gemm.plan) ? z.m * quantized_parts(gemm.plan) : 1;
  OCTET_TRY(
      resolve(&call->lhs, z.m, z.k, a.lhs_stride, a.lhs_batch_stride, &run.lhs_stride, error));
  OCTET_TRY(
      resolve(&call->dst, z.m, z.n, a.dst_stride, a.dst_batch_stride, &run.dst_stride, error));
  OCTET_TRY(check_dst_batch(*call, error));
  if (gemm.residual_type)
    OCTET_TRY(resolve(&call->residual, z.m, z.n, a.residual_stride, a.residual_batch_stride,
                      &run.residual_stride, error));
  else if (a.residual || a.residual_array)
    return fail(error, OCTET_UNSUPPORTED, "args.residual: this GEMM was created without one");
  OCTET_TRY(check_lhs_quant(gemm, *call, error));
  OCTET_TRY(check_rhs(gemm, call, error));
  const size_t needed = larger(run.schedule.workspace(run.schedule.tasks()),
                               call->has_arrays() ? overlap_scratch_bytes(z.batch) : 0);
  OCTET_TRY(check_workspace(a.workspace, a.workspace_bytes, needed, error));
  return check_overlap(gemm, *call, error);
}

// The general path: the sizes give the schedule, and the schedule the workspace that the checks ask
// for.
octet_status run_general(const octet_gemm& gemm, const octet_gemm_args& a, octet_error* error) {
  if (is_outline(gemm)) return refuse_outline("gemm", error);
  GemmSizes z;
  OCTET_TRY(check_sizes(gemm, a, &z, error));
  const size_t most = a.parallel_for ? tasks_of(gemm, z, a.concurrency) : 1;
  const GemmSchedule tasks = schedule(gemm.plan, z, most);
  Call call = {a,
               {gemm.plan, tasks, (uint8_t*)a.workspace, matrix_at, &call},
               {"lhs", a.lhs, a.lhs_array, gemm.lhs_type, z.batch},
               {"rhs", a.rhs, a.rhs_array, gemm.rhs_type, z.batch},
               {"residual", a.residual, a.residual_array, gemm.residual_type, z.batch},
               {"dst", a.dst, a.dst_array, gemm.dst_type, z.batch}};
  OCTET_TRY(check_call(gemm, &call, error));
  const double start = gemm.verbose > 1 ? now_microseconds() : 0;
  if (tasks.tasks() == 1)
    run_task(call.run, 0);
  else
    a.parallel_for(
        a.parallel_context, tasks.tasks(),
        [](void* run, size_t index) { run_task(*(const GemmRun*)run, index); }, &call.run);
  if (gemm.verbose > 1) trace("run", gemm, z.m, z.n, z.k, z.batch, now_microseconds() - start);
  return OCTET_OK;
}

// Runs with the arguments of another version's caller. Not inlined: other calls cost less than its
// copy.
__attribute__((noinline)) octet_status run_resized(const octet_gemm& gemm,
                                                   const octet_gemm_args* args,
                                                   octet_error* error) {
  CallerStruct<octet_gemm_args> given;
  OCTET_TRY(given.read(args, "args", error));
  return run_general(gemm, *given, error);
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_gemm_workspace(const octet_gemm* gemm, size_t m, size_t concurrency,
                                  size_t* bytes, octet_error* error) {
  if (!gemm || !bytes)
    return fail(error, OCTET_NULL_POINTER, "%s is null", gemm ? "bytes" : "gemm");
  if (m == 0) return fail(error, OCTET_BAD_SIZE, "m is 0");
  if (m > gemm->m_max)
    return fail(error, OCTET_SIZE_ABOVE_MAXIMUM, "m = %zu is above the declared m_max = %zu", m,
                gemm->m_max);
  *bytes = larger(workspace_for(gemm->plan, gemm->batch_max, m, larger(concurrency, 1)),
                  overlap_scratch_bytes(gemm->batch_max));
  if (*bytes == SIZE_MAX)
    return fail(error, OCTET_BAD_SIZE, "concurrency = %zu: the workspace leaves size_t",
                concurrency);
  return OCTET_OK;
}

octet_status octet_gemm_run(const octet_gemm* gemm, const octet_gemm_args* args,
                            octet_error* error) {
  if (!gemm || !args) return fail(error, OCTET_NULL_POINTER, "%s is null", gemm ? "args" : "gemm");
  if (args->struct_size != sizeof *args) return run_resized(*gemm, args, error);
  return run_fast(*gemm, *args) ? OCTET_OK : run_general(*gemm, *args, error);
}
