// What the rooms of the house rely on, for each row of each table: tiers, kernels, operations,
// methods. A kernel that breaks an assumption fails here, before it can overrun an array.
#include <algorithm>
#include <set>

#include "dispatch/conv_methods.h"
#include "dispatch/tables/kernel_names.h"
#include "dispatch/tables/transforms.h"
#include "kernels/core/limits.h"
#include "kernels/nest/tiling.h"
#include "support/kernels.h"

namespace octet_test {
namespace {

using octet::DepthwiseKernel;
using octet::Isa;
using octet::RhsLayout;
using octet::Tier;

std::vector<const Tier*> tiers() {
  std::vector<const Tier*> all;
  for (size_t i = 0; const Tier* tier = octet::nth_tier(i); ++i) all.push_back(tier);
  return all;
}

TEST(Tiers, AreTold) {
  std::set<Isa> isas;
  std::set<std::string> names;
  for (const Tier* tier : tiers()) {
    SCOPED_TRACE(tier->name);
    EXPECT_TRUE(isas.insert(tier->isa).second);
    EXPECT_TRUE(names.insert(tier->name).second);
    EXPECT_EQ(octet::find_tier(static_cast<int>(tier->isa)), tier);
    EXPECT_EQ(octet::find_tier(tier->name), tier);
    EXPECT_LT(static_cast<int>(tier->isa), 32) << "a bit of IsaMask";
    const octet::TierCosts& c = tier->costs;
    for (const double cost : {c.macs, c.tile, c.word_macs, c.word_mr, c.word_nr, c.word_in,
                              c.word_out, c.depthwise, c.depthwise_line})
      EXPECT_GT(cost, 0);
    EXPECT_TRUE(c.mr && c.nr && c.lanes && c.depthwise_lanes);
  }
  EXPECT_EQ(tiers().back()->isa, Isa::kScalar);
  EXPECT_EQ(tiers().back()->needs, 0u);
}

// The best first: none comes after one whose features it has, and more.
TEST(Tiers, ComeInOrder) {
  const std::vector<const Tier*> all = tiers();
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_TRUE(all[j]->needs & ~all[i]->needs) << all[i]->name << " after " << all[j]->name;
}

TEST(Tiers, LimitsAllowThemselvesAndLess) {
  for (const Tier* tier : tiers()) {
    const octet::IsaMask within = octet::tiers_within(tier->isa);
    EXPECT_TRUE(octet::has(within, *tier)) << tier->name;
    EXPECT_TRUE(within & octet::mask_of(Isa::kScalar)) << tier->name;
    EXPECT_EQ(octet::best_of(within), tier->isa) << tier->name;
    // A CPU with no more than the tier asks for runs all that the limit allows, but for what it
    // allows besides.
    if (!tier->also_allows) {
      EXPECT_EQ(octet::tiers_of(tier->needs), within) << tier->name;
    }
  }
  EXPECT_EQ(octet::tiers_of(0), octet::mask_of(Isa::kScalar));
  EXPECT_EQ(octet::compiled_tiers() & ~octet::tiers_of_this_architecture(), 0u);
}

void check_layout(const RhsLayout& layout, octet::Domain domain) {
  EXPECT_TRUE(layout.width && layout.step && layout.kr);
  EXPECT_EQ(layout.width % layout.step, 0);
  EXPECT_LE(layout.width, octet::kMaxTileColumns);
  EXPECT_EQ(octet::kAlignment % (layout.kr * octet::domain_bytes(domain)), 0u)
      << "a group of one column lies in one line of cache";
  EXPECT_EQ(layout.domain, domain);
}

TEST(Tiers, LayoutsFitTheirWeights) {
  for (const Tier* tier : tiers()) {
    SCOPED_TRACE(tier->name);
    check_layout(tier->bytes, octet::Domain::kS8);
    check_layout(tier->bytes_u8, tier->bytes_u8.domain);
    EXPECT_NE(tier->bytes_u8.domain, octet::Domain::kS16);
    check_layout(tier->words, octet::Domain::kS16);
  }
}

TEST(KernelNames, AreThoseOfTheTables) {
  size_t count = 0;
  for (; const octet::KernelName* row = octet::kernel_name(count); ++count) {
    int found = 0;
    const auto look_in = [&](const auto& list) {
      const auto* kernel = octet::find(list, row->name);
      if (!kernel) return;
      ++found;
      EXPECT_EQ(kernel->isa, row->isa) << row->name;
      EXPECT_EQ((kernel->flags & octet::kTestsOnly) != 0, row->forced_only) << row->name;
    };
    look_in(octet::byte_kernels());
    look_in(octet::word_kernels());
    look_in(octet::depthwise_kernels());
    EXPECT_EQ(found, 1) << row->name;
    EXPECT_TRUE(octet::compiled_tiers() & octet::mask_of(row->isa)) << row->name;
    EXPECT_TRUE(octet::kernel_exists(row->name));
  }
  EXPECT_EQ(count, octet::byte_kernels().count + octet::word_kernels().count +
                       octet::depthwise_kernels().count);
}

// Tiles live on the stack, in arrays of fixed sizes.
void check_tile(const MicroKernel& kernel, size_t rows, size_t columns) {
  EXPECT_GE(rows, 1u);
  EXPECT_LE(rows, octet::kMaxTileRows);
  EXPECT_LE(columns, octet::kMaxTileColumns);
  EXPECT_LE(rows * columns, octet::kMaxTile);
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
  EXPECT_TRUE(layout.width % kernel.nr == 0 ||
              (kernel.nr % layout.width == 0 && layout.width == layout.step));
  EXPECT_TRUE(layout.kr % kernel.lhs_kr == 0 || kernel.lhs_kr % layout.kr == 0);
  EXPECT_EQ(kernel.lhs_panel_bytes(1) % octet::kAlignment, 0u);
  EXPECT_TRUE(kernel.is(octet::kNarrows) || !kernel.is(octet::kNarrows16));
  EXPECT_NE(kernel.multiply, nullptr);
}

TEST(Kernels, TilesFitTheArraysThatHoldThem) {
  for (const MicroKernel* kernel : table()) {
    check_kernel(*kernel);
    EXPECT_NE(kernel->rhs_layout.domain, octet::Domain::kS16) << kernel->name;
    EXPECT_NE(kernel->lhs_domain, octet::Domain::kS16) << kernel->name;
  }
  for (const MicroKernel* kernel : word_table()) check_kernel(*kernel);
}

// Kernels that are chosen read the layouts that weights are packed in.
TEST(Kernels, ReadTheirTiersLayouts) {
  for (const MicroKernel* kernel : table()) {
    if (kernel->is(octet::kTestsOnly)) continue;
    const Tier& tier = octet::tier_of(kernel->isa);
    EXPECT_TRUE(kernel->rhs_layout == tier.bytes || kernel->rhs_layout == tier.bytes_u8)
        << kernel->name;
  }
  for (const MicroKernel* kernel : word_table())
    EXPECT_EQ(kernel->rhs_layout, octet::tier_of(kernel->isa).words) << kernel->name;
}

// One plan has a kernel for many rows and one for few, over the same operands.
TEST(Kernels, SmallAndLargeSeeTheSameOperands) {
  for (const MicroKernel* small : table()) {
    if (!small->m_max) continue;
    const auto all = table();
    const bool has_large = std::any_of(all.begin(), all.end(), [&](const MicroKernel* large) {
      return !large->m_max && large->isa == small->isa && large->lhs_domain == small->lhs_domain &&
             large->rhs_layout == small->rhs_layout &&
             large->is(octet::kAnyLhs) == small->is(octet::kAnyLhs);
    });
    EXPECT_TRUE(has_large) << small->name;
  }
}

TEST(Kernels, WidenOnlyWhereTilesAreHighEnough) {
  for (const MicroKernel* kernel : table()) {
    if (!kernel->widen) continue;
    // From kWidenTiles tiles on, of nearly equal height, none is lower than this.
    size_t lowest = kernel->mr;
    for (size_t rows = 1; rows <= 40u * kernel->mr; ++rows) {
      const octet::Tiling tiling(rows, *kernel);
      if (tiling.count < octet::kWidenTiles) continue;
      for (size_t t = 0; t < tiling.count; ++t) lowest = std::min(lowest, tiling.rows(t));
    }
    EXPECT_GT(2 * lowest, kernel->mr) << kernel->name;
  }
}

TEST(Depthwise, BlocksFitPanelsAndArrays) {
  for (const DepthwiseKernel* kernel : octet::depthwise_kernels()) {
    SCOPED_TRACE(kernel->name);
    EXPECT_EQ(kernel->layout, octet::kDepthwiseLayout);
    EXPECT_EQ(kernel->layout.width % kernel->channels, 0);
    EXPECT_LE(kernel->channels, kernel->reach);
    EXPECT_GE(kernel->rows, 1);
    if (!kernel->tail) continue;
    EXPECT_LT(kernel->tail->channels, kernel->channels);
    EXPECT_EQ(kernel->tail->isa, kernel->isa);
    EXPECT_EQ(kernel->tail->lhs_domain, kernel->lhs_domain);
    EXPECT_EQ(kernel->tail->tail, nullptr);
  }
}

TEST(Operations, AreThereForEveryTier) {
  for (const Tier* tier : tiers()) {
    const octet::TierOps& ops = octet::ops_of(tier->isa);
    EXPECT_TRUE(ops.init && ops.finish && ops.sum_rows && ops.quantize_row && ops.copy_windows)
        << tier->name;
    const octet::WinogradOps& transforms = octet::transforms_of(tier->isa);
    EXPECT_LE(transforms.columns, octet::kMaxTileColumns) << tier->name;
    for (size_t form = 0; form < octet::kWinogradForms; ++form)
      EXPECT_TRUE(transforms.input[form] && transforms.output[form]) << tier->name;
  }
}

TEST(Methods, AreThereForEveryAlgorithm) {
  for (int i = OCTET_CONV_DIRECT; i < octet::kAlgorithms; ++i) {
    const octet::ConvMethod* method = octet::method_of(static_cast<uint8_t>(i));
    ASSERT_NE(method, nullptr) << i;
    EXPECT_STREQ(method->name, octet_conv_algorithm_name(static_cast<octet_conv_algorithm>(i)));
    EXPECT_TRUE(method->refuse && method->payload_bytes && method->pack && method->grain &&
                method->task_workspace && method->run)
        << method->name;
  }
  EXPECT_EQ(octet::method_of(OCTET_CONV_AUTO), nullptr);
  EXPECT_EQ(octet::method_of(octet::kAlgorithms), nullptr);
}

}  // namespace
}  // namespace octet_test
