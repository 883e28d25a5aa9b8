// SPDX-License-Identifier: Apache-2.0
// The table of weight formats, one row each.
#include "dispatch/tables/formats.h"

#include "kernels/arm/kernels.h"
#include "kernels/core/parts.h"
#include "kernels/scalar/kernels.h"
#include "kernels/x86/kernels.h"
#include "packing/int4.h"
#include "packing/paired.h"
#include "packing/sparse.h"

namespace octet {
namespace {

constexpr KernelKind kInt8 = KernelKind::kInt8, kInt16 = KernelKind::kInt16,
                     kDepthwise = KernelKind::kDepthwise, kGrouped = KernelKind::kGrouped;

// Without sparse kernels these formats stay known, so that their blobs are recognized, but nothing
// is packed in them.
[[maybe_unused]] constexpr Packing kNoSparse = {};
constexpr const Packing& kSparse = OCTET_IF(SPARSE, kSparsePacking, kNoSparse);

// The layouts are constants in the kernels' headers, which give the reasons.
// clang-format off
constexpr WeightFormat kFormats[] = {
    // x86
    {FormatId::kS8_16x4, "s8_16x4", kX86Layout, kInt8, &kDensePacking},
    // AVX2, where the products of neighbours along K fit 16 bits in pairs
    {FormatId::kS8_16x4_paired, "s8_16x4_paired", kX86PairedLayout, kInt8, &kPairedPacking},
    // I8MM, which reads u8 weights as they are
    {FormatId::kS8_8x8, "s8_8x8", kI8mmLayout, kInt8, &kDensePacking},
    {FormatId::kU8_8x8, "u8_8x8", kI8mmU8Layout, kInt8, &kDensePacking},
    // DOTPROD: the last panel may be half as wide
    {FormatId::kS8_16x4_step8, "s8_16x4_step8", kDotprodLayout, kInt8, &kDensePacking},
    // NEON
    {FormatId::kS8_4x16, "s8_4x16", kNeonLayout, kInt8, &kDensePacking},
    // SCALAR, and a SCALAR test kernel with sizes that are no power of two
    {FormatId::kS8_4x4, "s8_4x4", kScalarLayout, kInt8, &kDensePacking},
    {FormatId::kS8_5x2, "s8_5x2", kScalarTestLayout, kInt8, &kDensePacking, true},
    // 4 bits: x86, I8MM, DOTPROD, NEON, SCALAR
    {FormatId::kS4_16x8, "s4_16x8", kX86Int4Layout, kInt8, &kInt4Packing},
    {FormatId::kS4_8x16, "s4_8x16", kI8mmInt4Layout, kInt8, &kInt4Packing},
    {FormatId::kS4_16x8_step8, "s4_16x8_step8", kDotprodInt4Layout, kInt8, &kInt4Packing},
    {FormatId::kS4_4x32, "s4_4x32", kNeonInt4Layout, kInt8, &kInt4Packing},
    {FormatId::kS4_4x8, "s4_4x8", kScalarInt4Layout, kInt8, &kInt4Packing},
    // All tiers: 2:4 sparse
    {FormatId::kS8_16x16_2of4, "s8_16x16_2of4", kSparseLayout, kInt8, &kSparse},
    // AVX-VNNI, AVX512-VNNI, few rows: the same weights in fewer bytes
    {FormatId::kS8_16x32_2of4, "s8_16x32_2of4", kSparseTightLayout, kInt8, &kSparse},
    // Winograd: x86, Arm, SCALAR
    {FormatId::kS16_16x2, "s16_16x2", kX86Int16Layout, kInt16},
    {FormatId::kS16_8x1, "s16_8x1", kArmInt16Layout, kInt16},
    {FormatId::kS16_4x2, "s16_4x2", kScalarInt16Layout, kInt16},
    // All tiers. Within a group, channels have the order of interleaved pixels
    {FormatId::kS8_64x4_depthwise, "s8_64x4_depthwise", kDepthwiseLayout, kDepthwise},
    {FormatId::kS16_64x4_depthwise, "s16_64x4_depthwise", kDepthwiseInt16Layout, kDepthwise},
    // All tiers. Each group of channels lies in one quarter of a vector
    {FormatId::kS8_64x4_grouped, "s8_64x4_grouped", kGroupedLayout, kGrouped},
    {FormatId::kS16_64x4_grouped, "s16_64x4_grouped", kGroupedOffsetLayout, kGrouped},
};
// clang-format on
constexpr size_t kCount = sizeof kFormats / sizeof kFormats[0];

}  // namespace

const WeightFormat* nth_format(size_t index) { return index < kCount ? &kFormats[index] : nullptr; }

const WeightFormat* find_format(uint16_t id) {
  for (const WeightFormat& format : kFormats)
    if ((uint16_t)format.id == id) return &format;
  return nullptr;
}

const WeightFormat* find_format_of(const RhsLayout& layout) {
  for (const WeightFormat& format : kFormats)
    if (format.layout == layout) return &format;
  return nullptr;
}

const WeightFormat& format_of(FormatId id) { return *find_format((uint16_t)id); }

}  // namespace octet
