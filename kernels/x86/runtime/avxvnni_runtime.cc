// SPDX-License-Identifier: Apache-2.0
// Weights that come with a run, for AVX-VNNI.
#include "kernels/x86/kernels.h"
#include "kernels/x86/runtime/few_rows.h"
#include "kernels/x86/runtime/pack.h"

namespace octet {
const RuntimeOps avxvnni_runtime = {"avxvnni_u8s8_few_rows", kX86Layout, pack_runtime,
                                    multiply_few_rows};
}  // namespace octet
