// SPDX-License-Identifier: Apache-2.0
// Replaces this folder's other files and dispatch/select/sparsity.cc in a library without sparse
// weights: each function fails and says so.
#include "dispatch/select/sparsity.h"
#include "octet/sparse.h"

namespace octet {

octet_status refuse_sparse(octet_error* error) {
  return fail(error, OCTET_UNSUPPORTED,
              "this library was built without sparse weights (OCTET_WITH_SPARSE=OFF)");
}

octet_status allow_sparsity(const char* name, octet_error* error) {
  return fail(error, OCTET_UNSUPPORTED,
              "%s.sparsity is not OCTET_SPARSE_NONE, but this library was built without sparse "
              "weights (OCTET_WITH_SPARSE=OFF)",
              name);
}

const char* describe(Sparsity) { return "weights are dense"; }

// Never reached: a descriptor that asks for sparsity is refused earlier.
bool gains_by_sparsity(TierId, const CpuFeatures&, size_t, size_t, size_t) { return false; }
bool SparsityFinding::look_at(const SparseRun&, ElementType, size_t, size_t) { return true; }
SparsityFinding look_at(const RhsView&) { return {}; }

}  // namespace octet

using octet::refuse_sparse;

OCTET_LACKS(octet_sparse_import_stream_size, refuse_sparse, const octet_sparse_stream_format*,
            const void*, size_t, size_t*)
OCTET_LACKS(octet_sparse_import_stream, refuse_sparse, const octet_sparse_stream_format*,
            const void*, size_t, size_t, size_t, void*, size_t)
OCTET_LACKS(octet_sparse_export_stream_size, refuse_sparse, const octet_rhs_desc*,
            const octet_sparse_stream_format*, size_t*)
OCTET_LACKS(octet_sparse_export_stream, refuse_sparse, const octet_rhs_desc*,
            const octet_sparse_stream_format*, void*, size_t)
OCTET_LACKS(octet_sparse_import_indexed, refuse_sparse, octet_sparse_metadata, size_t, size_t,
            const void*, size_t, const void*, size_t, void*, size_t)
OCTET_LACKS(octet_sparse_export_indexed, refuse_sparse, const octet_rhs_desc*,
            octet_sparse_metadata, void*, size_t, void*, size_t)
OCTET_LACKS(octet_sparse_prune, refuse_sparse, const octet_rhs_desc*, void*, octet_sparse_loss*)
