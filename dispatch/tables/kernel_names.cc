// SPDX-License-Identifier: Apache-2.0
// The names and tiers of the kernels that are compiled in.
#include "dispatch/tables/kernel_names.h"

#include <string.h>

#include "kernels/core/parts.h"

namespace octet {
namespace {

constexpr bool kChosen = false, kForced = true;
#define NAMED(kernel, tier_id, ...) \
  { #kernel, TierId::tier_id, __VA_ARGS__ }
#define INT8(tier_id, kernel, ...) NAMED(kernel, tier_id, __VA_ARGS__),
#define INT4(tier_id, kernel, use) OCTET_IF(INT4, ROW, NO_ROW)(NAMED(kernel, tier_id, use))
#define SPARSE(tier_id, kernel, use) OCTET_IF(SPARSE, ROW, NO_ROW)(NAMED(kernel, tier_id, use))
#define INT16(tier_id, kernel, use) OCTET_IF(WINOGRAD, ROW, NO_ROW)(NAMED(kernel, tier_id, use))
#define DEPTHWISE(tier_id, kernel, use) \
  OCTET_IF(DEPTHWISE, ROW, NO_ROW)(NAMED(kernel, tier_id, use))
constexpr KernelName kNames[] = {
#include "dispatch/tables/kernels.def"
};

constexpr TierMask kCompiled = 0
#define TIER(tier_id, operations, transforms) | mask_of(TierId::tier_id)
#include "dispatch/tables/kernels.def"
    ;

}  // namespace

TierMask compiled_tiers() { return kCompiled; }

const KernelName* kernel_name(size_t index) {
  return index < sizeof kNames / sizeof kNames[0] ? &kNames[index] : nullptr;
}

const KernelName* find_kernel_name(const char* name) {
  for (const KernelName& row : kNames)
    if (strcmp(row.name, name) == 0) return &row;
  return nullptr;
}

}  // namespace octet
