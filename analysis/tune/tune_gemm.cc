// octet_tune_gemm: measures the choices for a product.
#include "analysis/tune/gemm_choices.h"
#include "analysis/tune/operands.h"
#include "dispatch/api/struct_size.h"
#include "dispatch/tables/tiers.h"
#include "dispatch/tuning/cache.h"
#include "operators/common/check.h"
#include "operators/gemm/builder.h"
#include "operators/gemm/tuning.h"

namespace octet {
namespace {

struct GemmTarget {
  const octet_gemm_desc& desc;
  const octet_tune_options& options;
  GemmSpace space;
  TuneBuffer lhs, rhs, dst, residual, workspace;
  octet_gemm_args args;
};

void begin(void* target, Choices* choices) {
  add_gemm_choices(((GemmTarget*)target)->space, choices);
}
void around(void* target, const Choice& choice, Choices* choices) {
  add_gemm_choices_near(((GemmTarget*)target)->space, choice, choices);
}

octet_status try_once(GemmTarget* t, octet_gemm* gemm, octet_error* error) {
  size_t bytes = 0;
  OCTET_TRY(octet_gemm_workspace(gemm, t->desc.m_max, t->options.concurrency, &bytes, error));
  OCTET_TRY(t->workspace.grow("the workspace", bytes, error));
  t->args.workspace = t->workspace.data();
  t->args.workspace_bytes = t->workspace.bytes();
  return octet_gemm_run(gemm, &t->args, error);
}

octet_status create(void* target, const Choice& choice, void** object, octet_error* error) {
  GemmTarget* const t = (GemmTarget*)target;
  octet_gemm* gemm;
  OCTET_TRY(create_gemm(&t->desc, &choice, &gemm, error));
  const octet_status status = try_once(t, gemm, error);
  if (status) octet_gemm_destroy(gemm);
  *object = gemm;
  return status;
}
void run(void* target, void* object, size_t calls) {
  for (; calls > 0; --calls)
    octet_gemm_run((octet_gemm*)object, &((GemmTarget*)target)->args, nullptr);
}
void destroy(void*, void* object) { octet_gemm_destroy((octet_gemm*)object); }

octet_status make_operands(GemmTarget* t, octet_error* error) {
  const octet_gemm_desc& d = t->desc;
  octet_gemm_args& a = t->args;
  a = OCTET_GEMM_ARGS_INIT;
  a.m = d.m_max;
  a.batch = t->space.batch;
  OCTET_TRY(t->lhs.fill("the lhs", {a.batch, d.m_max, d.k, 1}, d.lhs_type, error));
  OCTET_TRY(t->dst.fill("dst", {a.batch, d.m_max, d.n, 1}, d.dst_type, error));
  a.lhs = t->lhs.data();
  a.dst = t->dst.data();
  if (!d.packed) {
    OCTET_TRY(t->rhs.fill("the rhs", {a.batch, d.k, d.n, 1}, d.rhs_type, error));
    a.rhs = t->rhs.data();
  }
  if (d.epilogue.residual.type) {
    OCTET_TRY(t->residual.fill("the residual", {a.batch, d.m_max, d.n, 1}, d.epilogue.residual.type,
                               error));
    a.residual = t->residual.data();
  }
  a.parallel_for = t->options.parallel_for;
  a.parallel_context = t->options.parallel_context;
  a.concurrency = t->options.concurrency;
  return OCTET_OK;
}

// Reads the descriptor as if nothing had been measured and no kernel named.
octet_status read_space(const octet_gemm_desc& d, GemmSpace* space, Choice* plan,
                        octet_error* error) {
  GemmBuilder builder(d, error);
  OCTET_TRY(check_desc(&builder));
  OCTET_TRY(read_limits(&builder.limits, this_machine()));
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
  GemmTarget target = {d, options, {}, {}, {}, {}, {}, {}, {}};
  Choice plan;
  OCTET_TRY(read_space(d, &target.space, &plan, error));
  target.space.concurrency = options.concurrency;
  const TuningKey key = key_of_gemm(
      target.space.cpu,
      target.space.packed ? find_format_of(target.space.facts.layout)->name : nullptr, d);
  if (options.keep_known && tuning && is_known(*tuning, key, plan, options.concurrency, result))
    return OCTET_OK;
  OCTET_TRY(make_operands(&target, error));
  const TuneProblem problem = {&target, plan, begin, around, create, run, destroy};
  TuningEntry found;
  OCTET_TRY(find_best(problem, options, result, &found, error));
  return tuning ? keep(key, found, tuning, error) : OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_tune_gemm(const octet_gemm_desc* desc, const octet_tune_options* options,
                             octet_tuning* tuning, octet_tune_result* result, octet_error* error) {
  CallerStruct<octet_gemm_desc> given;
  octet_tune_options known;
  OCTET_TRY(given.read(desc, "desc", error));
  OCTET_TRY(read_options(options, &known, error));
  if (result) OCTET_TRY(check_out(result, "result", error));
  octet_tune_result out = OCTET_TUNE_RESULT_INIT;
  OCTET_TRY(tune(*given, known, tuning, &out, error));
  return result ? give(out, result) : OCTET_OK;
}
