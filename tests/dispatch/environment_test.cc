// SPDX-License-Identifier: Apache-2.0
// Checks what OCTET_MAX_ISA, OCTET_KERNEL and OCTET_VERBOSE do and refuse, and that the API beats
// them.
#include <cctype>
#include <chrono>
#include <sstream>

#include "dispatch/tables/kernel_names.h"
#include "support/conv_case.h"
#include "support/gemm_case.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

octet_cpu_info cpu_info() {
  octet_cpu_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(octet_get_cpu_info(&info, nullptr), OCTET_OK);
  return info;
}

// The best tier of this machine that a limit to this one allows. It need not be the next in the
// table: of two tiers neither may allow the other.
octet_isa best_within(octet_isa limit) {
  const octet_cpu_info info = cpu_info();
  for (const octet_isa isa : all_tiers())
    if (is_allowed(isa, limit) && (info.detected_isas & ~info.demoted_isas) >> isa & 1) return isa;
  return OCTET_ISA_AUTO;
}

// Makes a small product by the environment and these fields; returns its kernel, or the error. It
// has 32 columns, because a tier may leave fewer to a tier below (MicroKernel::n_min).
struct Made {
  octet_status status = OCTET_OK;
  octet_error error = {};
  std::string kernel;
};
Made make(octet_isa max_isa = OCTET_ISA_AUTO, const char* kernel = nullptr,
          octet_isa pack_for = OCTET_ISA_AUTO, octet_type rhs_type = OCTET_S8) {
  Made made;
  const std::vector<uint8_t> weights(256, 1), lhs(8, 1);
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = rhs_type, rhs.n = 32, rhs.k = 8, rhs.data = weights.data();
  size_t bytes = 0;
  if ((made.status = octet_pack_size(&rhs, pack_for, &bytes, &made.error))) return made;
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  if ((made.status = octet_pack(&rhs, pack_for, blob.data(), bytes, &made.error))) return made;
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  d.m_max = 1, d.n = 32, d.k = 8, d.lhs_type = OCTET_U8, d.rhs_type = rhs_type,
  d.dst_type = OCTET_S32;
  d.packed = blob.data(), d.packed_bytes = bytes, d.max_isa = max_isa, d.kernel = kernel;
  octet_gemm* gemm = nullptr;
  if ((made.status = octet_gemm_create(&d, &gemm, &made.error))) return made;
  made.kernel = octet_gemm_kernel(gemm, 1);
  EXPECT_EQ(octet_gemm_workspace(gemm, 1, 1, &bytes, nullptr), OCTET_OK);
  const Guarded workspace(bytes + 1, Side::kFront, OCTET_ALIGNMENT);
  int32_t dst[32];
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = 1, args.lhs = lhs.data(), args.dst = dst, args.workspace = workspace.data(),
  args.workspace_bytes = bytes;
  EXPECT_EQ(octet_gemm_run(gemm, &args, nullptr), OCTET_OK);
  EXPECT_EQ(dst[31], 8);
  octet_gemm_destroy(gemm);
  return made;
}

octet_isa tier_of(const std::string& kernel) {
  const MicroKernel* found = octet::find(octet::int8_kernels(), kernel.c_str());
  return found ? (octet_isa)found->tier_id : OCTET_ISA_AUTO;
}

TEST(Environment, EmptyMeansUnset) {
  const ScopedEnvironment isa("OCTET_MAX_ISA", ""), kernel("OCTET_KERNEL", ""),
      verbose("OCTET_VERBOSE", "");
  EXPECT_EQ(make().status, OCTET_OK);
}

