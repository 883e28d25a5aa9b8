// Decides by sizes whether packing tries the paired weight format.
#include "dispatch/select/paired_format.h"

#include "dispatch/tables/kernel_names.h"
#include "dispatch/tables/kernels.h"
#include "dispatch/tables/tiers.h"

namespace octet {
namespace {

// Smaller weights do not gain: there are too few steps to choose partners from, or too few columns
// to pay for the order.
constexpr size_t kLeastLanes = 32, kLeastDepth = 96;

}  // namespace

const WeightFormat* paired_format(IsaMask isas, size_t lanes, size_t depth) {
  const FormatId id = tier_of(best_of(isas & compiled_tiers())).paired;
  if (id == FormatId::kNone || lanes < kLeastLanes || depth < kLeastDepth) return nullptr;
  const WeightFormat& format = format_of(id);
  for (const MicroKernel* kernel : int8_kernels())
    if (isas & mask_of(kernel->isa) && kernel->rhs_layout == format.layout) return &format;
  return nullptr;
}

}  // namespace octet
