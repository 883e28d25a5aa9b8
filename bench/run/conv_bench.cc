// SPDX-License-Identifier: Apache-2.0
// Verifies and times convolutions, Octet's and a peer's.
#include "bench/run/conv_bench.h"

#include "bench/described/model_cases.h"
#include "bench/peers/peer.h"
#include "bench/problems/conv_check.h"
#include "bench/problems/conv_plan.h"

namespace tool {
namespace {

double bytes_touched(const ConvData& d) {
  return (double)(d.lhs.size() + d.filter.size() + d.dst_elements() * type_bytes(d.types.dst));
}

}  // namespace

BenchResult bench_conv(const ConvCase& conv, const OperandTypes& types, const BenchOptions& options,
                       ThreadPool* pool) {
  const ConvData data = data_of(conv, types, options.operands);
  const ConvReference reference(data);
  ConvPlan plan(data, options.forced, pool);
  plan.run(1);
  const bool approximate = options.forced.algorithm == OCTET_CONV_WINOGRAD_2X2_INT8;
  const Verdict verdict = approximate ? Verdict{} : reference.check(plan.dst());
  BenchResult result = {
      conv.shape.name(), conv.network,     conv.count,    conv.shape.ops(), types,
      options.operands,  plan.algorithm(), plan.kernel(), verdict.right,    verdict.first_error};
  result.operands.requant = data.tflite.requant();
  result.operands.lhs_zero_point = data.lhs_zero_point;
  if (!verdict.right) return result;
  if (approximate) result.largest_difference = reference.largest_difference(plan.dst());

  const std::unique_ptr<Contestant> peer = options.peer ? options.peer->conv(data) : nullptr;
  const bool comparable = options.peer && options.peer->comparable(types);
  const auto peer_verdict =
      judge(comparable ? peer.get() : nullptr, plan.dst(), data.dst_elements(), types.dst,
            [&](const void* theirs) { return reference.check(theirs, 1).right; });
  measure({&plan, peer.get(), peer_verdict, bytes_touched(data), nullptr}, options, pool, &result);
  return result;
}

}  // namespace tool
