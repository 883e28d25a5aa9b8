#include "dispatch/tables/tier_ops.h"

#include "kernels/arm/kernels.h"
#include "kernels/ref/kernels.h"
#include "kernels/simd/portable.h"
#include "kernels/x86/kernels.h"

namespace octet {

const TierOps& ops_of(Isa isa) {
  switch (isa) {
#define TIER(isa, operations, transforms) \
  case Isa::isa:                          \
    return operations;
#define BYTES(isa, kernel, use)
#define SPARSE(isa, kernel, use)
#define WORDS(isa, kernel, use)
#define DEPTHWISE(isa, kernel, use)
#include "dispatch/tables/tiers.def"
    default: return portable_ops;
  }
}

}  // namespace octet
