// Packing weights into a blob, for each tier's layout and both orders of the source.
#include <benchmark/benchmark.h>

#include <string>

#include "bench/micro/aligned.h"

namespace {

constexpr size_t kN = 1024, kK = 1024;

void pack(benchmark::State& state, octet_isa isa, octet_rhs_order order, octet_sparsity sparsity) {
  const auto weights = bench::aligned<int8_t>(kN * kK);
  for (size_t i = 0; i < kN * kK; ++i) weights[i] = static_cast<int8_t>(i * 2654435761u >> 11);
  const auto depth_of = [order](size_t i) { return order == OCTET_KN ? i / kN : i % kK; };
  for (size_t i = 0; sparsity && i < kN * kK; ++i)
    if (depth_of(i) % 2) weights[i] = 0;
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.sparsity = sparsity;
  rhs.type = OCTET_S8;
  rhs.order = order;
  rhs.n = kN;
  rhs.k = kK;
  rhs.data = weights.get();
  size_t bytes = 0;
  octet_error error = {};
  if (octet_pack_size(&rhs, isa, &bytes, &error) != OCTET_OK)
    return state.SkipWithError(error.message);
  const auto blob = bench::aligned<uint8_t>(bytes);
  const auto run = [&] { return octet_pack(&rhs, isa, blob.get(), bytes, &error) == OCTET_OK; };
  if (!run() || octet_blob_verify(blob.get(), bytes, &error) != OCTET_OK)
    return state.SkipWithError(error.message);
  for (auto _ : state) benchmark::DoNotOptimize(run());
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kN * kK));
}

}  // namespace

int main(int argc, char** argv) {
  // One tier for each layout: the x86 tiers share one. Any machine packs for all.
  for (const octet_isa isa :
       {OCTET_ISA_SCALAR, OCTET_ISA_AVX2, OCTET_ISA_NEON, OCTET_ISA_DOTPROD, OCTET_ISA_I8MM})
    for (const octet_rhs_order order : {OCTET_KN, OCTET_NK}) {
      const std::string name =
          std::string("pack_") + octet_isa_name(isa) + (order == OCTET_KN ? "_KN" : "_NK");
      benchmark::RegisterBenchmark(name.c_str(), pack, isa, order, OCTET_SPARSE_NONE);
    }
  for (const octet_rhs_order order : {OCTET_KN, OCTET_NK})  // of all tiers
    benchmark::RegisterBenchmark(order == OCTET_KN ? "pack_sparse_KN" : "pack_sparse_NK", pack,
                                 OCTET_ISA_SCALAR, order, OCTET_SPARSE_2_4);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
