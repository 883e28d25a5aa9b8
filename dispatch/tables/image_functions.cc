// The table of each tier's functions of images.
#include "dispatch/tables/image_functions.h"

#include "dispatch/tables/tiers.h"
#include "kernels/generic/functions/portable.h"
#include "kernels/x86/kernels.h"

namespace octet {

const ImageFunctions& image_functions_of(TierId tier_id) {
#if defined(OCTET_AVX2) || defined(OCTET_AVXVNNI)
  if (has(tiers_within(tier_id), tier_of(TierId::kAvx2))) return avx2_image_functions;
#endif
  (void)tier_id;
  return portable_image_functions;
}

}  // namespace octet
