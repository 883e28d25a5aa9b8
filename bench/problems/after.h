// SPDX-License-Identifier: Apache-2.0
// Holds the steps after an output's product: a residual that is added, a look-up table.
#pragma once

#include <vector>

#include "bench/problems/operands.h"

namespace tool {

struct After {
  octet_residual residual = {};     // type 0: none
  Buffer bytes = Buffer();          // the residual's, one per output
  std::vector<uint8_t> table = {};  // 256, or none

  void set(octet_epilogue* epilogue) const;
};

// Draws the bench's residual and table; all scales are near the output's.
After draw_after(const Operands& operands, octet_type dst, size_t elements);

// contract_output of element i.
double contract_output(const OutputStage& stage, int64_t acc, const Factor& factor,
                       const After& after, size_t i);

}  // namespace tool
