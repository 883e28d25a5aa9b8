// SPDX-License-Identifier: Apache-2.0
// Checks an octet_rhs_desc.
#include "operators/gemm/weights.h"

#include "kernels/core/parts.h"
#include "operators/common/check.h"

namespace octet {

octet_status read_rhs(const octet_rhs_desc* given, bool with_data, bool sparse, RhsWeights* w,
                      octet_error* error) {
  const CallerStruct<octet_rhs_desc>& rhs = w->rhs;
  OCTET_TRY(w->rhs.read(given, "rhs", error));
  if (!is_weight(rhs->type))
    return fail(error, OCTET_UNKNOWN_ENUM,
                "rhs.type is %d; weights are OCTET_S8, OCTET_U8, OCTET_S4 or OCTET_U4",
                (int)rhs->type);
  if (!OCTET_IF(INT4, true, false) && (is_4bit(rhs->type) || rhs->scale_block))
    return fail(error, OCTET_UNSUPPORTED,
                "rhs.%s is %s, but this library was built without products by weights of 4 bits "
                "or in scale blocks (OCTET_WITH_INT4=OFF)",
                is_4bit(rhs->type) ? "type" : "scale_block",
                is_4bit(rhs->type) ? octet_type_name(rhs->type) : "set");
  if (is_4bit(rhs->type) && (sparse || rhs->sparsity != OCTET_SPARSE_NONE))
    return fail(error, OCTET_UNSUPPORTED, "rhs.type is %s; weights of 4 bits are not sparse",
                octet_type_name(rhs->type));
  if (rhs->scale_block && (sparse || rhs->sparsity != OCTET_SPARSE_NONE))
    return fail(error, OCTET_UNSUPPORTED,
                "rhs.scale_block = %zu; weights in scale blocks are not sparse", rhs->scale_block);
  if (rhs->order != OCTET_KN && rhs->order != OCTET_NK)
    return fail(error, OCTET_UNKNOWN_ENUM, "rhs.order is %d, neither OCTET_KN nor OCTET_NK",
                (int)rhs->order);
  OCTET_TRY(check_sparsity(rhs->sparsity, rhs->reserved, "rhs", error));
  if (rhs->n == 0 || rhs->k == 0)
    return fail(error, OCTET_BAD_SIZE, "rhs.n = %zu, rhs.k = %zu: neither may be 0", rhs->n,
                rhs->k);
  if (with_data && !rhs->data) return fail(error, OCTET_NULL_POINTER, "rhs.data is null");
  // Sums of a column fit int32 with room to spare; no accumulator could hold more depth anyway.
  if (rhs->k > INT32_MAX / 255)
    return fail(error, OCTET_BAD_SIZE, "rhs.k = %zu is above %d, the most that int32 sums can hold",
                rhs->k, INT32_MAX / 255);

  const bool kn = rhs->order == OCTET_KN;
  const size_t row = kn ? rhs->n : rhs->k, rows = kn ? rhs->k : rhs->n,
               batch = rhs->batch ? rhs->batch : 1;
  const size_t stride = rhs->stride ? rhs->stride : row;
  if (stride < row)
    return fail(error, OCTET_BAD_STRIDE, "rhs.stride = %zu is smaller than a stored row of %zu",
                stride, row);
  size_t matrix, all;
  if (!span_bytes(1, 0, rows, stride, row, 1, &matrix))
    return fail(error, OCTET_BAD_SIZE,
                "rhs.n = %zu, rhs.k = %zu, rhs.stride = %zu: the matrix leaves size_t", rhs->n,
                rhs->k, stride);
  size_t batch_stride = rhs->batch_stride;
  if (batch_stride == 0 && __builtin_mul_overflow(rows, stride, &batch_stride))
    return fail(error, OCTET_BAD_SIZE, "rhs.stride = %zu times %zu rows leaves size_t", stride,
                rows);
  if (!span_bytes(batch, batch_stride, rows, stride, row, 1, &all))
    return fail(error, OCTET_BAD_SIZE,
                "rhs.batch = %zu, rhs.batch_stride = %zu: the batch leaves size_t", batch,
                batch_stride);
  w->batch = batch;
  if (rhs->scale_block || rhs->scale_type || rhs->scales || rhs->minimums)
    OCTET_TRY(read_scale_blocks(with_data, w, error));
  else
    OCTET_TRY(check_zero_points(rhs->zero_points, rhs->zero_point_count, rhs->n, rhs->type,
                                "rhs.zero_points", error));

  // A single row has no next one, and its stride may be anything
  const size_t step = rows == 1 ? row : stride;
  w->view = {(const uint8_t*)rhs->data,
             rhs->n,
             rhs->k,
             kn ? step : 1,
             kn ? 1 : step,
             element_type_of(rhs->type),
             rhs->zero_points,
             rhs->zero_point_count};
  w->matrix_stride = batch_stride;
  w->data_bytes = is_4bit(rhs->type) ? divide_up(all, 2) : all;
  return OCTET_OK;
}

}  // namespace octet
