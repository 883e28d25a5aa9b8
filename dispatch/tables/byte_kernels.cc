#include "dispatch/tables/kernels.h"
#include "kernels/arm/kernels.h"
#include "kernels/ref/kernels.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

#define TIER(isa, operations, transforms)
#define BYTES(isa, kernel, use) &kernel,
#if defined(OCTET_WITHOUT_SPARSE)
#define SPARSE(isa, kernel, use)
#else
#define SPARSE BYTES
#endif
#define WORDS(isa, kernel, use)
#define DEPTHWISE(isa, kernel, use)
constexpr const MicroKernel* kRows[] = {
#include "dispatch/tables/tiers.def"
};

}  // namespace

KernelList byte_kernels() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

}  // namespace octet
