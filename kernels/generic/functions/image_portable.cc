// The functions of images for tiers that need no build of their own.
#include "kernels/generic/functions/all.h"
#include "kernels/generic/functions/portable.h"

namespace octet {
const ImageFunctions portable_image_functions = OCTET_IMAGE_FUNCTIONS;
}  // namespace octet
