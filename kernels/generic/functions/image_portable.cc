// SPDX-License-Identifier: Apache-2.0
// The functions of images for tiers that need no build of their own.
#include "kernels/generic/functions/all.h"
#include "kernels/generic/functions/copies.h"
#include "kernels/generic/functions/portable.h"

namespace octet {
void place_portable(const Place& f, const ImageCall& call) { place(f, call); }
void reshape_portable(const Reshape& f, const ImageCall& call) { reshape(f, call); }
const ImageFunctions portable_image_functions = OCTET_IMAGE_FUNCTIONS(resize);
}  // namespace octet
