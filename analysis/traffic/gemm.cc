// SPDX-License-Identifier: Apache-2.0
// octet_traffic_gemm: walks a product with kernels that trace their memory accesses.
#include "analysis/traffic/trace.h"
#include "dispatch/api/struct_size.h"
#include "octet/traffic.h"
#include "operators/common/check.h"
#include "operators/gemm/object.h"

using namespace octet;

namespace {

// Adds matrices, from the first byte to the last. Sizes that exceed the address space are refused
// by the run.
void add_matrices(MemoryTrace* trace, const void* data, size_t batch, size_t batch_stride,
                  size_t rows, size_t stride, size_t cols, octet_type type, octet_operand operand) {
  const size_t row = stride ? stride : cols;
  size_t bytes;
  if (rows && cols &&
      span_bytes(batch, batch_stride ? batch_stride : rows * row, rows, row, cols,
                 element_bytes(type), &bytes))
    trace->add(data, bytes, operand);
}

void add_operands(MemoryTrace* trace, const octet_gemm& gemm, const octet_gemm_args& a) {
  const GemmPlan& plan = gemm.plan;
  const size_t batch = larger(a.batch, 1), n = a.n ? a.n : plan.n, k = a.k ? a.k : plan.k;
  trace->add(&gemm, gemm.bytes, OCTET_OPERAND_WEIGHTS);
  trace->add(gemm.packed, gemm.packed_bytes, OCTET_OPERAND_WEIGHTS);
  trace->add(a.workspace, a.workspace_bytes, OCTET_OPERAND_WORKSPACE);
  add_matrices(trace, a.lhs, batch, a.lhs_batch_stride, a.m, a.lhs_stride, k, gemm.lhs_type,
               OCTET_OPERAND_INPUT);
  const bool by_rows = gemm.rhs_order == OCTET_KN;
  if (plan.runtime_rhs)
    add_matrices(trace, a.rhs, batch, a.rhs_batch_stride, by_rows ? k : n, a.rhs_stride,
                 by_rows ? n : k, gemm.rhs_type, OCTET_OPERAND_WEIGHTS);
  add_matrices(trace, a.dst, batch, a.dst_batch_stride, a.m, a.dst_stride, n, gemm.dst_type,
               OCTET_OPERAND_OUTPUT);
  if (gemm.residual_type)
    add_matrices(trace, a.residual, batch, a.residual_batch_stride, a.m, a.residual_stride, n,
                 gemm.residual_type, OCTET_OPERAND_INPUT);
}

octet_status walk(octet_traffic* traffic, const octet_gemm& gemm, octet_gemm_args a,
                  octet_error* error) {
  if (a.lhs_array || a.rhs_array || a.dst_array || a.residual_array)
    return fail(error, OCTET_UNSUPPORTED, "args: matrices by pointer arrays are not modelled");
  if (gemm.plan.scale_block_kernel)
    return fail(error, OCTET_UNSUPPORTED, "gemm: weights in scale blocks are not modelled");
  if (has_s16(gemm.plan))
    return fail(error, OCTET_UNSUPPORTED, "gemm: products of an s16 lhs are not modelled");
  a.parallel_for = nullptr;
  octet_gemm copy = gemm;
  const MicroKernel many = traced(*gemm.plan.kernel), few = traced(*gemm.plan.small_kernel);
  const TierOps ops = traced(*gemm.plan.ops);
  copy.plan.kernel = &many;
  copy.plan.small_kernel = &few;
  copy.plan.ops = &ops;
  copy.plan.touch = trace_touch;
  if (copy.plan.epilogue.look_up) copy.plan.epilogue.look_up = trace_look_up;
  copy.verbose = 0;
  MemoryTrace trace(traffic, &kernel_for(gemm.plan, a.m));
  add_operands(&trace, gemm, a);
  return octet_gemm_run(&copy, &a, error);
}

}  // namespace

octet_status octet_traffic_gemm(octet_traffic* traffic, const octet_gemm* gemm,
                                const octet_gemm_args* args, octet_error* error) {
  if (!traffic || !gemm)
    return fail(error, OCTET_NULL_POINTER, "%s is null", traffic ? "gemm" : "traffic");
  CallerStruct<octet_gemm_args> given;
  OCTET_TRY(given.read(args, "args", error));
  return walk(traffic, *gemm, *given, error);
}
