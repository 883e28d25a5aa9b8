// SPDX-License-Identifier: Apache-2.0
// All functions of images, for the file of a tier.
#pragma once

#include "kernels/generic/functions/average.h"
#include "kernels/generic/functions/max_pool.h"
#include "kernels/generic/functions/portable.h"
#include "kernels/generic/functions/resize.h"
#include "kernels/generic/functions/softmax.h"
#include "kernels/generic/functions/softmax_s16.h"
#include "kernels/generic/functions/transpose.h"

// `resize`: the tier's
#define OCTET_IMAGE_FUNCTIONS(resize)                                                             \
  {                                                                                               \
    max_pool, average_pool, mean, resize, softmax, softmax_s16, place_portable, reshape_portable, \
        transpose                                                                                 \
  }
