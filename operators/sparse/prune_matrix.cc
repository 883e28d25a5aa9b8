// SPDX-License-Identifier: Apache-2.0
// octet_sparse_prune: prunes a matrix by magnitude.
#include "operators/sparse/prune_matrix.h"
#include "operators/gemm/weights.h"

namespace octet {
namespace {

// Rows of another matrix may lie between this one's, but rows may not overlap: each weight is
// written once.
octet_status check_apart(const RhsWeights& w, octet_error* error) {
  const octet_rhs_desc& rhs = *w.rhs;
  const bool kn = rhs.order == OCTET_KN;
  const size_t row = kn ? rhs.n : rhs.k, rows = kn ? rhs.k : rhs.n;
  const size_t stride = rhs.stride ? rhs.stride : row;
  for (size_t matrix = 1; matrix < w.batch; ++matrix) {
    const size_t from_first = matrix * w.matrix_stride, line = from_first / stride;
    const bool on_line = line < rows && from_first - line * stride < row,
               on_next = line + 1 < rows && (line + 1) * stride - from_first < row;
    if (on_line || on_next)
      return fail(error, OCTET_BAD_STRIDE,
                  "rhs.batch_stride = %zu: matrix %zu overlaps the first one, and both are pruned",
                  rhs.batch_stride, matrix);
  }
  return OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_sparse_prune(const octet_rhs_desc* rhs, void* pruned, octet_sparse_loss* losses,
                                octet_error* error) {
  RhsWeights w;
  OCTET_TRY(read_rhs(rhs, true, true, &w, error));
  const RhsView& v = w.view;
  OCTET_TRY(check_apart(w, error));
  OCTET_TRY(check_pruned({pruned, v.data, w.data_bytes, v.zero_points, v.zero_point_count, losses,
                          w.batch, v.n, "rhs"},
                         error));
  for (size_t matrix = 0; matrix < w.batch; ++matrix)
    for (size_t column = 0; column < v.n; ++column) {
      const size_t at = matrix * w.matrix_stride + column * v.n_stride;
      octet_sparse_loss loss = {};
      prune_groups(v.data + at, (uint8_t*)pruned + at, v.k_stride, v.k, v.type,
                   v.zero_point(column), &loss);
      if (losses) losses[matrix * v.n + column] = loss;
    }
  return OCTET_OK;
}
