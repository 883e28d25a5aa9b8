// SPDX-License-Identifier: Apache-2.0
// octet_gemm_explain: creates the product as octet_gemm_create would, and describes it.
#include <stdio.h>
#include <string.h>

#include "dispatch/api/struct_size.h"
#include "dispatch/cpu/environment.h"
#include "dispatch/select/sparsity.h"
#include "dispatch/tables/tiers.h"
#include "dispatch/tuning/tuning.h"
#include "operators/gemm/choice.h"
#include "operators/gemm/object.h"

namespace octet {
namespace {

octet_type type_of(ElementType element_type) {
  return element_type == ElementType::kU8 ? OCTET_U8 : OCTET_S8;
}

// Whether the caller, the environment, a tuning or the plan decided.
void write_reason(const octet_gemm_desc& d, const octet_gemm& gemm, const Environment& environment,
                  char* reason, size_t bytes) {
  const char* const kernel = gemm.plan.kernel->name;
  const bool own = d.max_isa != OCTET_ISA_AUTO || d.kernel;  // beats the environment
  const char* const forced = own ? d.kernel : environment.kernel;
  if (forced && strcmp(forced, kernel) == 0) {
    snprintf(reason, bytes, "%s names this kernel", own ? "desc.kernel" : "OCTET_KERNEL");
    return;
  }
  if (gemm.measured) {
    snprintf(reason, bytes, "measured to be the best on this machine");
    return;
  }
  const char* const limit = d.max_isa != OCTET_ISA_AUTO          ? " within desc.max_isa"
                            : !own && environment.allowed != ~0u ? " within OCTET_MAX_ISA"
                                                                 : "";
  if (gemm.sparsity != Sparsity::kNotAsked) {
    snprintf(reason, bytes, "%s%s; the first kernel in the table that this machine runs%s",
             describe(gemm.sparsity),
             gemm.choice.layout.bits == 5 ? ", in 5/8 of the dense bytes for few rows" : "", limit);
    return;
  }
  snprintf(reason, bytes,
           "the first kernel in the table that this machine runs%s, that multiplies %s by %s, and "
           "that reads %s",
           limit,
           gemm.plan.splits_s16                     ? "the bytes of s16"
           : has_s16(gemm.plan)                     ? "s16 as it is"
           : gemm.plan.lhs_type == ElementType::kU8 ? "u8"
                                                    : "s8",
           octet_type_name(d.rhs_type), d.packed ? "the packed weights" : "any weights, also -128");
}

octet_status explain(const octet_gemm_desc& d, const octet_gemm& gemm, size_t concurrency,
                     octet_gemm_explanation* out, octet_error* error) {
  const GemmPlan& plan = gemm.plan;
  const RhsLayout& layout = gemm.choice.layout;
  Environment environment;
  OCTET_TRY(read_environment(&environment, error));
  OCTET_TRY(octet_gemm_workspace(&gemm, gemm.m_max, concurrency, &out->workspace_bytes, error));
  out->kernel = plan.kernel->name;
  // No tier has both
  out->small_m = smaller(larger(plan.small_m, plan.few_rows), gemm.m_max);
  out->small_kernel = kernel_name(plan, out->small_m);
  out->isa = (octet_isa)plan.kernel->tier_id;
  out->layout_isa =
      (octet_isa)(plan.scale_block_kernel ? kPortableTier : smallest_tier(*find_format_of(layout)));
  out->lhs_type = type_of(plan.kernel->lhs_element_type);
  out->rhs_type = plan.scale_block_kernel ? OCTET_U8 : type_of(layout.element_type);
  out->panel_columns = layout.width;
  out->panel_step = layout.step;
  out->panel_depth = layout.kr;
  out->block_rows = plan.block_rows;
  const GemmSizes most = {gemm.batch_max, gemm.m_max, plan.n, plan.k};
  const GemmSchedule cut = schedule(plan, most, tasks_of(gemm, most, concurrency));
  out->batch_tasks = cut.batch_tasks;
  out->row_tasks = cut.m_tasks;
  out->column_tasks = cut.n_tasks;
  write_reason(d, gemm, environment, out->reason, sizeof out->reason);
  static_assert(sizeof out->choice == kChoiceBytes, "a choice's text has its room");
  // A kernel of scale blocks has no row in the table that choices take names from
  const KernelName own_name = {plan.kernel->name, plan.kernel->tier_id, false};
  Choice choice = gemm.choice;
  if (plan.scale_block_kernel) choice.kernel = &own_name;
  to_text(choice, out->choice);
  out->origin = origin_of(gemm.measured);
  return OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_gemm_explain(const octet_gemm_desc* desc, size_t concurrency,
                                octet_gemm_explanation* explanation, octet_error* error) {
  OCTET_TRY(check_out(explanation, "explanation", error));
  CallerStruct<octet_gemm_desc> given;
  OCTET_TRY(given.read(desc, "desc", error));
  octet_gemm* gemm;
  OCTET_TRY(create_gemm(desc, nullptr, &gemm, error));
  octet_gemm_explanation out = OCTET_GEMM_EXPLANATION_INIT;
  const octet_status status = explain(*given, *gemm, concurrency ? concurrency : 1, &out, error);
  octet_gemm_destroy(gemm);
  return status ? status : give(out, explanation);
}