// The tier that the machine promises is the one that runs. A run under qemu says by
// OCTET_MODEL_TIERS which tiers its model has.
TEST(Environment, TheExpectedTierRuns) {
  const octet_cpu_info info = cpu_info();
  EXPECT_EQ(info.demoted_isas, 0u) << "a tier failed its self-test";
  EXPECT_EQ(tier_of(make().kernel), info.best_isa);
  if (const char* list = std::getenv("OCTET_MODEL_TIERS")) {
    octet::TierMask model = 0;
    std::string name;
    for (std::istringstream names(list); std::getline(names, name, ',');) {
      const octet::Tier* tier = octet::find_tier(name.c_str());
      ASSERT_NE(tier, nullptr) << name;
      model |= octet::mask_of(tier->tier_id);
    }
    EXPECT_EQ(info.detected_isas, model & info.compiled_isas) << list;
  }
  EXPECT_EQ(info.best_isa, best_within(OCTET_ISA_AUTO));
  std::printf("tier %s, kernel %s\n", octet_isa_name(info.best_isa), make().kernel.c_str());
}

// A kernel that needs more than its tier does runs where a model of qemu's has that, and nowhere
// else: OCTET_MODEL_VARIANT is the word for it in the kernels' names.
TEST(Environment, TheExpectedVariantRuns) {
  if (!std::getenv("OCTET_MODEL_TIERS")) GTEST_SKIP() << "no model of qemu's";
  const char* const value = std::getenv("OCTET_MODEL_VARIANT");
  const std::string variant = value ? value : "";
  size_t usable_ones = 0;
  for (const MicroKernel* kernel : table()) {
    if (!kernel->needs) continue;
    const bool expected =
        !variant.empty() && std::string(kernel->name).find(variant) != std::string::npos;
    EXPECT_EQ(usable(*kernel), expected) << kernel->name;
    usable_ones += expected;
  }
  EXPECT_EQ(usable_ones != 0, !variant.empty());
}

TEST(MaxIsa, LimitsTheTier) {
  for (const octet_isa isa : native_tiers()) {
    const ScopedEnvironment limit("OCTET_MAX_ISA", octet_isa_name(isa));
    const Made made = make();
    ASSERT_EQ(made.status, OCTET_OK) << made.error.message;
    EXPECT_EQ(tier_of(made.kernel), best_within(isa)) << octet_isa_name(isa) << made.kernel;
    EXPECT_EQ(cpu_info().best_isa, best_within(isa));
  }
}

TEST(MaxIsa, RefusesWhatIsNoTierHere) {
  // A name of a tier is one word of capital letters and digits that begins with a letter.
  std::vector<std::string> refused = {"3", "no tier", "unknown"};
  for (const octet_isa isa : native_tiers()) {
    const std::string name = octet_isa_name(isa);
    refused.insert(refused.end(), {' ' + name, name + ' ', name + "," + name});
    refused.push_back(name);
    for (char& letter : refused.back()) letter = (char)std::tolower((unsigned char)letter);
  }
  for (const octet_isa isa : foreign_tiers()) refused.push_back(octet_isa_name(isa));
  for (const std::string& value : refused) {
    const ScopedEnvironment limit("OCTET_MAX_ISA", value.c_str());
    const Made made = make();
    EXPECT_EQ(made.status, OCTET_BAD_ENVIRONMENT) << value;
    const std::string message = made.error.message;
    EXPECT_NE(message.find("OCTET_MAX_ISA"), std::string::npos);
    for (const octet_isa isa : native_tiers())
      EXPECT_NE(message.find(octet_isa_name(isa)), std::string::npos) << message;
    octet_cpu_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(octet_get_cpu_info(&info, nullptr), OCTET_BAD_ENVIRONMENT);
  }
}

TEST(KernelVariable, ForcesEveryKernelByName) {
  for (const MicroKernel* kernel : table()) {
    if (!usable(*kernel)) continue;
    const ScopedEnvironment forced("OCTET_KERNEL", kernel->name);
    const Made made = make();
    ASSERT_EQ(made.status, OCTET_OK) << made.error.message;
    if (serves(*kernel, {OCTET_U8, OCTET_S8}) && !kernel->rhs_layout.sparse())
      EXPECT_EQ(made.kernel, kernel->name);
    else
      EXPECT_NE(made.kernel, kernel->name) << "binds its own family only";
  }
}

