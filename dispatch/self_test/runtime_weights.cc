// SPDX-License-Identifier: Apache-2.0
// The self-test of a tier's work on weights that come with a run.
#include "dispatch/self_test/product.h"
#include "dispatch/self_test/self_test.h"
#include "dispatch/tables/formats.h"
#include "packing/packed_rhs.h"

namespace octet {
namespace {

constexpr size_t kRows = kFewRows + 1;

// True if fewer rows give the same sums, which are those of kRows rows.
bool fewer_rows_are_alike(const RuntimeOps& ops, FewRows product) {
  const int32_t* const sums = product.sums;
  int32_t fewer[kRows * kTileColumns];
  product.sums = fewer;
  for (product.rows = 1; product.rows < kRows; ++product.rows) {
    ops.multiply(product);
    if (memcmp(fewer, sums, product.rows * kTileColumns * sizeof *sums) != 0) return false;
  }
  return true;
}

// Both directions, of the same bytes. The last row is of ones, as a product has it that needs the
// sums of weights.
bool passes(const RuntimeOps& ops, const Operands& operands, bool by_rows) {
  constexpr size_t kStride = 64;
  static_assert(kDepth <= kStride && kTileColumns == 64, "rows of lhs and of sums");
  const RuntimeWeights weights = {
      operands.rhs, by_rows ? kTileColumns : 1, by_rows ? 1 : kDepth, kTileColumns, kDepth, 0x80};
  uint8_t lhs[kRows][kStride] = {};
  for (size_t i = 0; i < kFewRows; ++i) memcpy(lhs[i], operands.lhs + i * kDepth, kDepth);
  memset(lhs[kFewRows], 1, kDepth);
  int32_t sums[kRows][kTileColumns];
  const auto weight = [&](size_t k, size_t j) {
    return (int8_t)(operands.rhs[k * weights.k_stride + j * weights.n_stride] ^ weights.flip);
  };
  const FewRows product = {weights, lhs[0], kStride, kRows, sums[0], kTileColumns};
  ops.multiply(product);
  if (!is_product(
          sums[0], kRows, kTileColumns, [&](size_t i, size_t k) { return lhs[i][k]; }, weight) ||
      !fewer_rows_are_alike(ops, product))
    return false;

  alignas(64) uint8_t packed[kPanelBytes], expected[kPanelBytes];
  int32_t totals[kTileColumns];
  const size_t bytes = ops.layout.bytes(kTileColumns, kDepth);
  if (bytes > kPanelBytes) return false;
  ops.pack(weights, packed, totals);
  const RhsView view = {operands.rhs,     kTileColumns,     kDepth,  weights.k_stride,
                        weights.n_stride, ElementType::kU8, nullptr, 0};
  find_format_of(ops.layout)->packing->pack(ops.layout, view, 0, kTileColumns, expected);
  return memcmp(packed, expected, bytes) == 0 && memcmp(totals, sums[kFewRows], sizeof totals) == 0;
}

}  // namespace

bool passes(const RuntimeOps& ops) {
  const Operands operands;
  return passes(ops, operands, true) && passes(ops, operands, false);
}

}  // namespace octet
