#include "bench_options.h"

#include "machine.h"

namespace tool {

BenchOptions to_options(const BenchArguments& a) {
  BenchOptions options;
  if (!a.isa.empty()) options.forced.isa = usable_isa(a.isa);
  if (!a.kernel.empty()) options.forced.kernel = usable_kernel(a.kernel).name;
  if (!a.algorithm.empty()) options.forced.algorithm = algorithm(a.algorithm);
  options.operands = {parse_likeness(a.operands), parse_requant(a.requant), a.rhs_zero_point,
                      a.residual, a.table};
  options.threads = a.threads;
  options.repetitions = a.repetitions;
  return options;
}

void pin_if_single(const BenchOptions& options) {
  if (options.threads == 1) pin_to_current_cpu();
}

}  // namespace tool
