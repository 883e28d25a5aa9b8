// SPDX-License-Identifier: Apache-2.0
// Winograd's transforms on xmm (kernels/xsimd/winograd.h).
#include "kernels/x86/kernels.h"
#include "kernels/xsimd/winograd.h"

namespace octet {
const WinogradOps sse41_winograd = winograd_ops<Lanes>(16);
}  // namespace octet
