// Names the instruction-set tiers; dispatch/tables/tiers.cc describes each.
#pragma once

#include <stdint.h>

namespace octet {

// The values are octet_isa's; their order does not mean that one is better.
enum class Isa : uint8_t {
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

constexpr Isa kPortableIsa = Isa::kScalar;  // every CPU and every build has it

using IsaMask = uint32_t;  // bit (int)isa
constexpr IsaMask mask_of(Isa isa) { return 1u << (int)isa; }

}  // namespace octet
