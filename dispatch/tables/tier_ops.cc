// The table of each tier's operations besides multiplying (row work, epilogue).
#include "dispatch/tables/tier_ops.h"

#include "kernels/arm/kernels.h"
#include "kernels/generic/portable.h"
#include "kernels/scalar/kernels.h"
#include "kernels/x86/kernels.h"

namespace octet {

#define TIER(isa, operations, transforms) \
  case Isa::isa: return operations;

const TierOps& ops_of(Isa isa) {
  switch (isa) {
#include "dispatch/tables/kernels.def"
    default: return portable_ops;
  }
}

}  // namespace octet
