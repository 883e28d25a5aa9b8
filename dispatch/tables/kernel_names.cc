// The names and tiers of the kernels that are compiled in.
#include "dispatch/tables/kernel_names.h"

#include <string.h>

#include "kernels/core/parts.h"

namespace octet {
namespace {

constexpr bool kChosen = false, kForced = true;
#define NAMED(kernel, isa, ...) \
  { #kernel, Isa::isa, __VA_ARGS__ }
#define INT8(isa, kernel, ...) NAMED(kernel, isa, __VA_ARGS__),
#define INT4(isa, kernel, use) OCTET_IF(INT4, ROW, NO_ROW)(NAMED(kernel, isa, use))
#define SPARSE(isa, kernel, use) OCTET_IF(SPARSE, ROW, NO_ROW)(NAMED(kernel, isa, use))
#define INT16(isa, kernel, use) OCTET_IF(WINOGRAD, ROW, NO_ROW)(NAMED(kernel, isa, use))
#define DEPTHWISE(isa, kernel, use) OCTET_IF(DEPTHWISE, ROW, NO_ROW)(NAMED(kernel, isa, use))
constexpr KernelName kNames[] = {
#include "dispatch/tables/kernels.def"
};

constexpr IsaMask kCompiled = 0
#define TIER(isa, operations, transforms) | mask_of(Isa::isa)
#include "dispatch/tables/kernels.def"
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
