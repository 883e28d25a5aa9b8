// The table of each tier's Winograd transforms.
#include "dispatch/tables/transforms.h"

#include "kernels/arm/kernels.h"
#include "kernels/core/parts.h"
#include "kernels/generic/portable.h"
#include "kernels/scalar/kernels.h"
#include "kernels/x86/kernels.h"

namespace octet {

#define TIER(isa, operations, transforms) \
  case Isa::isa: return OCTET_IF(WINOGRAD, transforms, kNone);

const WinogradOps& transforms_of(Isa isa) {
  [[maybe_unused]] static constexpr WinogradOps kNone = {};
  switch (isa) {
#include "dispatch/tables/kernels.def"
    default: return OCTET_IF(WINOGRAD, portable_winograd, kNone);
  }
}

}  // namespace octet
