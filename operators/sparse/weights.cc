// SPDX-License-Identifier: Apache-2.0
// Checks weights for a 2:4 export.
#include "operators/sparse/weights.h"

#include "dispatch/select/sparsity.h"

namespace octet {

octet_status read_sparse_rhs(const octet_rhs_desc* given, RhsWeights* weights, octet_error* error) {
  OCTET_TRY(read_rhs(given, true, true, weights, error));
  const RhsView& v = weights->view;
  for (size_t i = 0; i < v.zero_point_count; ++i)
    if (v.zero_points[i])
      return fail(error, OCTET_BAD_ZERO_POINT,
                  "rhs.zero_points[%zu] is %d; what is left out of sparse weights is the byte 0", i,
                  (int)v.zero_points[i]);
  return OCTET_OK;
}

octet_status check_sparse(const RhsWeights& w, octet_error* error) {
  RhsView matrix = w.view;
  for (size_t i = 0; i < w.batch; ++i, matrix.data += w.matrix_stride) {
    const SparsityFinding finding = look_at(matrix);
    if (finding.crowded)
      return fail(error, OCTET_BAD_SPARSITY,
                  "rhs.data is not 2:4: column %zu of matrix %zu has the weights %s from k = %zu "
                  "on, and only two of four may be other than 0",
                  finding.column, i, finding.values, finding.k);
  }
  return OCTET_OK;
}

}  // namespace octet
