// The table of each tier's functions over elements.
#include "dispatch/tables/elementwise.h"

#include "kernels/generic/functions/portable.h"
#include "kernels/x86/kernels.h"

namespace octet {

#define ELEMENTWISE(isa, operations) \
  case Isa::isa: return operations;

const ElementwiseOps& elementwise_of(Isa isa) {
  switch (isa) {
#include "dispatch/tables/kernels.def"
    default: return portable_elementwise;
  }
}

#define FAST_LOOK_UP(tier, body, needs) \
  if (isa == Isa::tier && !((needs) & ~has)) return body;

FunctionBody look_up_of(Isa isa, Features has) {
#include "dispatch/tables/kernels.def"
  (void)has;  // no tier of this architecture may have such a row
  return elementwise_of(isa).look_up;
}

}  // namespace octet
