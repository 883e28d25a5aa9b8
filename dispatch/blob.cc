// octet_blob_*: what packed weights say about themselves.
#include "kernels/gemm/blob.h"

#include "dispatch/check.h"
#include "dispatch/conv_blob.h"
#include "dispatch/struct_size.h"
#include "dispatch/tables/tiers.h"

namespace octet {
namespace {

octet_status check_blob(const void* blob, octet_error* error) {
  if (!blob) return fail(error, OCTET_NULL_POINTER, "blob is null");
  return check_aligned(blob, "blob", error);
}

bool is_conv(const void* blob, size_t bytes) { return blob_kind(blob, bytes) == BlobKind::kConv; }

octet_status result(BlobProblem problem, size_t bytes, octet_error* error) {
  return problem == BlobProblem::kNone
             ? OCTET_OK
             : fail(error, OCTET_BAD_BLOB, "blob (%zu bytes) %s", bytes, describe(problem));
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_blob_get_info(const void* blob, size_t blob_bytes, octet_blob_info* info,
                                 octet_error* error) {
  OCTET_TRY(check_out(info, "info", error));
  OCTET_TRY(check_blob(blob, error));
  octet_blob_info out = OCTET_BLOB_INFO_INIT;
  if (is_conv(blob, blob_bytes)) {
    OCTET_TRY(describe_conv_blob(blob, blob_bytes, &out, error));
    return give(out, info);
  }
  BlobHeader h;
  OCTET_TRY(result(check_blob_header(blob, blob_bytes, &h), blob_bytes, error));
  out.isa = (octet_isa)smallest_isa(blob_layout(h));
  out.type = (octet_type)h.type;
  out.n = (size_t)h.n;
  out.k = (size_t)h.k;
  out.batch = (size_t)h.batch;
  out.bytes = (size_t)h.bytes;
  return give(out, info);
}

octet_status octet_blob_verify(const void* blob, size_t blob_bytes, octet_error* error) {
  OCTET_TRY(check_blob(blob, error));
  if (is_conv(blob, blob_bytes)) return verify_conv_blob(blob, blob_bytes, error);
  BlobHeader h;
  OCTET_TRY(result(check_blob_header(blob, blob_bytes, &h), blob_bytes, error));
  return result(check_blob_payload(blob, h), blob_bytes, error);
}
