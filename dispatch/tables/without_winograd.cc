// In place of word_kernels.cc and transforms.cc in a library without Winograd.
#include "dispatch/tables/kernels.h"
#include "dispatch/tables/transforms.h"

namespace octet {

KernelList word_kernels() { return {nullptr, 0}; }

const WinogradOps& transforms_of(Isa) {
  static constexpr WinogradOps kNone = {};
  return kNone;
}

}  // namespace octet
