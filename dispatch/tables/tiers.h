// SPDX-License-Identifier: Apache-2.0
// The tiers, compiled in or not: any machine can pack weights for any of them.
#pragma once

#include "dispatch/tables/formats.h"
#include "kernels/core/feature.h"
#include "kernels/core/tier_costs.h"
#include "kernels/core/tier_id.h"

namespace octet {

enum class Architecture : uint8_t { kAny, kX86, kArm };

struct Tier {
  TierId tier_id;
  const char* name;  // the value of OCTET_MAX_ISA
  Architecture architecture;
  Features needs;
  // OCTET_MAX_ISA with this tier allows every tier whose features are this tier's and these.
  Features also_allows = 0;
  // Weight formats: of s8, of u8 as stored, of s4 and u4, of int16 for Winograd.
  FormatId s8, u8, s4, s16;
  // Further formats, the same on all tiers: depthwise and grouped without and with zero points,
  // 2:4 sparse, and 2:4 sparse in fewer bytes for runs of at most tight_rows rows
  FormatId depthwise = FormatId::kS8_64x4_depthwise,
           depthwise_int16 = FormatId::kS16_64x4_depthwise, grouped = FormatId::kS8_64x4_grouped,
           grouped_int16 = FormatId::kS16_64x4_grouped, sparse = FormatId::kS8_16x16_2of4,
           sparse_tight = FormatId::kS8_16x32_2of4;
  size_t tight_rows = 0;
  // A format that packing tries first for s8 and u8 weights (Packing::trial); or kNone. Matrices of
  // fewer lanes or less depth are not tried; try_few: the least depth of up to four columns
  FormatId try_first = FormatId::kNone;
  uint16_t try_lanes = 0, try_depth = 0, try_few = 0;
  TierCosts costs;
};

const Tier* find_tier(int tier_id);  // null if no tier has this value
const Tier* find_tier(const char* name);
const Tier* nth_tier(size_t index);  // best first; null past the last
const Tier& tier_of(TierId tier_id);

inline const char* isa_name(TierId tier_id) { return tier_of(tier_id).name; }
inline bool has(TierMask tiers, const Tier& tier) { return tiers & mask_of(tier.tier_id); }

TierMask tiers_of(Features features);  // the tiers that a CPU with these features runs
TierMask tiers_within(TierId limit);   // the tiers that a limit to this tier allows
TierMask tiers_of_this_architecture();
TierId best_of(TierMask tiers);  // kPortableTier if the mask is empty

RhsLayout layout_of(TierId tier_id, ElementType rhs_type);  // of dense matrices
// Of 2:4 sparse ones k deep, for runs of at most so many rows (0 = any)
const WeightFormat& sparse_format_of(const Tier& tier, size_t rows, size_t k);
// the lowest tier that uses the format; kPortableTier for test formats
TierId smallest_tier(const WeightFormat& format);

}  // namespace octet