TEST(KernelVariable, RefusesWhatDoesNotExist) {
  const ScopedEnvironment forced("OCTET_KERNEL", "fastest");
  const Made made = make();
  EXPECT_EQ(made.status, OCTET_BAD_ENVIRONMENT);
  EXPECT_NE(std::string(made.error.message).find("OCTET_KERNEL"), std::string::npos);
  const std::string message = made.error.message,
                    first = "valid here: " + std::string(octet::kernel_name(0)->name) + ", " +
                            octet::kernel_name(1)->name + ", ";
  EXPECT_NE(message.find(first), std::string::npos) << message;
  // The message has as many whole names as fit, and ends in "..." if some are missing.
  const size_t end = message.find("...");
  if (end == std::string::npos) {
    EXPECT_NE(message.find(octet::depthwise_kernels().end()[-1]->name), std::string::npos)
        << message;
  } else {
    EXPECT_EQ(end + 3, message.size()) << message;
    const size_t last = message.rfind(", ", end) + 2;
    EXPECT_TRUE(octet::kernel_exists(message.substr(last, end - last).c_str())) << message;
    EXPECT_GT(message.size(), 150u) << message;
  }
}

TEST(KernelVariable, IsAnErrorWhereItCannotRun) {
  for (const MicroKernel* kernel : table()) {
    if (usable(*kernel) || !serves(*kernel, {OCTET_U8, OCTET_S8}) || kernel->rhs_layout.sparse())
      continue;
    const ScopedEnvironment forced("OCTET_KERNEL", kernel->name);
    const Made made = make();
    EXPECT_EQ(made.status, OCTET_KERNEL_UNUSABLE) << kernel->name;
    EXPECT_NE(std::string(made.error.message).find(kernel->name), std::string::npos);
  }
}

TEST(Descriptor, LimitsToATierOfThisArchitecture) {
  for (const octet_isa isa : foreign_tiers()) {
    const Made made = make(isa);
    EXPECT_EQ(made.status, OCTET_UNSUPPORTED);
    EXPECT_NE(std::string(made.error.message).find("desc.max_isa"), std::string::npos);
  }
}

TEST(Descriptor, BeatsTheEnvironment) {
  const octet_isa best = (octet_isa)octet::best_of(octet::this_machine().cpu.tiers);
  const ScopedEnvironment limit("OCTET_MAX_ISA", octet_isa_name(kPortableTier));
  {  // the descriptor's limit beats the environment's
    const Made made = make(best, nullptr, best);
    ASSERT_EQ(made.status, OCTET_OK) << made.error.message;
    EXPECT_EQ(tier_of(made.kernel), best);
  }
  const MicroKernel* for_tests = nullptr;  // reads no tier's layout
  for (const MicroKernel* kernel : table())
    if (kernel->is(octet::kTestsOnly) && usable(*kernel)) for_tests = kernel;
  ASSERT_NE(for_tests, nullptr);
  for (const MicroKernel* kernel : table()) {
    if (!usable(*kernel) || kernel->is(octet::kTestsOnly) || !serves(*kernel, {OCTET_U8, OCTET_S8}))
      continue;
    const octet_isa isa = (octet_isa)kernel->tier_id;
    if (!(octet::layout_of(kernel->tier_id, octet::ElementType::kS8) == kernel->rhs_layout))
      continue;
    // the descriptor's kernel beats the environment's limit
    Made made = make(OCTET_ISA_AUTO, kernel->name, isa);
    EXPECT_EQ(made.status, OCTET_OK) << made.error.message;
    EXPECT_EQ(made.kernel, kernel->name);
    // the descriptor's kernel, and its limit, beat the environment's kernel
    const ScopedEnvironment forced("OCTET_KERNEL", for_tests->name);
    made = make(OCTET_ISA_AUTO, kernel->name, isa);
    EXPECT_EQ(made.status, OCTET_OK) << made.error.message;
    EXPECT_EQ(made.kernel, kernel->name);
    made = make(isa, nullptr, isa);
    EXPECT_EQ(made.status, OCTET_OK) << made.error.message;
    EXPECT_EQ(tier_of(made.kernel), isa);
  }
}

