// The best choice for a problem, of whatever kind: heats of candidates, each a race against the
// plan's choice; then a last race between the two that count.
#pragma once

#include "analysis/tune/race.h"
#include "dispatch/select/choice.h"
#include "dispatch/tuning/tuning.h"
#include "octet/tune.h"

namespace octet {

constexpr size_t kChoicesMost = kRunnersMost;

// At most kChoicesMost different ones.
struct Choices {
  Choice list[kChoicesMost];
  size_t count;
  void add(const Choice& choice);
};

struct TuneProblem {
  void* context;
  Choice plan;
  // Adds what else might be best: to begin with, and near a choice that is good.
  void (*begin)(void* context, Choices* choices);
  void (*around)(void* context, const Choice& choice, Choices* choices);
  // An object of this choice, which has run once. OCTET_KERNEL_UNUSABLE: it is no choice after all.
  octet_status (*create)(void* context, const Choice& choice, void** object, octet_error* error);
  void (*run)(void* context, void* object, size_t calls);
  void (*destroy)(void* context, void* object);
};

// The options as they are meant.
octet_status read_options(const octet_tune_options* given, octet_tune_options* options,
                          octet_error* error);

// Fills *result but for its size.
octet_status find_best(const TuneProblem& problem, const octet_tune_options& options,
                       octet_tune_result* result, TuningEntry* found, octet_error* error);

}  // namespace octet
