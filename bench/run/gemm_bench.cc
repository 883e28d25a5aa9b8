// SPDX-License-Identifier: Apache-2.0
// Verifies and times products, Octet's and a peer's.
#include "bench/run/gemm_bench.h"

#include "bench/described/model_cases.h"
#include "bench/peers/peer.h"
#include "bench/problems/gemm_check.h"
#include "bench/problems/gemm_plan.h"

namespace tool {
namespace {

constexpr size_t kFewRows = 16;  // up to this many rows the time to read the weights matters

double bytes_touched(const GemmData& d) {
  const size_t weights = d.shape.k * d.shape.n / (is_4bit(d.types.rhs) ? 2 : 1);
  return (double)(d.shape.m * d.shape.k + weights +
                  d.shape.m * d.shape.n * type_bytes(d.types.dst));
}

}  // namespace

BenchResult bench_gemm(const GemmCase& gemm, const OperandTypes& types, const BenchOptions& options,
                       ThreadPool* pool) {
  const GemmData data = data_of(gemm, types, options.operands);
  GemmPlan plan(data, options.forced, pool);
  plan.run(1);
  const Verdict verdict = check_product(data, plan.dst());
  BenchResult result = {gemm.shape.name(),
                        gemm.network,
                        gemm.count,
                        gemm.shape.ops(),
                        types,
                        options.operands,
                        "gemm",
                        plan.kernel(gemm.shape.m),
                        verdict.right,
                        verdict.first_error};
  result.operands.requant = data.tflite.requant();
  result.operands.lhs_zero_point = data.lhs_zero_point;
  if (!verdict.right) return result;

  const std::unique_ptr<Contestant> peer = options.peer ? options.peer->gemm(data) : nullptr;
  const bool comparable = options.peer && options.peer->comparable(types);
  const auto peer_verdict =
      judge(comparable ? peer.get() : nullptr, plan.dst(), gemm.shape.m * gemm.shape.n, types.dst,
            [&](const void* theirs) { return check_product(data, theirs, 1).right; });
  const Buffer* streamed = gemm.shape.m <= kFewRows ? &plan.packed() : nullptr;
  measure({&plan, peer.get(), peer_verdict, bytes_touched(data), streamed}, options, pool, &result);
  return result;
}

}  // namespace tool
