// SPDX-License-Identifier: Apache-2.0
// Operands, the object of a choice and the search, which tuning a product and tuning a convolution
// share.
#pragma once

#include "analysis/tune/operands.h"
#include "analysis/tune/search.h"
#include "dispatch/api/struct_size.h"
#include "dispatch/tuning/cache.h"

namespace octet {

// The operator Self adds begin, around and make_operands, and create, measure, run and destroy of
// its objects.
template <typename Self, typename Desc, typename Args, typename Object>
struct TuneTarget {
  Desc desc;
  const octet_tune_options& options;
  TuneBuffer lhs, dst, residual, workspace;
  Args args = {};

  TuneTarget(const Desc& d, const octet_tune_options& o) : desc(d), options(o) {}

  // Makes lhs, dst and residual of these sizes, and the arguments of a run.
  octet_status fill(const char* lhs_name, const size_t (&in)[4], const size_t (&out)[4],
                    octet_error* error) {
    OCTET_TRY(lhs.fill(lhs_name, in, desc.lhs_type, error));
    OCTET_TRY(dst.fill("dst", out, desc.dst_type, error));
    args.lhs = lhs.data();
    args.dst = dst.data();
    if (const octet_type type = desc.epilogue.residual.type) {
      OCTET_TRY(residual.fill("the residual", out, type, error));
      args.residual = residual.data();
    }
    args.parallel_for = options.parallel_for;
    args.parallel_context = options.parallel_context;
    args.concurrency = options.concurrency;
    return OCTET_OK;
  }

  // Finds the best choice and keeps it in the tuning, if there is one.
  octet_status tune(const TuningKey& key, const Choice& plan, octet_tuning* tuning,
                    octet_tune_result* result, octet_error* error) {
    if (options.keep_known && tuning && is_known(*tuning, key, plan, options.concurrency, result))
      return OCTET_OK;
    Self* const self = (Self*)this;
    OCTET_TRY(self->make_operands(error));
    const TuneProblem problem = {self,
                                 plan,
                                 [](void* t, Choices* choices) { ((Self*)t)->begin(choices); },
                                 [](void* t, const Choice& choice, Choices* choices) {
                                   ((Self*)t)->around(choice, choices);
                                 },
                                 create_and_try,
                                 [](void* t, void* object, size_t calls) {
                                   for (; calls > 0; --calls)
                                     Self::run((Object*)object, &((Self*)t)->args, nullptr);
                                 },
                                 [](void*, void* object) { Self::destroy((Object*)object); }};
    TuningEntry found;
    OCTET_TRY(find_best(problem, options, result, &found, error));
    return tuning ? keep(key, found, tuning, error) : OCTET_OK;
  }

 private:
  static octet_status create_and_try(void* target, const Choice& choice, void** object,
                                     octet_error* error) {
    Self* const self = (Self*)target;
    Object* made;
    OCTET_TRY(self->create(choice, &made, error));
    const octet_status status = self->try_once(made, error);
    if (status) Self::destroy(made);
    *object = made;
    return status;
  }

  octet_status try_once(Object* object, octet_error* error) {
    size_t bytes = 0;
    OCTET_TRY(((Self*)this)->measure(object, &bytes, error));
    OCTET_TRY(workspace.grow("the workspace", bytes, error));
    args.workspace = workspace.data();
    args.workspace_bytes = workspace.bytes();
    return Self::run(object, &args, error);
  }
};

// The end of a public function: tune(options, result) with the caller's structs in this library's
// size.
template <typename Tune>
octet_status tune_with(const octet_tune_options* options, octet_tune_result* result,
                       octet_error* error, const Tune& tune) {
  octet_tune_options known;
  OCTET_TRY(read_options(options, &known, error));
  if (result) OCTET_TRY(check_out(result, "result", error));
  octet_tune_result out = OCTET_TUNE_RESULT_INIT;
  OCTET_TRY(tune(known, &out));
  return result ? give(out, result) : OCTET_OK;
}

}  // namespace octet
