// SPDX-License-Identifier: Apache-2.0
// octet_gemm_create and octet_gemm_destroy.
#include "dispatch/api/struct_size.h"
#include "operators/gemm/builder.h"
#include "operators/gemm/trace.h"

namespace octet {

octet_status create_gemm(const octet_gemm_desc* desc, const Choice* choice, octet_gemm** gemm,
                         octet_error* error) {
  if (!desc || !gemm) return fail(error, OCTET_NULL_POINTER, "%s is null", desc ? "gemm" : "desc");
  *gemm = nullptr;
  CallerStruct<octet_gemm_desc> given;
  OCTET_TRY(given.read(desc, "desc", error));
  if (choice && given->kernel) return refuse_named(error);
  GemmBuilder builder(*given, error);
  builder.requested = choice;
  OCTET_TRY(check_desc(&builder));
  OCTET_TRY(choose_kernels(&builder));
  return build_gemm(builder, gemm);
}

const Choice& choice_of(const octet_gemm& gemm) { return gemm.choice; }

}  // namespace octet

using namespace octet;

octet_status octet_gemm_create(const octet_gemm_desc* desc, octet_gemm** gemm, octet_error* error) {
  const double start = now_microseconds();
  OCTET_TRY(create_gemm(desc, nullptr, gemm, error));
  const octet_gemm& g = **gemm;
  if (g.verbose)
    trace("create", g, g.m_max, g.plan.n, g.plan.k, g.batch_max, now_microseconds() - start);
  return OCTET_OK;
}

void octet_gemm_destroy(octet_gemm* gemm) {
  if (!gemm) return;
  const octet_allocator allocator = gemm->allocator;
  allocator.release(allocator.context, gemm);
}

const char* octet_gemm_kernel(const octet_gemm* gemm, size_t m) {
  return gemm ? kernel_name(gemm->plan, m) : nullptr;
}
