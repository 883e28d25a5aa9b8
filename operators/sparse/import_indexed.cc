// SPDX-License-Identifier: Apache-2.0
// octet_sparse_import_indexed, octet_sparse_export_indexed: converts weights stored as two values
// of each group and their places.
#include "operators/common/check.h"
#include "operators/sparse/indexed.h"
#include "operators/sparse/weights.h"

namespace octet {
namespace {

struct IndexedBuilder {
  Metadata metadata;
  size_t values_bytes, metadata_bytes;
};

octet_status prepare(octet_sparse_metadata order, size_t n, size_t k, size_t values_bytes,
                     size_t metadata_bytes, IndexedBuilder* d, octet_error* error) {
  if (order != OCTET_METADATA_ROWS && order != OCTET_METADATA_CUTLASS)
    return fail(error, OCTET_UNKNOWN_ENUM, "order is %d, not an octet_sparse_metadata", (int)order);
  const bool rows = order == OCTET_METADATA_ROWS;
  const size_t n_unit = rows ? 1 : 16, k_unit = rows ? 8 : 64;
  if (n == 0 || k == 0)
    return fail(error, OCTET_BAD_SIZE, "n = %zu, k = %zu: neither may be 0", n, k);
  if (n % n_unit || k % k_unit)
    return fail(error, OCTET_BAD_SIZE,
                "n = %zu, k = %zu: this order of metadata is for multiples of %zu and %zu", n, k,
                n_unit, k_unit);
  size_t weights;
  if (__builtin_mul_overflow(n, k, &weights) || weights > PTRDIFF_MAX)
    return fail(error, OCTET_BAD_SIZE, "n = %zu, k = %zu: the weights leave size_t", n, k);
  *d = {{order, n, k}, weights / 2, weights / 8};
  if (values_bytes != d->values_bytes)
    return fail(error, OCTET_BAD_SIZE, "values_bytes is %zu, but n * k / 2 is %zu", values_bytes,
                d->values_bytes);
  if (metadata_bytes != d->metadata_bytes)
    return fail(error, OCTET_BAD_SIZE, "metadata_bytes is %zu, but n * k / 8 is %zu",
                metadata_bytes, d->metadata_bytes);
  return OCTET_OK;
}

octet_status check_pointers(const void* values, const void* metadata, octet_error* error) {
  if (!values) return fail(error, OCTET_NULL_POINTER, "values is null");
  if (!metadata) return fail(error, OCTET_NULL_POINTER, "metadata is null");
  return OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_sparse_import_indexed(octet_sparse_metadata order, size_t n, size_t k,
                                         const void* values, size_t values_bytes,
                                         const void* metadata, size_t metadata_bytes, void* weights,
                                         size_t stride, octet_error* error) {
  IndexedBuilder d;
  OCTET_TRY(prepare(order, n, k, values_bytes, metadata_bytes, &d, error));
  OCTET_TRY(check_pointers(values, metadata, error));
  if (!weights) return fail(error, OCTET_NULL_POINTER, "weights is null");
  const size_t step = stride ? stride : k;
  if (step < k)
    return fail(error, OCTET_BAD_STRIDE, "stride = %zu is smaller than a row of k = %zu", stride,
                k);
  size_t bytes;
  if (!span_bytes(1, 0, n, step, k, 1, &bytes))
    return fail(error, OCTET_BAD_SIZE, "n = %zu, stride = %zu: the weights leave size_t", n,
                stride);
  const Extent to = extent_of(weights, bytes);
  if (meet(to, extent_of(values, values_bytes)) || meet(to, extent_of(metadata, metadata_bytes)))
    return fail(error, OCTET_OVERLAP, "weights overlap values or metadata");
  const uint8_t* const places = (const uint8_t*)metadata;
  BadGroup bad;
  if (!check_indexed(d.metadata, places, &bad)) {
    const size_t at = d.metadata.byte(bad.row, bad.k);
    const unsigned group = (unsigned)places[at] >> Metadata::shift(bad.k);
    return fail(error, OCTET_BAD_BLOB,
                "metadata (%zu bytes), at offset %zu: the group of row %zu at k = %zu has its "
                "weights at %u and %u, which are not in order",
                metadata_bytes, at, bad.row, bad.k, group & 3, group >> 2 & 3);
  }
  read_indexed(d.metadata, (const uint8_t*)values, places, (uint8_t*)weights, step);
  return OCTET_OK;
}

octet_status octet_sparse_export_indexed(const octet_rhs_desc* rhs, octet_sparse_metadata order,
                                         void* values, size_t values_bytes, void* metadata,
                                         size_t metadata_bytes, octet_error* error) {
  RhsWeights w;
  OCTET_TRY(read_sparse_rhs(rhs, &w, error));
  if (w.batch != 1)
    return fail(error, OCTET_UNSUPPORTED, "rhs.batch = %zu: one matrix at a time", w.batch);
  IndexedBuilder d;
  OCTET_TRY(prepare(order, w.view.n, w.view.k, values_bytes, metadata_bytes, &d, error));
  OCTET_TRY(check_pointers(values, metadata, error));
  const Extent v = extent_of(values, values_bytes), m = extent_of(metadata, metadata_bytes),
               data = extent_of(w.rhs->data, w.data_bytes),
               zero_points =
                   extent_of(w.rhs->zero_points, w.rhs->zero_point_count * sizeof(int32_t));
  if (meet(v, m)) return fail(error, OCTET_OVERLAP, "values overlap metadata");
  if (meet(v, data) || meet(m, data))
    return fail(error, OCTET_OVERLAP, "values or metadata overlap rhs.data");
  if (meet(v, zero_points) || meet(m, zero_points))
    return fail(error, OCTET_OVERLAP, "values or metadata overlap rhs.zero_points");
  OCTET_TRY(check_sparse(w, error));
  write_indexed(d.metadata, w.view, (uint8_t*)values, (uint8_t*)metadata);
  return OCTET_OK;
}
