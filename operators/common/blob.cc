// SPDX-License-Identifier: Apache-2.0
// octet_blob_*: describes and checks packed weights.
#include "operators/common/blob.h"

#include "dispatch/api/struct_size.h"
#include "dispatch/tables/tiers.h"
#include "operators/common/check.h"
#include "packing/matrix_blob.h"
#include "packing/scale_blocks.h"

namespace octet {
namespace {

octet_status check_head(const void* blob, size_t bytes, Container* c, octet_error* error) {
  if (!blob) return fail(error, OCTET_NULL_POINTER, "blob is null");
  OCTET_TRY(check_aligned(blob, "blob", error));
  const BlobProblem problem = check_matrices(blob, bytes, find_format, c);
  if (problem == BlobProblem::kOtherKind && c->header.kind == BlobKind::kFilter)
    return check_filter_blob(blob, bytes, "blob", c, error);
  if (problem == BlobProblem::kOtherKind && c->header.kind == BlobKind::kScaleBlocks)
    return blob_status(check_scale_blocks(blob, bytes, find_format, c), "blob", bytes, error);
  return blob_status(problem, "blob", bytes, error);
}

void describe_matrices(const Container& c, octet_blob_info* info) {
  const MatricesGeometry g = c.read_geometry<MatricesGeometry>();
  info->n = (size_t)g.n;
  info->k = (size_t)g.k;
  info->batch = (size_t)g.count;
}

void describe_scale_blocks(const Container& c, octet_blob_info* info) {
  const ScaleBlocksGeometry g = c.read_geometry<ScaleBlocksGeometry>();
  info->isa = (octet_isa)kPortableTier;  // every tier reads them
  info->n = (size_t)g.n;
  info->k = (size_t)g.k;
  info->batch = (size_t)g.count;
  info->scale_block = g.depth;
  info->scale_type = g.f16 ? OCTET_F16 : OCTET_F32;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_blob_get_info(const void* blob, size_t blob_bytes, octet_blob_info* info,
                                 octet_error* error) {
  OCTET_TRY(check_out(info, "info", error));
  Container c;
  OCTET_TRY(check_head(blob, blob_bytes, &c, error));
  octet_blob_info out = OCTET_BLOB_INFO_INIT;
  out.isa = (octet_isa)smallest_tier(*c.format);
  out.type = (octet_type)c.header.type;
  out.bytes = (size_t)c.header.bytes;
  out.form = c.format->name;
  if (c.header.kind == BlobKind::kFilter)
    describe_filter(c, &out);
  else if (c.header.kind == BlobKind::kScaleBlocks)
    describe_scale_blocks(c, &out);
  else
    describe_matrices(c, &out);
  return give(out, info);
}

octet_status octet_blob_verify(const void* blob, size_t blob_bytes, octet_error* error) {
  Container c;
  OCTET_TRY(check_head(blob, blob_bytes, &c, error));
  OCTET_TRY(blob_status(check_payload(c, blob), "blob", blob_bytes, error));
  const Packing* const packing = c.format->packing;
  if (!packing || !packing->problem) return OCTET_OK;
  const char* const problem = packing->problem(c.format->layout, c.header.kind == BlobKind::kFilter
                                                                     ? panels_of_filter(c, blob)
                                                                     : panels_of(c, blob));
  return problem ? fail(error, OCTET_BAD_BLOB, "blob (%zu bytes) %s", blob_bytes, problem)
                 : OCTET_OK;
}
