// SPDX-License-Identifier: Apache-2.0
// Checks the state of the CPU around kernels that use streaming mode: a run saves the sums that a
// caller left in ZA, keeps the registers that a function must keep, and leaves both modes off. And
// checks which products have such a kernel, and that DOTPROD's blobs serve it.
#include <cstring>
#include <vector>

#include "dispatch/select/select.h"
#include "operators/conv/object.h"
#include "operators/gemm/object.h"
#include "support/conv_case.h"
#include "support/gemm_case.h"
#include "support/kernels.h"

namespace octet_test {
namespace {

using octet::ElementType;
using octet::TierId;

constexpr char kKernel[] = "sme_s8s8_32x32x4";

// A register that functions may change, but for systems that keep it.
#if defined(__linux__) && !defined(__ANDROID__)
#define OCTET_X18 "x18",
#else
#define OCTET_X18
#endif

uint64_t streaming_state() {  // SVCR: bit 0 streaming mode, bit 1 ZA
  uint64_t state;
  __asm__ volatile("mrs %0, S3_3_C4_C2_2" : "=r"(state));
  return state & 3;
}

size_t streaming_bytes() {
  uint64_t bytes;
  __asm__ volatile(".arch_extension sme\n rdsvl %0, #1" : "=r"(bytes));
  return bytes;
}

// The block that TPIDR2_EL0 points at while ZA is dormant.
struct SaveBlock {
  uint8_t* buffer;
  uint16_t slices;
  uint8_t reserved[6];
};

// Turns ZA on, fills it from `from`, and makes it dormant.
void leave_in_za(const uint8_t* from, const SaveBlock* block) {
  __asm__ volatile(
      ".arch_extension sme\n"
      "smstart za\n"
      "rdsvl x13, #1\n"
      "mov w12, #0\n"
      "1:\n"
      "ldr za[w12, 0], [%0]\n"
      "add %0, %0, x13\n"
      "add w12, w12, #1\n"
      "cmp x12, x13\n"
      "b.ne 1b\n"
      "msr S3_3_C13_C0_5, %1\n"
      : "+r"(from)
      : "r"(block)
      : "x12", "x13", "cc", "memory");
}

const void* dormant_block() {
  const void* block;
  __asm__ volatile("mrs %0, S3_3_C13_C0_5" : "=r"(block));
  return block;
}

GemmCase some_case() {
  GemmCase c;
  c.kernel = kKernel;
  c.m = 70, c.n = 75, c.k = 101;
  return c;
}

class Streaming : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_to_test((octet_isa)TierId::kSme))
      GTEST_SKIP() << "no tier with streaming mode is tested";
  }
};

TEST_F(Streaming, SumsThatACallerLeftInZaAreSaved) {
  const size_t bytes = streaming_bytes();
  std::vector<uint8_t> sums(bytes * bytes), saved(bytes * bytes);
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = (uint8_t)(i * 7 + i / 256);
  // A block may ask for fewer slices than ZA has, or have no buffer
  for (const size_t slices : {bytes, bytes / 2, size_t{0}}) {
    std::fill(saved.begin(), saved.end(), (uint8_t)0xA5);
    const SaveBlock block = {slices ? saved.data() : nullptr, (uint16_t)slices, {}};
    Gemm gemm(some_case());
    ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
    gemm.prepare_workspace(some_case().m, 1);
    leave_in_za(sums.data(), &block);
    ASSERT_EQ(dormant_block(), &block);
    const octet_status status = gemm.run();
    const void* const left = dormant_block();
    const uint64_t state = streaming_state();
    // Where the run did not save them: no later test may find a block that is gone
    octet::KernelState(octet::find(octet::int8_kernels(), kKernel));
    ASSERT_EQ(status, OCTET_OK) << gemm.error().message;
    EXPECT_EQ(left, nullptr);
    EXPECT_EQ(state, 0u);
    EXPECT_TRUE(gemm.as_expected(some_case().m));
    EXPECT_EQ(std::memcmp(saved.data(), sums.data(), slices * bytes), 0);
    for (size_t i = slices * bytes; i < saved.size(); ++i) ASSERT_EQ(saved[i], 0xA5) << i;
  }
}

