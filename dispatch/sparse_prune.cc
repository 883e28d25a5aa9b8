// octet_sparse_prune: 2:4 by magnitude, of a matrix.
#include "dispatch/sparse_prune.h"
#include "dispatch/rhs_weights.h"

using namespace octet;

octet_status octet_sparse_prune(const octet_rhs_desc* rhs, void* pruned, octet_sparse_loss* losses,
                                octet_error* error) {
  RhsWeights w;
  OCTET_TRY(read_rhs(rhs, true, &w, error));
  const RhsView& v = w.view;
  OCTET_TRY(check_pruned({pruned, v.data, w.data_bytes, v.zero_points, v.zero_point_count, losses,
                          w.batch, v.n, "rhs"},
                         error));
  for (size_t matrix = 0; matrix < w.batch; ++matrix)
    for (size_t column = 0; column < v.n; ++column) {
      const size_t at = matrix * w.matrix_stride + column * v.n_stride;
      PruneLoss loss = {};
      prune_groups(v.data + at, (uint8_t*)pruned + at, v.k_stride, v.k, v.is_u8,
                   v.zero_point(column), &loss);
      if (losses) report(loss, &losses[matrix * v.n + column]);
    }
  return OCTET_OK;
}
