// SPDX-License-Identifier: Apache-2.0
// Checks weights for a 2:4 export; all exports share it.
#pragma once

#include "operators/gemm/weights.h"

namespace octet {

// As read_rhs. Zero points must be 0, because these formats drop zero bytes.
octet_status read_sparse_rhs(const octet_rhs_desc* given, RhsWeights* weights, octet_error* error);

// True if each group has at most two weights that are not 0.
octet_status check_sparse(const RhsWeights& weights, octet_error* error);

}  // namespace octet
