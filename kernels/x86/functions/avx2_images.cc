// SPDX-License-Identifier: Apache-2.0
// The functions of images for AVX2 and the tiers above it.
#include "kernels/generic/functions/all.h"
#include "kernels/x86/functions/resize.h"

namespace octet {
const ImageFunctions avx2_image_functions = OCTET_IMAGE_FUNCTIONS(resize_near);
}  // namespace octet
