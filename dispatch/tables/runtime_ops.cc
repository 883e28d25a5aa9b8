// The table of each tier's work on weights that come with a run.
#include "dispatch/tables/runtime_ops.h"

#include "kernels/core/parts.h"
#include "kernels/x86/kernels.h"

namespace octet {

#define RUNTIME(isa, operations) \
  case Isa::isa: return OCTET_IF(RUNTIME_WEIGHTS, &operations, nullptr);

const RuntimeOps* runtime_ops_of(Isa isa) {
  switch (isa) {
#include "dispatch/tables/kernels.def"
    default: return nullptr;
  }
}

}  // namespace octet
