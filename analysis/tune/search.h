// SPDX-License-Identifier: Apache-2.0
// Searches the best choice for a problem of any kind: races of candidates against the plan's choice
// (race.h), the last one of the best choice alone.
#pragma once

#include "analysis/tune/race.h"
#include "dispatch/select/choice.h"
#include "dispatch/tuning/tuning.h"
#include "octet/tune.h"

namespace octet {

constexpr size_t kChoicesMost = kRunnersMost;

// At most kChoicesMost choices, all different.
struct Choices {
  Choice list[kChoicesMost];
  size_t count;
  void add(const Choice& choice);
};

struct TuneProblem {
  void* context;
  Choice plan;
  // Adds candidates: the first ones (begin), and those near a good choice (around).
  void (*begin)(void* context, Choices* choices);
  void (*around)(void* context, const Choice& choice, Choices* choices);
  // Creates an object for this choice, and runs it once. OCTET_KERNEL_UNUSABLE: the choice cannot
  // be used.
  octet_status (*create)(void* context, const Choice& choice, void** object, octet_error* error);
  void (*run)(void* context, void* object, size_t calls);
  void (*destroy)(void* context, void* object);
};

// Copies the options and fills in the defaults.
octet_status read_options(const octet_tune_options* given, octet_tune_options* options,
                          octet_error* error);

// Fills *result except its struct_size.
octet_status find_best(const TuneProblem& problem, const octet_tune_options& options,
                       octet_tune_result* result, TuningEntry* found, octet_error* error);

}  // namespace octet
