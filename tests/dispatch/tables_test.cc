// SPDX-License-Identifier: Apache-2.0
// Checks the library's assumptions on each row of each table (tiers, formats, kernels, operations,
// algorithms): a kernel that breaks one fails here, before it can overrun an array.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "dispatch/tables/kernel_names.h"
#include "dispatch/tables/transforms.h"
#include "kernels/core/limits.h"
#include "kernels/macro/row_tiles.h"
#include "operators/conv/layouts.h"
#include "packing/matrix_blob.h"
#include "support/guarded.h"
#include "support/kernels.h"

namespace octet_test {
namespace {

using octet::DepthwiseKernel;
using octet::KernelKind;
using octet::RhsLayout;
using octet::Tier;
using octet::TierId;
using octet::WeightFormat;

std::vector<const Tier*> tiers() {
  std::vector<const Tier*> all;
  for (size_t i = 0; const Tier* tier = octet::nth_tier(i); ++i) all.push_back(tier);
  return all;
}

TEST(Tiers, AreTold) {
  std::set<TierId> isas;
  std::set<std::string> names;
  for (const Tier* tier : tiers()) {
    SCOPED_TRACE(tier->name);
    EXPECT_TRUE(isas.insert(tier->tier_id).second);
    EXPECT_TRUE(names.insert(tier->name).second);
    EXPECT_EQ(octet::find_tier((int)tier->tier_id), tier);
    EXPECT_EQ(octet::find_tier(tier->name), tier);
    EXPECT_LT((int)tier->tier_id, 32) << "a bit of TierMask";
    const octet::TierCosts& c = tier->costs;
    for (const double cost :
         {c.macs, c.tile, c.int16_macs, c.int16_mr, c.int16_nr, c.int16_in, c.int16_out,
          c.depthwise, c.depthwise_line, c.depthwise_int16, c.grouped_macs, c.grouped_store,
          c.l2_bytes, c.l3_bytes, c.memory_bytes})
      EXPECT_GT(cost, 0);
    EXPECT_TRUE(c.mr && c.nr && c.lanes && c.depthwise_lanes);
  }
  EXPECT_EQ(tiers().back()->tier_id, TierId::kScalar);
  EXPECT_EQ(tiers().back()->needs, 0u);
}

// The one list of all tiers in the tests: callers know their values and names, and blobs are of the
// formats that a tier packs.
TEST(Tiers, KeepTheirValuesNamesAndFormats) {
  const struct {
    octet_isa isa;
    const char *name, *s8, *u8, *int16, *try_first;
  } kKnown[] = {
      {OCTET_ISA_AMXINT8, "AMXINT8", "s8_16x4", "s8_16x4", "s16_16x2", nullptr},
      {OCTET_ISA_AVX512VNNI, "AVX512VNNI", "s8_16x4", "s8_16x4", "s16_16x2", nullptr},
      {OCTET_ISA_AVXVNNI, "AVXVNNI", "s8_16x4", "s8_16x4", "s16_16x2", nullptr},
      {OCTET_ISA_AVX512BW, "AVX512BW", "s8_16x4", "s8_16x4", "s16_16x2", "s8_16x4_paired"},
      {OCTET_ISA_AVX2, "AVX2", "s8_16x4", "s8_16x4", "s16_16x2", "s8_16x4_paired"},
      {OCTET_ISA_SSE41, "SSE41", "s8_16x4", "s8_16x4", "s16_16x2", nullptr},
      {OCTET_ISA_SME, "SME", "s8_16x4_step8", "s8_16x4_step8", "s16_8x1", nullptr},
      {OCTET_ISA_I8MM, "I8MM", "s8_8x8", "u8_8x8", "s16_8x1", nullptr},
      {OCTET_ISA_DOTPROD, "DOTPROD", "s8_16x4_step8", "s8_16x4_step8", "s16_8x1", nullptr},
      {OCTET_ISA_NEON, "NEON", "s8_4x16", "s8_4x16", "s16_8x1", nullptr},
      {OCTET_ISA_SCALAR, "SCALAR", "s8_4x4", "s8_4x4", "s16_4x2", nullptr}};
  for (const auto& known : kKnown) {
    SCOPED_TRACE(known.name);
    const Tier* tier = octet::find_tier(known.name);
    ASSERT_NE(tier, nullptr);
    EXPECT_EQ((octet_isa)tier->tier_id, known.isa);
    EXPECT_STREQ(format_for(known.isa, OCTET_S8).name, known.s8);
    EXPECT_STREQ(format_for(known.isa, OCTET_U8).name, known.u8);
    const octet::ConvAlgorithm* winograd = octet::algorithm_of(OCTET_CONV_WINOGRAD_4X4);
    const RhsLayout int16 =
        octet::conv_layout(*winograd, tier->tier_id, octet::ElementType::kS8, false);
    EXPECT_STREQ(octet::find_format_of(int16)->name, known.int16);
    ASSERT_EQ(tier->try_first != octet::FormatId::kNone, known.try_first != nullptr);
    if (known.try_first) {
      EXPECT_STREQ(octet::format_of(tier->try_first).name, known.try_first);
    }
  }
  EXPECT_EQ(tiers().size(), std::size(kKnown)) << "a new tier is a row here";
  // Values that OCTET_MAX_ISA refuses cannot be names of tiers: environment_test relies on it.
  for (const Tier* tier : tiers())
    for (const char* letter = tier->name; *letter; ++letter)
      EXPECT_TRUE((*letter >= 'A' && *letter <= 'Z') ||
                  (letter != tier->name && *letter >= '0' && *letter <= '9'))
          << tier->name;
}

// The best tier is first: none comes after a tier whose features it has, and more.
TEST(Tiers, ComeInOrder) {
  const std::vector<const Tier*> all = tiers();
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_TRUE(all[j]->needs & ~all[i]->needs) << all[i]->name << " after " << all[j]->name;
}

TEST(Tiers, LimitsAllowThemselvesAndLess) {
  for (const Tier* tier : tiers()) {
    const octet::TierMask within = octet::tiers_within(tier->tier_id);
    EXPECT_TRUE(octet::has(within, *tier)) << tier->name;
    EXPECT_TRUE(within & octet::mask_of(TierId::kScalar)) << tier->name;
    EXPECT_EQ(octet::best_of(within), tier->tier_id) << tier->name;
    // A CPU with exactly the tier's features runs all tiers that the limit allows, but for
    // also_allows.
    if (!tier->also_allows) {
      EXPECT_EQ(octet::tiers_of(tier->needs), within) << tier->name;
    }
  }
  EXPECT_EQ(octet::tiers_of(0), octet::mask_of(TierId::kScalar));
  EXPECT_EQ(octet::compiled_tiers() & ~octet::tiers_of_this_architecture(), 0u);
}

std::vector<const WeightFormat*> formats() {
  std::vector<const WeightFormat*> all;
  for (size_t i = 0; const WeightFormat* format = octet::nth_format(i); ++i) all.push_back(format);
  return all;
}

// Stored blobs have these numbers and names, and messages the smallest tier.
TEST(Formats, KeepTheirIdsAndNames) {
  const struct {
    uint16_t id;
    const char *name, *smallest_tier;
  } kKnown[] = {{1, "s8_16x4", "SSE41"},
                {2, "s8_8x8", "I8MM"},
                {3, "u8_8x8", "I8MM"},
                {4, "s8_16x4_step8", "DOTPROD"},
                {5, "s8_4x16", "NEON"},
                {6, "s8_4x4", "SCALAR"},
                {7, "s8_5x2", "SCALAR"},
                {8, "s16_16x2", "SSE41"},
                {9, "s16_8x1", "NEON"},
                {10, "s16_4x2", "SCALAR"},
                {11, "s8_64x4_depthwise", "SCALAR"},
                {12, "s16_64x4_depthwise", "SCALAR"},
                {13, "s8_64x4_grouped", "SCALAR"},
                {14, "s8_16x16_2of4", "SCALAR"},
                {16, "s8_16x32_2of4", "SCALAR"},
                {18, "s4_16x8", "SSE41"},
                {19, "s4_8x16", "I8MM"},
                {20, "s4_16x8_step8", "DOTPROD"},
                {21, "s4_4x32", "NEON"},
                {22, "s4_4x8", "SCALAR"},
                {24, "s8_16x4_paired", "AVX2"},
                {25, "s16_64x4_grouped", "SCALAR"}};
  for (const auto& known : kKnown) {
    const WeightFormat* format = octet::find_format(known.id);
    ASSERT_NE(format, nullptr) << known.name;
    EXPECT_STREQ(format->name, known.name);
    EXPECT_STREQ(octet::isa_name(octet::smallest_tier(*format)), known.smallest_tier) << known.name;
  }
  EXPECT_EQ(formats().size(), std::size(kKnown)) << "a new format is a row here";
  for (const uint16_t id : {15, 17, 23})
    EXPECT_EQ(octet::find_format(id), nullptr) << "an earlier format, of another layout";
}

// The table of DESIGN.md has all formats, because readers of blobs are written from it.
TEST(Formats, AreInTheDesign) {
  std::ifstream file(OCTET_SOURCE_DIR "/DESIGN.md");
  ASSERT_TRUE(file.good()) << OCTET_SOURCE_DIR;
  std::map<int, std::string> told;
  bool in_table = false;
  for (std::string row; std::getline(file, row);) {
    in_table = row.rfind("| id | weight format |", 0) == 0 || (in_table && row[0] == '|');
    if (!in_table || row.size() < 3 || !std::isdigit((unsigned char)row[2])) continue;
    std::istringstream ids(row.substr(2, row.find(" | ") - 2)), names(row.substr(row.find('`')));
    for (std::string id, name; std::getline(ids, id, ',');) {
      std::getline(std::getline(names, name, '`'), name, '`');
      told[std::stoi(id)] = name;
    }
  }
  std::map<int, std::string> there;
  for (size_t i = 0; const WeightFormat* format = octet::nth_format(i); ++i)
    there[(int)format->id] = format->name;
  EXPECT_EQ(told, there);
}

TEST(Formats, AreTold) {
  std::set<octet::FormatId> ids;
  std::set<std::string> names;
  for (const WeightFormat* format : formats()) {
    SCOPED_TRACE(format->name);
    EXPECT_TRUE(ids.insert(format->id).second);
    EXPECT_TRUE(names.insert(format->name).second);
    EXPECT_EQ(octet::find_format((uint16_t)format->id), format);
    EXPECT_EQ(octet::find_format_of(format->layout), format) << "one layout, one form";
    EXPECT_EQ(&octet::format_of(format->id), format);
    const RhsLayout& layout = format->layout;
    ASSERT_TRUE(layout.width && layout.step && layout.kr);
    EXPECT_EQ(layout.width % layout.step, 0);
    EXPECT_LE(layout.width, octet::kMaxTileColumns);
    EXPECT_EQ(octet::kAlignment % (layout.kr * octet::element_size(layout.element_type)), 0u)
        << "a group of one column lies in one line of cache";
    EXPECT_EQ(layout.kr * layout.bits % 8, 0) << "a group of one column is whole bytes";
    if (!layout.sparse()) {
      EXPECT_LE(layout.bits, 8 * octet::element_size(layout.element_type));
    }
    for (const octet::PanelTable& t : layout.tables) {
      EXPECT_EQ(t.steps == 0, t.bytes == 0);
      EXPECT_TRUE(t.steps == 0 || layout.has_tables());
    }
    if (layout.element_type == octet::ElementType::kS16)
      EXPECT_NE(format->kind, KernelKind::kInt8);
    else
      EXPECT_NE(format->kind, KernelKind::kInt16);
    EXPECT_EQ(format->packing != nullptr, format->kind == KernelKind::kInt8);
  }
  EXPECT_EQ(octet::find_format(0), nullptr);
  EXPECT_EQ(octet::find_format(UINT16_MAX), nullptr);
}

TEST(Tiers, WantFormsOfTheRightKind) {
  for (const Tier* tier : tiers()) {
    SCOPED_TRACE(tier->name);
    EXPECT_EQ(octet::format_of(tier->s8).kind, KernelKind::kInt8);
    EXPECT_EQ(octet::format_of(tier->s8).layout.element_type, octet::ElementType::kS8);
    EXPECT_EQ(octet::format_of(tier->u8).kind, KernelKind::kInt8);
    EXPECT_EQ(octet::format_of(tier->s8).packing->trial, nullptr) << "packing falls back on it";
    EXPECT_EQ(octet::format_of(tier->u8).packing->trial, nullptr);
    if (tier->try_first != octet::FormatId::kNone) {
      const octet::Packing& tried = *octet::format_of(tier->try_first).packing;
      ASSERT_NE(tried.trial, nullptr) << "packing must learn whether it pays";
      EXPECT_TRUE(tried.trial->pays && tried.trial->condition);
    }
    EXPECT_EQ(octet::format_of(tier->sparse).kind, KernelKind::kInt8);
    EXPECT_TRUE(octet::format_of(tier->sparse).layout.sparse());
    EXPECT_EQ(octet::format_of(tier->sparse_tight).kind, KernelKind::kInt8);
    EXPECT_TRUE(octet::format_of(tier->sparse_tight).layout.sparse());
    EXPECT_LT(octet::format_of(tier->sparse_tight).layout.bits,
              octet::format_of(tier->sparse).layout.bits);
    EXPECT_EQ(octet::format_of(tier->s16).kind, KernelKind::kInt16);
    EXPECT_EQ(octet::format_of(tier->depthwise).layout, octet::kDepthwiseLayout);
    EXPECT_EQ(octet::format_of(tier->depthwise_int16).layout, octet::kDepthwiseInt16Layout);
    EXPECT_EQ(octet::format_of(tier->grouped).layout, octet::kGroupedLayout);
    EXPECT_EQ(octet::format_of(tier->grouped_int16).layout, octet::kGroupedOffsetLayout);
  }
}

bool wants(const Tier& tier, const WeightFormat& format) {
  return format.id == tier.s8 || format.id == tier.u8 || format.id == tier.s4 ||
         format.id == tier.s16 || format.id == tier.depthwise ||
         format.id == tier.depthwise_int16 || format.id == tier.grouped ||
         format.id == tier.grouped_int16 || format.id == tier.sparse ||
         format.id == tier.try_first || format.id == tier.sparse_tight;
}

// Every kernel reads a format of its kind. Every format is some tier's, or for tests; where one of
// its tiers is built in, a kernel reads it.
TEST(Formats, AreReadByKernels) {
  std::set<const WeightFormat*> read;
  const auto look_at = [&](const auto& kernel, const RhsLayout& layout, KernelKind kind) {
    const WeightFormat* const format = octet::find_format_of(layout);
    ASSERT_NE(format, nullptr) << kernel.name;
    EXPECT_EQ(format->kind, kind) << kernel.name;
    EXPECT_TRUE(!format->tests_only || kernel.flags & octet::kTestsOnly) << kernel.name;
    read.insert(format);
  };
  for (const MicroKernel* kernel : table()) look_at(*kernel, kernel->rhs_layout, KernelKind::kInt8);
  for (const MicroKernel* kernel : int16_table())
    look_at(*kernel, kernel->rhs_layout, KernelKind::kInt16);
  for (const DepthwiseKernel* kernel : octet::depthwise_kernels())
    look_at(
        *kernel, kernel->layout,
        kernel->layout == octet::kGroupedLayout ? KernelKind::kGrouped : KernelKind::kDepthwise);
  for (const DepthwiseKernel* kernel : octet::depthwise_kernels())
    if (octet::reads(*kernel, octet::kGroupedOffsetLayout))
      read.insert(octet::find_format_of(octet::kGroupedOffsetLayout));
  for (const WeightFormat* format : formats()) {
    SCOPED_TRACE(format->name);
    bool wanted = false, built_in = format->tests_only;
    for (const Tier* tier : tiers()) {
      if (!wants(*tier, *format)) continue;
      wanted = true;
      built_in |= octet::has(octet::compiled_tiers(), *tier);
    }
    EXPECT_NE(wanted, format->tests_only);
    EXPECT_EQ(read.count(format), built_in ? 1u : 0u);
  }
}

octet::Features needs_of(const MicroKernel& kernel) { return kernel.needs; }
octet::Features needs_of(const DepthwiseKernel&) { return 0; }

TEST(KernelNames, AreThoseOfTheTables) {
  size_t count = 0;
  for (; const octet::KernelName* row = octet::kernel_name(count); ++count) {
    int found = 0;
    const auto look_in = [&](const auto& list) {
      const auto* kernel = octet::find(list, row->name);
      if (!kernel) return;
      ++found;
      EXPECT_EQ(kernel->tier_id, row->tier_id) << row->name;
      EXPECT_EQ((kernel->flags & octet::kTestsOnly) != 0, row->forced_only) << row->name;
      EXPECT_EQ(needs_of(*kernel), row->needs) << row->name;
    };
    look_in(octet::int8_kernels());
    look_in(octet::int16_kernels());
    look_in(octet::depthwise_kernels());
    EXPECT_EQ(found, 1) << row->name;
    EXPECT_TRUE(octet::compiled_tiers() & octet::mask_of(row->tier_id)) << row->name;
    EXPECT_TRUE(octet::kernel_exists(row->name));
  }
  EXPECT_EQ(count, octet::int8_kernels().count + octet::int16_kernels().count +
                       octet::depthwise_kernels().count);
}

// Tiles live on the stack, in arrays of fixed sizes.
void check_tile(const MicroKernel& kernel, size_t rows, size_t columns) {
  EXPECT_GE(rows, 1u);
  EXPECT_LE(rows, octet::kMaxTileRows);
  EXPECT_LE(columns, octet::kMaxTileColumns);
  EXPECT_LE(rows * octet::round_up(columns, kernel.rhs_layout.step), octet::kMaxTile);
  EXPECT_EQ(rows % kernel.lhs_lanes_step == 0 || rows < kernel.lhs_lanes_step, true)
      << "tiles end within a step only where the rows do";
}

void check_kernel(const MicroKernel& kernel) {
  SCOPED_TRACE(kernel.name);
  const RhsLayout& layout = kernel.rhs_layout;
  check_tile(kernel, kernel.mr, kernel.nr);
  if (kernel.tall_nr) {
    check_tile(kernel, kernel.tall_mr, kernel.tall_nr);
    EXPECT_GT(kernel.tall_mr, kernel.mr);
    EXPECT_LT(kernel.tall_nr, kernel.nr);
    EXPECT_EQ(kernel.gather, nullptr);
  }
  EXPECT_EQ(kernel.multiply_micro_panel != nullptr, kernel.micro_panel.most != 0);
  EXPECT_LE(kernel.micro_panel.least, kernel.micro_panel.most);
  EXPECT_TRUE(!kernel.multiply_micro_panel || !kernel.gather)
      << "micro-panels are of rows where they lie";
  EXPECT_EQ(layout.width % layout.step, 0);
  EXPECT_TRUE(layout.width % kernel.nr == 0 || kernel.nr % layout.width == 0);
  EXPECT_TRUE(layout.kr % kernel.lhs_kr == 0 || kernel.lhs_kr % layout.kr == 0);
  EXPECT_EQ(kernel.lhs_panel_bytes(1) % octet::kAlignment, 0u);
  EXPECT_TRUE(kernel.is(octet::kRequantizes) || !kernel.is(octet::kRequantizes16));
  EXPECT_NE(kernel.multiply, nullptr);
}

TEST(Kernels, TilesFitTheArraysThatHoldThem) {
  for (const MicroKernel* kernel : table()) {
    check_kernel(*kernel);
    EXPECT_NE(kernel->rhs_layout.element_type, octet::ElementType::kS16) << kernel->name;
    EXPECT_NE(kernel->lhs_element_type, octet::ElementType::kS16) << kernel->name;
  }
  for (const MicroKernel* kernel : int16_table()) check_kernel(*kernel);
}

// Kernels read a layout that their tier packs, but for kernels of tests.
TEST(Kernels, ReadTheirTiersLayouts) {
  for (const MicroKernel* kernel : table()) {
    if (kernel->is(octet::kTestsOnly)) continue;
    const Tier& tier = octet::tier_of(kernel->tier_id);
    EXPECT_TRUE(kernel->rhs_layout == octet::format_of(tier.s8).layout ||
                kernel->rhs_layout == octet::format_of(tier.u8).layout ||
                kernel->rhs_layout == octet::format_of(tier.s4).layout ||
                kernel->rhs_layout == octet::format_of(tier.sparse).layout ||
                kernel->rhs_layout == octet::format_of(tier.sparse_tight).layout ||
                (tier.try_first != octet::FormatId::kNone &&
                 kernel->rhs_layout == octet::format_of(tier.try_first).layout))
        << kernel->name;
  }
  for (const MicroKernel* kernel : int16_table())
    EXPECT_EQ(kernel->rhs_layout, octet::format_of(octet::tier_of(kernel->tier_id).s16).layout)
        << kernel->name;
}

// One plan has a kernel for many rows and one for few, over the same operands.
TEST(Kernels, SmallAndLargeSeeTheSameOperands) {
  for (const MicroKernel* small : table()) {
    if (!small->m_max && !small->n_max) continue;
    const auto all = table();
    const bool has_large = std::any_of(all.begin(), all.end(), [&](const MicroKernel* large) {
      return !large->m_max && !large->n_max && large->tier_id == small->tier_id &&
             large->lhs_element_type == small->lhs_element_type &&
             large->rhs_layout == small->rhs_layout &&
             large->is(octet::kAnyLhs) == small->is(octet::kAnyLhs);
    });
    EXPECT_TRUE(has_large) << small->name;
  }
}

TEST(Depthwise, BlocksFitPanelsAndArrays) {
  for (const DepthwiseKernel* kernel : octet::depthwise_kernels()) {
    SCOPED_TRACE(kernel->name);
    EXPECT_TRUE(kernel->layout == octet::kDepthwiseLayout ||
                kernel->layout == octet::kDepthwiseInt16Layout ||
                kernel->layout == octet::kGroupedLayout);
    EXPECT_EQ(kernel->layout.width % kernel->channels, 0);
    EXPECT_LE(kernel->channels, kernel->reach);
    EXPECT_GE(kernel->rows, 1);
    if (const DepthwiseKernel* const s16 = kernel->s16) {
      EXPECT_EQ(s16->layout, kernel->layout);
      EXPECT_TRUE(s16->lhs_element_type == octet::ElementType::kS16);
      EXPECT_EQ(s16->flags & ~octet::kRequantizes, 0);
      EXPECT_TRUE(s16->tier_id == kernel->tier_id && s16->channels == kernel->channels);
      EXPECT_GE(s16->reach, 2 * s16->channels);
      if (!s16->tail) continue;
      EXPECT_EQ(s16->tail->lhs_element_type, s16->lhs_element_type);
      EXPECT_EQ(s16->tail->flags, s16->flags);  // create asks the widest kernel only
    }
    if (!kernel->tail) continue;
    EXPECT_LT(kernel->tail->channels, kernel->channels);
    EXPECT_TRUE(
        octet::has(octet::tiers_within(kernel->tier_id), octet::tier_of(kernel->tail->tier_id)));
    EXPECT_EQ(kernel->tail->layout, kernel->layout);
    EXPECT_EQ(kernel->tail->lhs_element_type, kernel->lhs_element_type);
    EXPECT_EQ(kernel->tail->tail, nullptr);
  }
}

TEST(Operations, AreThereForEveryTier) {
  for (const Tier* tier : tiers()) {
    const octet::TierOps& ops = octet::ops_of(tier->tier_id);
    EXPECT_TRUE(ops.init && ops.epilogue && ops.sum_rows && ops.quantize_rows && ops.measure_rows &&
                ops.quantize_floats && ops.copy_windows)
        << tier->name;
    const octet::WinogradOps& transforms = octet::transforms_of(tier->tier_id);
    EXPECT_LE(transforms.columns, octet::kMaxTileColumns) << tier->name;
    for (size_t variant = 0; variant < octet::kWinogradVariants; ++variant)
      EXPECT_TRUE(transforms.input[variant] && transforms.output[variant]) << tier->name;
  }
}

TEST(Algorithms, AreThereForEveryAlgorithm) {
  for (int i = OCTET_CONV_DIRECT; i < octet::kAlgorithms; ++i) {
    const octet::ConvAlgorithm* implementation = octet::algorithm_of((uint8_t)i);
    ASSERT_NE(implementation, nullptr) << i;
    EXPECT_STREQ(implementation->name, octet_conv_algorithm_name((octet_conv_algorithm)i));
    EXPECT_TRUE(implementation->refuse && implementation->payload_bytes && implementation->pack &&
                implementation->grain && implementation->task_workspace && implementation->run)
        << implementation->name;
  }
  EXPECT_EQ(octet::algorithm_of(OCTET_CONV_AUTO), nullptr);
  EXPECT_EQ(octet::algorithm_of(octet::kAlgorithms), nullptr);
}

}  // namespace
}  // namespace octet_test
