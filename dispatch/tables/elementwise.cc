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

}  // namespace octet
