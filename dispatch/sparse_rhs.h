// Weights that are to leave as 2:4, checked: what all exports share.
#pragma once

#include "dispatch/rhs_weights.h"

namespace octet {

// As read_rhs, and zero points are 0: what such forms leave out is the byte 0.
octet_status read_sparse_rhs(const octet_rhs_desc* given, RhsWeights* weights, octet_error* error);

// The group at depth k of row r, which is column r % n of matrix r / n, has more than two weights.
octet_status refuse_group(const RhsWeights& weights, size_t row, size_t k, octet_error* error);

}  // namespace octet
