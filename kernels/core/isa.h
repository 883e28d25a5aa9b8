// The instruction-set tiers. dispatch/tables/tiers.cc says what each is.
#pragma once

#include <stdint.h>

namespace octet {

// The values are octet_isa's; they say nothing about which is better.
enum class Isa : uint8_t {
  kScalar = 1,
  kAvx2,
  kAvxVnni,
  kAvx512Vnni,
  kNeon,
  kDotprod,
  kI8mm,
  kSse41
};

constexpr Isa kPortableIsa = Isa::kScalar;  // which every CPU has, and every build

using IsaMask = uint32_t;  // bit (int)isa
constexpr IsaMask mask_of(Isa isa) { return 1u << (int)isa; }

}  // namespace octet
