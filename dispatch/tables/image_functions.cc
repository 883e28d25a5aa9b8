// SPDX-License-Identifier: Apache-2.0
// The table of each tier's functions of images.
#include "dispatch/tables/image_functions.h"

#include "dispatch/tables/tiers.h"
#include "kernels/generic/functions/portable.h"
#include "kernels/x86/kernels.h"

namespace octet {

ImageFunctions image_functions_of(TierId tier_id) {
  ImageFunctions functions = portable_image_functions;
#if defined(OCTET_AVX2) || defined(OCTET_AVXVNNI)
  if (has(tiers_within(tier_id), tier_of(TierId::kAvx2))) functions = avx2_image_functions;
#endif
#if defined(OCTET_AVX512BW) || defined(OCTET_AVX512VNNI)
  if (tiers_within(tier_id) & (mask_of(TierId::kAvx512Bw) | mask_of(TierId::kAvx512Vnni)))
    functions.resize = avx512bw_resize;
#endif
  (void)tier_id;
  return functions;
}

}  // namespace octet
