// Weights that are to leave as 2:4, checked: what all exports share.
#pragma once

#include "operators/gemm/weights.h"

namespace octet {

// As read_rhs, and zero points are 0: what such forms leave out is the byte 0.
octet_status read_sparse_rhs(const octet_rhs_desc* given, RhsWeights* weights, octet_error* error);

// Whether of each group at most two weights are not 0.
octet_status check_sparse(const RhsWeights& weights, octet_error* error);

}  // namespace octet
