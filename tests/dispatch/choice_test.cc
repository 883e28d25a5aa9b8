// SPDX-License-Identifier: Apache-2.0
// Checks that objects created with any legal choice give the bytes of the best one, and that a
// choice can be written and read back.
#include <cstring>
#include <numeric>
#include <string>

#include "dispatch/tables/tiers.h"
#include "operators/conv/plan.h"
#include "support/draw.h"
#include "support/random_case.h"
#include "support/refused.h"

namespace octet_test {
namespace {

octet::ElementType type_of(bool u8) {
  return u8 ? octet::ElementType::kU8 : octet::ElementType::kS8;
}

using octet::Choice;
using octet::CpuFeatures;
using octet::KernelName;
using octet::RhsLayout;

std::string text_of(const Choice& choice) {
  char text[octet::kChoiceBytes];
  octet::to_text(choice, text);
  return text;
}

// The text is read back as the same choice.
void expect_round_trip(const Choice& choice) {
  Choice read = {};
  octet_error error = {};
  ASSERT_EQ(octet::from_text(text_of(choice).c_str(), &read, &error), OCTET_OK) << error.message;
  ASSERT_TRUE(read == choice) << text_of(read) << " of " << text_of(choice);
}

// A block of 1 tile, of some, of more than there ever are.
size_t any_block(Draw* d, size_t unit) {
  return unit * (d->one_in(3) ? 1 : d->one_in(3) ? SIZE_MAX / unit : 1 + d->below(9));
}

// All columns, a panel or some, more than there ever are.
size_t any_pass(Draw* d, size_t unit) { return d->one_in(3) ? 0 : any_block(d, unit); }

octet::TaskLimits any_tasks(Draw* d) { return {d->below(6), d->below(6)}; }

bool reads(const MicroKernel& kernel, const RhsLayout& layout) {
  return kernel.rhs_layout == layout;
}
using octet::reads;

template <typename Kernels>
const KernelName* any_kernel(Draw* d, const Kernels& kernels, const RhsLayout& layout) {
  std::vector<const char*> names;
  for (const auto* kernel : kernels)
    if (reads(*kernel, layout) && octet::supports(octet::this_machine().cpu, *kernel))
      names.push_back(kernel->name);
  return octet::find_kernel_name(names[d->below(names.size())]);
}

Choice any_choice(Draw* d, const Choice& best, bool any_layout) {
  Choice c = best;
  if (any_layout) {
    std::vector<RhsLayout> layouts;
    for (const MicroKernel* kernel : table())
      if (usable(*kernel)) layouts.push_back(kernel->rhs_layout);
    c.layout = layouts[d->below(layouts.size())];
  }
  if (any_layout || !d->one_in(4)) {
    c.kernel = any_kernel(d, table(), c.layout);
    c.small_kernel = d->one_in(2) ? c.kernel : any_kernel(d, table(), c.layout);
  }
  c.block = any_block(d, std::lcm<size_t>(octet::int8_kernel(c.kernel)->mr,
                                          octet::int8_kernel(c.small_kernel)->mr));
  const MicroKernel &many = *octet::int8_kernel(c.kernel),
                    &few = *octet::int8_kernel(c.small_kernel);
  c.pass = any_pass(d, std::max<size_t>({c.layout.width, many.nr, few.nr}));
  c.tasks = any_tasks(d);
  return c;
}

TEST(Choice, NoByteOfAProductDependsOnIt) {
  size_t compared = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    Draw d(seed);
    GemmCase c = random_gemm(seed, nullptr);
    if (d.one_in(3)) c.m += 40, c.m_declared = 0, c.concurrency = 1 + d.below(9);
    Gemm gemm(c, d.one_in(2) ? Side::kBack : Side::kFront);
    ASSERT_EQ(gemm.status(), OCTET_OK) << c << ": " << gemm.error().message;
    const Choice best = octet::choice_of(*gemm.get());
    expect_round_trip(best);
    ASSERT_EQ(gemm.run(), OCTET_OK) << c;
    const std::vector<uint8_t> bytes = gemm.dst_bytes();
    ASSERT_TRUE(gemm.as_expected(c.m));
    for (int i = 0; i < 6; ++i) {
      const Choice choice = any_choice(&d, best, c.runtime_rhs && d.one_in(2));
      SCOPED_TRACE(testing::Message() << c << ": " << text_of(choice));
      expect_round_trip(choice);
      const octet_status status = gemm.choose(choice);
      if (status != OCTET_OK) {  // another kernel may not take these operands
        ASSERT_EQ(status, OCTET_KERNEL_UNUSABLE) << gemm.error().message;
        ASSERT_FALSE(choice.kernel == best.kernel && choice.small_kernel == best.small_kernel &&
                     choice.layout == best.layout)
            << gemm.error().message;
        continue;
      }
      ASSERT_TRUE(octet::choice_of(*gemm.get()) == choice);
      ASSERT_EQ(gemm.run(), OCTET_OK) << gemm.error().message;
      const std::vector<uint8_t> got = gemm.dst_bytes();
      ASSERT_EQ(std::memcmp(got.data(), bytes.data(), bytes.size()), 0);
      ++compared;
    }
  }
  EXPECT_GT(compared, 900u) << "too little was legal to compare";
}

const KernelName* any_conv_kernel(Draw* d, const Choice& best) {
  switch (octet::algorithm_of((uint8_t)best.algorithm)->operands) {
    case octet::KernelKind::kInt8: return any_kernel(d, table(), best.layout);
    case octet::KernelKind::kInt16: return any_kernel(d, int16_table(), best.layout);
    case octet::KernelKind::kDepthwise:
    case octet::KernelKind::kGrouped: break;
  }
  return any_kernel(d, octet::depthwise_kernels(), best.layout);
}

size_t tile_rows(const Choice& c) {
  if (!octet::algorithm_of((uint8_t)c.algorithm)->block_of_tiles) return 1;
  return octet::find(octet::int8_kernels(), c.kernel->name)->mr;
}

// A pass has whole panels of every format; with groups or phases that some join, all channels.
size_t pass_unit(const ConvProblem& problem, const Choice& c) {
  const auto& s = problem.c.shape;
  const size_t micro_panel = std::max<size_t>({c.layout.width, 64});
  return s.groups > 1 || s.transposed ? std::lcm(micro_panel, s.out_channels) : micro_panel;
}

TEST(Choice, NoByteOfAConvolutionDependsOnIt) {
  size_t compared = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    Draw d(seed);
    const ConvProblem problem(random_conv(seed));
    for (const octet_conv_algorithm algorithm : possible_algorithms(problem, OCTET_ISA_AUTO)) {
      ConvHow how;
      how.algorithm = algorithm, how.concurrency = 1 + d.below(9);
      Conv conv(problem, how, d.one_in(2) ? Side::kBack : Side::kFront);
      ASSERT_EQ(conv.status(), OCTET_OK) << problem.c << ": " << conv.error().message;
      const Choice best = octet::choice_of(*conv.get());
      expect_round_trip(best);
      ASSERT_EQ(conv.run(), OCTET_OK) << problem.c;
      const std::vector<uint8_t> bytes = conv.dst_bytes();
      ASSERT_TRUE(conv.as_expected()) << problem.c;
      for (int i = 0; i < 3; ++i) {
        Choice choice = best;
        if (!d.one_in(4)) choice.kernel = any_conv_kernel(&d, best);
        choice.block = any_block(&d, tile_rows(choice));
        choice.pass = any_pass(&d, pass_unit(problem, choice));
        choice.cache_bytes = 1 + d.below(1 << d.below(22));
        choice.tasks = any_tasks(&d);
        SCOPED_TRACE(testing::Message() << problem.c << ": " << text_of(choice));
        expect_round_trip(choice);
        const octet_status status = conv.choose(choice);
        if (status != OCTET_OK) {
          ASSERT_EQ(status, OCTET_KERNEL_UNUSABLE) << conv.error().message;
          ASSERT_NE(choice.kernel, best.kernel) << conv.error().message;
          continue;
        }
        ASSERT_TRUE(octet::choice_of(*conv.get()) == choice);
        ASSERT_EQ(conv.run(), OCTET_OK) << conv.error().message;
        const std::vector<uint8_t> got = conv.dst_bytes();
        ASSERT_EQ(std::memcmp(got.data(), bytes.data(), bytes.size()), 0);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 1000u) << "too little was legal to compare";
}

// ---- what is refused

GemmCase small_product() {
  GemmCase c;
  c.m = 5, c.n = 20, c.k = 30;
  return c;
}

void expect_unusable(Gemm* gemm, const Choice& choice, const char* why) {
  ASSERT_EQ(gemm->choose(choice), OCTET_KERNEL_UNUSABLE) << text_of(choice);
  EXPECT_NE(std::string(gemm->error().message).find(why), std::string::npos)
      << gemm->error().message;
}

TEST(Choice, WhatCannotComputeAProductIsRefused) {
  Gemm gemm(small_product());
  ASSERT_EQ(gemm.status(), OCTET_OK);
  const Choice best = octet::choice_of(*gemm.get());
  Choice c = best;
  c.algorithm = OCTET_CONV_DIRECT;
  expect_unusable(&gemm, c, "a convolution's");
  c = best, c.layout.width *= 2;
  expect_unusable(&gemm, c, "another layout");
  c = best, c.block = 0;
  expect_unusable(&gemm, c, "block");
  c = best, c.pass = best.layout.width / 2;
  expect_unusable(&gemm, c, "pass");
  c = best, c.cache_bytes = 1;
  expect_unusable(&gemm, c, "bands");
  c = best, c.small_kernel = nullptr;
  expect_unusable(&gemm, c, "kernel");
  c = best, c.kernel = nullptr;
  expect_unusable(&gemm, c, "kernel");
  c = best, c.kernel = octet::find_kernel_name(octet::int16_kernels().begin()[0]->name);
  expect_unusable(&gemm, c, "of bytes");
  const MicroKernel& many = *octet::int8_kernel(best.kernel);
  for (const MicroKernel* kernel : table()) {
    if (kernel == &many || kernel->m_max || kernel->is(octet::kNoInt8Min) || !usable(*kernel) ||
        !(kernel->rhs_layout == best.layout) || kernel->lhs_element_type != many.lhs_element_type)
      continue;
    c = best, c.small_kernel = octet::find_kernel_name(kernel->name);
    expect_unusable(&gemm, c, "few rows");
  }
  for (const MicroKernel* kernel : table()) {
    c = best, c.kernel = c.small_kernel = octet::find_kernel_name(kernel->name);
    if (kernel->mr > 1) {
      c.block = kernel->mr + 1;
      ASSERT_EQ(gemm.choose(c), OCTET_KERNEL_UNUSABLE) << text_of(c);
    }
    c.block = kernel->mr;
    const bool right = kernel->rhs_layout == best.layout && usable(*kernel);
    if (right) continue;
    expect_unusable(&gemm, c, "cannot multiply");
    c = best, c.kernel = octet::find_kernel_name(kernel->name);
    expect_unusable(&gemm, c, "cannot multiply");
    c = best, c.small_kernel = octet::find_kernel_name(kernel->name);
    expect_unusable(&gemm, c, "cannot multiply");
  }
}

TEST(Choice, WhatCannotComputeAConvolutionIsRefused) {
  ConvCase described;
  described.shape = square(9, 16, 16, 3, 1, 1);
  const ConvProblem problem(described);
  ConvHow how;
  how.algorithm = OCTET_CONV_DIRECT;
  Conv conv(problem, how);
  ASSERT_EQ(conv.status(), OCTET_OK);
  const Choice best = octet::choice_of(*conv.get());
  const auto expect = [&](const Choice& choice, const char* why) {
    ASSERT_EQ(conv.choose(choice), OCTET_KERNEL_UNUSABLE) << text_of(choice);
    EXPECT_NE(std::string(conv.error().message).find(why), std::string::npos)
        << conv.error().message;
  };
  Choice c = best;
  c.algorithm = OCTET_CONV_IM2COL;
  expect(c, "another algorithm");
  c.algorithm = OCTET_CONV_AUTO;
  expect(c, "another algorithm");
  c = best, c.layout.kr *= 2;
  expect(c, "another layout");
  c = best, c.small_kernel = c.kernel;
  expect(c, "one kernel");
  c = best, c.block = 0;
  expect(c, "block");
  c = best, c.pass = best.layout.width / 2;
  expect(c, "pass");
  c = best, c.cache_bytes = 0;
  expect(c, "cache");
  c = best, c.kernel = octet::find_kernel_name(octet::depthwise_kernels().begin()[0]->name);
  expect(c, "another kind");
}

// A choice and a named kernel exclude each other.
TEST(Choice, BesideANamedKernelIsRefused) {
  GemmCase named = small_product();
  named.kernel = "scalar_u8s8_4x4x4";
  Gemm gemm(named);
  ASSERT_EQ(gemm.status(), OCTET_OK);
  const Choice product = octet::choice_of(*gemm.get());
  expect_unusable(&gemm, product, "desc.kernel");

  ConvCase described;
  described.shape = square(9, 16, 16, 3, 1, 1);
  const ConvProblem problem(described);
  ConvHow how;
  how.algorithm = OCTET_CONV_DIRECT, how.kernel = named.kernel;
  Conv conv(problem, how);
  ASSERT_EQ(conv.status(), OCTET_OK);
  const Choice convolution = octet::choice_of(*conv.get());
  ASSERT_EQ(conv.choose(convolution), OCTET_KERNEL_UNUSABLE);
  EXPECT_NE(std::string(conv.error().message).find("desc.kernel"), std::string::npos)
      << conv.error().message;
}

// ---- text

// Every accepted text is the text of the choice that was read.
void expect_faithful(const std::string& text) {
  Choice read = {};
  octet_error error = {};
  if (octet::from_text(text.c_str(), &read, &error) == OCTET_OK) {
    EXPECT_EQ(text_of(read), text);
  } else {
    EXPECT_NE(std::string(error.message).find("the choice's text"), std::string::npos)
        << error.message;
  }
}

TEST(ChoiceText, DamageIsRefusedOrIsAnotherChoice) {
  Gemm gemm(small_product());
  ASSERT_EQ(gemm.status(), OCTET_OK);
  const std::string text = text_of(octet::choice_of(*gemm.get()));
  for (size_t i = 0; i < text.size(); ++i) {
    Choice read = {};
    expect_faithful(text.substr(0, i));
    EXPECT_NE(octet::from_text(text.substr(0, i).c_str(), &read, nullptr), OCTET_OK)
        << text.substr(0, i);
    expect_faithful(text.substr(0, i) + text.substr(i + 1));
    for (const char c : {' ', '0', '9', 'x', '-', '\n', '\xff', '.'}) {
      std::string changed = text;
      changed[i] = c;
      expect_faithful(changed);
      expect_faithful(text.substr(0, i) + c + text.substr(i));
    }
  }
}

TEST(ChoiceText, SaysWhatIsWrong) {
  const char* const kernel = table()[0]->name;
  const std::string good = std::string("product weights=s8_4x4 kernel=") + kernel +
                           " few=" + kernel + " block=12 pass=7 cache=5 cut=0x3";
  Choice read = {};
  ASSERT_EQ(octet::from_text(good.c_str(), &read, nullptr), OCTET_OK);
  EXPECT_EQ(read.block, 12u);
  EXPECT_EQ(read.pass, 7u);
  EXPECT_EQ(read.cache_bytes, 5u);
  EXPECT_EQ(read.tasks.columns, 3u);
  const auto changed = [&](const char* from, const char* to) {
    std::string text = good;
    return text.replace(text.find(from), std::strlen(from), to);
  };
  const struct {
    std::string text;
    octet_status status;
    const char* says;
  } bad[] = {
      {"", OCTET_UNKNOWN_ENUM, "name of an algorithm"},
      {changed("product", "produce"), OCTET_UNKNOWN_ENUM, "name of an algorithm"},
      {changed("s8", "s9"), OCTET_UNKNOWN_ENUM, "the name of a form"},
      {changed(kernel, "avx1024_1x1x1"), OCTET_UNKNOWN_KERNEL, "a kernel of this library"},
      {changed("weights", "panels"), OCTET_UNSUPPORTED, "weights="},
      {changed("block=12", "block=0"), OCTET_BAD_SIZE, "a number"},
      {changed("block=12", "block=012"), OCTET_BAD_SIZE, "a number"},
      {changed("block=12", "block=-12"), OCTET_BAD_SIZE, "a number"},
      {changed("block=12", "block=99999999999999999999"), OCTET_BAD_SIZE, "a number"},
      {changed("pass=7", "pass="), OCTET_BAD_SIZE, "a number"},
      {changed("cache=5", "cache="), OCTET_BAD_SIZE, "a number"},
      {changed("cache=5", "block=5"), OCTET_UNSUPPORTED, "cache="},
      {changed("0x3", "0x"), OCTET_BAD_SIZE, "a number"},
      {good + " ", OCTET_UNSUPPORTED, "the end"},
      {good + "\n" + good, OCTET_UNSUPPORTED, "the end"},
  };
  for (const auto& b : bad)
    expect_refused(b.status, b.says, [&](octet_error* e) {
      Choice untouched = {};
      const octet_status status = octet::from_text(b.text.c_str(), &untouched, e);
      EXPECT_EQ(untouched.kernel, nullptr);
      return status;
    });
  expect_refused(OCTET_NULL_POINTER, "text",
                 [&](octet_error* e) { return octet::from_text(nullptr, &read, e); });
}

// ---- choices for machines that are not at hand

std::vector<CpuFeatures> machines() {
  std::vector<CpuFeatures> all;
  for (size_t i = 0; const octet::Tier* tier = octet::nth_tier(i); ++i)
    for (const size_t l2 : {size_t{0}, size_t{1} << 14, size_t{1} << 20}) {
      const octet::TierMask isas = octet::tiers_within(tier->tier_id) & octet::compiled_tiers();
      all.push_back({isas, {0, l2, 0}});
    }
  return all;
}

// The previous value of a choice does not matter.
constexpr Choice kStale = {OCTET_CONV_IM2COL, {}, nullptr, nullptr, 3, 4, 5, {7, 9}};

TEST(Choose, ProductsLegallyAndAlwaysAlike) {
  for (const CpuFeatures& cpu : machines())
    for (uint32_t seed = 1; seed <= 40; ++seed) {
      Draw d(seed);
      const octet::Problem problem = {1 + d.below(300), 1 + d.below(300), 1 + d.below(5000),
                                      type_of(d.one_in(2)), type_of(d.one_in(2))};
      const octet::WeightFacts facts = {octet::select_layout(cpu, problem.rhs_type, nullptr),
                                        d.one_in(2)};
      Choice choice = {}, again = kStale;
      ASSERT_EQ(octet::choose_gemm(cpu, problem, facts, nullptr, &choice).result,
                octet::Selected::kOk);
      ASSERT_EQ(octet::choose_gemm(cpu, problem, facts, nullptr, &again).result,
                octet::Selected::kOk);
      EXPECT_TRUE(choice == again);
      const char* why = nullptr;
      EXPECT_TRUE(octet::may_use(choice, cpu, problem, facts, &why)) << why << text_of(choice);
      expect_round_trip(choice);
    }
}

TEST(Choose, ConvolutionsLegallyAndAlwaysAlike) {
  size_t chosen = 0;
  for (const CpuFeatures& cpu : machines())
    for (uint32_t seed = 1; seed <= 40; ++seed) {
      const ConvCase c = random_conv(seed);
      const octet_conv2d_shape& s = c.shape;
      const octet::ConvShape shape = {
          s.batch_max,  s.in_h_max,        s.in_w_max,         s.in_channels,     s.out_channels,
          s.groups,     s.kernel_h,        s.kernel_w,         s.stride_h,        s.stride_w,
          s.dilation_h, s.dilation_w,      s.pad_top,          s.pad_bottom,      s.pad_left,
          s.pad_right,  s.transposed != 0, s.output_padding_h, s.output_padding_w};
      for (uint8_t i = 0; i < octet::kAlgorithms; ++i) {
        const octet::ConvAlgorithm* const implementation = octet::algorithm_of(i);
        if (!implementation || implementation->refuse(shape, {0, 0})) continue;
        const octet::TierId best = octet::best_of(cpu.tiers);
        const octet::ConvChoiceProblem problem = {
            (octet_conv_algorithm)i,
            shape,
            type_of(is_unsigned(c.lhs)),
            type_of(is_unsigned(c.rhs)),
            element_bytes(c.dst),
            {octet::conv_layout(*implementation, best, type_of(is_unsigned(c.rhs)), false), true}};
        Choice choice = {}, again = kStale;
        octet::ConvKernel kernel = octet::choose_conv(cpu, problem, nullptr, &choice);
        // A tier may lack int16 or depthwise kernels and share no layout with another
        if (kernel.result == octet::Selected::kNoKernel) continue;
        ASSERT_EQ(kernel.result, octet::Selected::kOk);
        octet::choose_conv(cpu, problem, nullptr, &again);
        EXPECT_TRUE(choice == again);
        const char* why = nullptr;
        EXPECT_TRUE(octet::may_use(choice, cpu, problem, &kernel, &why)) << why << text_of(choice);
        expect_round_trip(choice);
        ++chosen;
      }
    }
  EXPECT_GT(chosen, 1000u);
}

// 49 pixels of 512 channels a picture, the caches of a small machine.
octet::PassProblem small_pictures(size_t pictures, size_t rows_of_block) {
  return {(49 * pictures + rows_of_block - 1) / rows_of_block,
          49 * 512 * pictures,
          512,
          9 * 512,
          16,
          1 << 20};
}

TEST(Choose, WeightsThatNoCacheHoldsPassOnce) {
  EXPECT_EQ(octet::columns_of_pass(small_pictures(1, 49)), 0u) << "once already";
  EXPECT_EQ(octet::columns_of_pass(small_pictures(4, 24)), 112u) << "half of the cache";
  octet::PassProblem p = small_pictures(4, 24);
  p.cache_bytes = 8 << 20;
  EXPECT_EQ(octet::columns_of_pass(p), 0u) << "stay in the cache";
  p = small_pictures(4, 24), p.lhs_bytes = 1 << 30;
  EXPECT_EQ(octet::columns_of_pass(p), 0u) << "rows would be what passes";
  p = small_pictures(4, 24), p.column_bytes = SIZE_MAX / 2;
  EXPECT_EQ(octet::columns_of_pass(p), 16u) << "a panel at least";
  p.columns = 16;
  EXPECT_EQ(octet::columns_of_pass(p), 0u) << "all are a panel";
}

}  // namespace
}  // namespace octet_test
