// SPDX-License-Identifier: Apache-2.0
// Checks that octet_gemm_explain predicts the choice that octet_gemm_create makes.
#include <algorithm>

#include "kernels/core/runtime_weights.h"
#include "operators/gemm/choice.h"
#include "support/gemm_case.h"
#include "support/refused.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

struct Described {
  explicit Described(octet_type lhs = OCTET_U8, octet_type rhs = OCTET_S8, size_t m = 100,
                     size_t n = 200, size_t k = 300)
      : weights(n * k, 3) {
    desc.m_max = m, desc.n = n, desc.k = k;
    desc.lhs_type = lhs, desc.rhs_type = rhs, desc.dst_type = OCTET_S32;
  }
  void pack(octet_isa isa) {
    octet_rhs_desc r = OCTET_RHS_DESC_INIT;
    r.type = desc.rhs_type, r.n = desc.n, r.k = desc.k, r.data = weights.data();
    size_t bytes = 0;
    ASSERT_EQ(octet_pack_size(&r, isa, &bytes, nullptr), OCTET_OK);
    blob = Guarded(bytes, Side::kBack, OCTET_ALIGNMENT);
    ASSERT_EQ(octet_pack(&r, isa, blob.data(), bytes, nullptr), OCTET_OK);
    desc.packed = blob.data(), desc.packed_bytes = bytes;
  }
  octet_gemm_explanation explain(size_t concurrency) const {
    octet_gemm_explanation e = OCTET_GEMM_EXPLANATION_INIT;
    octet_error error = {};
    EXPECT_EQ(octet_gemm_explain(&desc, concurrency, &e, &error), OCTET_OK) << error.message;
    return e;
  }

  std::vector<uint8_t> weights;
  Guarded blob;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
};

void expect_true(const octet_gemm_desc& desc, const octet_gemm_explanation& e, size_t concurrency) {
  octet_gemm* gemm = nullptr;
  octet_error error = {};
  ASSERT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
  for (const size_t m : {size_t{1}, e.small_m, e.small_m + 1, desc.m_max})
    if (m && m <= desc.m_max) {
      EXPECT_STREQ(octet_gemm_kernel(gemm, m), m <= e.small_m ? e.small_kernel : e.kernel);
    }
  size_t bytes = 1;
  EXPECT_EQ(octet_gemm_workspace(gemm, desc.m_max, concurrency, &bytes, nullptr), OCTET_OK);
  EXPECT_EQ(e.workspace_bytes, bytes);
  octet::Choice choice = {};
  ASSERT_EQ(octet::from_text(e.choice, &choice, &error), OCTET_OK) << error.message;
  EXPECT_TRUE(choice == octet::choice_of(*gemm));
  EXPECT_EQ(e.block_rows, choice.block);
  EXPECT_EQ(e.panel_columns, choice.layout.width);
  EXPECT_EQ(e.panel_step, choice.layout.step);
  EXPECT_EQ(e.panel_depth, choice.layout.kr);
  if (strstr(e.small_kernel, "_few_rows")) {
    EXPECT_EQ(desc.packed, nullptr);
    EXPECT_EQ(e.small_m, std::min(desc.m_max, octet::kFewRows));
  } else {
    EXPECT_STREQ(e.small_kernel, choice.small_kernel->name);
  }
  const MicroKernel& kernel = *octet::int8_kernel(choice.kernel);
  EXPECT_EQ(e.isa, (octet_isa)kernel.tier_id);
  EXPECT_EQ(e.lhs_type == OCTET_U8, kernel.lhs_element_type == octet::ElementType::kU8);
  EXPECT_EQ(e.rhs_type == OCTET_U8, choice.layout.element_type == octet::ElementType::kU8);
  EXPECT_NE(e.reason[0], 0);
  octet_gemm_destroy(gemm);
}

TEST(GemmExplain, IsWhatCreateMakes) {
  for (const octet_isa isa : tiers_to_test())
    for (const octet_type lhs : {OCTET_S8, OCTET_U8})
      for (const octet_type rhs : {OCTET_S8, OCTET_U8})
        for (const size_t concurrency : {0, 1, 4})
          for (const bool packed : {false, true}) {
            SCOPED_TRACE(testing::Message()
                         << octet_isa_name(isa) << ' ' << octet_type_name(lhs) << '*'
                         << octet_type_name(rhs) << ", packed " << packed);
            Described d(lhs, rhs);
            d.desc.max_isa = isa;
            if (packed) d.pack(isa);
            const octet_gemm_explanation e = d.explain(concurrency);
            expect_true(d.desc, e, concurrency);
            EXPECT_LE(e.isa, isa);
            EXPECT_NE(std::string(e.reason).find("desc.max_isa"), std::string::npos) << e.reason;
          }
}

