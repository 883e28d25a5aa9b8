// The self-test of a tier's work on weights that come with a run.
#include "dispatch/self_test/product.h"
#include "dispatch/self_test/self_test.h"
#include "dispatch/tables/formats.h"
#include "packing/packed_rhs.h"

namespace octet {
namespace {

// True if all numbers of rows give the product.
template <typename Lhs, typename Weight>
bool multiplies(const RuntimeOps& ops, FewRows product, const Lhs& lhs, const Weight& weight) {
  for (product.rows = 1; product.rows <= kFewRows + 1; ++product.rows) {
    ops.multiply(product);
    if (!is_product(product.sums, product.rows, kTileColumns, lhs, weight)) return false;
  }
  return true;
}

// Both directions, of the same bytes. The last row is of ones, as a product has it that needs the
// sums of weights.
bool passes(const RuntimeOps& ops, bool by_rows) {
  constexpr size_t kRows = kFewRows + 1, kStride = 64;
  static_assert(kDepth <= kStride && kTileColumns == 64, "rows of lhs and of sums");
  const Operands operands;
  const RuntimeWeights weights = {
      operands.rhs, by_rows ? kTileColumns : 1, by_rows ? 1 : kDepth, kTileColumns, kDepth, 0x80};
  uint8_t lhs[kRows][kStride] = {};
  for (size_t i = 0; i < kFewRows; ++i) memcpy(lhs[i], operands.lhs + i * kDepth, kDepth);
  memset(lhs[kFewRows], 1, kDepth);
  int32_t sums[kRows][kTileColumns];
  const auto weight = [&](size_t k, size_t j) {
    return (int8_t)(operands.rhs[k * weights.k_stride + j * weights.n_stride] ^ weights.flip);
  };
  if (!multiplies(
          ops, {weights, lhs[0], kStride, kRows, sums[0], kTileColumns},
          [&](size_t i, size_t k) { return lhs[i][k]; }, weight))
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

bool passes(const RuntimeOps& ops) { return passes(ops, true) && passes(ops, false); }

}  // namespace octet
