// SPDX-License-Identifier: Apache-2.0
// Draws residuals and look-up tables, and computes outputs with them.
#include "bench/problems/after.h"

#include <algorithm>
#include <numeric>

#include "octet/helpers.h"

namespace tool {

void After::set(octet_epilogue* epilogue) const {
  epilogue->residual = residual;
  epilogue->lut = table.empty() ? nullptr : table.data();
}

After draw_after(const Operands& operands, octet_type dst, size_t elements) {
  After after;
  if (operands.residual) {
    octet_error error = {};
    check(octet_tflite_add(1.0f, 0.7f, 1.1f, &after.residual, &error), error);
    after.residual.type = dst;
    after.residual.scale = 0.7f;
    after.residual.zero_point = after.residual.intermediate_zero_point = *centre(dst);
    after.bytes = Buffer(elements);
    fill(&after.bytes, dst, Fill::kRandom, elements);
  }
  if (operands.table) {
    after.table.resize(256);
    std::iota(after.table.begin(), after.table.end(), (uint8_t)0);
    Random random(elements);
    for (uint8_t& entry : after.table)
      std::swap(entry, after.table[(size_t)random.between(0, 255)]);
  }
  return after;
}

double contract_output(const OutputStage& stage, int64_t acc, const Factor& factor,
                       const After& after, size_t i) {
  const bool adds = after.residual.type != 0;
  const Addend addend = {after.residual, adds ? byte_at(after.bytes, after.residual.type, i) : 0};
  const double output = contract_output(stage, acc, factor, adds ? &addend : nullptr);
  if (after.table.empty()) return output;
  const uint8_t entry = after.table[(uint8_t)((int)output)];
  return stage.type == OCTET_U8 ? (double)entry : (int8_t)entry;
}

}  // namespace tool
