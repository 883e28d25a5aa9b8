// SPDX-License-Identifier: Apache-2.0
// octet_tune_gemm: measures the choices for a product.
#include "analysis/tune/gemm_choices.h"
#include "analysis/tune/target.h"
#include "dispatch/tables/tiers.h"
#include "operators/common/check.h"
#include "operators/gemm/builder.h"
#include "operators/gemm/tuning.h"

namespace octet {
namespace {

struct GemmTarget : TuneTarget<GemmTarget, octet_gemm_desc, octet_gemm_args, octet_gemm> {
  GemmSpace space = {};
  TuneBuffer rhs;

  using TuneTarget::TuneTarget;
  static constexpr auto run = octet_gemm_run;
  static constexpr auto destroy = octet_gemm_destroy;

  void begin(Choices* choices) { add_gemm_choices(space, choices); }
  void around(const Choice& choice, Choices* choices) {
    add_gemm_choices_near(space, choice, choices);
  }
  octet_status create(const Choice& choice, octet_gemm** gemm, octet_error* error) {
    return create_gemm(&desc, &choice, gemm, error);
  }
  octet_status measure(const octet_gemm* gemm, size_t* bytes, octet_error* error) {
    return octet_gemm_workspace(gemm, desc.m_max, options.concurrency, bytes, error);
  }
  octet_status make_operands(octet_error* error) {
    args = OCTET_GEMM_ARGS_INIT;
    args.m = desc.m_max;
    args.batch = space.batch;
    if (!desc.packed) {
      OCTET_TRY(rhs.fill("the rhs", {args.batch, desc.k, desc.n, 1}, desc.rhs_type, error));
      args.rhs = rhs.data();
    }
    return fill("the lhs", {args.batch, args.m, desc.k, 1}, {args.batch, args.m, desc.n, 1}, error);
  }
};

// Reads the descriptor as if nothing had been measured and no kernel named.
octet_status read_space(const octet_gemm_desc& d, GemmSpace* space, Choice* plan,
                        octet_error* error) {
  GemmBuilder builder(d, error);
  OCTET_TRY(check_desc(&builder));
  if (builder.has_scale_blocks())
    return fail(
        error, OCTET_UNSUPPORTED,
        "desc.packed holds weights in scale blocks, of which each tier has one kernel: there "
        "is nothing to choose");
  if (builder.has_s16())
    return fail(error, OCTET_UNSUPPORTED,
                "desc.lhs_type is OCTET_S16, whose products have no other choice");
  OCTET_TRY(read_limits(&builder.limits, gemm_machine()));
  space->cpu = builder.limits.cpu;
  const ElementType rhs_type = element_type_of(d.rhs_type);
  space->problem = {d.m_max, d.n, d.k, builder.epilogue.lhs_element_type, rhs_type};
  space->packed = builder.has_blob;
  space->facts = builder.has_blob ? WeightFacts{builder.blob.format->layout,
                                                builder.blob.header.has_int8_min != 0}
                                  : WeightFacts{select_layout(space->cpu, rhs_type, nullptr), true};
  space->batch = larger(d.batch_max, 1);
  space->passes = builder.has_blob && !quantizes(d.lhs_quant);
  if (choose_gemm(space->cpu, space->problem, space->facts, nullptr, plan).result != Selected::kOk)
    return fail(error, OCTET_WRONG_TIER, "desc.packed has form %s, which no usable kernel reads",
                builder.blob.format->name);
  if (!space->passes) plan->pass = 0;
  return OCTET_OK;
}

octet_status tune(const octet_gemm_desc& d, const octet_tune_options& options, octet_tuning* tuning,
                  octet_tune_result* result, octet_error* error) {
  if (d.kernel)
    return fail(error, OCTET_UNSUPPORTED, "desc.kernel names a kernel: there is nothing to choose");
  GemmTarget target(d, options);
  Choice plan;
  OCTET_TRY(read_space(d, &target.space, &plan, error));
  target.space.concurrency = options.concurrency;
  const TuningKey key = key_of_gemm(
      target.space.cpu,
      target.space.packed ? find_format_of(target.space.facts.layout)->name : nullptr, d);
  return target.tune(key, plan, tuning, result, error);
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_tune_gemm(const octet_gemm_desc* desc, const octet_tune_options* options,
                             octet_tuning* tuning, octet_tune_result* result, octet_error* error) {
  CallerStruct<octet_gemm_desc> given;
  OCTET_TRY(given.read(desc, "desc", error));
  return tune_with(options, result, error,
                   [&](const octet_tune_options& known, octet_tune_result* out) {
                     return tune(*given, known, tuning, out, error);
                   });
}
