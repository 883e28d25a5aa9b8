// SPDX-License-Identifier: Apache-2.0
// An octet_rhs_desc, checked, for packing, pruning and looking for sparsity.
#pragma once

#include "dispatch/api/struct_size.h"
#include "packing/scale_blocks.h"

namespace octet {

struct RhsWeights {
  CallerStruct<octet_rhs_desc> rhs;
  RhsView view;
  size_t batch;
  size_t matrix_stride;  // elements
  size_t data_bytes;
  // With rhs->scale_block
  ScaleBlocksGeometry blocks = {};
  ScaleView scales = {};
  size_t scales_bytes = 0;
};

// Checks the fields of scale blocks and fills in the rest.
octet_status read_scale_blocks(bool with_data, RhsWeights* weights, octet_error* error);
// Refuses scales that are not finite or too large.
octet_status check_block_scales(const RhsWeights& weights, octet_error* error);

// sparse: for a function of 2:4 sparse weights, which are of 8 bits.
octet_status read_rhs(const octet_rhs_desc* given, bool with_data, bool sparse, RhsWeights* weights,
                      octet_error* error);

}  // namespace octet
