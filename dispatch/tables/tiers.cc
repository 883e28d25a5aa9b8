// SPDX-License-Identifier: Apache-2.0
// The table of tiers: features, weight formats and costs, one row each.
#include "dispatch/tables/tiers.h"

#include <string.h>

#include "kernels/core/strict_float.h"

namespace octet {
namespace {

// NEON's sparse kernel exists on AArch64 only; elsewhere the scalar reference multiplies.
#if defined(__arm__)
constexpr double kNeonSparseMacs = 0.6;
#else
constexpr double kNeonSparseMacs = 9;
#endif

// Costs of a tier like those of another, but for what `change` sets: a tier that shares kernels
// names only its own.
template <typename Change>
constexpr TierCosts like(TierCosts costs, Change change) {
  change(costs);
  return costs;
}

// The costs of the tiers that could be run here (AVX512VNNI, AVXVNNI, AVX2) were fitted to `octet
// bench plan` over eight networks, relative to each other within a layer; the others are scaled by
// their instructions' throughput.
// clang-format off
constexpr TierCosts kScalarCosts = {
    .macs = 2, .mr = 4, .nr = 16, .tile = 200, .tile_tap = 20, .gather = 1, .int16_macs = 0.6,
    .int16_mr = 6, .int16_nr = 16, .int16_exposed = 0.7, .int16_in = 6, .int16_out = 6,
    .lanes = 1, .depthwise = 50, .depthwise_lanes = 16, .depthwise_line = 100,
    .depthwise_int16 = 1, .grouped_macs = 0.6, .grouped_store = 6, .grouped_partial = 0,
    .sparse_macs = 1.5, .sparse_macs_beside = 0, .sparse_mr = 4, .sparse_nr = 16,
    .sparse_gather = 1, .sparse_streamed = 0, .sparse_few = 0, .sparse_few_far = 0,
};
constexpr TierCosts kNeonCosts = {
    .macs = 7.5, .mr = 4, .nr = 4, .tile = 40, .tile_tap = 8, .gather = 0, .int16_macs = 4,
    .int16_mr = 6, .int16_nr = 16, .int16_exposed = 0.9, .int16_in = 1.5, .int16_out = 1,
    .lanes = 8, .depthwise = 3, .depthwise_lanes = 16, .depthwise_line = 100,
    .depthwise_int16 = 1.3, .grouped_macs = 5, .grouped_store = 1, .grouped_partial = 20,
    .sparse_macs = kNeonSparseMacs, .sparse_macs_beside = 0, .sparse_mr = 2, .sparse_nr = 16,
    .sparse_gather = 4, .sparse_streamed = 0, .sparse_few = 0, .sparse_few_far = 0,
};
constexpr TierCosts kDotprodCosts = like(kNeonCosts, [](TierCosts& c) constexpr {
  c.macs = 30; c.mr = 6; c.nr = 16; c.tile = 60; c.tile_tap = 10; c.depthwise = 1.5;
  c.depthwise_int16 = 2.5; c.grouped_macs = 27; c.grouped_store = 0.8; c.sparse_macs = 26;
  c.sparse_mr = 4; c.sparse_streamed = 1.2; c.sparse_few = 2; c.sparse_few_far = 4;
});
constexpr TierCosts kI8mmCosts = like(kDotprodCosts, [](TierCosts& c) constexpr {
  c.macs = 60; c.mr = 12; c.nr = 8; c.tile_tap = 8; c.gather = 4; c.sparse_few = 1;
  c.sparse_few_far = 2;
});
// Eight times the products of DOTPROD, which few layers are large enough to see: half is counted.
constexpr TierCosts kSmeCosts = like(kDotprodCosts, [](TierCosts& c) constexpr {
  c.macs = 120; c.mr = 32; c.nr = 32; c.tile = 400; c.gather = 4;
});
constexpr TierCosts kSse41Costs = like(kScalarCosts, [](TierCosts& c) constexpr {
  c.macs = 11; c.mr = 6; c.nr = 8; c.tile = 40; c.tile_tap = 12; c.gather = 4; c.int16_macs = 11;
  c.int16_in = 1; c.int16_out = 0.7; c.lanes = 8; c.depthwise = 2; c.depthwise_line = 50;
  c.sparse_macs = 0.6;
});
constexpr TierCosts kAvx2Costs = {
    .macs = 22, .mr = 6, .nr = 16, .tile = 40, .tile_tap = 12, .gather = 0, .half_tile = 8,
    .lines = 48, .tap_panels = 1, .tap_pairs = true, .pads_lines = false, .byte_windows = 0.8,
    .int16_macs = 29, .int16_mr = 6, .int16_nr = 16, .int16_exposed = 0.7, .int16_in = 0.5,
    .int16_out = 0.4, .lanes = 16,
    .depthwise = 1, .depthwise_lanes = 32, .depthwise_line = 50, .depthwise_int16 = 1,
    .grouped_macs = 17.5, .grouped_store = 1.5, .grouped_partial = 25, .sparse_macs = 41,
    .sparse_macs_beside = 0, .sparse_mr = 4, .sparse_nr = 16, .sparse_gather = 6,
    .sparse_streamed = 1.4, .sparse_few = 8, .sparse_few_far = 8, .epilogue = 1.2,
    .epilogue_call = 200,
};
// AVX2's by the ratios of both on a Cascade Lake (designs.cc).
constexpr TierCosts kAvx512BwCosts = like(kAvx2Costs, [](TierCosts& c) constexpr {
  c.macs = 31; c.mr = 12; c.nr = 32; c.tile = 83; c.tile_tap = 14; c.half_tile = 0; c.lines = 1;
  c.int16_macs = 48; c.int16_mr = 14; c.int16_nr = 32; c.int16_exposed = 0.65; c.int16_in = 0.65;
  c.int16_out = 0.5; c.int16_call = 28; c.lanes = 32; c.transform_call = 9.5; c.depthwise = 0.65;
  c.depthwise_lanes = 64; c.byte_windows = 1; c.tap_panels = 0;
});
constexpr TierCosts kAvxVnniCosts = {
    .macs = 46, .mr = 6, .nr = 16, .tile = 50, .tile_tap = 10, .gather = 0,
    .half_tile = 11, .lines = 32, .tap_panels = 1, .strided = 1.06, .int16_macs = 24,
    .int16_mr = 6, .int16_nr = 16,
    .int16_exposed = 1, .int16_in = 0.45, .int16_out = 0.35, .lanes = 16, .depthwise = 0.55,
    .depthwise_lanes = 32, .depthwise_line = 30, .depthwise_int16 = 1.8,
    .grouped_macs = 42, .grouped_store = 0.7, .grouped_partial = 20,
    .sparse_macs = 65, .sparse_macs_beside = 0, .sparse_mr = 4, .sparse_nr = 16,
    .sparse_gather = 0, .sparse_streamed = 1.2, .sparse_few = 8, .sparse_few_far = 8,
    .sparse_start = 16, .sparse_start_few = 24, .sparse_last = 4,
};
constexpr TierCosts kAvx512VnniCosts = {
    .macs = 100, .mr = 6, .nr = 64, .tile = 165, .tile_tap = 15, .gather = 0, .few_4 = 1.9f,
    .few_8 = 1.4f, .tap_panels = 2, .int16_macs = 60, .int16_mr = 14, .int16_nr = 32,
    .int16_exposed = 1,
    .int16_in = 0.6, .int16_out = 0.45, .lanes = 32, .depthwise = 0.34, .depthwise_lanes = 64,
    .depthwise_line = 55, .depthwise_int16 = 2, .grouped_macs = 84, .grouped_store = 0.7,
    .grouped_partial = 25, .sparse_macs = 92, .sparse_macs_beside = 140, .sparse_mr = 8,
    .sparse_nr = 32,
    .sparse_gather = 0, .sparse_streamed = 1.3, .sparse_few = 32, .sparse_few_far = 32,
    .sparse_start = 12, .sparse_start_few = 24, .sparse_start_near = 280,
};
// Of 1024 in theory, at a clock that is a fifth lower than that of other code, and where L2 feeds
// the tile registers. Fitted on an Emerald Rapids, 2026-12-01.
constexpr TierCosts kAmxInt8Costs = like(kAvx512VnniCosts, [](TierCosts& c) constexpr {
  c.macs = 480; c.mr = 16; c.step = 64; c.tile = 160; c.tile_tap = 10; c.tap_panels = 0;
});
// clang-format on

// The best first.
// clang-format off
constexpr Tier kTiers[] = {
    {
        .tier_id = TierId::kAmxInt8,
        .name = "AMXINT8",
        .architecture = Architecture::kX86,
        .needs = kHasSse41 | kHasAvx2 | kHasAvx512 | kHasAvx512Vnni | kHasAmxInt8,
        .also_allows = kHasAvxVnni,
        .s8 = FormatId::kS8_16x4,
        .u8 = FormatId::kS8_16x4,
        .s4 = FormatId::kS4_16x8,
        .s16 = FormatId::kS16_16x2,
        .tight_rows = 4,
        .costs = kAmxInt8Costs,
    },
    {
        .tier_id = TierId::kAvx512Vnni,
        .name = "AVX512VNNI",
        .architecture = Architecture::kX86,
        .needs = kHasSse41 | kHasAvx2 | kHasAvx512 | kHasAvx512Vnni,
        .also_allows = kHasAvxVnni,
        .s8 = FormatId::kS8_16x4,
        .u8 = FormatId::kS8_16x4,
        .s4 = FormatId::kS4_16x8,
        .s16 = FormatId::kS16_16x2,
        .tight_rows = 4,
        .costs = kAvx512VnniCosts,
    },
    {
        .tier_id = TierId::kAvxVnni,
        .name = "AVXVNNI",
        .architecture = Architecture::kX86,
        .needs = kHasSse41 | kHasAvx2 | kHasAvxVnni,
        .s8 = FormatId::kS8_16x4,
        .u8 = FormatId::kS8_16x4,
        .s4 = FormatId::kS4_16x8,
        .s16 = FormatId::kS16_16x2,
        .tight_rows = 4,
        .costs = kAvxVnniCosts,
    },
    {
        .tier_id = TierId::kAvx512Bw,
        .name = "AVX512BW",
        .architecture = Architecture::kX86,
        .needs = kHasSse41 | kHasAvx2 | kHasAvx512,
        .s8 = FormatId::kS8_16x4,
        .u8 = FormatId::kS8_16x4,
        .s4 = FormatId::kS4_16x8,
        .s16 = FormatId::kS16_16x2,
        .try_first = FormatId::kS8_16x4_paired,
        .try_lanes = 32,
        .try_depth = 96,
        .try_few = 96,
        .costs = kAvx512BwCosts,
    },
    {
        .tier_id = TierId::kAvx2,
        .name = "AVX2",
        .architecture = Architecture::kX86,
        .needs = kHasSse41 | kHasAvx2,
        .s8 = FormatId::kS8_16x4,
        .u8 = FormatId::kS8_16x4,
        .s4 = FormatId::kS4_16x8,
        .s16 = FormatId::kS16_16x2,
        .try_first = FormatId::kS8_16x4_paired,
        .try_lanes = 16,
        .try_depth = 96,
        .try_few = 32,
        .costs = kAvx2Costs,
    },
    {
        .tier_id = TierId::kSse41,
        .name = "SSE41",
        .architecture = Architecture::kX86,
        .needs = kHasSse41,
        .s8 = FormatId::kS8_16x4,
        .u8 = FormatId::kS8_16x4,
        .s4 = FormatId::kS4_16x8,
        .s16 = FormatId::kS16_16x2,
        .costs = kSse41Costs,
    },
    {
        .tier_id = TierId::kSme,
        .name = "SME",
        .architecture = Architecture::kArm,
        .needs = kHasNeon | kHasDotprod | kHasI8mm | kHasSme,
        .s8 = FormatId::kS8_16x4_step8,
        .u8 = FormatId::kS8_16x4_step8,
        .s4 = FormatId::kS4_8x16,
        .s16 = FormatId::kS16_8x1,
        .costs = kSmeCosts,
    },
    {
        .tier_id = TierId::kI8mm,
        .name = "I8MM",
        .architecture = Architecture::kArm,
        .needs = kHasNeon | kHasDotprod | kHasI8mm,
        .s8 = FormatId::kS8_8x8,
        .u8 = FormatId::kU8_8x8,
        .s4 = FormatId::kS4_8x16,
        .s16 = FormatId::kS16_8x1,
        .costs = kI8mmCosts,
    },
    {
        .tier_id = TierId::kDotprod,
        .name = "DOTPROD",
        .architecture = Architecture::kArm,
        .needs = kHasNeon | kHasDotprod,
        .s8 = FormatId::kS8_16x4_step8,
        .u8 = FormatId::kS8_16x4_step8,
        .s4 = FormatId::kS4_16x8_step8,
        .s16 = FormatId::kS16_8x1,
        .costs = kDotprodCosts,
    },
    {
        .tier_id = TierId::kNeon,
        .name = "NEON",
        .architecture = Architecture::kArm,
        .needs = kHasNeon,
        .s8 = FormatId::kS8_4x16,
        .u8 = FormatId::kS8_4x16,
        .s4 = FormatId::kS4_4x32,
        .s16 = FormatId::kS16_8x1,
        .costs = kNeonCosts,
    },
    {
        .tier_id = TierId::kScalar,
        .name = "SCALAR",
        .architecture = Architecture::kAny,
        .needs = 0,
        .s8 = FormatId::kS8_4x4,
        .u8 = FormatId::kS8_4x4,
        .s4 = FormatId::kS4_4x8,
        .s16 = FormatId::kS16_4x2,
        .costs = kScalarCosts,
    },
};
// clang-format on
constexpr size_t kCount = sizeof kTiers / sizeof kTiers[0];

#if defined(__x86_64__)
constexpr Architecture kArchitecture = Architecture::kX86;
#elif defined(__aarch64__) || defined(__arm__)
constexpr Architecture kArchitecture = Architecture::kArm;
#else
constexpr Architecture kArchitecture = Architecture::kAny;
#endif

}  // namespace

const Tier* nth_tier(size_t index) { return index < kCount ? &kTiers[index] : nullptr; }

const Tier* find_tier(int tier_id) {
  for (const Tier& tier : kTiers)
    if ((int)tier.tier_id == tier_id) return &tier;
  return nullptr;
}

const Tier* find_tier(const char* name) {
  for (const Tier& tier : kTiers)
    if (strcmp(tier.name, name) == 0) return &tier;
  return nullptr;
}

const Tier& tier_of(TierId tier_id) {
  const Tier* tier = find_tier((int)tier_id);
  return tier ? *tier : kTiers[kCount - 1];
}

TierMask tiers_of(Features features) {
  TierMask tiers = 0;
  for (const Tier& tier : kTiers)
    if (!(tier.needs & ~features)) tiers |= mask_of(tier.tier_id);
  return tiers;
}

TierMask tiers_within(TierId limit) {
  return tiers_of(tier_of(limit).needs | tier_of(limit).also_allows);
}

TierMask tiers_of_this_architecture() {
  TierMask tiers = 0;
  for (const Tier& tier : kTiers)
    if (tier.architecture == Architecture::kAny || tier.architecture == kArchitecture)
      tiers |= mask_of(tier.tier_id);
  return tiers;
}

TierId best_of(TierMask tiers) {
  for (const Tier& tier : kTiers)
    if (has(tiers, tier)) return tier.tier_id;
  return kPortableTier;
}

RhsLayout layout_of(TierId tier_id, ElementType rhs_type) {
  const Tier& tier = tier_of(tier_id);
  return format_of(is_4bit(rhs_type)              ? tier.s4
                   : rhs_type == ElementType::kU8 ? tier.u8
                                                  : tier.s8)
      .layout;
}

const WeightFormat& sparse_format_of(const Tier& tier, size_t rows, size_t k) {
  const WeightFormat& any = format_of(tier.sparse);
  if (!rows || rows > tier.tight_rows) return any;
  const WeightFormat& tight = format_of(tier.sparse_tight);
  return tight.layout.lane_bytes(k) < any.layout.lane_bytes(k) ? tight : any;
}

TierId smallest_tier(const WeightFormat& format) {
  for (size_t i = kCount; i-- > 0;) {
    const Tier& t = kTiers[i];
    const FormatId wanted[] = {t.s8,          t.u8,
                               t.s4,          t.s16,
                               t.depthwise,   t.depthwise_int16,
                               t.grouped,     t.grouped_int16,
                               t.sparse,      t.try_first,
                               t.sparse_tight};
    for (const FormatId id : wanted)
      if (id == format.id) return t.tier_id;
  }
  return kPortableTier;
}

}  // namespace octet