TEST(Verbose, PrintsOneLinePerCreateAndAtTwoPerRun) {
  for (int level = 0; level <= 2; ++level) {
    const ScopedEnvironment verbose("OCTET_VERBOSE", std::to_string(level).c_str());
    testing::internal::CaptureStderr();
    const auto start = std::chrono::steady_clock::now();
    const Made made = make();
    const double elapsed =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    std::istringstream lines(testing::internal::GetCapturedStderr());
    ASSERT_EQ(made.status, OCTET_OK);
    const char* const events[] = {"create", "run"};
    for (int i = 0; i < level; ++i) {
      std::string line, field;
      ASSERT_TRUE(std::getline(lines, line));
      std::istringstream fields(line);
      for (const std::string& want : {std::string("octet"), std::string(events[i]),
                                      std::string("gemm"), std::string("1x32x8"), std::string("1"),
                                      std::string("u8:s8:s32"), made.kernel, std::string("gemm")}) {
        ASSERT_TRUE(std::getline(fields, field, ',')) << line;
        EXPECT_EQ(field, want) << line;
      }
      ASSERT_TRUE(std::getline(fields, field, ',')) << line;
      EXPECT_GE(std::stod(field), 0) << line;
      EXPECT_LE(std::stod(field), elapsed) << line;
      ASSERT_TRUE(std::getline(fields, field, ',')) << line;
      EXPECT_EQ(field, "predicted") << line;
      EXPECT_FALSE(std::getline(fields, field, ',')) << line;
    }
    std::string rest;
    EXPECT_FALSE(std::getline(lines, rest)) << rest;
  }
}

// The line has the caller's groups, though small groups are multiplied together.
TEST(Verbose, NamesAConvolutionsOwnGroups) {
  ConvCase c;
  c.shape = square(5, 32, 32, 3, 1, 1, 16);
  const ConvProblem problem(c);
  const ScopedEnvironment verbose("OCTET_VERBOSE", "1");
  testing::internal::CaptureStderr();
  ConvHow how;
  how.algorithm = OCTET_CONV_DIRECT;
  const Conv conv(problem, how);
  const std::string line = testing::internal::GetCapturedStderr();
  ASSERT_EQ(conv.status(), OCTET_OK);
  EXPECT_EQ(line.rfind("octet,create,conv,g16mb1_ic32oc32_ih5iw5oh5ow5kh3kw3", 0), 0u) << line;
}

TEST(Verbose, RefusesOtherValues) {
  for (const char* value : {"3", "-1", "yes", "11", "1 "}) {
    const ScopedEnvironment verbose("OCTET_VERBOSE", value);
    const Made made = make();
    EXPECT_EQ(made.status, OCTET_BAD_ENVIRONMENT) << value;
    EXPECT_NE(std::string(made.error.message).find("OCTET_VERBOSE"), std::string::npos);
  }
}

TEST(KernelList, SaysWhatTheTableSays) {
  octet_kernel_info info = {};
  info.struct_size = sizeof info;
  for (size_t i = 0; const octet::KernelName* kernel = octet::kernel_name(i); ++i) {
    ASSERT_EQ(octet_get_kernel_info(i, &info, nullptr), OCTET_OK);
    EXPECT_STREQ(info.name, kernel->name);
    EXPECT_EQ(info.isa, (octet_isa)kernel->tier_id);
    const octet::CpuFeatures& cpu = octet::this_machine().cpu;
    EXPECT_EQ(info.usable != 0,
              (cpu.tiers >> (int)kernel->tier_id & 1) && (kernel->needs & ~cpu.features) == 0);
    EXPECT_EQ(info.tests_only != 0, kernel->forced_only);
  }
}

}  // namespace
}  // namespace octet_test
