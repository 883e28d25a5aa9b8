// The functions of images for AVX2 and the tiers above it.
#include "kernels/generic/functions/all.h"
#include "kernels/x86/kernels.h"

namespace octet {
const ImageFunctions avx2_image_functions = OCTET_IMAGE_FUNCTIONS;
}  // namespace octet