TEST_F(Streaming, BothModesAreOffAfterARun) {
  check(some_case());
  EXPECT_EQ(streaming_state(), 0u);
}

// Streaming mode clears the vector registers, eight of which a function keeps.
TEST_F(Streaming, RegistersThatAFunctionKeepsAreKept) {
  const MicroKernel& kernel = *octet::find(octet::int8_kernels(), kKernel);
  constexpr size_t kDepth = 40;
  alignas(64) static uint8_t panel[32 * kDepth], weights[32 * kDepth];
  alignas(64) static int32_t init[32], out[32 * 32];
  std::memset(panel, 1, sizeof panel);
  std::memset(weights, 2, sizeof weights);
  octet::Tile tile = {};
  tile.lhs = panel;
  tile.rhs = weights;
  tile.rhs_stride = 64;
  tile.rhs_panel_stride = 16 * kDepth;
  tile.depth = kDepth;
  tile.rows = tile.cols = 32;
  tile.init = init;
  tile.dst = out;
  tile.dst_stride = sizeof init;
  const double before[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  double after[8] = {};
  const octet::KernelState state(&kernel);
  __asm__ volatile(
      "ldp d8, d9, [%[before]]\n ldp d10, d11, [%[before], #16]\n"
      "ldp d12, d13, [%[before], #32]\n ldp d14, d15, [%[before], #48]\n"
      "mov x0, %[tile]\n blr %[multiply]\n"
      "stp d8, d9, [%[after]]\n stp d10, d11, [%[after], #16]\n"
      "stp d12, d13, [%[after], #32]\n stp d14, d15, [%[after], #48]\n" ::[before] "r"(before),
      [after] "r"(after), [tile] "r"(&tile), [multiply] "r"(kernel.multiply)
      : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
        "x14", "x15", "x16", "x17", OCTET_X18 "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",
        "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20",
        "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc",
        "memory");
  for (int i = 0; i < 8; ++i) EXPECT_EQ(after[i], before[i]) << 'd' << 8 + i;
  for (const int32_t sum : out) ASSERT_EQ(sum, 2 * (int32_t)kDepth);
}

// The kernel, which counts how often it enters streaming mode.
class Sessions {
 public:
  Sessions() {
    ahead_ = alone_ = stored_ = 0;
    kernel_.ahead.sum = [](const void* notes, const void* end) {
      ++ahead_;
      original().ahead.sum(notes, end);
    };
    kernel_.multiply = [](const octet::Tile& tile) {
      ++(tile.sums ? stored_ : alone_);
      original().multiply(tile);
    };
  }
  const MicroKernel* kernel() const { return &kernel_; }
  static size_t ahead() { return ahead_; }
  static size_t alone() { return alone_; }    // tiles with a session each
  static size_t stored() { return stored_; }  // tiles without

 private:
  static const MicroKernel& original() { return *octet::find(octet::int8_kernels(), kKernel); }

  MicroKernel kernel_ = original();
  static inline size_t ahead_, alone_, stored_;
};

void count_product(GemmCase c, size_t sessions) {
  SCOPED_TRACE(std::to_string(c.m) + 'x' + std::to_string(c.n) + 'x' + std::to_string(c.k));
  c.kernel = kKernel;
  const Sessions counted;
  Gemm gemm(c);
  ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
  gemm.prepare_workspace(c.m, 1);
  octet_gemm copy = *gemm.get();
  copy.plan.kernel = counted.kernel();
  ASSERT_EQ(octet_gemm_run(&copy, &gemm.args(), &gemm.error()), OCTET_OK) << gemm.error().message;
  EXPECT_TRUE(gemm.as_expected(c.m));
  EXPECT_EQ(counted.ahead(), sessions);
  EXPECT_EQ(counted.alone(), 0u);
  // A last panel of 8 columns is multiplied by itself
  const size_t across = octet::divide_up(c.n, 32) + (c.n % 32 > 16 && c.n % 32 <= 24);
  EXPECT_EQ(counted.stored(), octet::divide_up(c.m, 32) * across);
}

// A session multiplies all rows of a block by 32 columns at least, and 16 tiles where there are so
// many.
TEST_F(Streaming, ProductsOfSeveralTilesAreOneSession) {
  constexpr size_t kSizes[][4] = {{3, 16, 64, 1},     {32, 32, 256, 1},  {128, 128, 256, 1},
                                  {196, 256, 576, 4}, {49, 384, 64, 2},  {600, 96, 40, 3},
                                  {600, 40, 40, 2},   {64, 258, 128, 2}, {40, 24, 128, 1}};
  for (const auto& [m, n, k, sessions] : kSizes) {
    GemmCase c;
    c.m = m, c.n = n, c.k = k;
    count_product(c, sessions);
    c.dst = OCTET_S8;
    count_product(c, sessions);
    if (HasFatalFailure()) return;
  }
}

// Of convolutions, too: tiles at the sides, and those that read padding only, are like others.
TEST_F(Streaming, ConvolutionsOfSeveralTilesAreOneSession) {
  const struct {
    size_t in, outputs, pad, sessions;
  } kCases[] = {{8, 32, 1, 1}, {14, 64, 1, 1}, {14, 96, 1, 2}, {5, 40, 4, 1}, {28, 48, 0, 2}};
  for (const auto& [in, outputs, pad, sessions] : kCases)
    for (const octet_type dst : {OCTET_S32, OCTET_S8}) {
      SCOPED_TRACE(std::to_string(in) + " to " + std::to_string(outputs));
      ConvCase c;
      c.shape = square(in, 64, outputs, 3, 1, pad);
      c.dst = dst;
      const ConvProblem problem(c);
      ConvHow how;
      how.algorithm = OCTET_CONV_DIRECT;
      how.kernel = kKernel;
      how.cache_bytes = 4 << 20;  // one block
      Conv conv(problem, how);
      ASSERT_EQ(conv.status(), OCTET_OK) << conv.error().message;
      const Sessions counted;
      octet_conv2d copy = *conv.get();
      copy.plan.kernel = counted.kernel();
      ASSERT_EQ(octet_conv2d_run(&copy, &conv.args(), &conv.error()), OCTET_OK)
          << conv.error().message;
      EXPECT_TRUE(conv.as_expected());
      EXPECT_EQ(counted.ahead(), sessions);
      EXPECT_EQ(counted.alone(), 0u);
    }
}

// Products of DOTPROD's blob, by either tier's kernel, have the same bytes: `check` compares both
// with the reference.
TEST_F(Streaming, OneBlobServesBothTiers) {
  EXPECT_EQ(&format_for((octet_isa)TierId::kSme, OCTET_S8),
            &format_for((octet_isa)TierId::kDotprod, OCTET_S8));
  for (const char* kernel : {kKernel, "dotprod_s8s8_6x16x4"})
    for (const octet_type rhs : {OCTET_S8, OCTET_U8}) {
      GemmCase c = some_case();
      c.kernel = kernel;
      c.rhs = rhs;
      check(c);
    }
}

// Streaming mode costs more than a small product. DOTPROD's kernels read the same weights, and want
// the same sign of the lhs.
TEST(StreamingSelection, SmallProductsHaveOtherKernels) {
  octet::CpuFeatures cpu = {};
  for (const TierId isa :
       {TierId::kScalar, TierId::kNeon, TierId::kDotprod, TierId::kI8mm, TierId::kSme})
    cpu.tiers |= octet::mask_of(isa);
  const struct {
    size_t m, n, k;
    const char* kernel;
  } kCases[] = {{1, 512, 512, "sme_s8s8_2x16x4"},
                {2, 512, 512, "sme_s8s8_2x16x4"},
                {3, 512, 512, kKernel},
                {64, 16, 32, kKernel},
                {64, 15, 32, "dotprod_s8s8_6x16x4"}};
  for (const auto& c : kCases)
    for (const ElementType lhs : {ElementType::kU8, ElementType::kS8}) {
      const octet::Problem problem = {c.m, c.n, c.k, lhs, ElementType::kS8};
      const octet::WeightFacts facts = {octet::select_layout(cpu, ElementType::kS8, nullptr), true};
      EXPECT_STREQ(octet::select(cpu, problem, facts, nullptr).kernel->name, c.kernel)
          << c.m << 'x' << c.n << 'x' << c.k;
    }
}

}  // namespace
}  // namespace octet_test
