// SPDX-License-Identifier: Apache-2.0
// Resizes bytes by AVX-512.
#include "kernels/x86/functions/resize.h"

namespace octet {
void avx512bw_resize(const Resize& f, const ImageCall& call) { resize_near(f, call); }
}  // namespace octet
