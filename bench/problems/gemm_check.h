// SPDX-License-Identifier: Apache-2.0
// Checks whether a product is right. It is written from the numeric contract alone, without the
// library.
#pragma once

#include "bench/problems/contract.h"
#include "bench/problems/gemm_data.h"

namespace tool {

// Small products are compared whole, large ones by rows spread over the matrix; every large s32
// product is also multiplied by a vector: C * t == A * (B * t), in int64. tolerance: how far an
// 8-bit output may be from the contract (for peers, whose rounding differs).
Verdict check_product(const GemmData& data, const void* dst, int tolerance = 0);

}  // namespace tool
