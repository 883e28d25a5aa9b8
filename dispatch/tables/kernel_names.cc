#include "dispatch/tables/kernel_names.h"

#include <string.h>

namespace octet {
namespace {

constexpr bool kChosen = false, kForced = true;
#define TIER(isa, operations, transforms)
#define BYTES(isa, kernel, use) {#kernel, Isa::isa, use},
#if defined(OCTET_WITHOUT_SPARSE)
#define SPARSE(isa, kernel, use)
#else
#define SPARSE BYTES
#endif
#if defined(OCTET_WITHOUT_WINOGRAD)
#define WORDS(isa, kernel, use)
#else
#define WORDS BYTES
#endif
#if defined(OCTET_WITHOUT_DEPTHWISE)
#define DEPTHWISE(isa, kernel, use)
#else
#define DEPTHWISE BYTES
#endif
constexpr KernelName kNames[] = {
#include "dispatch/tables/tiers.def"
};
#undef TIER
#undef BYTES

constexpr IsaMask kCompiled = 0
#define TIER(isa, operations, transforms) | mask_of(Isa::isa)
#define BYTES(isa, kernel, use)
#include "dispatch/tables/tiers.def"
    ;

}  // namespace

IsaMask compiled_tiers() { return kCompiled; }

const KernelName* kernel_name(size_t index) {
  return index < sizeof kNames / sizeof kNames[0] ? &kNames[index] : nullptr;
}

const KernelName* find_kernel_name(const char* name) {
  for (const KernelName& row : kNames)
    if (strcmp(row.name, name) == 0) return &row;
  return nullptr;
}

}  // namespace octet
