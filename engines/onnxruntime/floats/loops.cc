// SPDX-License-Identifier: Apache-2.0
// Looks up the best tier among the loops that each tier compiled for itself.
#include "engines/onnxruntime/floats/loops.h"

#include "engines/graph/refused.h"

namespace octet::onnxruntime {

// CMake knows which tiers there are.
#define X(tier)                            \
  extern const Attend attend_##tier;       \
  extern const Normalize normalize_##tier; \
  extern const Gelu gelu_##tier;
OCTET_FLOAT_TIERS
#undef X

bool find_loops(octet_isa tier, FloatLoops* to) {
  struct Row {
    octet_isa isa;
    FloatLoops loops;
  };
#define X(tier) {OCTET_ISA_##tier, {attend_##tier, normalize_##tier, gelu_##tier}},
  const Row rows[] = {OCTET_FLOAT_TIERS};
#undef X
  for (const Row& row : rows) {
    if (row.isa != tier) continue;
    *to = row.loops;
    return true;
  }
  return false;
}

FloatLoops best_loops() {
  octet_cpu_info info = OCTET_CPU_INFO_INIT;
  octet_error error = {};
  graph::check(octet_get_cpu_info(&info, &error), error);
  FloatLoops loops = {};
  if (!find_loops(info.best_isa, &loops))
    graph::refuse("the loops over floats of the best tier are not built");
  return loops;
}

}  // namespace octet::onnxruntime
