// SPDX-License-Identifier: Apache-2.0
// octet_sparse_prune_filter: prunes a filter along the input channels of each kernel position.
#include "operators/conv/filter.h"
#include "operators/sparse/prune_matrix.h"

using namespace octet;

octet_status octet_sparse_prune_filter(const octet_filter_desc* filter, void* pruned,
                                       octet_sparse_loss* losses, octet_error* error) {
  FilterBuilder d;
  OCTET_TRY(read_weights(filter, &d, error));
  if (is_4bit(d.given->type))
    return fail(error, OCTET_UNSUPPORTED, "filter.type is %s; weights of 4 bits are not sparse",
                octet_type_name(d.given->type));
  if (!d.given->data) return fail(error, OCTET_NULL_POINTER, "filter.data is null");
  const ConvShape& s = d.shape;
  const FilterView& from = d.view;
  const size_t bytes = s.out_channels * s.taps() * s.group_in();
  OCTET_TRY(check_pruned({pruned, from.data, bytes, from.zero_points, from.zero_point_count, losses,
                          1, s.out_channels, "filter"},
                         error));
  for (size_t o = 0; o < s.out_channels; ++o) {
    octet_sparse_loss loss = {};
    for (size_t ky = 0; ky < s.kernel_h; ++ky)
      for (size_t kx = 0; kx < s.kernel_w; ++kx) {
        const uint8_t* const weights = from.data + from.at(s, o, ky, kx, 0);
        prune_groups(weights, (uint8_t*)pruned + (weights - from.data), from.i_stride, s.group_in(),
                     from.type(), from.zero_point(o), &loss);
      }
    if (losses) losses[o] = loss;
  }
  return OCTET_OK;
}
