#include "dispatch/tables/kernels.h"
#include "kernels/arm/kernels.h"
#include "kernels/ref/kernels.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

#define TIER(isa, operations, transforms)
#define BYTES(isa, kernel, use)
#define SPARSE(isa, kernel, use)
#define WORDS(isa, kernel, use)
#define DEPTHWISE(isa, kernel, use) &kernel,
constexpr const DepthwiseKernel* kRows[] = {
#include "dispatch/tables/tiers.def"
};

}  // namespace

DepthwiseList depthwise_kernels() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

}  // namespace octet
