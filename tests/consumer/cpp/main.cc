// SPDX-License-Identifier: Apache-2.0
// Multiplies with octet.hpp on one thread and through each adapter, with the same bytes, and meets
// an error as a value.
#include <octet/octet.hpp>
#ifdef WITH_pthreadpool
#include <octet/pthreadpool.h>
#endif
#ifdef WITH_openmp
#include <octet/openmp.h>
#endif

#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

static_assert(!std::is_copy_constructible_v<octet::Gemm> &&
              std::is_nothrow_move_constructible_v<octet::Gemm>);
static_assert(!std::is_copy_constructible_v<octet::PackedWeights> &&
              std::is_nothrow_move_assignable_v<octet::PackedWeights>);

namespace {

constexpr size_t kM = 167, kN = 230, kK = 345;  // enough for several tasks

int fail(const char* what, const octet_error& error) {
  std::fprintf(stderr, "%s: %s: %s\n", what, octet_status_name(error.status), error.message);
  return 1;
}

int run(const octet::Gemm& gemm, octet_parallel_for parallel_for, void* context,
        const std::vector<uint8_t>& lhs, std::vector<int32_t>* dst) {
  const size_t concurrency = parallel_for ? 4 : 1;
  octet::Result<octet::Workspace> workspace = gemm.workspace(kM, concurrency);
  if (!workspace) return fail("workspace", workspace.error());
  auto args = octet::make<octet_gemm_args>();
  workspace->attach(args);
  args.m = kM;
  args.lhs = lhs.data();
  args.dst = dst->data();
  args.parallel_for = parallel_for;
  args.parallel_context = context;
  octet_error error;
  if (gemm.run(args, &error)) return fail("run", error);
  return 0;
}

}  // namespace

int main() {
  std::vector<uint8_t> lhs(kM * kK);
  std::vector<int8_t> weights(kK * kN);
  for (size_t i = 0; i < lhs.size(); ++i) lhs[i] = (uint8_t)(i * 37 + i / 11);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = (int8_t)(i * 53 + i / 7);
  std::vector<int32_t> expected(kM * kN);
  for (size_t m = 0; m < kM; ++m)
    for (size_t n = 0; n < kN; ++n)
      for (size_t k = 0; k < kK; ++k) expected[m * kN + n] += lhs[m * kK + k] * weights[k * kN + n];

  auto rhs = octet::make<octet_rhs_desc>();
  rhs.type = OCTET_S8;
  rhs.n = kN;
  rhs.k = kK;
  rhs.data = weights.data();
  auto packed = octet::PackedWeights::pack(rhs);
  if (!packed) return fail("pack", packed.error());

  auto desc = octet::make<octet_gemm_desc>();
  packed->attach(desc);
  desc.m_max = kM;
  desc.n = kN;
  desc.k = kK;
  desc.lhs_type = OCTET_U8;
  desc.rhs_type = OCTET_S8;
  desc.dst_type = OCTET_S32;
  auto created = octet::Gemm::create(desc);
  if (!created) return fail("create", created.error());
  octet::Gemm gemm = std::move(*created);

  struct Executor {
    const char* name;
    octet_parallel_for parallel_for;
    void* context;
  };
  std::vector<Executor> executors = {{"one thread", nullptr, nullptr}};
#ifdef WITH_pthreadpool
  pthreadpool_t pool = pthreadpool_create(4);
  executors.push_back({"pthreadpool", octet_pthreadpool_parallel_for, pool});
  octet_pthreadpool sleeping = OCTET_PTHREADPOOL_INIT(pool);
  executors.push_back({"pthreadpool with flags", octet_pthreadpool_parallel_for_flags, &sleeping});
#endif
#ifdef WITH_openmp
  int threads = 4;
  executors.push_back({"OpenMP", octet_openmp_parallel_for, &threads});
  executors.push_back({"OpenMP, its own number of threads", octet_openmp_parallel_for, nullptr});
#endif
  for (const Executor& executor : executors) {
    std::vector<int32_t> dst(kM * kN, -1);
    if (run(gemm, executor.parallel_for, executor.context, lhs, &dst)) return 1;
    const bool right = dst == expected;
    std::printf("%s, %s: %s\n", executor.name, gemm.kernel(kM), right ? "right" : "WRONG");
    if (!right) return 1;
  }
#ifdef WITH_pthreadpool
  pthreadpool_destroy(pool);
#endif

  desc.k = 0;
  auto refused = octet::Gemm::create(desc);
  if (refused || refused.status() != OCTET_BAD_SIZE || !std::strlen(refused.error().message)) {
    std::fprintf(stderr, "k = 0 was not refused as it should be\n");
    return 1;
  }
  return 0;
}