TEST(GemmExplain, SaysHowManyTasksRun) {
  struct Counted {
    static void run(void* count, size_t tasks, void (*fn)(void*, size_t), void* arg) {
      *(size_t*)count = tasks;
      for (size_t i = 0; i < tasks; ++i) fn(arg, i);
    }
  };
  for (const size_t m : {1, 100})
    for (const size_t concurrency : {1, 2, 4, 7, 64}) {
      Described d(OCTET_U8, OCTET_S8, m);
      d.pack(OCTET_ISA_AUTO);
      const octet_gemm_explanation e = d.explain(concurrency);
      octet_gemm* gemm = nullptr;
      ASSERT_EQ(octet_gemm_create(&d.desc, &gemm, nullptr), OCTET_OK);
      const std::vector<uint8_t> lhs(m * d.desc.k);
      std::vector<int32_t> dst(m * d.desc.n);
      const Guarded workspace(e.workspace_bytes, Side::kBack, OCTET_ALIGNMENT);
      size_t tasks = 1;
      octet_gemm_args a = OCTET_GEMM_ARGS_INIT;
      a.m = m, a.lhs = lhs.data(), a.dst = dst.data();
      a.workspace = workspace.data(), a.workspace_bytes = e.workspace_bytes;
      a.parallel_for = Counted::run, a.parallel_context = &tasks, a.concurrency = concurrency;
      octet_error error = {};
      EXPECT_EQ(octet_gemm_run(gemm, &a, &error), OCTET_OK) << error.message;
      EXPECT_EQ(e.batch_tasks * e.row_tasks * e.column_tasks, tasks);
      EXPECT_LE(tasks, concurrency);
      octet_gemm_destroy(gemm);
    }
}

TEST(GemmExplain, NamesWhoForcedAKernel) {
  Described d;
  d.desc.kernel = "scalar_u8s8_4x4x4";
  const octet_gemm_explanation forced = d.explain(1);
  EXPECT_STREQ(forced.kernel, d.desc.kernel);
  EXPECT_NE(std::string(forced.reason).find("desc.kernel"), std::string::npos) << forced.reason;
  expect_true(d.desc, forced, 1);
  d.desc.kernel = nullptr;
  const ScopedEnvironment named("OCTET_KERNEL", "scalar_u8s8_4x4x4");
  const octet_gemm_explanation by_name = d.explain(1);
  EXPECT_STREQ(by_name.kernel, "scalar_u8s8_4x4x4");
  EXPECT_NE(std::string(by_name.reason).find("OCTET_KERNEL"), std::string::npos) << by_name.reason;
}

TEST(GemmExplain, NamesTheLimitOfTheEnvironment) {
  const ScopedEnvironment limit("OCTET_MAX_ISA", "SCALAR");
  const octet_gemm_explanation e = Described().explain(1);
  EXPECT_EQ(e.isa, OCTET_ISA_SCALAR);
  EXPECT_NE(std::string(e.reason).find("OCTET_MAX_ISA"), std::string::npos) << e.reason;
  EXPECT_LT(std::string(e.reason).size(), sizeof e.reason - 1) << "cut off: " << e.reason;
}

TEST(GemmExplain, BadArguments) {
  Described d;
  octet_gemm_explanation out = OCTET_GEMM_EXPLANATION_INIT;
  const auto explain = [&](octet_error* e) { return octet_gemm_explain(&d.desc, 1, &out, e); };
  expect_refused(OCTET_NULL_POINTER, "desc",
                 [&](octet_error* e) { return octet_gemm_explain(nullptr, 1, &out, e); });
  expect_refused(OCTET_NULL_POINTER, "explanation",
                 [&](octet_error* e) { return octet_gemm_explain(&d.desc, 1, nullptr, e); });
  out.struct_size = 8;
  expect_refused(OCTET_BAD_STRUCT_SIZE, "explanation", explain);
  out.struct_size = sizeof out;
  d.desc.struct_size = 8;
  expect_refused(OCTET_BAD_STRUCT_SIZE, "desc", explain);
  d = Described();
  set_raw(&d.desc.lhs_type, 9);
  expect_refused(OCTET_UNKNOWN_ENUM, "desc.lhs_type", explain);
  d = Described();
  set_raw(&d.desc.max_isa, 99);
  expect_refused(OCTET_UNKNOWN_ENUM, "desc.max_isa", explain);
  d = Described();
  d.desc.m_max = 0;
  expect_refused(OCTET_BAD_SIZE, "m_max", explain);
  d = Described();
  d.desc.kernel = "avx1024";
  expect_refused(OCTET_UNKNOWN_KERNEL, "avx1024", explain);
  d = Described();
  d.pack(OCTET_ISA_AUTO);
  d.desc.lhs_quant = OCTET_LHS_PER_ROW;  // each task has room for its zero points
  expect_refused(OCTET_BAD_SIZE, "concurrency",
                 [&](octet_error* e) { return octet_gemm_explain(&d.desc, SIZE_MAX, &out, e); });
}

// explain creates no object for the caller, so it prints no line of a create.
TEST(GemmExplain, LeavesNoTrace) {
  const Described d;
  const ScopedEnvironment verbose("OCTET_VERBOSE", "2");
  testing::internal::CaptureStderr();
  d.explain(1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace octet_test
