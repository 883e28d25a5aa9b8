// What products of matrices select from: more kernels than convolutions have, and the tiers that
// pass the self-test of these.
#include "dispatch/select/kept.h"
#include "dispatch/select/machine.h"
#include "dispatch/select/select.h"
#include "dispatch/self_test/self_test.h"

namespace octet {
namespace {

Kept<IsaMask> failed;

}  // namespace

Machine gemm_machine() {
  Machine machine = this_machine();
  IsaMask demoted;
  if (!failed.read(&demoted)) {
    demoted = failing_matrix_isas(machine.cpu);
    // In another rounding mode nothing that rounds was tested, so the next call tests again
    if (rounds_to_nearest()) failed.keep(demoted);
  }
  machine.demoted |= demoted;
  machine.cpu.isas &= ~demoted;
  return machine;
}

Selection select(const CpuFeatures& cpu, const Problem& problem, const WeightFacts& facts,
                 const char* forced) {
  return select(int8_kernels(), cpu, problem, facts, forced);
}

RhsLayout select_layout(const CpuFeatures& cpu, ElementType rhs_type, const char* forced) {
  return select_layout(int8_kernels(), cpu, rhs_type, forced);
}

RhsLayout select_sparse_layout(const CpuFeatures& cpu, const RhsLayout& best, const char* forced) {
  return select_sparse_layout(int8_kernels(), cpu, best, forced);
}

}  // namespace octet
