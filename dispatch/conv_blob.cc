#include "dispatch/conv_blob.h"

#include "dispatch/conv_methods.h"

namespace octet {
namespace {

octet_status read_header(const void* blob, size_t bytes, FilterHeader* header, octet_error* error) {
  const BlobProblem problem = read_filter_header(blob, bytes, header);
  return problem == BlobProblem::kNone
             ? OCTET_OK
             : fail(error, OCTET_BAD_BLOB, "blob (%zu bytes) %s", bytes, describe(problem));
}

}  // namespace

octet_status describe_conv_blob(const void* blob, size_t bytes, octet_blob_info* info,
                                octet_error* error) {
  FilterHeader f;
  OCTET_TRY(read_header(blob, bytes, &f, error));
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
  return OCTET_OK;
}

octet_status verify_conv_blob(const void* blob, size_t bytes, octet_error* error) {
  FilterHeader f;
  OCTET_TRY(read_header(blob, bytes, &f, error));
  const BlobProblem problem = check_filter_payload(blob, f);
  return problem == BlobProblem::kNone
             ? OCTET_OK
             : fail(error, OCTET_BAD_BLOB, "blob (%zu bytes) %s", bytes, describe(problem));
}

}  // namespace octet
