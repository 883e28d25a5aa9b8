// octet_blob_*: what packed weights say about themselves.
#include "dispatch/check.h"
#include "dispatch/conv_methods.h"
#include "dispatch/struct_size.h"
#include "dispatch/tables/tiers.h"

namespace octet {
namespace {

// A blob of either kind.
struct AnyHeader {
  bool filter;
  BlobHeader gemm;
  FilterHeader conv;
};

octet_status read_header(const void* blob, size_t bytes, AnyHeader* header, octet_error* error) {
  if (!blob) return fail(error, OCTET_NULL_POINTER, "blob is null");
  if (const octet_status status = check_aligned(blob, "blob", error)) return status;
  header->filter = blob_kind(blob, bytes) == BlobKind::kConv;
  const BlobProblem problem = header->filter ? read_filter_header(blob, bytes, &header->conv)
                                             : check_blob_header(blob, bytes, &header->gemm);
  return problem == BlobProblem::kNone
             ? OCTET_OK
             : fail(error, OCTET_BAD_BLOB, "blob (%zu bytes) %s", bytes, describe(problem));
}

void describe_filter(const FilterHeader& f, octet_blob_info* info) {
  const ConvShape s = blob_shape(f);
  info->isa = (octet_isa)f.isa;
  info->type = (octet_type)f.type;
  info->n = s.out_channels;
  info->k = s.taps() * s.group_in();
  info->batch = 1;
  info->bytes = (size_t)f.bytes;
  info->algorithm = (octet_conv_algorithm)f.algorithm;
  info->form = algorithm_name(info->algorithm);
  octet_conv2d_shape& shape = info->shape;
  shape.in_channels = s.in_channels;
  shape.out_channels = s.out_channels;
  shape.groups = s.groups;
  shape.kernel_h = s.kernel_h;
  shape.kernel_w = s.kernel_w;
  shape.stride_h = s.stride_h;
  shape.stride_w = s.stride_w;
  shape.dilation_h = s.dilation_h;
  shape.dilation_w = s.dilation_w;
  shape.transposed = s.transposed;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_blob_get_info(const void* blob, size_t blob_bytes, octet_blob_info* info,
                                 octet_error* error) {
  OCTET_TRY(check_out(info, "info", error));
  AnyHeader any;
  if (const octet_status status = read_header(blob, blob_bytes, &any, error)) return status;
  octet_blob_info out = OCTET_BLOB_INFO_INIT;
  if (any.filter) {
    describe_filter(any.conv, &out);
    return give(out, info);
  }
  const BlobHeader& h = any.gemm;
  out.isa = (octet_isa)smallest_isa(blob_layout(h));
  out.type = (octet_type)h.type;
  out.n = (size_t)h.n;
  out.k = (size_t)h.k;
  out.batch = (size_t)h.batch;
  out.bytes = (size_t)h.bytes;
  return give(out, info);
}

octet_status octet_blob_verify(const void* blob, size_t blob_bytes, octet_error* error) {
  AnyHeader any;
  if (const octet_status status = read_header(blob, blob_bytes, &any, error)) return status;
  const BlobProblem problem =
      any.filter ? check_filter_payload(blob, any.conv) : check_blob_payload(blob, any.gemm);
  return problem == BlobProblem::kNone
             ? OCTET_OK
             : fail(error, OCTET_BAD_BLOB, "blob (%zu bytes) %s", blob_bytes, describe(problem));
}
