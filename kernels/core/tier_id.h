// SPDX-License-Identifier: Apache-2.0
// Names the instruction-set tiers; dispatch/tables/tiers.cc describes each.
#pragma once

#include <stdint.h>

namespace octet {

// The values are octet_isa's; their order does not mean that one is better.
enum class TierId : uint8_t {
  kScalar = 1,
  kAvx2,
  kAvxVnni,
  kAvx512Vnni,
  kNeon,
  kDotprod,
  kI8mm,
  kSse41,
  kAmxInt8,
  kAvx512Bw,
  kSme
};

constexpr TierId kPortableTier = TierId::kScalar;  // every CPU and every build has it

using TierMask = uint32_t;  // bit (int)tier_id
constexpr TierMask mask_of(TierId tier_id) { return 1u << (int)tier_id; }

}  // namespace octet
