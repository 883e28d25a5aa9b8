#include "dispatch/sparse_rhs.h"

#include "kernels/sparse/group.h"

namespace octet {

octet_status read_sparse_rhs(const octet_rhs_desc* given, RhsWeights* weights, octet_error* error) {
  OCTET_TRY(read_rhs(given, true, weights, error));
  const RhsView& v = weights->view;
  for (size_t i = 0; i < v.zero_point_count; ++i)
    if (v.zero_points[i])
      return fail(error, OCTET_BAD_ZERO_POINT,
                  "rhs.zero_points[%zu] is %d; what is left out of sparse weights is the byte 0", i,
                  (int)v.zero_points[i]);
  return OCTET_OK;
}

octet_status refuse_group(const RhsWeights& w, size_t row, size_t k, octet_error* error) {
  const RhsView& v = w.view;
  const size_t matrix = row / v.n, column = row % v.n;
  const uint8_t* const first = v.data + matrix * w.matrix_stride + column * v.n_stride;
  int values[kGroupWeights] = {};
  for (size_t i = 0; i < kGroupWeights && k + i < v.k; ++i) {
    const uint8_t byte = first[(k + i) * v.k_stride];
    values[i] = v.is_u8 ? byte : (int8_t)byte;
  }
  return fail(error, OCTET_BAD_SPARSITY,
              "rhs.data is not 2:4: column %zu of matrix %zu has the weights %d, %d, %d, %d from k "
              "= %zu on, and only two of four may be other than 0",
              column, matrix, values[0], values[1], values[2], values[3], k);
}

}  // namespace octet
