// SPDX-License-Identifier: Apache-2.0
// 2:4 sparsity: in each group of four weights along the depth at most two are not zero. A short
// last group counts as padded with zeros.
#pragma once

#include <stddef.h>

namespace octet {

constexpr size_t kGroupWeights = 4, kGroupKept = 2;

}  // namespace octet
