// SPDX-License-Identifier: Apache-2.0
// Replaces all other files of operators/conv in a library without convolutions: each function fails
// and says so.
#include "octet/helpers.h"
#include "octet/sparse.h"
#include "operators/common/blob.h"

namespace octet {
namespace {

octet_status absent(octet_error* error) {
  return fail(error, OCTET_UNSUPPORTED,
              "this library was built without convolutions (OCTET_WITH_CONVOLUTION=OFF)");
}

}  // namespace

octet_status check_filter_blob(const void*, size_t, const char*, Container*, octet_error* error) {
  return absent(error);
}
void describe_filter(const Container&, octet_blob_info*) {}

PackedPanels panels_of_filter(const Container&, const void*) { return {}; }

}  // namespace octet

using octet::absent;

OCTET_LACKS(octet_conv2d_set_padding, absent, octet_padding, octet_conv2d_shape*)
OCTET_LACKS(octet_conv2d_set_output_size, absent, octet_padding, size_t, size_t,
            octet_conv2d_shape*)
OCTET_LACKS(octet_conv2d_output_size, absent, const octet_conv2d_shape*, size_t, size_t, size_t*,
            size_t*)
OCTET_LACKS(octet_conv2d_pack_size, absent, const octet_filter_desc*, octet_isa, size_t*)
OCTET_LACKS(octet_conv2d_pack, absent, const octet_filter_desc*, octet_isa, void*, size_t)
OCTET_LACKS(octet_conv2d_explain, absent, const octet_filter_desc*, octet_isa, size_t,
            octet_conv2d_candidate*)
OCTET_LACKS(octet_conv2d_limit_packed, absent, octet_filter_desc* const*, size_t, octet_isa, size_t,
            size_t*)
octet_status octet_conv2d_create(const octet_conv2d_desc*, octet_conv2d** conv,
                                 octet_error* error) {
  if (conv) *conv = nullptr;
  return absent(error);
}
OCTET_LACKS(octet_conv2d_workspace, absent, const octet_conv2d*, size_t, size_t, size_t, size_t,
            size_t*)
OCTET_LACKS(octet_conv2d_run, absent, const octet_conv2d*, const octet_conv2d_args*)
void octet_conv2d_destroy(octet_conv2d*) {}
octet_conv_algorithm octet_conv2d_algorithm(const octet_conv2d*) { return OCTET_CONV_AUTO; }
const char* octet_conv2d_kernel(const octet_conv2d*) { return nullptr; }
OCTET_LACKS(octet_sparse_prune_filter, absent, const octet_filter_desc*, void*, octet_sparse_loss*)
